//! What is forwarded, frame by frame.

use super::fakes::{Host, host};
use crate::bus::message::Message;
use crate::config::{Carry, MigrateConfig, ToolService};
use crate::migrate::carry::Way;
use crate::migrate::owner::FORWARDED;

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
    let discovered =
        r#"{"type":"ovos.persona.tools.discover.response","data":{"toolbox_id":"old","tools":[{"name":"x"}]}}"#;
    host.bridge.handle(discovered.into(), false);
    assert_eq!(host.sent.take(), [""; 0]);
    host
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
    let [answer] = host.sent.take().try_into().unwrap();
    assert!(
        answer.contains("ToolboxUnavailable: the toolhost that forwarded the call was stopped"),
        "{answer}"
    );
    host.bridge.handle(answer_to(&frame).into(), false);
    assert_eq!(host.sent.take(), [""; 0]);
}
