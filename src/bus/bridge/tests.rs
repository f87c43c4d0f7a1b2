//! The bridge with toolboxes that are a few lines long and a bus that is a list.

mod fakes;
mod forwarding;
mod neighbors;

use self::fakes::{Host, host};
use super::*;
use crate::config::PredecessorTopics;
use crate::json::{Members, Text};

/// What one frame is answered with, once nothing is left to do.
async fn answers(host: &Host, frame: &str) -> Vec<String> {
    host.bridge.handle(frame.into(), false);
    host.settle().await;
    host.sent.take()
}

#[tokio::test]
async fn every_request_has_its_answer() {
    let host = host(ToolService::Auto);
    let call = |data: &str| format!(r#"{{"type":"ovos.persona.tools.call","data":{data},"context":{{"source":"a"}}}}"#);
    let called = |data: &str| {
        format!(
            r#"{{"type":"ovos.persona.tools.call.response","data":{data},"context":{{"source":"a","destination":"a"}}}}"#
        )
    };
    let flat = |verb: &str, data: &str| format!(r#"{{"type":"ovos.tools.{verb}","data":{data}}}"#);
    let flat_answer =
        |verb: &str, data: &str| format!(r#"{{"type":"ovos.tools.{verb}.response","data":{data},"context":{{}}}}"#);
    let table = [
        (
            call(r#"{"toolbox_id":"wn","name":"echo","kwargs":{"n":18446744073709551616,"f":1.0}}"#),
            called(r#"{"toolbox_id":"wn","result":{"n":18446744073709551616,"f":1.0}}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn","name":"echo"}"#),
            called(r#"{"toolbox_id":"wn","result":"absent"}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn","name":"echo","kwargs":null}"#),
            called(r#"{"toolbox_id":"wn","result":null}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn","name":"raise"}"#),
            called(r#"{"toolbox_id":"wn","error":"KeyError: 'disk on fire'"}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn","name":"drop"}"#),
            called(r#"{"toolbox_id":"wn","error":"ToolboxUnavailable: the toolbox was stopped"}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn","name":"no\"pe"}"#),
            called(r#"{"toolbox_id":"wn","error":"Unknown tool: 'no\"pe'"}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn","name":[1, 2]}"#),
            called(r#"{"toolbox_id":"wn","error":"Unknown tool: '[1,2]'"}"#),
        ),
        (
            call(r#"{"toolbox_id":"wn"}"#),
            called(r#"{"toolbox_id":"wn","error":"Missing required field: 'name'"}"#),
        ),
        (
            r#"{"type":"ovos.persona.tools.wn.call","data":{"toolbox_id":"disk","name":"echo","kwargs":{}}}"#.into(),
            r#"{"type":"ovos.persona.tools.wn.call.response","data":{"toolbox_id":"wn","result":{}},"context":{}}"#
                .into(),
        ),
        (
            flat("invoke", r#"{"name":"echo","args":{"a":1}}"#),
            flat_answer("invoke", r#"{"name":"echo","result":{"a":1}}"#),
        ),
        (
            flat("invoke", r#"{"args":{"a":1}}"#),
            flat_answer("invoke", r#"{"name":"","error":"Missing required field: 'name'"}"#),
        ),
        (
            flat("invoke", r#"{"name":5}"#),
            flat_answer("invoke", r#"{"name":"5","error":"Unknown tool: '5'"}"#),
        ),
        (
            flat("get", r#"{"name":"echo"}"#),
            flat_answer("get", r#"{"name":"echo"}"#),
        ),
        (
            flat("get", r#"{"name":"twice"}"#),
            flat_answer(
                "get",
                r#"{"error":"Ambiguous tool name: 'twice' is owned by 'wn', 'disk'"}"#,
            ),
        ),
        (
            flat("get", "{}"),
            flat_answer("get", r#"{"error":"Missing required field: 'name'"}"#),
        ),
        (
            flat("list", "{}"),
            flat_answer("list", r#"{"tools":[{"name":"echo"}]}"#),
        ),
        (
            flat("reload", "{}"),
            flat_answer("reload", r#"{"tools":[{"name":"echo"}]}"#),
        ),
        (
            r#"{"type":"mycroft.toolhost.is_alive"}"#.into(),
            r#"{"type":"mycroft.toolhost.is_alive.response","data":{"status":true},"context":{}}"#.into(),
        ),
        (
            r#"{"type":"mycroft.toolhost.is_ready"}"#.into(),
            r#"{"type":"mycroft.toolhost.is_ready.response","data":{"status":false},"context":{}}"#.into(),
        ),
    ];
    let count = table.len() as u64;
    for (frame, expected) in table {
        assert_eq!(answers(&host, &frame).await, [expected], "{frame}");
    }
    let status = host.bridge.status();
    assert_eq!((status.handled, status.answers, status.malformed), (count, count, 0));
}

#[tokio::test]
async fn silence_is_the_answer_to_what_is_for_others() {
    let host = host(ToolService::Yes);
    for frame in [
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"elsewhere","name":"echo"}}"#,
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"WN","name":"echo"}}"#,
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"wn ","name":"echo"}}"#,
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":5,"name":"echo"}}"#,
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":null,"name":"echo"}}"#,
        r#"{"type":"ovos.persona.tools.call","data":{"name":"echo"}}"#,
        r#"{"type":"ovos.persona.tools.call"}"#,
        r#"{"type":"ovos.persona.tools.elsewhere.call","data":{"name":"echo","toolbox_id":"wn"}}"#,
        r#"{"type":"ovos.persona.tools.call.response","data":{"toolbox_id":"wn","result":1}}"#,
        r#"{"type":"connected","data":{},"context":{"session":{"session_id":"default"}}}"#,
        r#"{"type":"ovos.tools.list","type":"speak"}"#,
    ] {
        assert_eq!(answers(&host, frame).await, [""; 0], "{frame}");
    }
    assert_eq!(host.toolboxes.calls(), 0);
    assert_eq!(host.bridge.status().handled, 0);
}

#[tokio::test]
async fn what_is_malformed_is_dropped_and_the_next_message_answered() {
    let host = host(ToolService::Yes);
    let broken = [
        "",
        "{}",
        "hello",
        "[1,2]",
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"wn","name":"echo""#,
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"wn","name":"echo"},"context":null}"#,
        r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"wn","name":"echo"},"context":{"session":[]}}"#,
        r#"{"type":"ovos.persona.tools.discover","data":null}"#,
        r#"{"type":"ovos.tools.list","data":[]}"#,
        r#"{"type":"ovos.tools.list.response","data":[]}"#,
        r#"{"ciphertext":"00","tag":"00","nonce":"00"}"#,
        "\u{feff}{\"type\":\"ovos.tools.list\"}",
    ];
    for frame in broken {
        assert_eq!(answers(&host, frame).await, [""; 0], "{frame}");
        let alive = answers(&host, r#"{"type":"mycroft.toolhost.is_alive"}"#).await;
        assert_eq!(alive.len(), 1);
    }
    assert_eq!(host.bridge.status().malformed, broken.len() as u64);
    assert_eq!(host.toolboxes.calls(), 0);
}

#[tokio::test]
async fn predecessor_topics_follow_their_policy() {
    let host = host(ToolService::Yes);
    let frame = r#"{"type":"ovos.persona.tools.wn.call","data":{"name":"echo"}}"#;
    for (policy, count) in [
        (PredecessorTopics::Answer, 1),
        (PredecessorTopics::Warn, 1),
        (PredecessorTopics::Ignore, 0),
    ] {
        host.toolboxes.set_policy(policy);
        assert_eq!(answers(&host, frame).await.len(), count, "{policy:?}");
    }
}

#[tokio::test]
async fn every_call_to_a_hosted_toolbox_is_counted_by_topic_and_caller() {
    let host = host(ToolService::Yes);
    host.ledger.present(["wn", "disk"]);
    let context = r#"{"source":"skill","session":{"lang":"en","session_id":"s1"}}"#;
    let calls = [
        (
            r#""ovos.persona.tools.wn.call","data":{"name":"echo"}"#,
            PredecessorTopics::Answer,
        ),
        (
            r#""ovos.persona.tools.wn.call","data":{"name":"echo"}"#,
            PredecessorTopics::Ignore,
        ),
        (
            r#""ovos.persona.tools.call","data":{"toolbox_id":"wn","name":"echo"}"#,
            PredecessorTopics::Ignore,
        ),
        (
            r#""ovos.persona.tools.call","data":{"toolbox_id":"elsewhere","name":"echo"}"#,
            PredecessorTopics::Answer,
        ),
        (
            r#""ovos.tools.invoke","data":{"name":"echo"}"#,
            PredecessorTopics::Answer,
        ),
    ];
    for (call, policy) in calls {
        host.toolboxes.set_policy(policy);
        answers(&host, &format!(r#"{{"type":{call},"context":{context}}}"#)).await;
    }
    let told = host.ledger.told();
    let ids: Vec<_> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["disk", "wn"]);
    let wn = &told[1].1;
    assert_eq!(
        (wn.calls.predecessor_calls, wn.calls.replacement_calls),
        (2, 1),
        "unanswered ones too"
    );
    let [caller] = &wn.callers[..] else {
        panic!("one caller: {:?}", wn.callers)
    };
    assert_eq!(caller.source.as_deref(), Some("skill"));
    assert_eq!(caller.session_id.as_deref(), Some("s1"));
    assert_eq!(caller.context_keys, "source session");
}

#[tokio::test]
async fn a_call_that_another_toolhost_forwarded_is_answered_and_counts_for_no_topic() {
    let host = host(ToolService::Yes);
    for (topic, policy, answered) in [
        ("ovos.persona.tools.call", PredecessorTopics::Ignore, 1),
        ("ovos.persona.tools.wn.call", PredecessorTopics::Answer, 1),
        ("ovos.persona.tools.wn.call", PredecessorTopics::Ignore, 0),
    ] {
        host.toolboxes.set_policy(policy);
        let call = |on: &str| {
            let mark = format!(r#"{{"by":"zz","call":1,"on":"{on}","toolbox_id":"wn"}}"#);
            format!(
                r#"{{"type":"{topic}","data":{{"toolbox_id":"wn","name":"echo"}},"context":{{"toolhost_forwarded":{mark}}}}}"#
            )
        };
        assert_eq!(answers(&host, &call(topic)).await.len(), answered, "{topic} {policy:?}");
        assert_eq!(host.ledger.told(), [], "its caller has called on the other topic");
    }
    // A tool that was called so makes calls of its own with the same context.
    let call = r#"{"type":"ovos.persona.tools.wn.call","data":{"name":"echo"},"context":{"toolhost_forwarded":{"by":"zz","call":1,"on":"ovos.persona.tools.call","toolbox_id":"disk"}}}"#;
    answers(&host, call).await;
    assert_eq!(host.ledger.told()[0].1.calls.predecessor_calls, 1);
}

#[tokio::test]
async fn a_payload_is_never_copied_on_its_way_in() {
    let host = host(ToolService::Yes);
    let kwargs = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
    let context = format!(r#"{{"source":"a","destination":"b","big":"{}"}}"#, "y".repeat(200_000));
    let frame = Utf8Bytes::from(format!(
        r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"wn","name":"keep","kwargs":{kwargs}}},"context":{context}}}"#
    ));
    let range = frame.as_str().as_bytes().as_ptr_range();
    host.bridge.handle(frame, false);
    let call = host.toolboxes.kept().pop().unwrap();
    for (text, expected) in [(call.kwargs.unwrap(), &kwargs), (call.context.unwrap(), &context)] {
        assert_eq!(text.as_str(), expected);
        assert!(range.contains(&text.as_str().as_ptr()));
    }
    call.reply.send(Ok(Text::from("1".to_owned())));
    let [answer] = host.sent.take().try_into().unwrap();
    let swapped = context.replace(r#""a","destination":"b""#, r#""b","destination":"a""#);
    assert!(answer.ends_with(&format!("{swapped}}}")));
}

#[tokio::test]
async fn answers_find_their_askers_whatever_their_order() {
    let host = host(ToolService::Yes);
    for n in 0..100 {
        let (topic, args) = match n % 3 {
            0 => ("ovos.persona.tools.call", r#""toolbox_id":"wn","kwargs""#),
            1 => ("ovos.persona.tools.wn.call", r#""kwargs""#),
            _ => ("ovos.tools.invoke", r#""args""#),
        };
        host.bridge.handle(
            format!(
                r#"{{"type":"{topic}","data":{{"name":"keep",{args}:{n}}},"context":{{"token":{n},"session":{{}}}}}}"#
            )
            .into(),
            false,
        );
    }
    let mut kept = host.toolboxes.kept();
    fastrand::Rng::with_seed(3).shuffle(&mut kept);
    for call in kept {
        call.reply.send(Ok(call.kwargs.unwrap()));
    }
    let sent = host.sent.take();
    assert_eq!(sent.len(), 100);
    for frame in sent {
        let message = Message::parse(&frame).unwrap();
        let token = message.context.get("token").unwrap().get();
        assert_eq!(message.data.get("result").unwrap().get(), token, "{frame}");
        assert!(message.topic.ends_with(".response"));
    }
}

#[tokio::test]
async fn every_discover_request_gets_every_toolbox_however_many_ask() {
    let host = host(ToolService::No);
    host.toolboxes.close_gate();
    for n in 0..200 {
        host.bridge.handle(
            format!(r#"{{"type":"ovos.persona.tools.discover","context":{{"token":{n}}}}}"#).into(),
            false,
        );
    }
    host.settle().await;
    assert_eq!(host.sent.take(), [""; 0], "nothing before the refresh");
    host.toolboxes.open_gate();
    host.settle().await;
    let sent = host.sent.take();
    for n in 0..200 {
        for id in ["wn", "disk"] {
            let expected = format!(
                r#"{{"type":"ovos.persona.tools.discover.response","data":{{"toolbox_id":"{id}","tools":[]}},"context":{{"token":{n}}}}}"#
            );
            assert_eq!(sent.iter().filter(|frame| **frame == expected).count(), 1, "{expected}");
        }
    }
    assert_eq!(sent.len(), 400);
    assert_eq!(host.toolboxes.refreshes(), MAX_DISCOVERS + 1);
}

#[tokio::test]
async fn answers_to_many_askers_wait_for_the_bus_but_not_for_ever() {
    let host = host(ToolService::No);
    host.sent.crowd_at(10);
    for _ in 0..50 {
        let discover = r#"{"type":"ovos.persona.tools.discover","context":{}}"#;
        host.bridge.handle(discover.into(), false);
    }
    host.settle().await;
    let mut sent = host.sent.take().len();
    assert_eq!(sent, 10, "as many as the bus takes at once");
    // Some are taken, the rest never: they go out all the same.
    while sent + host.sent.0.lock().unwrap().len() < 100 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        if sent < 50 {
            sent += host.sent.take().len();
        }
    }
}

#[tokio::test]
async fn reloads_run_one_after_the_other_and_a_refused_one_says_why() {
    let host = host(ToolService::Yes);
    host.toolboxes.close_gate();
    for n in 0..5 {
        host.bridge.handle(
            format!(r#"{{"type":"ovos.tools.reload","context":{{"n":{n}}}}}"#).into(),
            false,
        );
    }
    host.settle().await;
    host.toolboxes.open_gate();
    host.settle().await;
    assert_eq!(host.sent.take().len(), 5);
    assert_eq!(
        host.toolboxes.reloads(),
        2,
        "one for the first, one for the four who came during it"
    );

    host.toolboxes.refuse("line 3: unknown key");
    assert_eq!(
        answers(&host, r#"{"type":"ovos.tools.reload"}"#).await,
        [
            r#"{"type":"ovos.tools.reload.response","data":{"tools":[{"name":"echo"}],"error":"line 3: unknown key"},"context":{}}"#
        ]
    );
}

#[tokio::test]
async fn a_panic_in_the_toolboxes_costs_one_answer() {
    let host = host(ToolService::Yes);
    host.toolboxes.refuse("panic");
    assert_eq!(answers(&host, r#"{"type":"ovos.tools.reload"}"#).await, [""; 0]);
    host.toolboxes.refuse("");
    assert_eq!(answers(&host, r#"{"type":"ovos.tools.reload"}"#).await.len(), 1);
}

#[tokio::test]
async fn derived_contexts_are_carried_whatever_is_in_them() {
    let host = host(ToolService::Yes);
    for context in [
        r#"{"session":{"session_id":"default","new":[1.0,-0]},"utterance_id":"u","_namespace_compat_twin":true}"#,
        r#"{"session":null,"é \" k":"\u00e9"}"#,
        r#"{ "spaced" : { "a" : 1 } }"#,
    ] {
        let frame = format!(r#"{{"type":"mycroft.toolhost.is_alive","context":{context}}}"#);
        let [answer] = answers(&host, &frame).await.try_into().unwrap();
        let (before, message) = (Members::parse(context).unwrap(), Message::parse(&answer).unwrap());
        for (key, value) in before.iter() {
            assert_eq!(message.context.get(key).unwrap().get(), value.get(), "{answer}");
        }
    }
}

#[test]
fn an_answer_that_would_cost_the_connection_is_an_error_and_a_context_that_would_is_not_answered() {
    let frames = Arc::new(Mutex::new(Vec::<String>::new()));
    let outgoing = {
        let frames = Arc::clone(&frames);
        move |frame: Utf8Bytes| lock(&frames).push(frame.as_str().to_owned())
    };
    let answers = Answers {
        outgoing,
        sent: AtomicU64::new(0),
    };
    let mut asker = Asker {
        topic: "t.response".into(),
        context: "{}".into(),
    };
    let large = Text::from(format!("\"{}\"", "x".repeat(MAX_FRAME)));
    let outcome = &Ok(large.clone());
    let answer = Answer::Call {
        toolbox_id: "wn",
        outcome,
    };
    answers.send(&asker, &answer);
    let name = &"n".repeat(MAX_FRAME);
    let outcome = &Err(CallError::UnknownTool(name.clone()));
    answers.send(&asker, &Answer::Invoke { name, outcome });
    let (tools, error) = (&Text::from(format!("[{}]", large.as_str())), None);
    answers.send(&asker, &Answer::Tools { tools, error });
    asker.context = format!(r#"{{"key":{}}}"#, large.as_str());
    answers.send(&asker, &answer);
    let frames = lock(&frames);
    assert_eq!(frames.len(), 3);
    assert!(
        frames
            .iter()
            .all(|frame| frame.len() < 1000 && frame.contains("ResultTooLarge: result too large ("))
    );
    assert!(frames[0].contains(r#"{"toolbox_id":"wn","error":"#) && frames[1].contains(r#"{"name":"nnn"#));
}

/// `cargo test --release --lib bus::bridge -- --ignored --nocapture`
#[tokio::test]
#[ignore = "a measurement"]
async fn what_a_message_costs() {
    let sent = Arc::new(AtomicU64::new(0));
    let count_frames = {
        let sent = Arc::clone(&sent);
        move |_: Utf8Bytes| count(&sent)
    };
    let toolboxes = host(ToolService::Yes).toolboxes;
    let bridge = Bridge::new(
        toolboxes,
        count_frames,
        ToolService::Yes,
        std::sync::Arc::default(),
        Handle::current(),
    );
    let session = format!(
        r#"{{"session_id":"s1","pipeline":["{}"],"lang":"en-US"}}"#,
        "x".repeat(200)
    );
    let context = format!(r#"{{"source":"a","destination":["b"],"session":{session},"skill_id":"c"}}"#);
    for (name, topic, data) in [
        ("foreign", "recognizer_loop:audio_output_start", "{}"),
        (
            "a call for another host",
            "ovos.persona.tools.call",
            r#"{"toolbox_id":"elsewhere","name":"echo"}"#,
        ),
        (
            "a call and its answer",
            "ovos.persona.tools.call",
            r#"{"toolbox_id":"wn","name":"echo","kwargs":{"a":1}}"#,
        ),
    ] {
        let frame = Utf8Bytes::from(format!(r#"{{"type":"{topic}","data":{data},"context":{context}}}"#));
        let (rounds, start) = (200_000u32, Instant::now());
        for _ in 0..rounds {
            bridge.handle(frame.clone(), false);
        }
        println!("{name}: {:?} each, {} bytes", start.elapsed() / rounds, frame.len());
    }
    println!("{} answers", sent.load(Ordering::Relaxed));
}
