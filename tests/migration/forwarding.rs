//! Forwarding beside others who forward, to hosts that learn, and to hosts that say nothing.

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, GET, INVOKE, LIST, call, outcome, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::hosts::{Hosting, Kind, TOOLBOX, runs, toolbox};

pub(crate) fn config(url: &str, migrate: &Value) -> Value {
    json!({"bus": {"url": url}, "migrate": migrate, "toolboxes": {"unrelated": moody(&json!({}))}})
}

pub(crate) fn forward(host: &Host) -> Value {
    host.status().expect("a status")["forwards"][0].clone()
}

pub(crate) fn shout(text: &str) -> Value {
    call(TOOLBOX, "shout", &json!({"text": text}))
}

/// The answers that are for the asker, once nobody has anything in hand any more.
pub(crate) async fn answers(caller: &mut Caller, token: &str, topic: &str, hosts: &[&Host]) -> Vec<Value> {
    caller.hear_answer(token, &format!("{topic}.response")).await;
    for host in hosts {
        eventually("every call is decided and answered", || forward(host)["waiting"] == 0).await;
    }
    caller.catch_up().await;
    let to_the_asker = |answer: &&Value| answer["context"]["toolhost_forwarded"].is_null();
    caller
        .answers(token)
        .into_iter()
        .filter(to_the_asker)
        .cloned()
        .collect()
}

#[tokio::test]
async fn two_toolhosts_that_forward_against_each_other_make_no_loop() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let there = Host::start(&config(&bus.url(), &json!({"to_predecessor": [TOOLBOX]}))).await;
    let back = Host::start(&config(&bus.url(), &json!({"to_static": [TOOLBOX]}))).await;
    for (n, topic) in [CALL.to_owned(), predecessor(TOOLBOX), CALL.to_owned()]
        .into_iter()
        .enumerate()
    {
        let token = caller.send(&topic, &shout("ada")).await;
        let answers = answers(&mut caller, &token, &topic, &[&there, &back]).await;
        assert_eq!(answers.len(), 1, "{topic}: {answers:?}");
        assert_eq!(answers[0]["data"]["result"], json!({"text": "ADA"}));
        assert_eq!(runs(&bus), n + 1, "{topic}");
    }
    there.stop().await;
    back.stop().await;
}

#[tokio::test]
async fn a_host_that_has_learned_the_topic_is_left_to_answer_and_forwarded_to_again_after_a_step_back() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let host = Host::start(&config(&bus.url(), &json!({"to_predecessor": [TOOLBOX]}))).await;
    let token = caller.send(CALL, &shout("ada")).await;
    assert_eq!(answers(&mut caller, &token, CALL, &[&host]).await.len(), 1);

    old.end();
    let mut new = Hosting::start(Kind::Both, &bus, &mut caller).await;
    for n in 2..5 {
        let token = caller.send(CALL, &shout("ada")).await;
        let answers = answers(&mut caller, &token, CALL, &[&host]).await;
        assert_eq!((answers.len(), runs(&bus)), (1, n), "{answers:?}");
    }
    let status = forward(&host);
    assert_eq!((&status["forwarded"], &status["learned"]), (&json!(1), &json!(true)));
    assert!(
        host.log().contains("its calls are no longer forwarded"),
        "{}",
        host.log()
    );

    new.end();
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    for n in 5..7 {
        let token = caller.send(CALL, &shout("ada")).await;
        assert_eq!(answers(&mut caller, &token, CALL, &[&host]).await.len(), 1);
        assert_eq!(runs(&bus), n);
    }
    assert!(host.log().contains("its calls are forwarded again"), "{}", host.log());
    host.stop().await;
}

#[tokio::test]
async fn the_tools_of_a_forwarded_host_stand_in_the_flat_list_and_errors_come_through() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let host = Host::start(&config(&bus.url(), &json!({"to_predecessor": [TOOLBOX]}))).await;
    eventually("it knows the tools", || forward(&host)["tools"] == 1).await;
    let list = caller.ask(LIST, &json!({})).await;
    let tools = list["tools"].as_array().expect("tools");
    let shouting = tools.iter().find(|tool| tool["name"] == "shout").expect("it is listed");
    assert_eq!(shouting["toolbox_id"], TOOLBOX);
    assert_eq!(caller.ask(GET, &json!({"name": "shout"})).await, *shouting);
    let token = caller.send(CALL, &shout("")).await;
    let answer = caller.hear_answer(&token, &format!("{CALL}.response")).await;
    let error = outcome(&answer).expect_err("it raises");
    let token = caller
        .send(INVOKE, &json!({"name": "shout", "args": {"text": ""}}))
        .await;
    let flat = caller.hear_answer(&token, &format!("{INVOKE}.response")).await;
    assert_eq!(flat, json!({"name": "shout", "error": error}), "the words of the host");
    assert!(error.contains("Error: "), "{error}");
    let token = caller.send(CALL, &json!({"toolbox_id": TOOLBOX})).await;
    let unnamed = caller.hear_answer(&token, &format!("{CALL}.response")).await;
    assert!(unnamed["error"].is_string(), "{unnamed}");
    host.stop().await;
}

