//! `idle_timeout`: a process that nobody calls goes, and comes back with the next call; none is lost between.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolhost::config::{Start, ToolboxConfig};
use toolhost::supervisor::lifecycle::Grace;
use toolhost::supervisor::orders::{Done, Order, OrderEnd};
use toolhost::supervisor::status::Phase;

use crate::harness::{DEADLINE, Folder, Hosted, eventually, is_alive, moody};

const PATIENT: Grace = Grace {
    calls: Duration::from_secs(20),
    rung: Duration::from_secs(3),
};

impl Hosted {
    async fn told(&self, order: Order) -> OrderEnd {
        let end = tokio::time::timeout(DEADLINE, self.handle.order(order, PATIENT)).await;
        end.expect("carried out in time").expect("an end")
    }

    /// Waits until it sleeps, with no process left.
    async fn asleep(&self) {
        let asleep =
            |seen: &toolhost::supervisor::status::Snapshot| seen.phase == Phase::Asleep && seen.processes.is_empty();
        self.seen("it sleeps", asleep).await;
    }
}

/// A toolbox whose process goes after `milliseconds` without a call.
fn restless(own: &Value, milliseconds: u64) -> ToolboxConfig {
    ToolboxConfig {
        idle_timeout: Some(Duration::from_millis(milliseconds)),
        ..moody(own)
    }
}

fn noting_starts(mut config: ToolboxConfig, file: &Path) -> ToolboxConfig {
    config.env.0.insert("STARTS_FILE".into(), file.display().to_string());
    config
}

#[tokio::test]
async fn a_process_that_nobody_calls_goes_and_the_next_call_starts_another() {
    let toolbox = Hosted::start(restless(&json!({}), 300)).ready().await;
    let pid = toolbox.pid().await;
    toolbox.asleep().await;
    assert!(!is_alive(pid));
    assert!(
        toolbox.tools().await.unwrap().contains(&"echo".to_owned()),
        "it is published all the same"
    );
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    toolbox.asleep().await;
    assert_eq!(toolbox.handle.snapshot().await.unwrap().restarts, 0, "nothing failed");
    let again = toolbox.pid().await;
    assert_ne!(again, pid);
}

#[tokio::test]
async fn a_call_that_takes_longer_than_that_is_finished_first() {
    let toolbox = Hosted::start(restless(&json!({}), 100)).ready().await;
    let long = json!({"seconds": 1.5});
    let behind = toolbox.send("late_echo", long.clone());
    let waiting = toolbox.send("late_echo", json!({"seconds": 0.2, "n": 2}));
    assert_eq!(behind.get().await, Ok(long));
    assert_eq!(waiting.get().await, Ok(json!({"seconds": 0.2, "n": 2})));
    toolbox.asleep().await;
}

#[tokio::test]
async fn a_call_that_was_given_up_keeps_its_process_busy_and_not_idle() {
    let folder = Folder::new();
    let mut config = restless(&json!({"capabilities": ["concurrent"]}), 50);
    config.timeout = Duration::from_millis(300);
    let toolbox = Hosted::start(config).ready().await;
    let done = folder.path("done");
    // Answered by nobody in time, and within the second after which the process would be replaced.
    let late = toolbox.call("sleep", json!({"seconds": 0.5, "touch": done})).await;
    assert!(late.unwrap_err().starts_with("TimeoutError"));
    toolbox.asleep().await;
    assert!(done.exists(), "it was not stopped in the middle of it");
}

#[tokio::test]
async fn being_asked_for_its_tools_is_no_call() {
    let toolbox = Hosted::start(restless(&json!({}), 400)).ready().await;
    let mut brief = toolbox.handle.brief();
    let asked = async {
        loop {
            toolbox.tools().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        slept = tokio::time::timeout(DEADLINE, brief.wait_for(|brief| brief.phase == Phase::Asleep)) => {
            slept.expect("it sleeps though it is discovered on and on").unwrap();
        }
        () = asked => {}
    }
}

#[tokio::test]
async fn no_call_is_lost_between_and_no_two_processes_are_there_at_once() {
    let folder = Folder::new();
    let starts = folder.path("starts");
    // It takes its time to end, so that calls come while it does.
    let config = noting_starts(restless(&json!({"eof_delay": 0.05}), 1), &starts);
    let toolbox = Hosted::start(config).ready().await;
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut dice = fastrand::Rng::with_seed(seed);
    for n in 0..25 {
        let calls: Vec<_> = (0..dice.usize(1..4))
            .map(|m| toolbox.send("echo", json!({"n": n, "m": m})))
            .collect();
        for (m, call) in calls.into_iter().enumerate() {
            assert_eq!(call.get().await, Ok(json!({"n": n, "m": m})));
        }
        tokio::time::sleep(Duration::from_micros(dice.u64(0..8_000))).await;
    }
    let text = std::fs::read_to_string(starts).unwrap();
    assert!(!text.contains("beside"), "{text}");
    assert!(text.lines().count() > 1, "it was stopped in between");
    assert_eq!(toolbox.handle.snapshot().await.unwrap().restarts, 0);
}

#[tokio::test]
async fn as_many_processes_wake_as_calls_wait_and_each_rests_by_itself() {
    let folder = Folder::new();
    let mut config = restless(&json!({}), 3_000);
    config.processes = 3;
    config.start = Start::Lazy;
    let toolbox = Hosted::start(config);
    toolbox.asleep().await;
    let meet = |parties: usize, name: &str| {
        let room = folder.path(name);
        std::fs::create_dir_all(&room).unwrap();
        let calls: Vec<_> = (0..parties)
            .map(|_| toolbox.send("meet", json!({"folder": room, "parties": parties})))
            .collect();
        async move {
            let mut pids = std::collections::BTreeSet::new();
            for call in calls {
                pids.insert(call.get().await.unwrap().as_i64().unwrap());
            }
            pids.len()
        }
    };
    assert_eq!(meet(1, "one").await, 1);
    assert_eq!(
        toolbox.handle.snapshot().await.unwrap().processes.len(),
        1,
        "one call needs one"
    );
    assert_eq!(meet(3, "three").await, 3, "three at once are served side by side");
    toolbox.asleep().await;
    assert_eq!(meet(2, "two").await, 2);
}

#[tokio::test]
async fn one_that_serves_calls_side_by_side_is_woken_once_for_many() {
    let folder = Folder::new();
    let starts = folder.path("starts");
    let mut config = restless(&json!({"capabilities": ["concurrent"]}), 300);
    config.processes = 2;
    config.start = Start::Lazy;
    let toolbox = Hosted::start(noting_starts(config, &starts));
    toolbox.asleep().await;
    let calls: Vec<_> = (0..20).map(|n| toolbox.send("echo", json!({"n": n}))).collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.get().await, Ok(json!({"n": n})));
    }
    assert_eq!(
        std::fs::read_to_string(starts).unwrap().lines().count(),
        2,
        "once to learn, once to serve"
    );
}

