//! The log as its owner reads it: what toolboxes write has its level, and every line of it is of one form.

use serde_json::{Value, json};

use crate::common::caller::Caller;
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};

/// A toolbox that writes `lines` to stderr, as Bash does it, and waits.
fn writer(lines: &[&str]) -> Value {
    let describe = r#"{"id": 1, "result": {"tools": []}}"#;
    let mut argv = vec![
        "bash",
        "-c",
        r#"printf '%s\n' "$${@:2}" >&2; read -r; printf '%s\n' "$1"; read -r"#,
        "writer",
        describe,
    ];
    argv.extend(lines);
    json!({"command": argv})
}

#[tokio::test]
async fn what_a_toolbox_writes_to_stderr_is_logged_at_the_level_it_says() {
    let bus = Embedded::start().await;
    let lines = [
        "ERROR:root:no such word",
        "2026-01-01 12:00:00.000 - OVOS - wn:look:3 - WARNING - slow",
        r#"{"level":20,"msg":"a detail"}"#,
        "<3>gone",
        "up",
        "Traceback (most recent call last):",
        "  File \"wn.py\", line 3, in <module>",
        "wn.NoSuchWord: xyzzy",
        "the last one",
    ];
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": writer(&lines)}});
    let host = Host::launch_with(&config, |command| {
        command.args(["--log-format", "json"]);
    });
    eventually("all is logged", || host.log().contains("the last one")).await;
    let log = host.log();
    let events: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let told: Vec<_> = events
        .iter()
        .filter(|event| event["message"] == "stderr")
        .map(|event| (event["level"].as_str().unwrap(), event["line"].as_str().unwrap()))
        .collect();
    let levels = [
        "ERROR", "WARN", "DEBUG", "ERROR", "INFO", "ERROR", "ERROR", "ERROR", "INFO",
    ];
    let expected: Vec<_> = levels
        .into_iter()
        .zip(lines)
        .filter(|(level, _)| *level != "DEBUG")
        .collect();
    assert_eq!(told, expected, "details are left out, as they are of toolhost itself");
    host.stop().await;
}

#[tokio::test]
async fn a_flood_of_details_that_nobody_wants_keeps_no_error_out_of_the_log() {
    let bus = Embedded::start().await;
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": moody(&json!({}))}});
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url).await;
    let flood = json!({"unit": "DEBUG:root:a detail\n", "times": 5000});
    assert_eq!(caller.call("a", "flood_stderr", &flood).await, Ok(json!("flooded")));
    let error = json!({"unit": "ERROR:root:it broke\n", "times": 1});
    assert_eq!(caller.call("a", "flood_stderr", &error).await, Ok(json!("flooded")));
    eventually("the error is logged", || {
        host.log().contains("ERROR toolhost::supervisor::stderr")
    })
    .await;
    assert!(!host.log().contains("a detail"));
    host.stop().await;
}

#[tokio::test]
async fn in_the_journal_every_line_has_its_priority() {
    use std::os::unix::fs::MetadataExt;
    let bus = Embedded::start().await;
    let lines = ["ERROR:root:no such word", "up"];
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": writer(&lines), "gone": {"command": ["no-such-program"], "required": true}}});
    let mut host = Host::launch_with(&config, |command| {
        let log = std::fs::metadata(command.get_current_dir().unwrap().join("log")).unwrap();
        command.env("JOURNAL_STREAM", format!("{}:{}", log.dev(), log.ino()));
    });
    assert_eq!(host.ended().await.code(), Some(1));
    let log = host.log();
    for line in log.lines() {
        assert!(
            ["<3>", "<4>", "<6>", "<7>"].iter().any(|mark| line.starts_with(mark)),
            "{line}"
        );
    }
    assert!(
        log.contains("\n<3>error: the required toolbox 'gone' cannot be started"),
        "{log}"
    );
}
