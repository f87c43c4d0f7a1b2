//! A bus that takes nothing for a while, or little.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, call};
use crate::common::eventually::DEADLINE;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::measure::{Answers, at_gate, healthy_calls, hear, open_gate, peak_memory, someone_at_gate};

const CALLS: usize = 10_000;

/// A host whose toolbox `many` holds `CALLS` calls back, and their tokens.
async fn with_calls_on_hand(bus: &RealBus, tool: &str, kwargs: &Value) -> (Host, Caller, Vec<String>) {
    let mut many = moody(&json!({}));
    many["max_pending"] = CALLS.into();
    many["timeout"] = "5m".into();
    let config = json!({"bus": {"url": bus.url()}, "toolboxes": {"many": many, "healthy": moody(&json!({}))}});
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url()).await;
    let gate = host.folder().join("gate");
    caller
        .send_as(CALL, &call("many", "meet", &at_gate(&gate)), "gate")
        .await;
    someone_at_gate(&gate).await;
    let tokens: Vec<_> = (0..CALLS).map(|n| format!("token {n}")).collect();
    for token in &tokens {
        let mut kwargs = kwargs.clone();
        kwargs["token"] = token.as_str().into();
        caller.send_as(CALL, &call("many", tool, &kwargs), token).await;
    }
    wait_for(&host, "all calls wait", |many| many["calls"]["pending"] == CALLS).await;
    (host, caller, tokens)
}

async fn wait_for(host: &Host, what: &str, wanted: impl Fn(&Value) -> bool) {
    // More calls than elsewhere, and a bus in Python.
    let start = std::time::Instant::now();
    while !wanted(&host.toolbox("many")) {
        assert!(
            start.elapsed() < 3 * DEADLINE,
            "never: {what}: {}",
            host.toolbox("many")
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The toolbox answers them all while the bus is stopped: nothing it does waits for the bus.
async fn answered_to_a_stopped_bus(host: &Host, bus: &RealBus) {
    bus.signal(Signal::SIGSTOP);
    open_gate(&host.folder().join("gate"));
    wait_for(host, "all calls are answered", |many| many["calls"]["ok"] == CALLS + 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_answers_to_a_bus_that_stopped_reading_wait_for_it_and_come_once() {
    let bus = RealBus::start().await;
    let (host, mut caller, tokens) = with_calls_on_hand(&bus, "echo", &json!({})).await;
    answered_to_a_stopped_bus(&host, &bus).await;
    let peak = peak_memory(&host);
    assert!(peak < 200, "{peak} MiB");
    bus.signal(Signal::SIGCONT);
    // Said behind all that waits, so that what was not heard by then is lost.
    healthy_calls(&mut caller, 1).await;
    let answers = Answers::of(&caller);
    let mut lost = 0;
    for token in &tokens {
        match answers.to(token) {
            Some(outcome) => assert_eq!(outcome, Ok(json!({"token": token}))),
            None => lost += 1,
        }
    }
    // Only where this machine was so slow that the link was given up; and then it is told.
    assert!(
        lost == 0 || host.log().contains("no sign of life from the bus"),
        "{lost} lost"
    );
    println!("{peak} MiB at most, {lost} lost");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_answers_than_may_wait_for_a_stopped_bus_are_given_up_in_words_and_never_doubled() {
    let bus = RealBus::start().await;
    // A hundred megabytes.
    let (host, mut caller, tokens) = with_calls_on_hand(&bus, "big", &json!({"bytes": 10_000})).await;
    answered_to_a_stopped_bus(&host, &bus).await;
    let peak = peak_memory(&host);
    assert!(peak < 300, "{peak} MiB");
    bus.signal(Signal::SIGCONT);
    healthy_calls(&mut caller, 1).await;
    let answers = Answers::of(&caller);
    let came = tokens.iter().filter(|token| answers.to(token).is_some()).count();
    assert!((1..CALLS).contains(&came), "{came} came");
    let log = host.log();
    let told = log
        .lines()
        .find(|line| line.contains("frames given up"))
        .expect("a line in the log");
    let address = format!("127.0.0.1:{}", bus.port());
    for part in [address.as_str(), "wait for the bus", "ovos.persona.tools.call.response"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    println!("{peak} MiB at most, {came} of {CALLS} came");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bus_that_works_in_fits_and_starts_loses_nothing() {
    let bus = RealBus::start().await;
    let many = moody(&json!({}));
    let config = json!({"bus": {"url": bus.url()}, "toolboxes": {"healthy": many}});
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut tokens = Vec::new();
    for fit in 0..10 {
        for n in 0..100 {
            let token = format!("fit {fit} call {n}");
            let kwargs = json!({"token": token, "padding": "x".repeat(5000)});
            caller.send_as(CALL, &call("healthy", "echo", &kwargs), &token).await;
            tokens.push(token);
        }
        bus.signal(Signal::SIGSTOP);
        tokio::time::sleep(Duration::from_millis(200)).await;
        bus.signal(Signal::SIGCONT);
        hear(&mut caller, tokens.len()).await;
    }
    let answers = Answers::of(&caller);
    for token in &tokens {
        let answer = answers.to(token).expect("an answer").expect("a result");
        assert_eq!(answer["token"], token.as_str());
    }
    host.stop().await;
}