#[tokio::test]
async fn a_host_that_says_nothing_costs_a_timeout_and_one_that_is_stopped_an_error() {
    let bus = Embedded::start().await;
    let mut caller = Caller::connect(&bus.url).await;
    let migrate = json!({"to_predecessor": ["nowhere"], "to_static": ["nobody"], "timeout": "300ms"});
    let mut host = Host::start(&config(&bus.url, &migrate)).await;
    let call = json!({"toolbox_id": "nowhere", "name": "x", "kwargs": {}});
    let expected = "TimeoutError: 'x' did not answer within 300ms; no host of its toolbox was heard on this bus";
    for topic in [CALL.to_owned(), predecessor("nobody")] {
        let token = caller.send(&topic, &call).await;
        let answer = caller.hear_answer(&token, &format!("{topic}.response")).await;
        assert_eq!(answer["error"], expected, "{topic}");
    }
    assert!(
        host.log().contains("is the id under `migrate:` right"),
        "{}",
        host.log()
    );
    let mut slow = migrate.clone();
    slow["timeout"] = "60s".into();
    host.write_config(&config(&bus.url, &slow));
    host.signal(nix::sys::signal::Signal::SIGHUP);
    eventually("the configuration is read again", || host.log().contains("reloaded")).await;
    let token = caller.send(CALL, &call).await;
    let forwarded = || host.status().expect("a status")["forwards"].to_string();
    eventually("the call is on its way", || forwarded().contains(r#""forwarded":2"#)).await;
    host.signal(nix::sys::signal::Signal::SIGTERM);
    let answer = caller.hear_answer(&token, &format!("{CALL}.response")).await;
    assert_eq!(
        answer["error"],
        "ToolboxUnavailable: the toolhost that forwarded the call was stopped"
    );
    assert_eq!(host.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_slow_tool_of_a_host_of_both_topics_runs_once() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _both = Hosting::start(Kind::Both, &bus, &mut caller).await;
    for (migrate, topic) in [("to_static", predecessor(TOOLBOX)), ("to_predecessor", CALL.to_owned())] {
        let host = Host::start(&config(&bus.url(), &json!({migrate: [TOOLBOX]}))).await;
        // A probe, or its answer to discover, shows that it answers both.
        eventually("what the host answers is known", || forward(&host)["learned"] == true).await;
        let before = runs(&bus);
        let token = caller.send(&topic, &shout("slow")).await;
        let answers = answers(&mut caller, &token, &topic, &[&host]).await;
        assert_eq!((answers.len(), runs(&bus) - before), (1, 1), "{migrate}: {answers:?}");
        assert_eq!(forward(&host)["forwarded"], 0, "{migrate}");
        host.stop().await;
    }
}

#[tokio::test]
async fn callers_of_the_predecessor_are_answered_on_when_their_host_drops_it_and_when_it_takes_it_up_again() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let hosting = Hosting::start(Kind::Toolhost, &bus, &mut caller).await;
    let Hosting::Toolhost(hosting) = &hosting else {
        panic!("a toolhost")
    };
    let host = Host::start(&config(&bus.url(), &json!({"to_static": [TOOLBOX]}))).await;
    let (mut reloads, mut expected, pid) = (0, 0, hosting.pid_of(TOOLBOX));
    for (kind, forwarded, log) in [
        (Kind::Toolhost, 0, "its calls are no longer forwarded"),
        (Kind::Ignoring, 3, "its calls are forwarded again"),
        (Kind::Toolhost, 3, "its calls are no longer forwarded"),
    ] {
        hosting.write_config(&json!({"bus": {"url": bus.url()}, "toolboxes": {TOOLBOX: toolbox(kind, &bus)}}));
        hosting.signal(nix::sys::signal::Signal::SIGHUP);
        reloads += 1;
        eventually("the policy is changed", || {
            hosting.log().matches("reloaded").count() == reloads
        })
        .await;
        for _ in 0..3 {
            expected += 1;
            let token = caller.send(&predecessor(TOOLBOX), &shout("ada")).await;
            let answers = answers(&mut caller, &token, &predecessor(TOOLBOX), &[&host]).await;
            assert_eq!((answers.len(), runs(&bus)), (1, expected), "{kind:?}: {answers:?}");
        }
        assert_eq!(forward(&host)["forwarded"], forwarded, "{kind:?}");
        assert!(host.log().contains(log), "{}", host.log());
    }
    assert_eq!(hosting.pid_of(TOOLBOX), pid, "the policy is nothing of the toolbox's");
    host.stop().await;
}
