//! Deaths, hangs and floods: the caller is answered, the neighbor never notices.

use std::time::Duration;

use serde_json::json;
use toolhost::supervisor::status::Phase;

use crate::harness::{Folder, Hosted, config, eventually, is_alive, moody};

#[tokio::test]
async fn a_crash_in_a_call_answers_it_once_and_restarts() {
    let healthy = Hosted::start(moody(&json!({}))).ready().await;
    let table = [
        (
            "exit",
            json!({"status": 3}),
            "ToolboxCrashed: exit status 3: last words",
        ),
        (
            "kill",
            json!({"signal": 9}),
            "ToolboxCrashed: signal 9 (SIGKILL): moody is up",
        ),
        (
            "kill",
            json!({"signal": 11}),
            "ToolboxCrashed: signal 11 (SIGSEGV): moody is up",
        ),
        (
            "close_stdout",
            json!({}),
            "ToolboxCrashed: closed its stdout and lives on: moody is up",
        ),
    ];
    for (tool, kwargs, expected) in table {
        let toolbox = Hosted::start(moody(&json!({}))).ready().await;
        let pid = toolbox.pid().await;
        let (answer, took) = toolbox.send(tool, kwargs).timed().await;
        assert_eq!(answer, Err(expected.into()));
        assert!(took < Duration::from_secs(10), "long before its time: {took:?}");
        assert_eq!(
            toolbox.call("echo", json!({"n": 1})).await,
            Ok(json!({"n": 1})),
            "served after the restart"
        );
        assert_ne!(toolbox.pid().await, pid);
        assert_eq!(healthy.call("echo", json!({})).await, Ok(json!({})));
    }
}

#[tokio::test]
async fn all_calls_in_a_concurrent_process_that_dies_are_answered_at_once() {
    let toolbox = Hosted::start(moody(&json!({"capabilities": ["concurrent"]})))
        .ready()
        .await;
    let slow: Vec<_> = (0..5).map(|_| toolbox.send("sleep", json!({"seconds": 60}))).collect();
    let dying = toolbox.send("exit", json!({"status": 1, "words": "boom"}));
    for call in slow.into_iter().chain([dying]) {
        assert_eq!(call.get().await, Err("ToolboxCrashed: exit status 1: boom".into()));
    }
}

#[tokio::test]
async fn calls_waiting_behind_a_crash_are_served_after_one_restart_and_refused_after_a_second() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let crash = toolbox.send("exit", json!({}));
    let served = toolbox.send("echo", json!({"n": 1}));
    let again = toolbox.send("exit", json!({"words": "again"}));
    let refused = toolbox.send("echo", json!({"n": 2}));
    assert_eq!(
        crash.get().await,
        Err("ToolboxCrashed: exit status 3: last words".into())
    );
    assert_eq!(served.get().await, Ok(json!({"n": 1})));
    assert_eq!(again.get().await, Err("ToolboxCrashed: exit status 3: again".into()));
    let error = refused.get().await.unwrap_err();
    assert!(
        error.starts_with("ToolboxUnavailable: exit status 3: again; tried again in "),
        "{error}"
    );
}

