//! What an owner asks: stop, start, restart; and what the callers of that toolbox get meanwhile.

use std::time::Duration;

use serde_json::{Value, json};
use toolhost::config::{Mode, Restart, RestartWhen};
use toolhost::supervisor::lifecycle::Grace;
use toolhost::supervisor::orders::{Done, Order, OrderEnd};
use toolhost::supervisor::status::Phase;

use crate::harness::{DEADLINE, Folder, Hosted, config, eventually, fixtures, is_alive, moody};

const PATIENT: Grace = Grace {
    calls: Duration::from_secs(20),
    rung: Duration::from_secs(3),
};
const HASTY: Grace = Grace {
    calls: Duration::ZERO,
    rung: Duration::from_millis(100),
};

impl Hosted {
    async fn order_with(&self, order: Order, grace: Grace) -> OrderEnd {
        let end = tokio::time::timeout(DEADLINE, self.handle.order(order, grace)).await;
        end.expect("carried out in time").expect("an end")
    }

    async fn order(&self, order: Order) -> OrderEnd {
        self.order_with(order, PATIENT).await
    }

    /// Sends a call, and waits until a process works on it.
    async fn busy(&self, tool: &str, kwargs: Value) -> crate::harness::Pending {
        let call = self.send(tool, kwargs);
        self.seen("a call in hand", |seen| {
            seen.processes.iter().any(|it| it.in_flight == 1)
        })
        .await;
        call
    }
}

fn stopped() -> Result<Value, String> {
    Err("ToolboxUnavailable: stopped by its owner; start it with `toolhost start moody`".into())
}

#[tokio::test]
async fn a_stopped_toolbox_refuses_calls_at_once_until_it_is_started() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let neighbor = Hosted::start(moody(&json!({}))).ready().await;
    let (pid, neighbors_pid) = (toolbox.pid().await, neighbor.pid().await);
    assert_eq!(toolbox.order(Order::Stop).await, Ok(Done::Stopped));
    assert!(!is_alive(pid));
    toolbox.wait_for(|phase| *phase == Phase::Stopped).await;
    assert_eq!(toolbox.call("echo", json!({})).await, stopped());
    assert_eq!(toolbox.tools().await, None, "as of one that is down");
    assert!(
        toolbox.handle.brief().borrow().tools.is_some(),
        "and known all the same"
    );
    // What a reload of an unchanged file says.
    toolbox.handle.start();
    assert_eq!(toolbox.order(Order::Stop).await, Ok(Done::WasStopped));
    assert_eq!(toolbox.call("echo", json!({})).await, stopped());
    assert_eq!(toolbox.order(Order::Start).await, Ok(Done::Started));
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    assert_eq!(toolbox.order(Order::Start).await, Ok(Done::WasRunning));
    assert_eq!(neighbor.pid().await, neighbors_pid);
}

#[tokio::test]
async fn a_stop_lets_the_call_in_hand_end_and_refuses_the_others_at_once() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 1})).await;
    let waiting = toolbox.send("echo", json!({}));
    toolbox.pending(1).await;
    let stopping = toolbox.handle.order(Order::Stop, PATIENT);
    assert_eq!(waiting.get().await, stopped());
    toolbox.wait_for(|phase| *phase == Phase::Stopping).await;
    assert_eq!(toolbox.call("echo", json!({})).await, stopped(), "while it stops");
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    assert_eq!(stopping.await, Ok(Ok(Done::Stopped)));
}

#[tokio::test]
async fn a_stop_whose_grace_is_over_ends_a_call_with_the_reason() {
    let stubborn = json!({"ignore_eof": true, "ignore_term": true});
    let toolbox = Hosted::start(moody(&stubborn)).ready().await;
    let pid = toolbox.pid().await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 15})).await;
    assert_eq!(toolbox.order_with(Order::Stop, HASTY).await, Ok(Done::Stopped));
    assert_eq!(in_hand.get().await, stopped());
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_restart_loses_no_call_and_never_has_two_processes() {
    let folder = Folder::new();
    let calls = folder.path("calls");
    let toolbox = Hosted::start(moody(&json!({"calls_file": calls}))).ready().await;
    let pid = toolbox.pid().await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 1, "token": "slow"})).await;
    let waiting = toolbox.send("pid", json!({"token": "waiting"}));
    let restarting = toolbox.handle.order(Order::Restart, PATIENT);
    let later = toolbox.send("pid", json!({"token": "later"}));
    toolbox
        .seen("the old one alone", |seen| {
            seen.processes.len() == 1 && seen.processes[0].pid == pid && seen.phase == Phase::Starting
        })
        .await;
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    let new = waiting.get().await.unwrap();
    assert!(!is_alive(pid), "gone before the new one answered");
    assert_ne!(new, json!(pid));
    assert_eq!(later.get().await, Ok(new));
    assert_eq!(restarting.await, Ok(Ok(Done::Restarted)));
    let calls = std::fs::read_to_string(calls).unwrap();
    assert_eq!(calls, "None\nslow\nwaiting\nlater\n", "each once, in order");
}

