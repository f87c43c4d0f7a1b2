//! `protocol/toolhost.mjs` as the helper of a toolbox: the golden transcripts, and what may go wrong in its process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "common/exchange.rs"]
mod exchange;

use std::path::Path;
use std::process::Command;

use exchange::Exchange;
use serde_json::{Value, json};
use toolhost::config::{Kind, ToolboxConfig};
use toolhost::json::Text;
use toolhost::protocol::transcript;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const TOOLBOX: &str = "tests/fixtures/helpers/toolbox.mjs";

/// The toolbox with all its tools, given these bytes.
fn exchange(input: &[u8]) -> Exchange {
    let mut command = Command::new("node");
    command.current_dir(root()).args([TOOLBOX, "more"]);
    Exchange::of(command, input)
}

/// The toolbox given these requests, a line each.
fn asked(requests: &[Value]) -> Exchange {
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    exchange(format!("{}\n", lines.join("\n")).as_bytes())
}

fn call(id: u64, name: &str, kwargs: Value) -> Value {
    json!({"id": id, "op": "call", "name": name, "kwargs": kwargs})
}

#[tokio::test]
async fn a_toolbox_made_with_the_helper_holds_the_conversations_of_every_transcript() {
    let argv = ["node", TOOLBOX].map(str::to_owned).to_vec();
    let config = ToolboxConfig {
        config: Text::from(r#"{"lang":"en"}"#.to_owned()),
        ..ToolboxConfig::new("example", Kind::Command(argv), root().to_owned())
    };
    // The helper always writes an error as an object; the transcript has the other form, which says the same.
    let written = r#""error": "ValueError: no such word""#;
    let object = r#""error": {"type": "ValueError", "message": "no such word"}"#;
    let example: Vec<_> = transcript::EXAMPLE
        .iter()
        .map(|(name, text)| (*name, text.replace(written, object)))
        .collect();
    let example: Vec<_> = example.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert!(example.iter().any(|(_, text)| text.contains(object)));
    for transcripts in [&example[..], transcript::GENERIC] {
        let report = toolhost::check::replay(&config, transcripts).await;
        // The call that is canceled is answered once its tool has stopped, which is legal (section 7), and tells the host
        // that the process is free again.
        assert!(report.is_good() && report.findings.is_empty(), "{report}");
        assert_eq!(report.tools, ["echo", "fail", "wait"]);
    }
}

#[test]
fn lines_are_read_however_they_are_ended_and_whatever_stands_round_them() {
    let input = b"\xef\xbb\xbf{\"id\":1,\"op\":\"call\",\"name\":\"echo\",\"kwargs\":{\"a\":\"na\xc3\xafve\"}}\r\n\n \r\n  \
        {\"id\":2,\"op\":\"call\",\"name\":\"echo\"}  \n\xef\xbb\xbf{\"id\":3,\"op\":\"call\",\"name\":\"echo\",\"kwargs\":{}}";
    let exchange = exchange(input);
    assert_eq!(exchange.result(1), json!({"a": "naïve"}));
    assert_eq!(exchange.result(2), json!({}));
    assert_eq!(exchange.result(3), json!({}), "the last line needs no end");
    assert_eq!(exchange.status, Some(0));
}

#[test]
fn what_is_no_request_is_answered_as_far_as_it_can_be() {
    let exchange = exchange(
        b"not json\n{\"id\":1,\"op\":\"nope\"}\n{\"op\":\"nope\"}\n{\"id\":2,\"op\":\"call\",\"name\":\"__proto__\",\"kwargs\":{}}\n\
          {\"id\":3,\"op\":\"call\",\"name\":\"toString\",\"kwargs\":{}}\n",
    );
    assert_eq!(exchange.answer(1)["error"], "Unknown operation: 'nope'");
    assert_eq!(exchange.answer(2)["error"], "Unknown tool: '__proto__'");
    assert_eq!(exchange.answer(3)["error"], "Unknown tool: 'toString'");
    let answers: Vec<&String> = exchange.lines.iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(answers.len(), 4, "{answers:?}");
    let first: Value = serde_json::from_str(answers[0]).unwrap();
    assert_eq!(
        (&first["id"], &first["error"]["type"]),
        (&Value::Null, &json!("SyntaxError"))
    );
}

#[test]
fn a_line_of_many_mebibytes_is_read_in_one_go() {
    let long = "x".repeat(24 << 20);
    let exchange = asked(&[call(1, "echo", json!({ "long": long }))]);
    assert_eq!(exchange.result(1)["long"].as_str().map(str::len), Some(24 << 20));
}

#[test]
fn integers_keep_every_digit_and_add_up() {
    let big = r#"{"n":18446744073709551616,"text":"12345678901234567890 \\\" 9007199254740993","m":[-9007199254740993,1e2,0.1234567890123456]}"#;
    let exchange = exchange(
        format!(
            "{{\"id\":1,\"op\":\"call\",\"name\":\"echo\",\"kwargs\":{big}}}\n{}\n{}\n",
            r#"{"id":2,"op":"call","name":"add","kwargs":{"a":36028797018963968,"b":1.5}}"#,
            r#"{"id":3,"op":"call","name":"add","kwargs":{"a":9007199254740993,"b":1}}"#,
        )
        .as_bytes(),
    );
    let echoed = exchange.result(1);
    let sent: Value = serde_json::from_str(&big.replace("1e2", "100")).unwrap();
    assert_eq!(echoed, sent);
    assert!(exchange.result(2).as_f64() > Some(3.6e16));
    let error = exchange.answer(3)["error"]["message"].to_string();
    assert!(error.contains("a: 9007199254740993 does not fit"), "{error}");
}

#[test]
fn results_are_json_or_an_error_that_says_where_they_are_not() {
    let values = [
        ("undefined", Ok(json!(null))),
        ("({a: undefined, b: null})", Ok(json!({"b": null}))),
        ("new Date(0)", Ok(json!("1970-01-01T00:00:00.000Z"))),
        ("new Map([['a', new Set([1])]])", Ok(json!({"a": [1]}))),
        ("Buffer.from('hi')", Ok(json!("aGk="))),
        ("new Float64Array([1.5])", Ok(json!([1.5]))),
        ("new URL('http://localhost')", Ok(json!("http://localhost/"))),
        (
            "[new RangeError('far'), /a/g, Object('s')]",
            Ok(json!([{"type": "RangeError", "message": "far"}, "/a/g", "s"])),
        ),
        ("({toJSON: () => ({x: 1n})})", Ok(json!({"x": 1}))),
        ("(function* () { yield 1; yield [2] })()", Ok(json!([1, [2]]))),
        ("(async function* () { yield 1 })()", Ok(json!([1]))),
        ("Promise.resolve(Promise.resolve(3))", Ok(json!(3))),
        ("NaN", Err("the result is NaN, which")),
        ("[0, {x: Infinity}]", Err("the result[1].x is Infinity, which")),
        ("new Date(NaN)", Err("the result is an invalid Date")),
        ("[undefined]", Err("the result[0] is undefined")),
        ("[,1]", Err("the result[0] is undefined")),
        ("Symbol('x')", Err("the result is a symbol")),
        ("() => 1", Err("the result is a function")),
        (
            "[Promise.resolve(1)]",
            Err("the result[0] is a promise nobody waited for"),
        ),
        (
            "(() => { const a = []; a.push([a]); return a })()",
            Err("the result[0][0] is a circular reference"),
        ),
        (
            "new Map([[{}, 1]])",
            Err("the result is a Map with keys that are no text"),
        ),
        ("'\\ud800'", Err("half of a surrogate pair")),
        (
            "(() => { throw Object.assign(new Error('m'), {name: ''}) })()",
            Err("m"),
        ),
        ("(() => { throw 'text' })()", Err("text")),
        ("(() => { throw null })()", Err("null")),
        ("Promise.reject(Object.create(null))", Err("a value without text")),
    ];
    let ids = 1..;
    let requests: Vec<_> = ids
        .clone()
        .zip(&values)
        .map(|(id, (code, _))| call(id, "answer_with", json!({ "code": code })))
        .collect();
    let exchange = asked(&requests);
    for (id, (code, expected)) in ids.zip(&values) {
        match expected {
            Ok(result) => assert_eq!(&exchange.result(id), result, "{code}"),
            Err(why) => {
                let said = exchange.answer(id)["error"]["message"].to_string();
                assert!(said.contains(why), "{code}: {said}");
            }
        }
    }
}

#[test]
fn what_a_tool_or_its_child_prints_never_spoils_an_answer() {
    let exchange = asked(&[
        call(1, "noise", json!({})),
        call(2, "noisy_child", json!({})),
        call(3, "echo", json!({})),
    ]);
    assert_eq!(exchange.result(1), "quiet");
    assert!(exchange.stderr.contains("logged\nwritten"), "{}", exchange.stderr);
    assert!(exchange.lines.iter().any(|line| line == "half a line"), "{exchange:?}");
    assert_eq!(exchange.result(2), "whole");
    assert_eq!(exchange.result(3), json!({}));
}

#[test]
fn a_call_knows_its_context_the_configuration_and_whether_anybody_still_waits() {
    let exchange = asked(&[
        json!({"id": 1, "op": "describe", "protocol": 1, "toolbox_id": "x", "config": {"lang": "en"}}),
        json!({"id": 2, "op": "call", "name": "given", "kwargs": {}, "context": {"source": "a"}}),
        call(3, "aborted", json!({})),
        call(4, "wait", json!({"seconds": 60})),
        call(5, "echo", json!({})),
        json!({"op": "cancel", "target": 3}),
        json!({"op": "cancel", "target": 4}),
        json!({"op": "cancel", "target": 99}),
    ]);
    assert_eq!(
        exchange.result(2),
        json!({"context": {"source": "a"}, "config": {"lang": "en"}, "aborted": false})
    );
    assert_eq!(exchange.result(5), json!({}), "the calls beside it go on");
    assert_eq!(exchange.status, Some(0), "nobody waits for a call that is canceled");
}

#[test]
fn at_the_end_of_the_input_calls_are_finished_and_nothing_else_is_waited_for() {
    let exchange = asked(&[call(1, "wait", json!({"seconds": 0.05})), call(2, "stays", json!({}))]);
    assert_eq!(exchange.result(1), Value::Null);
    assert_eq!(exchange.result(2), "left a timer behind");
    assert_eq!(exchange.status, Some(0));
}

#[test]
fn what_nobody_catches_fails_the_call_it_comes_from_and_an_exit_is_explained() {
    for code in [
        "new Promise(() => { Promise.reject(new RangeError('lost')) })",
        "new Promise(() => setTimeout(() => { throw new RangeError('lost') }))",
    ] {
        let exchange = asked(&[call(1, "answer_with", json!({ "code": code }))]);
        assert_eq!(
            exchange.answer(1)["error"],
            json!({"type": "RangeError", "message": "lost"})
        );
        assert_eq!(exchange.status, Some(0), "{code}");
    }
    let exchange = asked(&[call(1, "answer_with", json!({"code": "process.exit(5)"}))]);
    let last = exchange.stderr.lines().last();
    assert_eq!(last, Some("process.exit(5) was called in the tool 'answer_with'"));
    assert_eq!(exchange.status, Some(5));
}

#[test]
fn a_toolbox_may_ask_for_one_call_at_a_time() {
    let mut command = Command::new("node");
    command.current_dir(root()).args([TOOLBOX, "alone"]);
    let exchange = Exchange::of(command, b"{\"id\":1,\"op\":\"describe\"}\n");
    assert_eq!(exchange.result(1)["capabilities"], json!(["context", "cancel"]));
}

#[test]
fn a_toolbox_that_is_put_together_wrongly_says_so() {
    for (code, why) in [
        ("tool({}, () => 1)", "tool() needs an object with a name"),
        ("tool({ name: 'a' })", "tool 'a' needs a function"),
        (
            "tool({ name: 'a' }, () => 1); tool({ name: 'a' }, () => 2)",
            "there are two tools 'a'",
        ),
    ] {
        let mut command = Command::new("node");
        let program = format!("import {{ tool }} from './protocol/toolhost.mjs'; {code}");
        command
            .current_dir(root())
            .args(["--input-type=module", "-e", &program]);
        let exchange = Exchange::of(command, b"");
        assert_ne!(exchange.status, Some(0));
        assert!(exchange.stderr.contains(why), "{}", exchange.stderr);
    }
}
