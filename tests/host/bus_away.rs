//! The bus comes late, dies under load and comes back.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, call};
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::common::ports::free_port;

/// Calls without end, half of them to a tool that takes its time, until the bus is gone.
async fn load(url: String, round: usize) {
    let mut caller = Caller::connect(&url).await;
    for n in 0.. {
        let token = format!("round {round} call {n}");
        let (toolbox_id, tool) = if n % 2 == 0 {
            ("quick", "echo")
        } else {
            ("slow", "late_echo")
        };
        let data = call(toolbox_id, tool, &json!({"token": token, "seconds": 0.3}));
        if !caller.try_send(CALL, &data, &token).await {
            return;
        }
        // A pause of a caller, not a wait for anything: the bus would only queue more.
        tokio::time::sleep(std::time::Duration::from_millis(4)).await;
    }
}

/// The tokens of the calls that reached a process.
fn received(calls: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(calls).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// How many frames a log says were given up.
fn given_up(log: &str) -> usize {
    let lines = log.lines().filter(|line| line.contains("frames given up"));
    let counts = lines.filter_map(|line| line.split(" frames=").nth(1)?.split(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

fn is_idle(toolbox: &Value) -> bool {
    let processes = toolbox["processes"].as_array().expect("processes");
    toolbox["calls"]["pending"] == 0 && processes.iter().all(|process| process["in_flight"] == 0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bus_killed_three_times_under_load_doubles_no_answer_and_costs_one_a_time_at_most() {
    let mut bus = RealBus::start().await;
    let calls = bus.folder().join("calls");
    let toolbox = moody(&json!({"capabilities": ["concurrent"], "calls_file": calls}));
    let config = json!({"bus": {"url": bus.url()}, "toolboxes": {"quick": toolbox.clone(), "slow": toolbox}});
    let host = Host::start(&config).await;
    let pids = [host.pid_of("quick"), host.pid_of("slow")];
    let mut listener = Caller::connect(&bus.url()).await;
    for round in 0..3 {
        let load = tokio::spawn(load(bus.url(), round));
        listener.hear_answers(100).await;
        bus.kill();
        while listener.hear().await {}
        load.await.expect("the callers end with the bus");
        // Answers that were not ready when the bus died become so while it is away.
        eventually("every call has come to its end", || {
            ["quick", "slow"]
                .iter()
                .all(|toolbox_id| is_idle(&host.toolbox(toolbox_id)))
        })
        .await;
        // The listener is to be on the new bus first, or it would miss what the host still has to say.
        host.signal(Signal::SIGSTOP);
        bus.restart().await;
        listener.reconnect(&bus.url()).await;
        host.signal(Signal::SIGCONT);
        eventually("the host is back", || {
            host.status().is_some_and(|s| s["host"]["bus"]["state"] == "connected")
        })
        .await;
        // Said after everything that waited.
        assert_eq!(listener.call("slow", "echo", &json!({})).await, Ok(json!({})));
        let received = received(&calls);
        let tokens = || received.iter().filter(|token| *token != "None");
        let doubled: Vec<_> = tokens().filter(|token| listener.answers(token).len() > 1).collect();
        assert_eq!(doubled, Vec::<&String>::new(), "answered twice, round {round}");
        let lost: Vec<_> = tokens().filter(|token| listener.answers(token).is_empty()).collect();
        // Where this machine leaves the host no time, what the bus said last is lost, and the log counts what hangs on it.
        assert!(
            lost.len() <= (round + 1).max(given_up(&host.log())),
            "lost in round {round}: {lost:?}"
        );
        assert!(lost.is_empty() || given_up(&host.log()) > 0, "the log tells of it");
    }
    assert_eq!(
        [host.pid_of("quick"), host.pid_of("slow")],
        pids,
        "the processes never noticed"
    );
    host.stop().await;
}

#[tokio::test]
async fn a_bus_that_comes_after_the_host_is_served() {
    let mut bus = RealBus::prepare(free_port(), "");
    let config = json!({"bus": {"url": bus.url()}, "toolboxes": {"a": moody(&json!({}))}});
    let host = Host::launch(&config);
    eventually("the toolbox is up without a bus", || {
        host.status()
            .is_some_and(|status| status["toolboxes"][0]["state"] == "ready")
    })
    .await;
    let status = host.status().expect("the host tells its status");
    assert_eq!(status["host"]["bus"]["state"], "connecting");
    bus.restart().await;
    eventually("the host is on the bus", || {
        host.status().is_some_and(|s| s["host"]["bus"]["state"] == "connected")
    })
    .await;
    let mut caller = Caller::connect(&bus.url()).await;
    assert_eq!(caller.call("a", "echo", &json!({"n": 1})).await, Ok(json!({"n": 1})));
    host.stop().await;
}
