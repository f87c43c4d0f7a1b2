//! Several hosts on one bus, and callers of before.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, DISCOVER, LIST, call, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, fixture, moody};
use crate::common::peers::{RealBus, python_command};

fn config(url: &str, toolbox_id: &str) -> Value {
    json!({"bus": {"url": url}, "toolboxes": {toolbox_id: moody(&json!({}))}})
}

fn tool_service(host: &Host) -> Value {
    host.status().expect("the host tells its status")["host"]["tool_service"].clone()
}

/// A process that is ended with the test.
struct Peer(Child);

impl Peer {
    fn start(command: &mut Command) -> Self {
        Self(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts"),
        )
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Asks for the list until somebody answers, and answers who: the toolbox_ids listed.
async fn listed(caller: &mut Caller) -> Vec<String> {
    let answer = caller.ask(LIST, &json!({})).await;
    let tools = answer["tools"].as_array().expect("tools");
    let mut ids: Vec<_> = tools
        .iter()
        .map(|tool| tool["toolbox_id"].as_str().unwrap().to_owned())
        .collect();
    ids.dedup();
    ids
}

#[tokio::test]
async fn beside_the_shipped_tool_service_toolhost_is_silent_and_says_so() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let script = fixture("shipped_tool_service.py");
    let _service = Peer::start(python_command(bus.folder()).args([&script, &bus.port().to_string()]));
    // Its own word that it is on the bus.
    caller.hear_topic("test.shipped_tool_service.ready").await;
    let host = Host::start(&config(&bus.url(), "a")).await;
    eventually("toolhost is silent", || tool_service(&host) == "silent").await;
    assert!(
        host.log()
            .contains("another tool service answers ovos.tools.* on this bus")
    );
    assert!(!listed(&mut caller).await.contains(&"a".to_owned()), "the other's list");
    assert_eq!(
        caller.call("a", "echo", &json!({"n": 1})).await,
        Ok(json!({"n": 1})),
        "its tools stay"
    );
    caller.catch_up().await;
    assert!(caller.nothing_was_answered_twice());
    host.stop().await;
}

#[tokio::test]
async fn of_two_toolhosts_started_together_one_answers() {
    let bus = Embedded::start().await;
    let (mut first, mut second) = (
        Host::launch(&config(&bus.url, "a")),
        Host::launch(&config(&bus.url, "b")),
    );
    first.ready().await;
    second.ready().await;
    eventually("one of them is silent", || {
        let states = [tool_service(&first), tool_service(&second)];
        states.contains(&"silent".into()) && states.contains(&"answering".into())
    })
    .await;
    let mut caller = Caller::connect(&bus.url).await;
    for _ in 0..5 {
        assert_eq!(listed(&mut caller).await.len(), 1);
    }
    let discover = caller.send(DISCOVER, &json!({})).await;
    assert_eq!(caller.wait(&discover, 2).await.len(), 2, "both are discovered");
    for toolbox_id in ["a", "b"] {
        assert_eq!(caller.call(toolbox_id, "echo", &json!({})).await, Ok(json!({})));
    }
    caller.catch_up().await;
    assert!(caller.nothing_was_answered_twice());
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn two_hosts_of_one_toolbox_id_are_told_in_log_and_status() {
    let bus = Embedded::start().await;
    let first = Host::start(&config(&bus.url, "twice")).await;
    let second = Host::start(&config(&bus.url, "twice")).await;
    let told = |host: &Host| {
        let conflicts = host.status().unwrap()["host"]["conflicts"].to_string();
        conflicts.contains("twice")
            && host
                .log()
                .contains("another host on this bus answers for the same name")
    };
    eventually("the second knows it", || told(&second)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let discover = caller.send(DISCOVER, &json!({})).await;
    assert_eq!(caller.wait(&discover, 2).await.len(), 2);
    eventually("so does the first", || told(&first)).await;
    assert_eq!(
        caller.ask(CALL, &call("twice", "echo", &json!({}))).await["result"],
        json!({}),
        "both work on"
    );
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn an_old_caller_is_named_once_where_the_owner_wants_it_and_unheard_where_not() {
    let bus = Embedded::start().await;
    let with = |policy: &str| {
        let mut toolbox = moody(&json!({}));
        toolbox["predecessor_topics"] = policy.into();
        toolbox
    };
    let toolboxes = json!({"warns": with("warn"), "ignores": with("ignore"), "answers": with("answer")});
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
    let mut caller = Caller::connect(&bus.url).await;
    let old = json!({"name": "echo", "kwargs": {"n": 1}});
    for _ in 0..3 {
        for toolbox_id in ["warns", "answers"] {
            let answer = caller.ask(&predecessor(toolbox_id), &old).await;
            assert_eq!(answer, json!({"toolbox_id": toolbox_id, "result": {"n": 1}}));
        }
        assert!(caller.stays_unanswered(&predecessor("ignores"), &old).await);
    }
    assert_eq!(
        caller.call("ignores", "echo", &json!({})).await,
        Ok(json!({})),
        "the static topic is another matter"
    );
    let log = host.log();
    let named: Vec<_> = log
        .lines()
        .filter(|line| line.contains("call on a predecessor topic"))
        .collect();
    let [line] = named[..] else { panic!("once: {named:?}") };
    assert!(
        line.contains("ovos.persona.tools.warns.call") && line.contains("source=caller"),
        "{line}"
    );
    host.stop().await;
}
