//! What frames say, as shipped hosts and toolhosts write them.

use serde_json::{Value, json};

use super::*;
use crate::bus::mark::FORWARDED;
use crate::migrate::carry::PROBE_TOOL;
use crate::migrate::watch::{Answers, Watched};

const STATIC: &str = "ovos.persona.tools.call";
const OLD: &str = "ovos.persona.tools.wn.call";

fn told(frames: &[Value]) -> Vec<Watched> {
    let mut watch = Watch::default();
    let now = Moment { wall: 0, steady: 0 };
    for frame in frames {
        hear(&mut watch, &frame.to_string(), now);
    }
    watch.all(now)
}

/// What is told of the one toolbox there is.
fn wn(frames: &[Value]) -> Watched {
    let mut told = told(frames);
    assert_eq!(told.len(), 1, "{told:?}");
    told.remove(0)
}

fn message(topic: &str, data: Value, context: Value) -> Value {
    json!({"type": topic, "data": data, "context": context})
}

fn discovered(tools: Value) -> Value {
    message(
        "ovos.persona.tools.discover.response",
        json!({"toolbox_id": "wn", "tools": tools}),
        json!({}),
    )
}

fn mark(on: &str) -> Value {
    json!({"by": "ab", "call": 3, "on": on, "toolbox_id": "wn"})
}

/// A call on `asked`, forwarded to `on`, answered by the host and then by the one that forwarded it.
fn forwarded(asked: &str, on: &str) -> Vec<Value> {
    let data = json!({"toolbox_id": "wn", "name": "x", "kwargs": {}});
    let answer = json!({"toolbox_id": "wn", "result": {}});
    let there = json!({"token": 1.0, "source": "a", "destination": ["b", "c"]});
    let back = json!({"source": "b", "token": 1.0, "destination": "a"});
    let with = |context: &Value, key: &str, value: Value| {
        let mut context = context.clone();
        context[key] = value;
        context
    };
    let session = json!({"session_id": "default", "lang": "en-us"});
    let hosts = with(&with(&back, FORWARDED, mark(on)), "session", session.clone());
    vec![
        message(asked, data.clone(), there.clone()),
        message(on, data, with(&there, FORWARDED, mark(on))),
        message(&format!("{on}.response"), answer.clone(), hosts),
        message(&format!("{asked}.response"), answer, with(&back, "session", session)),
    ]
}

#[test]
fn a_forwarded_call_tells_what_the_host_answers_and_that_somebody_forwards() {
    let mut frames = vec![discovered(json!([{"name": "x"}]))];
    frames.extend(forwarded(STATIC, OLD));
    let told = wn(&frames);
    assert_eq!(
        (told.host, told.forwarded),
        (Answers::OldOnly, vec![Way::ToPredecessor])
    );
    assert_eq!(
        (told.replacement_calls, told.predecessor_calls, told.callers.len()),
        (1, 0, 1)
    );
    let mut frames = vec![discovered(json!([{"name": "x", "toolbox_id": "wn"}]))];
    frames.extend(forwarded(OLD, STATIC));
    let told = wn(&frames);
    assert_eq!((told.host, told.forwarded), (Answers::New, vec![Way::ToStatic]));
    assert_eq!((told.replacement_calls, told.predecessor_calls), (0, 1));
}

#[test]
fn a_call_that_carries_the_mark_of_another_is_a_call_of_its_own() {
    let context = json!({"source": "a tool", FORWARDED: mark("ovos.persona.tools.other.call")});
    let told = wn(&[
        message(OLD, json!({"name": "x"}), context.clone()),
        message(&format!("{OLD}.response"), json!({"result": 1}), context),
    ]);
    assert_eq!((told.host, told.predecessor_calls), (Answers::Old, 1));
    assert_eq!(told.forwarded, []);
}

