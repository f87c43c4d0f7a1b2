//! Starting, describing and stopping.

use std::time::Duration;

use serde_json::json;
use toolhost::supervisor::status::Phase;

use crate::harness::{Folder, Hosted, config, eventually, is_alive, moody};

#[tokio::test]
async fn a_discover_shows_a_tool_that_came_after_the_start() {
    let folder = Folder::new();
    let file = folder.path("grow");
    let toolbox = Hosted::start(moody(&json!({"extra_tool_file": file}))).ready().await;
    assert!(!toolbox.tools().await.unwrap().contains(&"grown".to_owned()));
    std::fs::write(&file, "").unwrap();
    assert!(toolbox.tools().await.unwrap().contains(&"grown".to_owned()));
    assert_eq!(toolbox.call("grown", json!({"n": 1})).await, Ok(json!({"n": 1})));
}

#[tokio::test]
async fn a_busy_toolbox_is_discovered_with_what_is_known_of_it() {
    let folder = Folder::new();
    let mut config = moody(&json!({}));
    config.timeout = Duration::from_secs(90);
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    // Busy until a second one is there.
    let slow = toolbox.send("meet", json!({"folder": folder.path(""), "parties": 2}));
    eventually("it is busy", || folder.path("").read_dir().unwrap().count() == 1).await;
    assert!(toolbox.tools().await.unwrap().contains(&"echo".to_owned()));
    std::fs::write(folder.path("second"), "").unwrap();
    assert_eq!(slow.get().await, Ok(json!(pid)));
}

#[tokio::test]
async fn a_toolbox_that_never_describes_itself_is_replaced_and_told_as_down() {
    let mut config = moody(&json!({"describe_delay": 60}));
    config.describe_timeout = Duration::from_millis(500);
    let toolbox = Hosted::start(config);
    assert_eq!(toolbox.tools().await, None);
    let Phase::Backoff(reason) = toolbox.wait_for(|phase| matches!(phase, Phase::Backoff(_))).await else {
        unreachable!()
    };
    assert!(reason.starts_with("did not answer describe within 500ms"), "{reason}");
}