#[tokio::test]
async fn a_restart_whose_grace_is_over_tells_the_call_it_ended() {
    let toolbox = Hosted::start(moody(&json!({"ignore_eof": true}))).ready().await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 15})).await;
    let waiting = toolbox.send("echo", json!({"n": 1}));
    assert_eq!(toolbox.order_with(Order::Restart, HASTY).await, Ok(Done::Restarted));
    assert_eq!(
        in_hand.get().await,
        Err("ToolboxUnavailable: restarted by its owner while it worked on the call".into())
    );
    assert_eq!(waiting.get().await, Ok(json!({"n": 1})));
}

#[tokio::test]
async fn a_restart_replaces_every_process_of_a_toolbox() {
    let mut several = moody(&json!({}));
    several.processes = 3;
    let toolbox = Hosted::start(several).ready().await;
    let pids = |seen: &toolhost::supervisor::status::Snapshot| -> Vec<_> {
        seen.processes.iter().map(|process| process.pid).collect()
    };
    toolbox.seen("three processes", |seen| seen.processes.len() == 3).await;
    let before = pids(&toolbox.handle.snapshot().await.unwrap());
    assert_eq!(toolbox.order(Order::Restart).await, Ok(Done::Restarted));
    let after = pids(&toolbox.handle.snapshot().await.unwrap());
    assert_eq!(after.len(), 3);
    assert!(before.iter().all(|pid| !after.contains(pid) && !is_alive(*pid)));
}

#[tokio::test]
async fn a_restart_puts_an_edited_program_in_force_and_says_where_it_does_not_come_up() {
    let folder = Folder::new();
    let program = folder.path("moody.py");
    let text = std::fs::read_to_string(fixtures().join("moody.py")).unwrap();
    std::fs::write(&program, &text).unwrap();
    let toolbox = Hosted::start(config("moody", &["python3", program.to_str().unwrap()]))
        .ready()
        .await;
    std::fs::write(&program, text.replace("\"slept\"", "\"rested\"")).unwrap();
    assert_eq!(toolbox.order(Order::Restart).await, Ok(Done::Restarted));
    assert_eq!(toolbox.call("sleep", json!({"seconds": 0})).await, Ok(json!("rested")));
    std::fs::write(&program, "import sys\nsys.exit('a slip of the pen')\n").unwrap();
    let why = toolbox.order(Order::Restart).await.unwrap_err();
    assert!(
        why.starts_with("exit status 1: a slip of the pen; tried again in "),
        "{why}"
    );
    std::fs::write(&program, &text).unwrap();
    assert_eq!(toolbox.order(Order::Start).await, Ok(Done::Started));
    assert_eq!(toolbox.call("sleep", json!({"seconds": 0})).await, Ok(json!("slept")));
}

#[tokio::test]
async fn a_call_that_waits_for_an_edited_program_is_checked_by_what_that_says() {
    let folder = Folder::new();
    let program = folder.path("moody.py");
    let text = std::fs::read_to_string(fixtures().join("moody.py")).unwrap();
    std::fs::write(&program, &text).unwrap();
    let toolbox = Hosted::start(config("moody", &["python3", program.to_str().unwrap()]))
        .ready()
        .await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 1})).await;
    let (gone, kept) = (toolbox.send("echo", json!({})), toolbox.send("raise", json!({})));
    toolbox.pending(2).await;
    // It would still answer, but says no longer that it has it.
    std::fs::write(&program, text.replace("TOOLS = [\"echo\", ", "TOOLS = [")).unwrap();
    assert_eq!(toolbox.order(Order::Restart).await, Ok(Done::Restarted));
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    assert_eq!(gone.get().await, Err("Unknown tool: 'echo'".into()));
    assert_eq!(kept.get().await, Err("KeyError: disk on fire".into()));
}

