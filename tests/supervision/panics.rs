//! A panic in our own code while it serves a toolbox. It is caused by an answer nobody can take: whoever takes an answer
//! is called by the toolbox's task.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolhost::config::{Restart, Start};
use toolhost::json::Text;
use toolhost::supervisor::lifecycle::Grace;
use toolhost::supervisor::orders::{Done, Order};
use toolhost::supervisor::status::{Phase, Snapshot};
use toolhost::tools::outcome::{Call, ReplyTo};

use crate::harness::{Hosted, eventually, is_alive, moody};

const GRACE: Grace = Grace {
    calls: Duration::from_secs(5),
    rung: Duration::from_secs(1),
};
const FAULT: &str = "a fault of toolhost itself, which its log tells";

impl Hosted {
    /// Has the toolbox's task panic when it answers this call.
    fn poison(&self, tool: &str, kwargs: &Value) {
        self.handle.call(Call {
            name: tool.to_owned(),
            kwargs: Some(Text::from(kwargs)),
            context: None,
            arrived: Instant::now(),
            reply: ReplyTo::new(|_| panic!("an answer that nobody can take")),
        });
    }
}

fn crashed() -> Result<Value, String> {
    Err(format!("ToolboxCrashed: {FAULT}"))
}

#[tokio::test]
async fn a_panic_costs_the_calls_at_hand_and_the_toolbox_is_started_again() {
    let toolbox = Hosted::start(moody(&json!({"capabilities": ["concurrent"]})))
        .ready()
        .await;
    let neighbor = Hosted::start(moody(&json!({}))).ready().await;
    let (pid, neighbors_pid) = (toolbox.pid().await, neighbor.pid().await);
    let in_hand = toolbox.send("sleep", json!({"seconds": 600}));
    toolbox
        .seen("a call in hand", |seen| {
            seen.processes.iter().any(|it| it.in_flight == 1)
        })
        .await;
    toolbox.poison("echo", &json!({}));
    assert_eq!(in_hand.get().await, crashed());
    eventually("its process is killed", || !is_alive(pid)).await;
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    assert_ne!(toolbox.pid().await, pid);
    assert_eq!(neighbor.pid().await, neighbors_pid);
}

#[tokio::test]
async fn calls_that_wait_are_answered_too_and_those_that_come_later_are_served() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    toolbox.poison("sleep", &json!({"seconds": 1}));
    let waiting = [(); 3].map(|()| toolbox.send("echo", json!({})));
    toolbox.pending(3).await;
    for call in waiting {
        assert_eq!(call.get().await, crashed());
    }
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn calls_that_were_taken_from_the_mailbox_together_are_answered() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    // One thread, no await: all are in the mailbox before the task takes the first one.
    toolbox.poison("no such tool", &json!({}));
    let behind = [(); 3].map(|()| toolbox.send("echo", json!({})));
    for call in behind {
        assert_eq!(call.get().await, crashed());
    }
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn panics_without_end_are_given_up_loudly_until_the_owner_asks() {
    let mut frail = moody(&json!({}));
    frail.restart = Restart {
        backoff: Duration::from_millis(1),
        give_up_after: 3,
        ..Restart::default()
    };
    let toolbox = Hosted::start(frail).ready().await;
    for _ in 0..3 {
        toolbox.served_again().await;
        toolbox.poison("echo", &json!({}));
    }
    let phase = toolbox.wait_for(|phase| matches!(phase, Phase::Failed(_))).await;
    assert_eq!(phase, Phase::Failed(format!("{FAULT} (given up after 3 failures)")));
    let error = toolbox.call("echo", json!({})).await.unwrap_err();
    assert!(
        error.starts_with(&format!("ToolboxUnavailable: {FAULT} (given up")),
        "{error}"
    );
    let started = toolbox.handle.order(Order::Start, GRACE).await;
    assert_eq!(started, Ok(Ok(Done::Started)));
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_panic_does_not_start_what_its_owner_stopped() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    assert_eq!(toolbox.handle.order(Order::Stop, GRACE).await, Ok(Ok(Done::Stopped)));
    toolbox.poison("echo", &json!({}));
    let error = toolbox.call("echo", json!({})).await.unwrap_err();
    // It may have been taken from the mailbox together with the other.
    assert!(
        error.contains("stopped by its owner") || error.contains(FAULT),
        "{error}"
    );
    let snapshot = toolbox.handle.snapshot().await.unwrap();
    assert_eq!((snapshot.phase, snapshot.processes.len()), (Phase::Stopped, 0));
}

#[tokio::test]
async fn a_panic_on_the_way_down_leaves_nothing_and_ends_the_toolbox() {
    let mut toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let pid = toolbox.pid().await;
    toolbox.poison("sleep", &json!({"seconds": 1}));
    toolbox
        .seen("a call in hand", |seen| {
            seen.processes.iter().any(|it| it.in_flight == 1)
        })
        .await;
    toolbox.stop(Duration::from_secs(10)).await;
    eventually("its process is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_lazy_toolbox_sleeps_again_after_a_panic_and_serves_the_next_call() {
    let mut config = moody(&json!({}));
    config.start = Start::Lazy;
    let toolbox = Hosted::start(config);
    toolbox.wait_for(|phase| *phase == Phase::Asleep).await;
    toolbox.poison("echo", &json!({}));
    let sleeps = |seen: &Snapshot| seen.restarts == 1 && seen.phase == Phase::Asleep && seen.processes.is_empty();
    toolbox.seen("it sleeps again", sleeps).await;
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
}