#[tokio::test]
async fn its_end_is_wanted_whatever_it_takes_and_however_it_looks() {
    // Ignores the end of its input; ends with a status that would be a failure.
    let toolbox = Hosted::start(restless(&json!({"ignore_eof": true}), 100)).ready().await;
    toolbox.asleep().await;
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
    assert_eq!(toolbox.handle.snapshot().await.unwrap().restarts, 0);
}

#[tokio::test]
async fn its_owner_starts_restarts_and_stops_what_sleeps() {
    let mut config = restless(&json!({}), 60_000);
    config.start = Start::Lazy;
    let toolbox = Hosted::start(config);
    toolbox.asleep().await;
    assert_eq!(toolbox.told(Order::Start).await, Ok(Done::Started));
    let first = toolbox.handle.snapshot().await.unwrap();
    assert_eq!(
        (first.phase, first.processes.len()),
        (Phase::Ready, 1),
        "it is up, and stays so"
    );
    assert_eq!(toolbox.told(Order::Start).await, Ok(Done::WasRunning));
    assert_eq!(toolbox.told(Order::Restart).await, Ok(Done::Restarted));
    let pid = toolbox.pid().await;
    assert_ne!(pid, first.processes[0].pid);
    assert_eq!(toolbox.told(Order::Stop).await, Ok(Done::Stopped));
    let error = toolbox.call("echo", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        "ToolboxUnavailable: stopped by its owner; start it with `toolhost start moody`"
    );
    assert_eq!(toolbox.told(Order::Restart).await, Ok(Done::Started));
    toolbox.pid().await;
}

#[tokio::test]
async fn what_sleeps_is_stopped_and_started_by_its_owner_too() {
    let mut config = restless(&json!({}), 200);
    config.processes = 2;
    let toolbox = Hosted::start(config);
    toolbox.asleep().await;
    assert_eq!(toolbox.told(Order::Stop).await, Ok(Done::Stopped));
    toolbox.wait_for(|phase| *phase == Phase::Stopped).await;
    toolbox.call("echo", json!({})).await.unwrap_err();
    assert_eq!(toolbox.told(Order::Start).await, Ok(Done::Started));
    toolbox.asleep().await;
    assert_eq!(toolbox.told(Order::Restart).await, Ok(Done::Started));
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_host_that_stops_does_not_wait_for_what_sleeps() {
    let mut toolbox = Hosted::start(restless(&json!({}), 100)).ready().await;
    toolbox.asleep().await;
    // A minute on each rung: nothing is there that could take it.
    let left = tokio::time::timeout(DEADLINE, toolbox.stop(Duration::from_secs(60))).await;
    assert_eq!(left.unwrap().len(), 0);
}

#[tokio::test]
async fn what_ends_by_itself_is_started_again_as_ever() {
    let toolbox = Hosted::start(restless(&json!({}), 60_000)).ready().await;
    let pid = toolbox.pid().await;
    toolbox.call("exit", json!({})).await.unwrap_err();
    eventually("it is gone", || !is_alive(pid)).await;
    toolbox.served_again().await;
    assert_eq!(toolbox.handle.snapshot().await.unwrap().restarts, 1);
}

#[tokio::test]
async fn what_changed_while_it_slept_holds_for_the_call_that_wakes_it() {
    let folder = Folder::new();
    let grown = folder.path("grown");
    let toolbox = Hosted::start(restless(&json!({"extra_tool_file": grown}), 200))
        .ready()
        .await;
    toolbox.asleep().await;
    std::fs::write(&grown, "").unwrap();
    assert_eq!(toolbox.call("grown", json!({"n": 1})).await, Ok(json!({"n": 1})));
    toolbox.asleep().await;
    std::fs::remove_file(&grown).unwrap();
    let gone = toolbox.call("grown", json!({})).await;
    assert_eq!(gone, Err("Unknown tool: 'grown'".into()));
}

#[tokio::test]
async fn a_call_that_no_tool_takes_is_refused_by_what_the_program_says_now() {
    let toolbox = Hosted::start(restless(&json!({}), 200)).ready().await;
    toolbox.asleep().await;
    let unknown = toolbox.send("nope", json!({}));
    let known = toolbox.send("echo", json!({"n": 1}));
    assert_eq!(unknown.get().await, Err("Unknown tool: 'nope'".into()));
    assert_eq!(known.get().await, Ok(json!({"n": 1})));
}
