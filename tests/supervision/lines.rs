//! What a toolbox may write, and what becomes of it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Folder, Hosted, moody};

#[tokio::test]
async fn noise_never_fails_a_call() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let pid = toolbox.pid().await;
    assert_eq!(toolbox.call("noise", json!({"lines": 5000})).await, Ok(json!("noisy")));
    assert_eq!(toolbox.pid().await, pid);
}

#[tokio::test]
async fn every_odd_line_has_its_outcome_and_the_next_call_works() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let good = |lines: serde_json::Value| json!({ "lines": lines });
    let ok = [
        good(json!([
            "{\"id\": 999999, \"result\": \"nobody's\"}",
            "{\"id\": $ID, \"result\": 1}"
        ])),
        good(json!([
            "{\"result\": \"nobody's\"}",
            "[1]",
            "null",
            "{",
            "",
            "{\"id\": $ID, \"result\": 1}"
        ])),
        good(json!(["  {\"id\": \"$ID\", \"result\": 1}  \r"])),
        good(json!(["{\"id\": $ID.0, \"result\": 1}"])),
        good(json!(["{\"id\": $ID, \"result\": 1}", "{\"id\": $ID, \"result\": 2}"])),
        good(json!(["\u{feff}{\"id\": $ID, \"result\": 1}"])),
    ];
    for lines in ok {
        assert_eq!(toolbox.call("raw", lines.clone()).await, Ok(json!(1)), "{lines}");
    }
    let errors = [
        ("{\"id\": $ID, \"result\": {\"mean\": NaN}}", "NaN"),
        (
            "{\"id\": $ID, \"result\": 1, \"error\": \"x\"}",
            "both result and error",
        ),
        ("{\"id\": null, \"error\": \"broken inside\"}", "broken inside"),
        (
            "{\"id\": $ID, \"error\": \"ValueError: no such word\"}",
            "ValueError: no such word",
        ),
    ];
    for (line, expected) in errors {
        let start = Instant::now();
        let error = toolbox.call("raw", good(json!([line]))).await.unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "at once, not at its deadline"
        );
    }
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_skipped_or_fail_the_call_they_answer() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    let skipped = json!({"hex": "FFFE", "then_answer": true});
    assert_eq!(toolbox.call("bytes", skipped).await, Ok(json!("after")));
    // {"id":ID,"result":"\xff"}
    let broken = json!({"hex": "7b226964223aID2c22726573756c74223a22ff227d"});
    let error = toolbox.call("bytes", broken).await.unwrap_err();
    assert!(error.to_lowercase().contains("invalid utf-8"), "{error}");
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_line_over_the_limit_fails_its_call_and_reading_goes_on_at_the_next() {
    let mut config = moody(&json!({}));
    config.max_line = 100_000;
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    for bytes in [65_535, 65_536, 65_537, 99_000] {
        assert!(toolbox.call("big", json!({ "bytes": bytes })).await.is_ok());
    }
    let error = toolbox.call("big", json!({"bytes": 50_000_000})).await.unwrap_err();
    assert_eq!(error, "ProtocolError: line longer than 100000 bytes");
    assert_eq!(toolbox.pid().await, pid);
}

fn short_lines() -> Hosted {
    let mut config = moody(&json!({}));
    config.max_line = 100_000;
    // Far longer than these tests wait: nothing here comes of a call whose time was up.
    config.timeout = Duration::from_secs(600);
    Hosted::start(config)
}

fn too_long() -> Result<serde_json::Value, String> {
    Err("ProtocolError: line longer than 100000 bytes".into())
}

#[tokio::test]
async fn a_process_that_prints_a_line_without_an_end_is_replaced_for_the_next_call() {
    let toolbox = short_lines().ready().await;
    let pid = toolbox.pid().await;
    assert_eq!(toolbox.call("endless", json!({})).await, too_long());
    let next = toolbox.call("pid", json!({})).await;
    assert_ne!(next, Ok(json!(pid)));
    assert!(next.is_ok(), "{next:?}");
}

#[tokio::test]
async fn a_process_that_leaves_a_long_line_without_its_end_is_replaced_for_the_next_call() {
    let toolbox = short_lines().ready().await;
    let pid = toolbox.pid().await;
    assert_eq!(toolbox.call("endless", json!({"bytes": 200_000})).await, too_long());
    let next = toolbox.call("pid", json!({})).await;
    assert_ne!(next, Ok(json!(pid)));
    assert!(next.is_ok(), "its answer would have been a part of that line: {next:?}");
}

#[tokio::test]
async fn a_call_waits_for_the_end_of_a_long_line_and_is_served_by_the_same_process() {
    let folder = Folder::new();
    let end = folder.path("end");
    let toolbox = short_lines().ready().await;
    let pid = toolbox.pid().await;
    let long = json!({"bytes": 200_000, "until": end});
    assert_eq!(toolbox.call("endless", long).await, too_long());
    let next = toolbox.send("pid", json!({}));
    toolbox.pending(1).await;
    std::fs::write(end, "").unwrap();
    assert_eq!(next.get().await, Ok(json!(pid)));
}

#[tokio::test]
async fn a_tiny_call_on_an_idle_child_is_answered_without_waiting_for_another() {
    let toolbox = Hosted::start(moody(&json!({}))).ready().await;
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn megabytes_in_both_directions_at_once_do_not_jam() {
    let toolbox = Hosted::start(moody(&json!({"capabilities": ["concurrent"]})))
        .ready()
        .await;
    let text = "y".repeat(1 << 20);
    let calls: Vec<_> = (0..10)
        .map(|n| (n, toolbox.send("echo", json!({"n": n, "text": text}))))
        .collect();
    for (n, call) in calls {
        assert_eq!(call.get().await.unwrap()["n"], json!(n));
    }
}

/// What is logged on this thread while it lives.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_flood_of_useless_lines_is_a_few_lines_in_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let mut config = moody(&json!({"capabilities": ["concurrent"]}));
    config.max_line = 100_000;
    let toolbox = Hosted::start(config).ready().await;
    // More than one call in flight: an error without an id is nobody's.
    let _slow = toolbox.send("sleep", json!({"seconds": 60}));
    let overlong = format!("{{\"id\": 999999, \"result\": \"{}\"}}", "x".repeat(100_000));
    let floods = [
        ("{\"id\": 999999, \"result\": 1}", 5000),
        ("{\"id\": null, \"error\": \"broken\"}", 5000),
        (overlong.as_str(), 200),
    ];
    for (line, times) in floods {
        let start = Instant::now();
        let flood = json!({"text": format!("{line}\n").repeat(times)});
        assert_eq!(toolbox.call("say", flood).await, Ok(json!("said")));
        let logged = std::mem::take(&mut *log.0.lock().unwrap());
        let lines = logged.iter().filter(|byte| **byte == b'\n').count();
        let most = 25 * (start.elapsed().as_secs() as usize + 2);
        assert!(lines <= most, "{lines} lines logged, at most {most} expected");
    }
}
