//! A bus full of Messages that are for others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use toolhost::bus::link::{FrameHandler, Sender, Transport as _};

use crate::common::caller::Caller;
use crate::common::embedded::Embedded;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::common::ports::free_port;
use crate::common::raw::Raw;
use crate::measure::{healthy_calls, peak_memory};

/// A Message as skills and the intent service send them.
const FOREIGN: &str = r#"{"type":"intent.service.skills.activated","data":{"skill_id":"skill-weather.openvoiceos","utterance":"what is the weather like"},"context":{"source":"intents","destination":["skills"],"session":{"session_id":"default","lang":"en-US"}}}"#;

struct Deaf;

impl FrameHandler for Deaf {
    fn frame(&mut self, _: Utf8Bytes) {}
}

/// Sends foreign Messages from inside the bus: 50,000 a second, or as many as the slowest client takes; tells how many.
fn flood(sender: Sender, over: Arc<AtomicBool>) -> JoinHandle<usize> {
    tokio::spawn(async move {
        let (start, mut sent) = (Instant::now(), 0usize);
        while !over.load(Ordering::Relaxed) {
            let due = usize::try_from(start.elapsed().as_millis()).expect("a short time") * 50;
            while sent < due && !sender.is_crowded() {
                sender.send(FOREIGN.into());
                sent += 1;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        sent
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bus_with_50000_foreign_messages_a_second_costs_no_healthy_call_and_no_memory() {
    let bus = Embedded::start().await;
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": {"healthy": moody(&json!({}))}})).await;
    let pid = host.pid_of("healthy");
    let mut caller = Caller::connect(&bus.url).await;
    let inside = bus.hub.attach(CancellationToken::new());
    let (sender, over) = (inside.sender(), Arc::new(AtomicBool::new(false)));
    tokio::spawn(inside.run(Deaf));
    let flood = flood(sender, Arc::clone(&over));
    let start = Instant::now();
    let mut calls = 0;
    while start.elapsed() < Duration::from_secs(4) {
        healthy_calls(&mut caller, 20).await;
        calls += 20;
    }
    over.store(true, Ordering::Relaxed);
    let sent = flood.await.expect("the flood");
    let peak = peak_memory(&host);
    println!("{sent} foreign Messages in 4 s, {calls} calls beside them, {peak} MiB at most");
    assert!(sent > 20_000, "{sent} are no flood");
    assert!(peak < 200, "{peak} MiB");
    assert_eq!(host.pid_of("healthy"), pid);
    assert!(!host.log().contains("link to the bus is lost"), "{}", host.log());
    host.stop().await;
}

/// Healthy calls on a bus that relays foreign Messages as fast as it can.
async fn calls_on_a_busy_bus(host: Host, url: &str) {
    let mut caller = Caller::connect(url).await;
    let over = Arc::new(AtomicBool::new(false));
    let mut flooder = Raw::connect(url).await;
    let flood = tokio::spawn({
        let over = Arc::clone(&over);
        async move {
            let mut sent = 0usize;
            // What the bus cannot relay yet it would only keep.
            while !over.load(Ordering::Relaxed) {
                for _ in 0..200 {
                    flooder.send(FOREIGN).await;
                }
                sent += 200;
                flooder.sync(&format!(r#"{{"type":"marker.{sent}"}}"#)).await;
            }
            sent
        }
    });
    healthy_calls(&mut caller, 100).await;
    over.store(true, Ordering::Relaxed);
    let (sent, peak) = (flood.await.expect("the flood"), peak_memory(&host));
    println!("{sent} foreign Messages, {peak} MiB at most");
    assert!(peak < 200, "{peak} MiB");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_bus_kept_busy_with_foreign_messages_costs_no_healthy_call() {
    let bus = RealBus::start().await;
    let host = Host::start(&json!({"bus": {"url": bus.url()}, "toolboxes": {"healthy": moody(&json!({}))}})).await;
    calls_on_a_busy_bus(host, &bus.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bus_within_the_host_kept_busy_with_foreign_messages_costs_no_healthy_call() {
    let port = free_port();
    let mut host = Host::launch_with(&json!({"toolboxes": {"healthy": moody(&json!({}))}}), |command| {
        command.arg(format!("--embedded-bus=127.0.0.1:{port}"));
    });
    host.ready().await;
    calls_on_a_busy_bus(host, &format!("ws://127.0.0.1:{port}/core")).await;
}
