//! Every error text of the contract, as a caller gets it.

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, INVOKE, call, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, fixture_of_the_suite, moody};

const GET: &str = "ovos.tools.get";

fn with(mut toolbox: Value, key: &str, value: &Value) -> Value {
    toolbox[key] = value.clone();
    toolbox
}

fn config(url: &str) -> Value {
    let suite = fixture_of_the_suite;
    json!({
        "bus": {"url": url},
        "tool_service": true,
        "toolboxes": {
            "alpha": suite("alpha.py"),
            "beta": suite("beta.py"),
            "slow": with(suite("moody.py"), "timeout", &json!("1s")),
            "frail": with(suite("moody.py"), "restart", &json!({"when": "never"})),
            "small": with(suite("moody.py"), "max_result", &json!("1KiB")),
            "crowded": with(moody(&json!({})), "max_pending", &json!(2)),
            "gone": {"command": ["no-such-program"], "restart": {"when": "never"}, "env": {"PATH": "/nowhere"}},
        }
    })
}

#[tokio::test]
async fn every_error_is_told_in_the_words_of_the_contract() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let to = |toolbox_id: &str, name: &str, kwargs: Value| (CALL.to_owned(), call(toolbox_id, name, &kwargs));
    let invalid_schema = "Invalid schema of 'crooked': argument_schema: type: fits no alternative (expected one of \
        \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\")";
    let gone = format!(
        "ToolboxUnavailable: 'no-such-program' not found on the PATH that its env sets (working folder {}); not tried again \
         before `toolhost start` or a reload",
        host.folder().display()
    );
    let table: Vec<((String, Value), Value)> = vec![
        (
            (CALL.into(), json!({"toolbox_id": "alpha"})),
            json!({"toolbox_id": "alpha", "error": "Missing required field: 'name'"}),
        ),
        (
            (predecessor("alpha"), json!({})),
            json!({"toolbox_id": "alpha", "error": "Missing required field: 'name'"}),
        ),
        (
            (GET.into(), json!({})),
            json!({"error": "Missing required field: 'name'"}),
        ),
        (
            to("alpha", "nope", json!({})),
            json!({"toolbox_id": "alpha", "error": "Unknown tool: 'nope'"}),
        ),
        (
            (GET.into(), json!({"name": "nope"})),
            json!({"error": "Unknown tool: 'nope'"}),
        ),
        (
            (INVOKE.into(), json!({"name": "nope"})),
            json!({"name": "nope", "error": "Unknown tool: 'nope'"}),
        ),
        (
            (GET.into(), json!({"name": "shared"})),
            json!({"error": "Ambiguous tool name: 'shared' is owned by 'alpha', 'beta'"}),
        ),
        (
            (INVOKE.into(), json!({"name": "shared"})),
            json!({"name": "shared", "error": "Ambiguous tool name: 'shared' is owned by 'alpha', 'beta'"}),
        ),
        (
            to("alpha", "echo", json!({"text": 5})),
            json!({"toolbox_id": "alpha", "error": "Invalid arguments for 'echo': text: expected string, got integer"}),
        ),
        (
            to("alpha", "echo", json!({"times": "x", "volume": 11})),
            json!({"toolbox_id": "alpha", "error": "Invalid arguments for 'echo': times: expected integer, got string; volume: is not allowed (known: text, times); text: is required"}),
        ),
        (
            to("alpha", "echo", json!([])),
            json!({"toolbox_id": "alpha", "error": "Invalid arguments for 'echo': arguments: expected an object, got an array"}),
        ),
        (
            to("alpha", "bad_output", json!({})),
            json!({"toolbox_id": "alpha", "error": "Invalid output from 'bad_output': answer: expected integer, got string"}),
        ),
        (
            to("slow", "crooked", json!({})),
            json!({"toolbox_id": "slow", "error": invalid_schema}),
        ),
        (
            to("alpha", "fail", json!({})),
            json!({"toolbox_id": "alpha", "error": "ValueError: no such word"}),
        ),
        (
            to("beta", "refuse", json!({})),
            json!({"toolbox_id": "beta", "error": "LookupError: no such page"}),
        ),
        (
            to("slow", "nap", json!({"seconds": 1.5})),
            json!({"toolbox_id": "slow", "error": "TimeoutError: 'nap' did not answer within 1s"}),
        ),
        (
            to("small", "talk", json!({"length": 2000})),
            json!({"toolbox_id": "small", "error": "ResultTooLarge: result too large (2012 bytes, limit 1024)"}),
        ),
        (
            to("frail", "die", json!({"status": 3})),
            json!({"toolbox_id": "frail", "error": "ToolboxCrashed: exit status 3: the last words"}),
        ),
        (
            to("frail", "nap", json!({"seconds": 0})),
            json!({"toolbox_id": "frail", "error": "ToolboxUnavailable: exit status 3: the last words; not tried again before `toolhost start` or a reload"}),
        ),
        (
            to("gone", "any", json!({})),
            json!({"toolbox_id": "gone", "error": gone}),
        ),
    ];
    let mut wrong = Vec::new();
    for ((topic, data), expected) in table {
        let answer = caller.ask(&topic, &data).await;
        if answer != expected {
            wrong.push(format!("{topic} {data}: expected {expected}, got {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    host.stop().await;
}

#[tokio::test]
async fn a_full_queue_refuses_one_more_call_at_once_and_serves_the_rest() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let nap = call("crowded", "late_echo", &json!({"seconds": 1}));
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(caller.send(CALL, &nap).await);
    }
    eventually("one runs and two wait", || {
        host.toolbox("crowded")["calls"]["pending"] == 2
    })
    .await;
    let refused = caller.ask(CALL, &nap).await;
    assert_eq!(
        refused,
        json!({"toolbox_id": "crowded", "error": "Overloaded: 2 calls are waiting"})
    );
    assert!(
        tokens.iter().all(|token| caller.answers(token).is_empty()),
        "refused before any of them ended"
    );
    for token in tokens {
        assert_eq!(caller.wait(&token, 1).await[0]["result"], json!({"seconds": 1}));
    }
    host.stop().await;
}
