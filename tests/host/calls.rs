//! Many calls, large calls, long calls.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, INVOKE, call, outcome, predecessor};
use crate::common::embedded::Embedded;
use crate::common::host::{Host, fixture, moody};
use crate::common::peers::{RealBus, python_command};

const CALLERS: usize = 10;
const CALLS_EACH: usize = 100;

fn two_toolboxes(url: &str) -> Value {
    let mut serial = moody(&json!({}));
    serial["namespace"] = "serial".into();
    // All of a thousand may come before the first is done.
    serial["max_pending"] = 1000.into();
    let mut concurrent = moody(&json!({"capabilities": ["concurrent"]}));
    concurrent["max_pending"] = 1000.into();
    json!({
        "bus": {"url": url},
        "tool_service": true,
        "toolboxes": {"a": concurrent, "b": serial},
    })
}

/// The nth of many requests, on one topic or another; each asks for its own token back.
fn request(n: usize, token: &str) -> (String, Value) {
    let kwargs = json!({"token": token});
    match n % 5 {
        0 => (CALL.to_owned(), call("a", "echo", &kwargs)),
        1 => (CALL.to_owned(), call("b", "serial_echo", &kwargs)),
        2 => (predecessor("a"), json!({"name": "echo", "kwargs": kwargs})),
        3 => (predecessor("b"), json!({"name": "serial_echo", "kwargs": kwargs})),
        _ => (INVOKE.to_owned(), json!({"name": "echo", "args": kwargs})),
    }
}

#[tokio::test]
async fn each_of_1000_calls_at_once_gets_its_own_answer_once() {
    let bus = RealBus::start().await;
    let host = Host::start(&two_toolboxes(&bus.url())).await;
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        callers.push(Caller::connect(&bus.url()).await);
    }
    let mut requests = Vec::new();
    for n in 0..CALLERS * CALLS_EACH {
        let token = format!("token {n}");
        let (topic, data) = request(n, &token);
        callers[n % CALLERS].send_as(&topic, &data, &token).await;
        requests.push((topic, token));
    }
    for caller in &mut callers {
        while caller.heard().len() < requests.len() {
            assert!(caller.hear().await, "the bus is there");
        }
        caller.catch_up().await;
        let mut answers: HashMap<_, Vec<_>> = HashMap::new();
        for frame in caller.heard() {
            answers
                .entry(frame["context"]["token"].as_str())
                .or_default()
                .push(frame);
        }
        for (topic, token) in &requests {
            let answers = answers.get(&Some(token.as_str())).map_or(&[][..], Vec::as_slice);
            assert_eq!(answers.len(), 1, "{topic} {token}");
            let (answer, context) = (answers[0], &answers[0]["context"]);
            assert_eq!(answer["type"], format!("{topic}.response"));
            assert_eq!(outcome(&answer["data"]), Ok(json!({"token": token})), "{topic}");
            let expected =
                json!({"token": token, "source": "tools", "destination": "caller", "session": {"session_id": "s"}});
            assert_eq!(*context, expected, "{topic}");
        }
    }
    host.stop().await;
}

#[tokio::test]
async fn callers_with_the_real_client_each_get_their_own_answer_once() {
    let bus = RealBus::start().await;
    let host = Host::start(&two_toolboxes(&bus.url())).await;
    let output = python_command(bus.folder())
        .args([&fixture("python_callers.py"), &bus.port().to_string()])
        .output()
        .expect("the callers run");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let answers: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}{errors}"));
    let answers = answers.as_object().expect("the answers to each token");
    assert_eq!(answers.len(), 200);
    for (token, answered) in answers {
        assert_eq!(*answered, json!([{"token": token}]), "{token}");
    }
    host.stop().await;
}

async fn a_mebibyte_goes_there_and_back(url: &str) {
    let mut caller = Caller::connect(url).await;
    let kwargs = json!({"text": "é".repeat(512 * 1024)});
    assert!(caller.call("a", "echo", &kwargs).await == Ok(kwargs));
    assert_eq!(caller.call("a", "echo", &json!({"n": 1})).await, Ok(json!({"n": 1})));
}

#[tokio::test]
async fn a_mebibyte_goes_there_and_back_over_the_real_bus() {
    let bus = RealBus::start().await;
    let host = Host::start(&two_toolboxes(&bus.url())).await;
    a_mebibyte_goes_there_and_back(&bus.url()).await;
    host.stop().await;
}

#[tokio::test]
async fn a_mebibyte_goes_there_and_back_over_a_bus_of_its_own() {
    let port = crate::common::ports::free_port();
    let config = two_toolboxes("embedded");
    let mut host = Host::launch_with(&config, |command| {
        command.arg(format!("--embedded-bus=127.0.0.1:{port}"));
    });
    host.ready().await;
    a_mebibyte_goes_there_and_back(&format!("ws://127.0.0.1:{port}/core")).await;
    host.stop().await;
}

#[tokio::test]
async fn instant_tools_answer_while_a_slow_one_runs() {
    let bus = Embedded::start().await;
    let host = Host::start(&two_toolboxes(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let beside = caller.send(CALL, &call("a", "sleep", &json!({"seconds": 5}))).await;
    let elsewhere = caller
        .send(CALL, &call("b", "serial_sleep", &json!({"seconds": 5})))
        .await;
    for n in 0..50 {
        assert_eq!(caller.call("a", "echo", &json!({"n": n})).await, Ok(json!({"n": n})));
    }
    assert!(
        caller.answers(&beside).is_empty(),
        "the slow one of the same toolbox still runs"
    );
    assert!(
        caller.answers(&elsewhere).is_empty(),
        "the slow one of the other still runs"
    );
    for slow in [beside, elsewhere] {
        assert_eq!(outcome(&caller.wait(&slow, 1).await[0]), Ok(json!("slept")));
    }
    host.stop().await;
}
