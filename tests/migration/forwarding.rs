//! Forwarding beside others who forward, to hosts that learn, and to hosts that say nothing.

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, GET, INVOKE, LIST, call, outcome, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::hosts::{Hosting, Kind, TOOLBOX, runs};

fn config(url: &str, migrate: &Value) -> Value {
    json!({"bus": {"url": url}, "migrate": migrate, "toolboxes": {"unrelated": moody(&json!({}))}})
}

fn forward(host: &Host) -> Value {
    host.status().expect("a status")["forwards"][0].clone()
}

fn shout(text: &str) -> Value {
    call(TOOLBOX, "shout", &json!({"text": text}))
}

/// The answers that are for the asker, once nobody has anything in hand any more.
async fn answers(caller: &mut Caller, token: &str, topic: &str, hosts: &[&Host]) -> Vec<Value> {
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
async fn of_two_toolhosts_that_forward_the_same_one_does_and_the_other_takes_over() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let migrate = json!({"to_predecessor": [TOOLBOX]});
    let first = Host::start(&config(&bus.url(), &migrate)).await;
    let second = Host::start(&config(&bus.url(), &migrate)).await;
    let warned = |host: &Host| host.log().contains("another toolhost forwards the same toolbox");
    eventually("they know of each other", || warned(&first) && warned(&second)).await;
    for n in 0..5 {
        let token = caller.send(CALL, &shout("ada")).await;
        let answers = answers(&mut caller, &token, CALL, &[&first, &second]).await;
        assert_eq!((answers.len(), runs(&bus)), (1, n + 1), "{answers:?}");
    }
    let counts = [&first, &second].map(|host| forward(host)["forwarded"].as_u64().expect("a number"));
    assert!(
        counts.contains(&5) && counts.contains(&0),
        "one of them forwarded all: {counts:?}"
    );
    let (active, idle) = if counts[0] == 5 {
        (first, second)
    } else {
        (second, first)
    };
    active.stop().await;
    let token = caller.send(CALL, &shout("ada")).await;
    assert_eq!(answers(&mut caller, &token, CALL, &[&idle]).await.len(), 1);
    assert_eq!(runs(&bus), 6);
    idle.stop().await;
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
    // Somebody looks around, or the host is asked again in a while.
    caller.send("ovos.persona.tools.discover", &json!({})).await;
    eventually("it is known to be an old one again", || {
        forward(&host)["learned"] == false
    })
    .await;
    let token = caller.send(CALL, &shout("ada")).await;
    assert_eq!(answers(&mut caller, &token, CALL, &[&host]).await.len(), 1);
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
    let expected = "TimeoutError: 'x' did not answer within 300ms; the host it was forwarded to was silent";
    for topic in [CALL.to_owned(), predecessor("nobody")] {
        let token = caller.send(&topic, &call).await;
        let answer = caller.hear_answer(&token, &format!("{topic}.response")).await;
        assert_eq!(answer["error"], expected, "{topic}");
    }
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