#[tokio::test]
async fn tools_changed_makes_the_host_describe_again() {
    let folder = Folder::new();
    let file = folder.path("grow");
    let toolbox = Hosted::start(moody(&json!({"extra_tool_file": file}))).ready().await;
    std::fs::write(&file, "").unwrap();
    let lines = json!({"lines": ["{\"event\": \"tools_changed\"}", "{\"id\": $ID, \"result\": 1}"]});
    assert_eq!(toolbox.call("raw", lines).await, Ok(json!(1)));
    let mut brief = toolbox.handle.brief();
    let grown = |tools: &toolhost::tools::tool::ToolSet| tools.get("grown").is_some();
    brief
        .wait_for(|brief| brief.tools.as_ref().is_some_and(|tools| grown(tools)))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_ladder_ends_one_that_reads_one_that_needs_term_and_one_that_ignores_both() {
    let folder = Folder::new();
    let marker = folder.path("eof");
    let kinds = [
        json!({"marker": marker}),
        json!({"ignore_eof": true}),
        json!({"ignore_eof": true, "ignore_term": true}),
    ];
    for kind in kinds {
        let mut toolbox = Hosted::start(moody(&kind)).ready().await;
        let pid = toolbox.pid().await;
        toolbox.stop(Duration::from_millis(500)).await;
        assert!(!is_alive(pid), "{kind}");
    }
    assert_eq!(std::fs::read_to_string(marker).unwrap(), "eof");
}

#[tokio::test]
async fn a_toolbox_finishes_the_call_in_hand_when_it_is_stopped_and_gives_back_the_rest() {
    let mut toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let in_hand = toolbox.send("sleep", json!({"seconds": 0.5}));
    let waiting = toolbox.send("echo", json!({}));
    // Both are in before the stop: the mailbox of calls is read, not only the one of control.
    toolbox.seen("a call that waits", |seen| seen.pending == 1).await;
    let rest = toolbox.stop(Duration::from_secs(10)).await;
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    assert_eq!(rest.len(), 1);
    drop(rest);
    assert_eq!(
        waiting.get().await,
        Err("ToolboxUnavailable: the toolbox was stopped".into())
    );
}

#[tokio::test]
async fn a_toolbox_that_is_still_starting_is_stopped_as_quickly() {
    let folder = Folder::new();
    let describing = folder.path("describing");
    let mut config = moody(&json!({"describe_delay": 60, "describing_file": describing}));
    config.describe_timeout = Duration::from_secs(60);
    let mut toolbox = Hosted::start(config);
    eventually("it is asked to describe itself", || describing.exists()).await;
    let pid = toolbox.handle.snapshot().await.unwrap().processes[0].pid;
    let start = std::time::Instant::now();
    toolbox.stop(Duration::from_millis(200)).await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(6), "long before its describe: {took:?}");
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_wrapper_and_what_it_wraps_end_together() {
    let mut config = moody(&json!({"ignore_eof": true}));
    config.kind = toolhost::config::Kind::Command(vec!["sh".into(), "-c".into(), "python3 moody.py; true".into()]);
    let mut toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    toolbox.stop(Duration::from_millis(300)).await;
    eventually("the wrapped process gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn what_takes_a_toolboxs_place_waits_for_its_end_and_takes_its_calls_over() {
    let mut old = Hosted::start(moody(&json!({}))).ready().await;
    let old_pid = old.pid().await;
    let in_hand = old.send("sleep", json!({"seconds": 0.5}));
    let waiting = old.send("pid", json!({}));
    old.seen("a call that waits", |seen| seen.pending == 1).await;
    let new = Hosted::start_after(moody(&json!({})), old.task.take());
    let early = new.send("pid", json!({}));
    assert!(
        new.handle.snapshot().await.unwrap().processes.is_empty(),
        "the two never overlap"
    );
    old.handle.stop(Duration::from_secs(10));
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    let (waiting, early) = (waiting.get().await.unwrap(), early.get().await.unwrap());
    assert_eq!(waiting, early);
    assert_ne!(waiting, json!(old_pid));
}

#[tokio::test]
async fn a_toolbox_whose_tools_change_with_each_describe_is_described_a_few_times_a_second() {
    let folder = Folder::new();
    let file = folder.path("described");
    let toolbox = Hosted::start(moody(&json!({"changes_with_each_describe": file})))
        .ready()
        .await;
    let described = || std::fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    let start = std::time::Instant::now();
    eventually("described again", || described() >= 6).await;
    let took = start.elapsed();
    assert!(took > Duration::from_millis(900), "six describes in {took:?}");
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_toolbox_holds_back_no_signal_whatever_its_host_does() {
    use nix::sys::signal::{SigSet, Signal};
    let held: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
    held.thread_block().unwrap();
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let status = std::fs::read_to_string(format!("/proc/{}/status", toolbox.pid().await)).unwrap();
    let blocked = status
        .lines()
        .find_map(|line| line.strip_prefix("SigBlk:"))
        .unwrap()
        .trim();
    assert_eq!(blocked, "0000000000000000");
    assert!(
        SigSet::thread_get_mask().unwrap().contains(Signal::SIGTERM),
        "the host still does"
    );
}

#[tokio::test]
async fn a_changed_program_is_in_force_once_its_process_is_ended() {
    let folder = Folder::new();
    let program = folder.path("moody.py");
    let text = std::fs::read_to_string(crate::harness::fixtures().join("moody.py")).unwrap();
    std::fs::write(&program, &text).unwrap();
    let toolbox = Hosted::start(config("edited", &["python3", program.to_str().unwrap()]))
        .ready()
        .await;
    assert_eq!(toolbox.call("sleep", json!({"seconds": 0})).await, Ok(json!("slept")));
    std::fs::write(&program, text.replace("\"slept\"", "\"rested\"")).unwrap();
    let pid = nix::unistd::Pid::from_raw(toolbox.pid().await);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let start = std::time::Instant::now();
    while toolbox.handle.snapshot().await.unwrap().restarts == 0 {
        assert!(start.elapsed() < crate::harness::DEADLINE, "never started again");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(toolbox.call("sleep", json!({"seconds": 0})).await, Ok(json!("rested")));
}
