//! Every kind of host, called in every way, without and with a toolhost that forwards: how many answers, on which topic,
//! with which payload and context, and how often the tool ran.

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, INVOKE, predecessor};
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::hosts::{Hosting, Kind, TOOLBOX, runs};

/// How a caller calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Predecessor,
    Static,
    Flat,
}
use Asking::{Flat, Predecessor, Static};

impl Asking {
    fn topic(self) -> String {
        match self {
            Predecessor => predecessor(TOOLBOX),
            Static => CALL.to_owned(),
            Flat => INVOKE.to_owned(),
        }
    }

    fn data(self, text: &str) -> Value {
        match self {
            // It says nothing: the topic alone addresses.
            Predecessor => json!({"toolbox_id": "another", "name": "shout", "kwargs": {"text": text}}),
            Static => json!({"toolbox_id": TOOLBOX, "name": "shout", "kwargs": {"text": text}}),
            Flat => json!({"name": "shout", "args": {"text": text}}),
        }
    }

    fn answer(self, text: &str) -> Value {
        match self {
            Flat => json!({"name": "shout", "result": {"text": text}}),
            _ => json!({"toolbox_id": TOOLBOX, "result": {"text": text}}),
        }
    }
}

/// What a toolhost beside the host forwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forwarding {
    None,
    ToPredecessor,
    ToStatic,
}

/// A toolhost that hosts something else and forwards; it is on the bus, and who is the tool service is settled.
async fn forwarder(forwarding: Forwarding, bus: &RealBus, hosting: &Hosting) -> Option<Host> {
    let list = match forwarding {
        Forwarding::None => return None,
        Forwarding::ToPredecessor => "to_predecessor",
        Forwarding::ToStatic => "to_static",
    };
    let config = json!({
        "bus": {"url": bus.url()},
        "migrate": {list: [TOOLBOX]},
        "toolboxes": {"unrelated": moody(&json!({}))},
    });
    let host = Host::start(&config).await;
    eventually("it knows the tools of the toolbox", || knows_tool(&host)).await;
    if let Hosting::Toolhost(other) = hosting {
        let silent = |host: &Host| {
            host.status()
                .is_some_and(|status| status["host"]["tool_service"] == "silent")
        };
        eventually("one of two toolhosts answers ovos.tools.*", || {
            silent(&host) != silent(other)
        })
        .await;
    }
    Some(host)
}

fn knows_tool(host: &Host) -> bool {
    let status = host.status().expect("a status");
    status["forwards"][0]["tools"].as_u64() == Some(1)
}

async fn nothing_waits(host: Option<&Host>) {
    if let Some(host) = host {
        let idle = || {
            host.status()
                .is_some_and(|status| status["forwards"][0]["waiting"] == 0)
        };
        eventually("every call is decided and answered", idle).await;
    }
}

/// One host, called in every way; `expected` answers to each.
async fn row(kind: Kind, forwarding: Forwarding, expected: [usize; 3]) {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let hosting = Hosting::start(kind, &bus, &mut caller).await;
    let forwarder = forwarder(forwarding, &bus, &hosting).await;
    for (asking, expected) in [Predecessor, Static, Flat].into_iter().zip(expected) {
        let cell = format!("{kind:?}, {forwarding:?}, {asking:?}");
        let before = runs(&bus);
        let token = caller.send(&asking.topic(), &asking.data("ada")).await;
        if expected > 0 {
            caller
                .hear_answer(&token, &format!("{}.response", asking.topic()))
                .await;
        }
        nothing_waits(forwarder.as_ref()).await;
        // What was sent before it has been seen by all, and their answers have come before its own.
        let fence = if kind == Kind::Ignoring { Static } else { Predecessor };
        let token_of_fence = caller.send(&fence.topic(), &fence.data("fence")).await;
        caller.wait(&token_of_fence, 1).await;
        nothing_waits(forwarder.as_ref()).await;
        caller.catch_up().await;
        // What the host answered to the forwarded Message is for who forwarded it.
        let to_the_asker = |answer: &&Value| answer["context"]["toolhost_forwarded"].is_null();
        let answers: Vec<_> = caller.answers(&token).into_iter().filter(to_the_asker).collect();
        assert_eq!(answers.len(), expected, "{cell}: {answers:?}");
        assert_eq!(runs(&bus) - before, expected + 1, "{cell}: the tool ran once a call");
        for answer in answers {
            assert_eq!(answer["type"], format!("{}.response", asking.topic()), "{cell}");
            assert_eq!(answer["data"], asking.answer("ADA"), "{cell}");
            let context =
                json!({"token": token, "source": "tools", "destination": "caller", "session": {"session_id": "s"}});
            assert_eq!(answer["context"], context, "{cell}");
        }
    }
    if let Some(host) = forwarder {
        host.stop().await;
    }
}

#[tokio::test]
async fn a_host_from_before_the_specification() {
    row(Kind::Old, Forwarding::None, [1, 0, 0]).await;
    row(Kind::Old, Forwarding::ToPredecessor, [1, 1, 1]).await;
    row(Kind::Old, Forwarding::ToStatic, [1, 0, 1]).await;
}

#[tokio::test]
async fn a_host_of_both_topics() {
    row(Kind::Both, Forwarding::None, [1, 1, 0]).await;
    row(Kind::Both, Forwarding::ToPredecessor, [1, 1, 1]).await;
    row(Kind::Both, Forwarding::ToStatic, [1, 1, 1]).await;
}

#[tokio::test]
async fn a_toolhost() {
    row(Kind::Toolhost, Forwarding::None, [1, 1, 1]).await;
    row(Kind::Toolhost, Forwarding::ToPredecessor, [1, 1, 1]).await;
    row(Kind::Toolhost, Forwarding::ToStatic, [1, 1, 1]).await;
}

#[tokio::test]
async fn a_toolhost_that_ignores_the_predecessor() {
    row(Kind::Ignoring, Forwarding::None, [0, 1, 1]).await;
    row(Kind::Ignoring, Forwarding::ToPredecessor, [0, 1, 1]).await;
    row(Kind::Ignoring, Forwarding::ToStatic, [1, 1, 1]).await;
}