#[test]
fn a_toolhost_that_asks_tells_what_it_forwards_whatever_else_stands_there() {
    let ways = json!({"wn": "to_predecessor", "x": "elsewhere", "y": 5, "a.b": "to_static", "": "to_static"});
    let announced = message(
        "ovos.persona.tools.discover",
        json!({}),
        json!({PROBE: "ab", FORWARDS: ways}),
    );
    let told = wn(std::slice::from_ref(&announced));
    assert_eq!(
        (told.host, told.forwarded),
        (Answers::Nothing, vec![Way::ToPredecessor])
    );
    let nothing = message("ovos.persona.tools.discover", json!({}), json!({PROBE: "ab"}));
    assert_eq!(wn(&[announced.clone(), nothing]).forwarded, []);
    let another = message(
        "ovos.persona.tools.discover",
        json!({}),
        json!({PROBE: "cd", FORWARDS: []}),
    );
    assert_eq!(wn(&[announced, another]).forwarded, [Way::ToPredecessor]);
}

#[test]
fn a_probe_is_nobodys_call_and_its_answer_the_hosts() {
    let probe = message(OLD, json!({"name": PROBE_TOOL, "kwargs": {}}), json!({PROBE: "ab"}));
    let answer = json!({"toolbox_id": "wn", "error": "ValueError: Unknown tool"});
    let answer = message(&format!("{OLD}.response"), answer, json!({PROBE: "ab", "session": {}}));
    let announced = json!({PROBE: "ab", FORWARDS: {"wn": "to_static"}});
    let announced = message("ovos.persona.tools.discover", json!({}), announced);
    let told = wn(&[
        announced,
        discovered(json!([{"name": "x", "toolbox_id": "wn"}])),
        probe,
        answer,
    ]);
    assert_eq!(
        (told.host, told.predecessor_calls, told.callers),
        (Answers::Both, 0, vec![])
    );
    // Either alone makes none.
    for (name, context) in [("x", json!({PROBE: "ab"})), (PROBE_TOOL, json!({}))] {
        let told = wn(&[message(OLD, json!({"name": name}), context)]);
        assert_eq!(told.predecessor_calls, 1, "{name}");
    }
}

#[test]
fn what_is_broken_or_foreign_is_passed_over() {
    let long = "x".repeat(5000);
    let frames = [
        message("ovos.persona.tools.discover.response", json!({"tools": []}), json!({})),
        message(
            "ovos.persona.tools.discover.response",
            json!({"toolbox_id": 5}),
            json!({}),
        ),
        message(
            "ovos.persona.tools.discover.response",
            json!({"toolbox_id": "a b\u{1b}"}),
            json!({}),
        ),
        message(
            "ovos.persona.tools.discover.response",
            json!({"toolbox_id": "a.b"}),
            json!({}),
        ),
        message(
            "ovos.persona.tools.discover.response",
            json!({"toolbox_id": long}),
            json!({}),
        ),
        message(&format!("ovos.persona.tools.{long}.call"), json!({}), json!({})),
        message(STATIC, json!({"name": "x"}), json!({})),
        message(STATIC, json!({"toolbox_id": ""}), json!({})),
        message("ovos.persona.tools.call.response", json!({"result": 1}), json!({})),
        message(
            "ovos.persona.tools.discover",
            json!({}),
            json!({PROBE: 5, FORWARDS: {"wn": "to_static"}}),
        ),
        message("speak", json!({"utterance": "ovos.persona.tools.call"}), json!({})),
        json!({"type": OLD, "data": [], "context": {}}),
        json!({"type": OLD, "data": {}, "context": {"session": 5}}),
        json!("ovos.persona.tools."),
    ];
    assert_eq!(told(&frames), []);
    let told = wn(&[
        discovered(json!("no list")),
        discovered(json!([5, null])),
        discovered(Value::Null),
        message(OLD, json!({"name": 5}), json!({FORWARDED: 5, "source": {}})),
        message(&format!("{OLD}.response"), json!({}), json!({FORWARDED: {"on": OLD}})),
    ]);
    assert_eq!(told.predecessor_calls, 1);
}