#[tokio::test]
async fn a_toolbox_that_was_given_up_is_started_and_its_failures_are_forgiven() {
    let folder = Folder::new();
    let mended = folder.path("mended");
    let script = format!(
        "test -e '{}' || {{ echo no luck >&2; exit 3; }}; exec python3 moody.py",
        mended.display()
    );
    let mut frail = config("moody", &["sh", "-c", &script]);
    frail.restart = Restart {
        when: RestartWhen::Always,
        backoff: Duration::from_millis(1),
        give_up_after: 2,
        ..Restart::default()
    };
    let toolbox = Hosted::start(frail);
    let failed = |phase: &Phase| matches!(phase, Phase::Failed(_));
    toolbox.wait_for(failed).await;
    let error = toolbox.call("echo", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        "ToolboxUnavailable: exit status 3: no luck (given up after 2 failures); not tried again before \
         `toolhost start` or a reload"
    );
    let why = toolbox.order(Order::Start).await.unwrap_err();
    assert!(why.starts_with("exit status 3: no luck; tried again in "), "{why}");
    toolbox.wait_for(failed).await;
    std::fs::write(mended, "").unwrap();
    assert_eq!(toolbox.order(Order::Start).await, Ok(Done::Started));
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_later_order_ends_the_one_before() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 1})).await;
    let stopping = toolbox.handle.order(Order::Stop, PATIENT);
    assert_eq!(toolbox.order(Order::Start).await, Ok(Done::Started));
    assert_eq!(stopping.await, Ok(Err("started by a later command".into())));
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
    let restarting = toolbox.handle.order(Order::Restart, PATIENT);
    assert_eq!(toolbox.order(Order::Stop).await, Ok(Done::Stopped));
    assert_eq!(restarting.await, Ok(Err("stopped by a later command".into())));
    assert_eq!(toolbox.call("echo", json!({})).await, stopped());
}

#[tokio::test]
async fn the_end_of_a_toolbox_waits_for_no_owners_grace() {
    let mut toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let in_hand = toolbox.busy("sleep", json!({"seconds": 15})).await;
    let restarting = toolbox.handle.order(Order::Restart, PATIENT);
    toolbox.stop(Duration::from_millis(100)).await;
    assert_eq!(
        in_hand.get().await,
        Err("ToolboxUnavailable: stopped while it worked on the call".into())
    );
    let why = restarting.await.unwrap().unwrap_err();
    assert!(why.starts_with("it is being removed or replaced by a reload"), "{why}");
}

#[tokio::test]
async fn a_toolbox_stopped_while_it_waits_for_its_place_starts_nothing() {
    let mut old = Hosted::start(moody(&json!({}))).ready().await;
    let busy = old.busy("sleep", json!({"seconds": 1})).await;
    let waiting = old.send("echo", json!({}));
    old.pending(1).await;
    let new = Hosted::start_after(moody(&json!({})), old.task.take());
    let stopping = new.handle.order(Order::Stop, PATIENT);
    old.handle.stop(Duration::from_secs(10));
    assert_eq!(busy.get().await, Ok(json!("slept")));
    assert_eq!(waiting.get().await, stopped());
    assert_eq!(stopping.await, Ok(Ok(Done::Stopped)));
    assert!(new.handle.snapshot().await.unwrap().processes.is_empty());
    assert_eq!(new.order(Order::Start).await, Ok(Done::Started));
    assert_eq!(new.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_run_once_toolbox_is_stopped_started_and_described_anew() {
    let folder = Folder::new();
    let file = folder.path("grow");
    let mut once = moody(&json!({"extra_tool_file": file}));
    (once.mode, once.processes) = (Mode::Oneshot, 3);
    let toolbox = Hosted::start(once).ready().await;
    std::fs::write(&file, "").unwrap();
    assert_eq!(toolbox.order(Order::Restart).await, Ok(Done::Restarted));
    assert_eq!(toolbox.call("grown", json!({"n": 1})).await, Ok(json!({"n": 1})));
    let in_hand = toolbox.busy("sleep", json!({"seconds": 1})).await;
    let stopping = toolbox.handle.order(Order::Stop, PATIENT);
    assert_eq!(toolbox.call("echo", json!({})).await, stopped());
    // Started while a call of before still runs: that place is one of three again later.
    assert_eq!(toolbox.order(Order::Start).await, Ok(Done::Started));
    assert!(stopping.await.unwrap().is_err());
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    let meeting = folder.path("meeting");
    std::fs::create_dir(&meeting).unwrap();
    let three = [(); 3].map(|()| toolbox.send("meet", json!({"folder": meeting, "parties": 3})));
    for call in three {
        assert!(call.get().await.is_ok(), "three at once");
    }
}

#[tokio::test]
async fn every_process_of_a_stopped_wrapper_is_gone() {
    let mut wrapped = moody(&json!({"ignore_eof": true}));
    wrapped.kind = toolhost::config::Kind::Command(vec!["sh".into(), "-c".into(), "python3 moody.py; true".into()]);
    let toolbox = Hosted::start(wrapped).ready().await;
    let pid = toolbox.pid().await;
    assert_eq!(toolbox.order_with(Order::Stop, HASTY).await, Ok(Done::Stopped));
    eventually("the wrapped process gone", || !is_alive(pid)).await;
}
