//! What is forwarded, frame by frame.

use super::fakes::{Host, host};
use crate::bus::mark::FORWARDED;
use crate::bus::message::Message;
use crate::config::{Carry, MigrateConfig, ToolService};
use crate::migrate::carry::Way;

/// A host that forwards for `old`, whose host has just shown that it is an old one.
fn forwarding() -> Host {
    let host = host(ToolService::Yes);
    host.bridge.forward_by(&MigrateConfig {
        carried: vec![Carry {
            toolbox_id: "old".to_owned(),
            way: Way::ToPredecessor,
        }],
        ..MigrateConfig::default()
    });
    host.bridge.connected();
    let sent = host.sent.take();
    let tools = r#"{"toolbox_id":"old","tools":[{"name":"x"}]}"#;
    host.bridge.handle(answer_to_discover(&sent, tools).into(), false);
    assert_eq!(host.sent.take(), [""; 0]);
    host
}

/// What a host answers to the discover among what was `sent`.
fn answer_to_discover(sent: &[String], data: &str) -> String {
    let asked = sent.iter().find(|frame| frame.contains("tools.discover\""));
    let context = Message::parse(asked.expect("hosts are asked")).unwrap().reply_context();
    format!(r#"{{"type":"ovos.persona.tools.discover.response","data":{data},"context":{context}}}"#)
}

const CONTEXT: &str = r#"{"source":"a","destination":["b"],"session":{"session_id":"default"},"f":1.0}"#;

/// A call on the replacement, and the Message it was forwarded as.
fn forwarded(host: &Host) -> String {
    let call = format!(
        r#"{{"type":"ovos.persona.tools.call","data":{{"name":"x","kwargs":{{ "n" : 1.0 }},"toolbox_id":"old"}},"context":{CONTEXT}}}"#
    );
    host.bridge.handle(call.into(), false);
    let [frame] = host.sent.take().try_into().unwrap();
    frame
}

/// The answer of the host to a forwarded Message, as shipped hosts derive it: with a session written in.
fn answer_to(frame: &str) -> String {
    let message = Message::parse(frame).unwrap();
    let context = message
        .reply_context()
        .replace(r#""session_id":"default""#, r#""session_id":"default","lang":"en""#);
    format!(
        r#"{{"type":"{}.response","data":{{"result":{{"n":1e2}},"toolbox_id":"old"}},"context":{context}}}"#,
        message.topic
    )
}

const ANSWER: &str = r#"{"type":"ovos.persona.tools.call.response","data":{"toolbox_id":"old","result":{"n":1e2}},"context":{"source":"b","destination":"a","session":{"session_id":"default"},"f":1.0}}"#;

#[tokio::test]
async fn a_call_goes_on_with_its_context_and_comes_back_with_the_askers_own() {
    let host = forwarding();
    let frame = forwarded(&host);
    let message = Message::parse(&frame).unwrap();
    assert_eq!(message.topic, "ovos.persona.tools.old.call");
    let data = r#""data":{"toolbox_id":"old","name":"x","kwargs":{ "n" : 1.0 }},"context":"#;
    let context = CONTEXT.strip_suffix('}').unwrap();
    assert!(frame.contains(&format!(r#"{data}{context},"{FORWARDED}":"#)), "{frame}");
    let answer = answer_to(&frame);
    host.bridge.handle(answer.clone().into(), false);
    assert_eq!(host.sent.take(), [ANSWER]);
    host.bridge.handle(answer.into(), false);
    assert_eq!(host.sent.take(), [""; 0], "answered once");
    assert_eq!(
        host.bridge.status().handled,
        1,
        "a request like those to toolboxes hosted here"
    );
}

#[tokio::test]
async fn what_another_toolhost_forwarded_is_not_forwarded_again() {
    let host = forwarding();
    for topic in ["ovos.persona.tools.call", "ovos.persona.tools.old.call"] {
        let mark = format!(r#"{{"by":"zz","call":1,"on":"{topic}","toolbox_id":"old"}}"#);
        let frame = format!(
            r#"{{"type":"{topic}","data":{{"toolbox_id":"old","name":"x"}},"context":{{"{FORWARDED}":{mark}}}}}"#
        );
        host.bridge.handle(frame.into(), false);
        let sent = host.sent.take();
        assert!(
            sent.iter()
                .all(|frame| frame.starts_with(r#"{"type":"ovos.persona.tools.discover""#)),
            "{sent:?}"
        );
    }
    // What a tool sends on with the context it was called with is a call of its own.
    let mark = r#"{"by":"zz","call":1,"on":"ovos.persona.tools.other.call","toolbox_id":"other"}"#;
    let frame = format!(
        r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"old","name":"x"}},"context":{{"{FORWARDED}":{mark}}}}}"#
    );
    host.bridge.handle(frame.into(), false);
    assert_eq!(host.sent.take().len(), 1);
}

#[tokio::test]
async fn an_asker_whom_the_host_answered_by_itself_gets_no_second_answer() {
    let host = forwarding();
    let frame = forwarded(&host);
    // The host has been replaced in this very moment, and a default session was written in.
    let itself = ANSWER.replace(r#""session_id":"default""#, r#""session_id":"default","lang":"en""#);
    host.bridge.handle(itself.into(), false);
    host.bridge.handle(answer_to(&frame).into(), false);
    assert_eq!(host.sent.take(), [""; 0]);
    assert!(host.bridge.carried()[0].learned);
}

#[tokio::test]
async fn of_a_forwarded_toolbox_the_flat_names_are_known_and_never_confused_with_others() {
    let host = forwarding();
    let ask = |frame: &str| {
        host.bridge.handle(frame.into(), false);
        host.sent.take()
    };
    let list = ask(r#"{"type":"ovos.tools.list"}"#);
    assert!(
        list[0].contains(r#"[{"name":"echo"},{"name":"x","toolbox_id":"old"}]"#),
        "{list:?}"
    );
    let get = ask(r#"{"type":"ovos.tools.get","data":{"name":"x"}}"#);
    assert!(get[0].contains(r#""data":{"name":"x","toolbox_id":"old"}"#), "{get:?}");
    let invoke = ask(r#"{"type":"ovos.tools.invoke","data":{"name":"x","args":{"a": 1}}}"#);
    assert!(
        invoke[0].starts_with(
            r#"{"type":"ovos.persona.tools.old.call","data":{"toolbox_id":"old","name":"x","kwargs":{"a": 1}}"#
        ),
        "{invoke:?}"
    );
    host.bridge.handle(answer_to(&invoke[0]).into(), false);
    let expected = r#"{"type":"ovos.tools.invoke.response","data":{"name":"x","result":{"n":1e2}},"context":{}}"#;
    assert_eq!(host.sent.take(), [expected]);
    // A second owner of the name.
    let both =
        r#"{"type":"ovos.persona.tools.discover.response","data":{"toolbox_id":"old","tools":[{"name":"twice"}]}}"#;
    host.bridge.handle(both.into(), false);
    let get = ask(r#"{"type":"ovos.tools.get","data":{"name":"twice"}}"#);
    assert!(
        get[0].contains("Ambiguous tool name: 'twice' is owned by 'wn', 'disk', 'old'"),
        "{get:?}"
    );
    let invoke = ask(r#"{"type":"ovos.tools.invoke","data":{"name":"twice"}}"#);
    assert!(invoke[0].contains("Ambiguous tool name"), "{invoke:?}");
}

#[tokio::test]
async fn a_stop_answers_every_call_that_is_on_its_way() {
    let host = forwarding();
    let frame = forwarded(&host);
    host.bridge.stop_forwarding();
    let [answer, goodbye] = host.sent.take().try_into().unwrap();
    assert!(goodbye.starts_with(r#"{"type":"ovos.persona.tools.discover""#) && !goodbye.contains("toolhost_forwards"));
    assert!(
        answer.contains("ToolboxUnavailable: the toolhost that forwarded the call was stopped"),
        "{answer}"
    );
    host.bridge.handle(answer_to(&frame).into(), false);
    assert_eq!(host.sent.take(), [""; 0]);
}

/// What is forwarded once a discover has told the host's tools.
fn forwarding_to_static() -> Host {
    let host = host(ToolService::Yes);
    host.bridge.forward_by(&MigrateConfig {
        carried: vec![Carry {
            toolbox_id: "new".to_owned(),
            way: Way::ToStatic,
        }],
        ..MigrateConfig::default()
    });
    host
}

/// The topics of what was sent.
fn topics(sent: &[String]) -> Vec<String> {
    let topic = |frame: &String| Message::parse(frame).unwrap().topic.into_owned();
    sent.iter().map(topic).collect()
}

const NEW_TOOLS: &str = r#"{"toolbox_id":"new","tools":[{"name":"x","toolbox_id":"new"}]}"#;
const OLD_ANSWER: &str = r#"{"type":"ovos.persona.tools.new.call.response","data":{"toolbox_id":"new","result":1},"context":{"source":"a","destination":"a"}}"#;
const OLD_CALL: &str = r#"{"type":"ovos.persona.tools.new.call","data":{"name":"x"},"context":{"source":"a"}}"#;

/// Waits until something was sent that `is_it`; everything sent until then.
async fn sent_until(host: &Host, is_it: impl Fn(&str) -> bool) -> Vec<String> {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
    let mut sent = Vec::new();
    while !sent.iter().any(|frame: &String| is_it(frame)) {
        assert!(tokio::time::Instant::now() < deadline, "{sent:?}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        sent.extend(host.sent.take());
    }
    sent
}

#[tokio::test]
async fn a_host_that_answers_a_probe_is_left_to_answer_every_call() {
    let host = forwarding_to_static();
    host.bridge.connected();
    let sent = host.sent.take();
    host.bridge.handle(answer_to_discover(&sent, NEW_TOOLS).into(), false);
    let sent = sent_until(&host, |frame| frame.contains("tools.discover")).await;
    assert_eq!(
        topics(&sent),
        ["ovos.persona.tools.new.call", "ovos.persona.tools.discover"]
    );
    assert!(
        sent[0].contains(r#""data":{"toolbox_id":"new","name":"toolhost_probe","kwargs":{}}"#),
        "{sent:?}"
    );
    let context = Message::parse(&sent[0]).unwrap().reply_context();
    let answer = format!(
        r#"{{"type":"ovos.persona.tools.new.call.response","data":{{"toolbox_id":"new","error":"ValueError: Unknown tool"}},"context":{context}}}"#
    );
    host.bridge.handle(answer.into(), false);
    host.bridge.handle(answer_to_discover(&sent, NEW_TOOLS).into(), false);
    assert!(host.bridge.carried()[0].learned);
    host.bridge.handle(OLD_CALL.into(), false);
    assert_eq!(host.sent.take(), [""; 0]);
    assert_eq!(
        host.bridge.carried()[0].waiting,
        1,
        "it may still turn out not to answer"
    );
    host.bridge.handle(OLD_ANSWER.into(), false);
    assert_eq!(host.bridge.carried()[0].waiting, 0);
}

#[tokio::test]
async fn a_toolhost_says_whether_it_answers_the_predecessor_of_what_others_forward() {
    let asked = |answers: &str| {
        let host = forwarding_to_static();
        host.bridge.handle(OLD_CALL.into(), false);
        let sent = host.sent.take();
        let says = format!(
            r#"{{"type":"ovos.persona.tools.discover","context":{{"toolhost_probe":"zz","toolhost_answers_predecessor":{{"new":{answers}}}}}}}"#
        );
        host.bridge.handle(says.into(), false);
        host.bridge.handle(answer_to_discover(&sent, NEW_TOOLS).into(), false);
        (host.bridge.carried()[0].learned, host.bridge.carried()[0].forwarded)
    };
    assert_eq!(asked("true"), (true, 0));
    assert_eq!(asked("false"), (false, 1));

    // The other side of it: once a newcomer has told what it forwards, and when that has changed.
    let host = host(ToolService::Yes);
    let tells = |ways: &str| {
        let frame = format!(
            r#"{{"type":"ovos.persona.tools.discover","context":{{"toolhost_probe":"zz","toolhost_forwards":{ways}}}}}"#
        );
        host.bridge.handle(frame.into(), false);
        let sent = host.sent.take();
        sent.into_iter()
            .find(|frame| frame.contains("toolhost_answers_predecessor"))
    };
    let told = tells(r#"{"disk":"to_static","nowhere":"to_static","wn":"to_predecessor"}"#).unwrap();
    assert!(
        told.contains(r#""toolhost_answers_predecessor":{"disk":true}"#),
        "{told}"
    );
    assert_eq!(
        tells(r#"{"disk":"to_static","nowhere":"to_static","wn":"to_predecessor"}"#),
        None
    );
    host.toolboxes.set_policy(crate::config::PredecessorTopics::Ignore);
    let told = tells(r#"{"disk":"to_static"}"#).unwrap();
    assert!(
        told.contains(r#""toolhost_answers_predecessor":{"disk":false}"#),
        "{told}"
    );
    assert_eq!(tells("{}"), None);
}

#[tokio::test]
async fn a_probe_of_another_toolhost_is_answered_by_the_policy_and_neither_counted_nor_forwarded() {
    let host = forwarding_to_static();
    let probe = |toolbox_id: &str| {
        let frame = format!(
            r#"{{"type":"ovos.persona.tools.{toolbox_id}.call","data":{{"name":"toolhost_probe"}},"context":{{"toolhost_probe":"zz"}}}}"#
        );
        host.bridge.handle(frame.into(), false);
        host.sent.take()
    };
    assert_eq!(probe("new"), [""; 0], "it is for the host");
    let answers = probe("disk");
    assert!(answers[0].contains("Unknown tool: 'toolhost_probe'"), "{answers:?}");
    assert_eq!(host.ledger.told(), []);
}

#[tokio::test]
async fn a_call_that_another_toolhost_has_taken_is_forgotten_and_not_one_that_looks_like_it() {
    let host = forwarding_to_static();
    host.bridge.handle(OLD_CALL.into(), false);
    host.bridge.handle(OLD_CALL.replace(r#""x""#, r#""y""#).into(), false);
    let waiting = || host.bridge.carried()[0].waiting;
    assert_eq!(waiting(), 2);
    let taken = |name: &str| {
        let mark = r#"{"by":"zz","call":1,"on":"ovos.persona.tools.call","toolbox_id":"new"}"#;
        let frame = format!(
            r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"new","name":"{name}"}},"context":{{"source":"a","{FORWARDED}":{mark}}}}}"#
        );
        host.bridge.handle(frame.into(), false);
    };
    taken("z");
    assert_eq!(waiting(), 2);
    taken("x");
    assert_eq!(waiting(), 1);
    taken("x");
    assert_eq!(waiting(), 1);
    taken("y");
    assert_eq!(waiting(), 0);
}

#[tokio::test]
async fn a_held_call_whose_toolbox_is_forwarded_no_more_is_told_so() {
    let host = forwarding_to_static();
    host.bridge.handle(OLD_CALL.into(), false);
    host.sent.take();
    host.bridge.set_migrate(&MigrateConfig {
        carried: vec![Carry {
            toolbox_id: "new".to_owned(),
            way: Way::ToPredecessor,
        }],
        ..MigrateConfig::default()
    });
    let sent = host.sent.take();
    assert_eq!(
        topics(&sent),
        ["ovos.persona.tools.new.call.response", "ovos.persona.tools.discover"]
    );
    assert!(
        sent[0].contains("ToolboxUnavailable: its calls are no longer forwarded"),
        "{sent:?}"
    );
}

#[tokio::test]
async fn a_call_on_its_way_whose_toolbox_is_forwarded_no_more_gets_its_answer() {
    let host = forwarding();
    let first = forwarded(&host);
    let second = forwarded(&host);
    let another = Carry {
        toolbox_id: "another".to_owned(),
        way: Way::ToPredecessor,
    };
    for (carried, frame) in [(vec![another], first), (Vec::new(), second)] {
        let timeout = MigrateConfig::default().timeout;
        host.bridge.set_migrate(&MigrateConfig { carried, timeout });
        host.sent.take();
        host.bridge.handle(answer_to(&frame).into(), false);
        assert_eq!(host.sent.take(), [ANSWER]);
    }
}

#[tokio::test]
async fn an_answer_to_a_call_from_before_its_start_says_nothing_of_the_host_where_another_toolhost_forwards() {
    let call = OLD_CALL.replace(r#""source":"a""#, r#""source":"a","token":2"#);
    let earlier = OLD_ANSWER.replace(r#""source":"a""#, r#""source":"a","token":1"#);
    let answer = earlier.replace(r#""token":1"#, r#""token":2"#);
    // As a host answers that sends back the context it got.
    let careless = answer.replace(r#","destination":"a""#, "");
    for (another, answer) in [(false, &answer), (true, &answer), (true, &careless)] {
        let host = forwarding_to_static();
        if another {
            let announced = r#"{"type":"ovos.persona.tools.discover","context":{"toolhost_probe":"","toolhost_forwards":{"new":"to_static"}}}"#;
            host.bridge.handle(announced.into(), false);
        }
        host.bridge.handle(earlier.as_str().into(), false);
        assert_eq!(host.bridge.carried()[0].learned, !another);
        host.bridge.handle(call.as_str().into(), false);
        host.bridge.handle(answer.as_str().into(), false);
        assert!(host.bridge.carried()[0].learned, "a call it has seen itself");
        assert_eq!(host.bridge.carried()[0].waiting, 0, "{answer}");
    }
}

#[tokio::test]
async fn a_stop_tells_who_waits_for_a_decision_unless_another_toolhost_takes_over() {
    for another in [false, true] {
        let host = forwarding_to_static();
        if another {
            let announced = r#"{"type":"ovos.persona.tools.discover","context":{"toolhost_probe":"zz","toolhost_forwards":{"new":"to_static"}}}"#;
            host.bridge.handle(announced.into(), false);
        }
        host.bridge.handle(OLD_CALL.into(), false);
        host.sent.take();
        host.bridge.stop_forwarding();
        let sent = topics(&host.sent.take());
        let answer = "ovos.persona.tools.new.call.response";
        assert_eq!(sent.iter().any(|topic| topic == answer), !another, "{sent:?}");
        assert_eq!(
            sent.last().unwrap(),
            "ovos.persona.tools.discover",
            "the others are told"
        );
    }
}

#[tokio::test]
async fn a_call_beyond_the_bound_is_refused_and_those_held_are_left_to_a_host_that_answers() {
    let host = forwarding_to_static();
    for _ in 0..1024 {
        host.bridge.handle(OLD_CALL.into(), false);
    }
    host.sent.take();
    host.bridge.handle(OLD_CALL.into(), false);
    let sent = host.sent.take();
    assert_eq!(topics(&sent), ["ovos.persona.tools.new.call.response"]);
    let itself = r#"{"type":"ovos.persona.tools.new.call.response","data":{"toolbox_id":"new","result":1},"context":{"source":"somebody else"}}"#;
    host.bridge.handle(itself.into(), false);
    assert_eq!(host.bridge.carried()[0].waiting, 0, "the host answers them");
}

#[tokio::test]
async fn the_answer_to_a_call_that_a_tool_made_with_our_context_is_not_the_answer_to_ours() {
    let host = forwarding_to_static();
    host.bridge.handle(OLD_CALL.into(), false);
    let sent = host.sent.take();
    host.bridge.handle(answer_to_discover(&sent, NEW_TOOLS).into(), false);
    let sent = sent_until(&host, |frame| frame.contains(FORWARDED)).await;
    let frame = sent.into_iter().find(|frame| frame.contains(FORWARDED)).unwrap();
    let context = Message::parse(&frame).unwrap().reply_context();
    let answer = |toolbox_id: &str| {
        let frame = format!(
            r#"{{"type":"ovos.persona.tools.call.response","data":{{"toolbox_id":"{toolbox_id}","result":1}},"context":{context}}}"#
        );
        host.bridge.handle(frame.into(), false);
        topics(&host.sent.take())
    };
    assert_eq!(answer("another"), [""; 0]);
    assert_eq!(answer("new"), ["ovos.persona.tools.new.call.response"]);
}

#[tokio::test]
async fn the_answer_to_a_call_that_a_tool_made_to_its_own_toolbox_is_not_the_answer_to_ours() {
    let host = forwarding();
    let frame = forwarded(&host);
    let answered = |answer: &str| {
        host.bridge.handle(answer.into(), false);
        host.sent.take()
    };
    // Our own Message is none of its calls, even where its echo is not known for one.
    answered(&frame);
    let inner = frame.replace(r#""n" : 1.0"#, r#""n" : 2.0"#);
    assert_eq!(answered(&inner), [""; 0]);
    let answer = answer_to(&frame);
    assert_eq!(
        answered(&answer.replace("1e2", "2e2")),
        [""; 0],
        "that of the inner call"
    );
    assert_eq!(answered(&answer), [ANSWER]);
}

#[tokio::test]
async fn a_host_that_answers_a_call_with_a_mark_of_another_answers_it_by_itself() {
    let host = forwarding_to_static();
    let mark = r#"{"by":"zz","call":1,"on":"ovos.persona.tools.call","toolbox_id":"other"}"#;
    let marked = format!(r#""context":{{"{FORWARDED}":{mark},"#);
    host.bridge
        .handle(OLD_CALL.replace(r#""context":{"#, &marked).into(), false);
    assert_eq!(host.bridge.carried()[0].waiting, 1);
    host.bridge
        .handle(OLD_ANSWER.replace(r#""context":{"#, &marked).into(), false);
    assert_eq!(host.bridge.carried()[0].waiting, 0);
    assert!(host.bridge.carried()[0].learned);
}

#[tokio::test]
async fn calls_are_bounded_by_their_bytes_too_and_a_large_one_is_taken_where_there_is_no_other() {
    let host = forwarding_to_static();
    let large = OLD_CALL.replace(r#""name""#, &format!(r#""pad":"{}","name""#, "x".repeat(10_000_000)));
    for _ in 0..6 {
        host.bridge.handle(large.as_str().into(), false);
    }
    host.sent.take();
    let refused = || {
        host.bridge.handle(large.as_str().into(), false);
        host.sent
            .take()
            .into_iter()
            .find(|frame| frame.contains("Overloaded: calls of"))
    };
    assert!(refused().unwrap().contains("bytes are waiting (limit 67108864)"));
    let itself = r#"{"type":"ovos.persona.tools.new.call.response","data":{"toolbox_id":"new","result":1},"context":{"source":"somebody else"}}"#;
    host.bridge.handle(itself.into(), false);
    assert_eq!(host.bridge.carried()[0].waiting, 0);
    assert_eq!(refused(), None, "what is answered is given back");
}

#[tokio::test]
async fn of_two_that_are_full_the_one_with_the_lower_id_says_so() {
    for (other, refuses) in [("zz", true), ("", false)] {
        let host = forwarding_to_static();
        let announced = format!(
            r#"{{"type":"ovos.persona.tools.discover","context":{{"toolhost_probe":"{other}","toolhost_forwards":{{"new":"to_static"}}}}}}"#
        );
        host.bridge.handle(announced.into(), false);
        for _ in 0..1024 {
            host.bridge.handle(OLD_CALL.into(), false);
        }
        host.sent.take();
        host.bridge.handle(OLD_CALL.into(), false);
        let refused = topics(&host.sent.take()).contains(&"ovos.persona.tools.new.call.response".to_owned());
        assert_eq!(refused, refuses, "{other:?}");
    }
}

#[tokio::test]
async fn what_a_stranger_invents_takes_little_memory_and_no_place() {
    let host = forwarding_to_static();
    host.bridge.connected();
    let sent = host.sent.take();
    host.bridge.handle(answer_to_discover(&sent, NEW_TOOLS).into(), false);
    let long = "f".repeat(100_000);
    let mark = format!(r#"{{"by":"{long}","call":1,"on":"ovos.persona.tools.call","toolbox_id":"new"}}"#);
    let call = format!(
        r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"new","name":"x"}},"context":{{"{FORWARDED}":{mark}}}}}"#
    );
    let says = format!(
        r#"{{"type":"ovos.persona.tools.discover","context":{{"toolhost_probe":"{long}","toolhost_forwards":{{"new":"to_static"}}}}}}"#
    );
    for frame in [call, says] {
        host.bridge.handle(frame.into(), false);
        assert_eq!(host.sent.take(), [""; 0], "no toolhost has such an id");
    }
}

#[tokio::test]
async fn the_others_are_told_how_many_turns_are_left_to_them() {
    let host = forwarding_to_static();
    let announces = |turn: &str| {
        let frame = format!(
            r#"{{"type":"ovos.persona.tools.discover","context":{{"toolhost_probe":"","toolhost_forwards":{{"new":"to_static"}},"toolhost_turn":{turn}}}}}"#
        );
        host.bridge.handle(frame.into(), false);
        host.sent.take().pop()
    };
    assert!(announces("0").unwrap().contains(r#""toolhost_turn":1"#));
    assert_eq!(announces("0"), None);
    assert!(announces("1").unwrap().contains(r#""toolhost_turn":2"#));
    for odd in ["null", "-1", "1.5", "\"9\"", "{}"] {
        assert_eq!(announces(odd), None, "{odd}");
    }
}

#[tokio::test]
async fn after_a_standstill_what_others_did_meanwhile_is_read_before_anything_is_decided() {
    let host = forwarding_to_static();
    host.bridge.handle(OLD_CALL.into(), false);
    host.sent.take();
    // Nothing of this process runs meanwhile, as when it is stopped.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let backlog = [
        format!(r#"{{"type":"ovos.persona.tools.discover.response","data":{NEW_TOOLS}}}"#),
        format!(
            r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"new","name":"x"}},"context":{{"source":"a","{FORWARDED}":{{"by":"zz","call":1,"on":"ovos.persona.tools.call","toolbox_id":"new"}}}}}}"#
        ),
    ];
    for frame in backlog {
        host.bridge.handle(frame.into(), false);
        let sent = topics(&host.sent.take());
        assert!(!sent.contains(&"ovos.persona.tools.call".to_owned()), "{sent:?}");
    }
    assert_eq!(host.bridge.carried()[0].waiting, 0);
}
