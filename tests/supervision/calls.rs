//! Calls: who gets which answer, and when.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Folder, Hosted, eventually, is_alive, moody};

#[tokio::test]
async fn a_call_is_answered_with_the_tools_result() {
    let toolbox = Hosted::start(moody(&json!({})));
    let kwargs = json!({"text": "süß \u{1f600}\nline", "n": 18446744073709551615u64});
    assert_eq!(toolbox.call("echo", kwargs.clone()).await, Ok(kwargs));
    assert_eq!(
        toolbox.call("raise", json!({})).await,
        Err("KeyError: disk on fire".into())
    );
    assert_eq!(
        toolbox.call("nope", json!({})).await,
        Err("Unknown tool: 'nope'".into())
    );
}

#[tokio::test]
async fn every_caller_gets_the_answer_to_its_own_call() {
    for capabilities in [json!([]), json!(["concurrent"])] {
        let toolbox = Hosted::start(moody(&json!({"capabilities": capabilities})))
            .ready()
            .await;
        let pending: Vec<_> = (0..200)
            .map(|n| (n, toolbox.send("echo", json!({"token": n}))))
            .collect();
        for (n, call) in pending {
            assert_eq!(call.get().await, Ok(json!({"token": n})));
        }
    }
}

#[tokio::test]
async fn a_serial_toolbox_is_asked_one_call_at_a_time() {
    let folder = Folder::new();
    let file = folder.path("arrivals");
    let toolbox = Hosted::start(moody(&json!({"arrivals_file": file}))).ready().await;
    let calls = [(); 4].map(|()| toolbox.send("sleep", json!({"seconds": 0.2})));
    for call in calls {
        assert_eq!(call.get().await, Ok(json!("slept")));
    }
    // The toolbox reads ahead, and notes each request when it arrives.
    let notes = std::fs::read_to_string(&file).unwrap();
    let notes: Vec<_> = notes.lines().filter_map(|line| line.split_once(' ')).collect();
    assert_eq!(notes.len(), 8, "{notes:?}");
    for pair in notes.chunks(2) {
        let [(first, request), (second, answered)] = pair else {
            unreachable!("eight notes")
        };
        assert_eq!((*first, *second), ("arrived", "answered"), "{notes:?}");
        assert_eq!(request, answered, "{notes:?}");
    }
}

#[tokio::test]
async fn a_concurrent_toolbox_is_asked_all_at_once() {
    let folder = Folder::new();
    let toolbox = Hosted::start(moody(&json!({"capabilities": ["concurrent"]})))
        .ready()
        .await;
    let pid = toolbox.pid().await;
    // None is answered before all are in hand.
    let calls = [(); 4].map(|()| toolbox.send("meet", json!({"folder": folder.path(""), "parties": 4})));
    for call in calls {
        assert_eq!(call.get().await, Ok(json!(pid)));
    }
}

#[tokio::test]
async fn several_processes_share_the_calls() {
    let folder = Folder::new();
    let mut config = moody(&json!({}));
    config.processes = 3;
    let toolbox = Hosted::start(config).ready().await;
    let calls = [(); 3].map(|()| toolbox.send("meet", json!({"folder": folder.path(""), "parties": 3})));
    let mut pids = BTreeSet::new();
    for call in calls {
        pids.insert(call.get().await.unwrap().as_i64().unwrap());
    }
    assert_eq!(pids.len(), 3, "each answered by a process of its own: {pids:?}");
}

#[tokio::test]
async fn a_call_without_an_answer_in_time_is_told_so_and_its_late_answer_is_nobodys() {
    let mut config = moody(&json!({}));
    config.timeout = Duration::from_millis(300);
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    let (answer, took) = toolbox.send("sleep", json!({"seconds": 0.6})).timed().await;
    assert_eq!(answer, Err("TimeoutError: 'sleep' did not answer within 300ms".into()));
    assert!(took >= Duration::from_millis(300));
    // The next call waits for the busy process, past its own time or not, and never gets "slept".
    let mut answers = Vec::new();
    for n in 0..20 {
        answers.push(toolbox.call("echo", json!({"n": n})).await);
        if answers.last().unwrap().is_ok() {
            break;
        }
    }
    assert_eq!(answers.last().unwrap(), &Ok(json!({"n": answers.len() - 1})));
    // It came back within its grace: it was not replaced.
    assert_eq!(toolbox.pid().await, pid);
}

