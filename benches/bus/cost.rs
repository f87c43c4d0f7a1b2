//! What hosting costs: processor time, memory, time to be ready, time to list everything.

use std::time::Instant;

use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::Plan;
use crate::caller::{Caller, Plain, nanos};
use crate::parts::{Echo, Running, Shipped, bare_bus, listening, toolhost};
use crate::table::{pair, percentile};

const FEW: usize = 10;
const MANY: usize = 100;

/// Bytes of a Message that is for somebody else.
const FOREIGN: usize = 424;

/// All of it, a line each: how many times the shipped service's number is toolhost's.
pub(crate) async fn compare(plan: &Plan) {
    println!(
        "\nwhat hosting costs\n{:>9}  {:>10}  {:>10}",
        "ratio", "toolhost", "shipped"
    );
    foreign(plan).await;
    few(plan).await;
    many(plan).await;
}

async fn foreign(plan: &Plan) {
    let frame = foreign_message();
    let (_bus, url) = bare_bus();
    let (host, _) = toolhost(1, Echo::Rust, Some(&url));
    let mut caller = Caller::join(&url).await;
    caller.ready().await;
    caller.leave().await;
    let ours = cpu_of_flood(&host, &url, &frame, plan.foreign).await;
    let theirs = match &plan.peers {
        Some(python) => {
            let (_bus, url) = bare_bus();
            let service = Shipped::service(python, &url, 1);
            Some(cpu_of_flood(&service.running, &url, &frame, plan.foreign / 20).await)
        }
        None => None,
    };
    println!("{}", pair("CPU a Message for somebody else, 424 B", ours, theirs, "us"));
    let (host, url) = toolhost(1, Echo::Rust, None);
    listening(&url);
    let mut caller = Caller::join(&url).await;
    caller.ready().await;
    caller.leave().await;
    let ours = cpu_of_flood(&host, &url, &frame, plan.foreign).await;
    println!("{}", pair("the same, and relaying it as the bus", ours, None, "us"));
}

fn foreign_message() -> Utf8Bytes {
    let (head, tail) = (
        r#"{"type":"recognizer_loop:audio_output_start","data":{"text":""#,
        r#""},"context":{}}"#,
    );
    let text = "x".repeat(FOREIGN - head.len() - tail.len());
    format!("{head}{text}{tail}").into()
}

/// Microseconds of processor time that one of `count` Messages costs a host.
async fn cpu_of_flood(host: &Running, url: &str, frame: &Utf8Bytes, count: usize) -> f64 {
    let before = host.cpu();
    Plain::join(url).await.flood(frame.clone(), count).await;
    (host.cpu() - before).as_secs_f64() * 1e6 / count as f64
}

async fn few(plan: &Plan) {
    let mut ours = (Vec::new(), Vec::new());
    let mut python = Vec::new();
    let mut theirs = (Vec::new(), Vec::new());
    for _ in 0..plan.blocks.min(5) {
        let (time, rss) = ready(Echo::Rust).await;
        ours.0.push(time);
        ours.1.push(rss);
        python.push(ready(Echo::Python).await.0);
        if let Some(peers) = &plan.peers {
            let (_bus, url) = bare_bus();
            let start = Instant::now();
            let service = Shipped::service(peers, &url, FEW);
            theirs.0.push(nanos(start));
            theirs.1.push(service.running.rss_kib());
        }
    }
    let median = |values: &Vec<u64>, scale: f64| percentile(values.iter().copied(), 50) as f64 / scale;
    let shipped = |values: &Vec<u64>, scale: f64| plan.peers.as_ref().map(|_| median(values, scale));
    let (time, rss) = (shipped(&theirs.0, 1e6), shipped(&theirs.1, 1024.0));
    println!("{}", pair("ready, 10 Rust toolboxes", median(&ours.0, 1e6), time, "ms"));
    println!(
        "{}",
        pair("ready, 10 Python toolboxes", median(&python, 1e6), time, "ms")
    );
    println!(
        "{}",
        pair(
            "memory with 10 toolboxes, children apart",
            median(&ours.1, 1024.0),
            rss,
            "MiB"
        )
    );
}

/// Time in ns until ten toolboxes are up, and memory in KiB then.
async fn ready(echo: Echo) -> (u64, u64) {
    let start = Instant::now();
    let (host, url) = toolhost(FEW, echo, None);
    listening(&url);
    let mut caller = Caller::join(&url).await;
    let time = caller.ready_since(start).await;
    caller.leave().await;
    (time, host.rss_kib())
}

async fn many(plan: &Plan) {
    let (_host, url) = toolhost(MANY, Echo::Rust, None);
    listening(&url);
    let mut ours = Caller::join(&url).await;
    ours.ready().await;
    let mut peer = match &plan.peers {
        Some(python) => {
            let (bus, url) = bare_bus();
            let service = Shipped::service(python, &url, MANY);
            Some((bus, service, Caller::join(&url).await))
        }
        None => None,
    };
    let (mut times, mut peer_times) = (Vec::new(), Vec::new());
    for _ in 0..plan.blocks * 3 {
        times.push(ours.discover(MANY).await);
        if let Some((.., caller)) = &mut peer {
            peer_times.push(caller.discover(MANY).await);
        }
    }
    let median = |times: &[u64]| percentile(times.iter().copied(), 50) as f64 / 1e6;
    let theirs = peer.is_some().then(|| median(&peer_times));
    println!(
        "{}",
        pair(
            "discover, 100 toolboxes, until the last answer",
            median(&times),
            theirs,
            "ms"
        )
    );
    ours.leave().await;
    if let Some((.., caller)) = peer {
        caller.leave().await;
    }
}
