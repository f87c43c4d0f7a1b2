//! Several toolhosts that forward for one toolbox: one of them does, whatever becomes of its host, of it, and of the others.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, predecessor};
use crate::common::eventually::eventually;
use crate::common::host::Host;
use crate::common::peers::RealBus;
use crate::forwarding::{answers, config, forward, shout};
use crate::hosts::{Hosting, Kind, TOOLBOX, runs};

/// Two toolhosts that forward for the toolbox.
struct Pair {
    /// The one that does.
    active: Host,
    /// The one that would.
    idle: Host,
}

impl Pair {
    async fn start(url: &str, way: &str) -> Self {
        let config = config(url, &json!({way: [TOOLBOX]}));
        let (first, second) = (Host::start(&config).await, Host::start(&config).await);
        let knows = |host: &Host| host.log().contains("another toolhost forwards the same toolbox");
        eventually("they know of each other", || knows(&first) && knows(&second)).await;
        match first.log().contains("forwards_here=true") {
            true => Self {
                active: first,
                idle: second,
            },
            false => Self {
                active: second,
                idle: first,
            },
        }
    }

    fn forwarded(&self) -> [Value; 2] {
        [&self.active, &self.idle].map(|host| forward(host)["forwarded"].clone())
    }

    async fn stop(self) {
        self.active.stop().await;
        self.idle.stop().await;
    }
}

/// Calls once: there is one answer, and the tool runs once.
async fn call_once(caller: &mut Caller, bus: &RealBus, topic: &str, hosts: &[&Host]) {
    let before = runs(bus);
    let token = caller.send(topic, &shout("ada")).await;
    let answers = answers(caller, &token, topic, hosts).await;
    assert_eq!((answers.len(), runs(bus) - before), (1, 1), "{topic}: {answers:?}");
    assert_eq!(answers[0]["data"]["result"], json!({"text": "ADA"}), "{topic}");
}

#[tokio::test]
async fn one_forwards_and_both_leave_calls_to_a_host_that_has_learned_and_one_takes_up_again() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut hosting = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let pair = Pair::start(&bus.url(), "to_predecessor").await;
    for (kind, forwarded) in [(Kind::Old, 4), (Kind::Both, 4), (Kind::Old, 8)] {
        hosting.end();
        hosting = Hosting::start(kind, &bus, &mut caller).await;
        for _ in 0..4 {
            call_once(&mut caller, &bus, CALL, &[&pair.active, &pair.idle]).await;
        }
        assert_eq!(pair.forwarded(), [json!(forwarded), json!(0)], "{kind:?}");
    }
    pair.stop().await;
}

#[tokio::test]
async fn two_that_find_a_host_of_both_topics_leave_every_call_to_it() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _both = Hosting::start(Kind::Both, &bus, &mut caller).await;
    for (way, topic) in [("to_predecessor", CALL.to_owned()), ("to_static", predecessor(TOOLBOX))] {
        let pair = Pair::start(&bus.url(), way).await;
        for _ in 0..3 {
            call_once(&mut caller, &bus, &topic, &[&pair.active, &pair.idle]).await;
        }
        assert_eq!(pair.forwarded(), [json!(0), json!(0)], "{way}");
        pair.stop().await;
    }
}

#[tokio::test]
async fn one_forwards_to_a_host_of_the_replacement_only() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _ignoring = Hosting::start(Kind::Ignoring, &bus, &mut caller).await;
    let pair = Pair::start(&bus.url(), "to_static").await;
    for _ in 0..3 {
        call_once(&mut caller, &bus, &predecessor(TOOLBOX), &[&pair.active, &pair.idle]).await;
    }
    assert_eq!(pair.forwarded(), [json!(3), json!(0)]);
    pair.stop().await;
}

#[tokio::test]
async fn the_other_takes_over_from_one_that_stops_and_from_one_that_is_killed() {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let bus = RealBus::start().await;
        let mut caller = Caller::connect(&bus.url()).await;
        let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
        let mut pair = Pair::start(&bus.url(), "to_predecessor").await;
        call_once(&mut caller, &bus, CALL, &[&pair.active, &pair.idle]).await;
        pair.active.signal(signal);
        pair.active.ended().await;
        for _ in 0..3 {
            call_once(&mut caller, &bus, CALL, &[&pair.idle]).await;
        }
        assert_eq!(forward(&pair.idle)["forwarded"], 3, "{signal}");
        pair.idle.stop().await;
    }
}

/// Stops a host as Ctrl-Z does. Its threads go on for a while after the signal is sent, long enough to take a call.
async fn stand_still(host: &Host) {
    host.signal(Signal::SIGSTOP);
    let threads = format!("/proc/{}/task", host.pid());
    let is_stopped = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state comes after the name, which is in parentheses and may hold some.
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" T"))
    };
    eventually("none of its threads runs", || {
        let mut threads = std::fs::read_dir(&threads).expect("its threads").flatten();
        threads.all(is_stopped)
    })
    .await;
}

#[tokio::test]
async fn one_that_was_stopped_for_a_while_does_not_forward_what_the_other_has() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let pair = Pair::start(&bus.url(), "to_predecessor").await;
    call_once(&mut caller, &bus, CALL, &[&pair.active, &pair.idle]).await;
    stand_still(&pair.active).await;
    call_once(&mut caller, &bus, CALL, &[&pair.idle]).await;
    pair.active.signal(Signal::SIGCONT);
    // It has seen the call, and what the other did with it, when it has seen this one.
    call_once(&mut caller, &bus, CALL, &[&pair.active, &pair.idle]).await;
    assert_eq!(runs(&bus), 3);
    caller.catch_up().await;
    let to_askers = caller
        .heard()
        .iter()
        .filter(|answer| answer["type"] == format!("{CALL}.response"));
    assert_eq!(to_askers.count(), 3);
    pair.stop().await;
}