#[tokio::test]
async fn a_process_that_stays_busy_past_its_time_is_replaced_and_the_next_calls_served() {
    let mut config = moody(&json!({}));
    config.timeout = Duration::from_secs(4);
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    let slow = toolbox.send("sleep", json!({"seconds": 60}));
    assert_eq!(
        slow.get().await,
        Err("TimeoutError: 'sleep' did not answer within 4s".into())
    );
    for n in 0..5 {
        assert_eq!(toolbox.call("echo", json!({"n": n})).await, Ok(json!({"n": n})));
    }
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_call_whose_time_ran_out_in_the_queue_is_never_sent() {
    let folder = Folder::new();
    let file = folder.path("called");
    let mut config = moody(&json!({}));
    config.timeout = Duration::from_millis(500);
    let toolbox = Hosted::start(config).ready().await;
    let slow = toolbox.send("sleep", json!({"seconds": 1}));
    let queued = toolbox.send("count", json!({"file": file}));
    assert!(slow.get().await.unwrap_err().starts_with("TimeoutError: 'sleep'"));
    assert_eq!(
        queued.get().await,
        Err("TimeoutError: 'count' did not answer within 500ms".into())
    );
    toolbox.served_again().await;
    assert!(!file.exists());
}

#[tokio::test]
async fn one_call_more_than_may_wait_is_refused_at_once() {
    let mut config = moody(&json!({}));
    config.max_pending = 3;
    let toolbox = Hosted::start(config).ready().await;
    let busy = toolbox.send("sleep", json!({"seconds": 1}));
    let waiting = [(); 3].map(|()| toolbox.send("echo", json!({})));
    assert_eq!(
        toolbox.call("echo", json!({})).await,
        Err("Overloaded: 3 calls are waiting".into())
    );
    assert_eq!(busy.get().await, Ok(json!("slept")));
    for call in waiting {
        assert_eq!(call.get().await, Ok(json!({})));
    }
}

#[tokio::test]
async fn a_cancel_is_sent_to_a_toolbox_that_announced_it() {
    let folder = Folder::new();
    let file = folder.path("cancelled");
    let mut config = moody(&json!({"capabilities": ["concurrent", "cancel"], "cancel_file": file}));
    config.timeout = Duration::from_millis(200);
    let toolbox = Hosted::start(config).ready().await;
    assert!(toolbox.call("sleep", json!({"seconds": 0.5})).await.is_err());
    eventually("the cancel line", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text == "2\n")
    })
    .await;
}

#[tokio::test]
async fn a_result_of_a_mebibyte_comes_whole_and_one_over_the_limit_is_an_error() {
    let mut config = moody(&json!({}));
    config.max_result = 2 << 20;
    let toolbox = Hosted::start(config).ready().await;
    let text = "x".repeat(1 << 20);
    assert_eq!(
        toolbox.call("echo", json!({"text": text})).await,
        Ok(json!({"text": text}))
    );
    let error = toolbox.call("big", json!({"bytes": 3 << 20})).await.unwrap_err();
    assert_eq!(error, "ResultTooLarge: result too large (3145730 bytes, limit 2097152)");
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_run_once_toolbox_gets_a_process_a_request() {
    let mut config = moody(&json!({}));
    config.mode = toolhost::config::Mode::Oneshot;
    let toolbox = Hosted::start(config).ready().await;
    let (first, second) = (toolbox.pid().await, toolbox.pid().await);
    assert_ne!(first, second);
    eventually("no process at rest", || !is_alive(first) && !is_alive(second)).await;
    assert_eq!(
        toolbox.call("exit", json!({"status": 3})).await,
        Err("ToolboxCrashed: exit status 3: last words".into())
    );
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    assert!(toolbox.tools().await.unwrap().contains(&"echo".to_owned()));
}

#[tokio::test]
async fn a_run_once_process_is_gone_when_its_call_is_past_its_time() {
    let mut config = moody(&json!({}));
    config.mode = toolhost::config::Mode::Oneshot;
    config.processes = 2;
    config.timeout = Duration::from_secs(3);
    let toolbox = Hosted::start(config).ready().await;
    let slow = [(); 2].map(|()| toolbox.send("sleep", json!({"seconds": 60})));
    for call in slow {
        assert_eq!(
            call.get().await,
            Err("TimeoutError: 'sleep' did not answer within 3s".into())
        );
    }
    toolbox
        .seen("both processes gone", |seen| seen.processes.is_empty())
        .await;
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
}

#[tokio::test]
async fn a_run_once_process_that_lives_on_after_its_answer_keeps_nobody_waiting() {
    let mut config = moody(&json!({"ignore_term": true}));
    config.mode = toolhost::config::Mode::Oneshot;
    let toolbox = Hosted::start(config).ready().await;
    assert_eq!(toolbox.call("never_read", json!({})).await, Ok(json!("last answer")));
    assert!(toolbox.tools().await.is_some(), "it is up all the while");
    let (answer, took) = toolbox.send("echo", json!({"n": 1})).timed().await;
    assert_eq!(answer, Ok(json!({"n": 1})));
    assert!(took < Duration::from_secs(10), "long before its time: {took:?}");
    let left = toolbox.handle.snapshot().await.unwrap().processes;
    assert!(
        left.iter()
            .all(|process| process.uptime < took + Duration::from_secs(1))
    );
}

#[tokio::test]
async fn a_burst_as_large_as_the_queue_is_taken_in_whole() {
    let mut config = moody(&json!({}));
    config.max_pending = 5000;
    let toolbox = Hosted::start(config).ready().await;
    // All of them before the toolbox gets its turn.
    let burst: Vec<_> = (0..5000).map(|n| (n, toolbox.send("echo", json!({"n": n})))).collect();
    for (n, call) in burst {
        assert_eq!(call.get().await, Ok(json!({"n": n})));
    }
}