#[tokio::test]
async fn a_toolbox_that_cannot_start_says_why_and_does_not_storm() {
    let toolbox = Hosted::start(moody(&json!({"die_on_describe": true})));
    let phase = toolbox.wait_for(|phase| matches!(phase, Phase::Backoff(_))).await;
    assert_eq!(phase, Phase::Backoff("exit status 1: no good start".into()));
    assert_eq!(toolbox.tools().await, None, "down, at once");
    let hammering = std::time::Instant::now();
    while hammering.elapsed() < Duration::from_secs(2) {
        let error = toolbox.call("echo", json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: exit status 1: no good start; tried again in "),
            "{error}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // 0, 0.2, 0.6, 1.4 s: calls cause no further spawn.
    assert!(toolbox.handle.snapshot().await.unwrap().restarts <= 4);
}

#[tokio::test]
async fn it_gives_up_after_so_many_failures_and_starts_again_when_asked() {
    let mut config = moody(&json!({"die_on_describe": true}));
    config.restart.give_up_after = 2;
    config.restart.backoff = Duration::from_millis(20);
    let toolbox = Hosted::start(config);
    let phase = toolbox.wait_for(|phase| matches!(phase, Phase::Failed(_))).await;
    assert_eq!(
        phase,
        Phase::Failed("exit status 1: no good start (given up after 2 failures)".into())
    );
    let error = toolbox.call("echo", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("ToolboxUnavailable: exit status 1: no good start (given up"),
        "{error}"
    );
    toolbox.handle.start();
    toolbox.wait_for(|phase| !matches!(phase, Phase::Failed(_))).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_where_it_was_looked_for() {
    let table: [(&[&str], &str); 7] = [
        (&["no-such-program"], "'no-such-program' not found on the PATH "),
        (
            &["crlf.sh"],
            "; that folder has a file of this name: write it with its path",
        ),
        (&["./no-such-file"], "no-such-file' does not exist (working folder "),
        (
            &["./crlf.sh"],
            "names the interpreter '/bin/sh' in its first line, which does not exist: the file has Windows line ends (CRLF)",
        ),
        (
            &["./crlf_env.py"],
            "No such file or directory: the file has Windows line ends (CRLF)",
        ),
        (&["./moody.toml"], "is not executable; try chmod +x"),
        (&["./no_first_line.py"], "its first line does not say what runs it"),
    ];
    for (argv, expected) in table {
        let toolbox = Hosted::start(config("odd", argv));
        let error = toolbox.call("any", json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: ") && error.contains(expected),
            "{error}"
        );
    }
    let mut nowhere = moody(&json!({}));
    nowhere.cwd = "/no/such/folder".into();
    let error = Hosted::start(nowhere).call("echo", json!({})).await.unwrap_err();
    assert!(
        error.contains("the working folder /no/such/folder does not exist"),
        "{error}"
    );
}

#[tokio::test]
async fn a_child_that_stops_reading_costs_its_own_calls_in_time() {
    let mut config = moody(&json!({}));
    config.timeout = Duration::from_secs(2);
    let mut toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    assert_eq!(toolbox.call("never_read", json!({})).await, Ok(json!("last answer")));
    let calls: Vec<_> = (0..6)
        .map(|_| toolbox.send("echo", json!({"text": "x".repeat(1 << 20)})))
        .collect();
    // All came at the same time, so all are past it before the process is replaced.
    for call in calls {
        let error = call.get().await.unwrap_err();
        assert_eq!(error, "TimeoutError: 'echo' did not answer within 2s");
    }
    toolbox.served_again().await;
    assert_ne!(toolbox.pid().await, pid);
    toolbox.stop(Duration::from_millis(500)).await;
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn stderr_is_drained_whatever_is_on_it() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let table = [
        json!({"times": 100_000}),
        json!({"times": 5_000_000, "unit": "\r"}),
        json!({"times": 5_000_000, "unit": "x"}),
        json!({"times": 10, "unit": "\u{fffd}é\n"}),
    ];
    for flood in table {
        assert_eq!(toolbox.call("flood_stderr", flood).await, Ok(json!("flooded")));
    }
    assert_eq!(
        toolbox.call("echo", json!({"still": "here"})).await,
        Ok(json!({"still": "here"}))
    );
}

#[tokio::test]
async fn nothing_is_left_of_a_group_whose_leader_died() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let grandchild = i32::try_from(toolbox.call("background", json!({})).await.unwrap().as_i64().unwrap()).unwrap();
    assert!(is_alive(grandchild));
    // It holds the pipes of its dead parent; the call is answered all the same.
    assert_eq!(
        toolbox.call("exit", json!({})).await,
        Err("ToolboxCrashed: exit status 3: last words".into())
    );
    eventually("the grandchild gone", || !is_alive(grandchild)).await;
}

#[tokio::test]
async fn a_flood_of_lines_leaves_the_neighbors_their_turn() {
    let healthy = Hosted::start(moody(&json!({}))).ready().await;
    let folder = Folder::new();
    let (begun, until) = (folder.path("begun"), folder.path("until"));
    let mut config = moody(&json!({}));
    config.timeout = Duration::from_secs(90);
    let toolbox = Hosted::start(config).ready().await;
    let flood = toolbox.send("flood_stdout", json!({"begun": begun, "until": until}));
    eventually("the flood", || begun.exists()).await;
    // It lasts until they all have their answers.
    for n in 0..20 {
        assert_eq!(healthy.call("echo", json!({"n": n})).await, Ok(json!({"n": n})));
    }
    std::fs::write(until, "").unwrap();
    assert_eq!(flood.get().await, Ok(json!("flooded")));
}

#[tokio::test]
async fn a_daemon_that_floods_the_pipe_of_its_dead_parent_holds_up_nothing() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let (answer, took) = toolbox.send("flooding_daemon", json!({})).timed().await;
    assert_eq!(answer, Err("ToolboxCrashed: exit status 3: moody is up".into()));
    assert!(took < Duration::from_secs(10), "long before its time: {took:?}");
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn the_last_words_of_a_process_need_no_end_of_line() {
    let table = [
        (
            2,
            "killed in mid-l",
            Err("ToolboxCrashed: exit status 4: killed in mid-l".to_owned()),
        ),
        (1, "{\"id\": $ID, \"result\": 1}", Ok(json!(1))),
        (
            1,
            "{\"id\"",
            Err("ToolboxCrashed: exit status 4: moody is up".to_owned()),
        ),
    ];
    for (pipe, text, expected) in table {
        let toolbox = Hosted::start(moody(&json!({}))).ready().await;
        let unended = json!({"pipe": pipe, "text": text});
        assert_eq!(toolbox.call("unended", unended).await, expected, "{text}");
        // A call may still meet the process that is about to end.
        toolbox.served_again().await;
    }
}
