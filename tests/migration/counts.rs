//! Who calls on which topic: in the status, in the report, and over restarts.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::caller::{Caller, predecessor};
use crate::common::embedded::Embedded;
use crate::common::host::{Host, moody};

/// `toolhost migrate report`: the exit code, the document, what was said.
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
fn report(socket: &Path, quiet: &str) -> (i32, Value, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["migrate", "report", "--quiet", quiet, "--socket"])
        .arg(socket)
        .output()
        .expect("toolhost starts");
    let document = serde_json::from_slice(&stdout).expect("a document");
    let said = String::from_utf8(stderr).expect("text");
    (status.code().expect("an exit code"), document, said)
}

/// `toolhost metrics`
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
fn metrics(socket: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["metrics", "--socket"])
        .arg(socket)
        .output()
        .expect("toolhost starts");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).expect("text")
}

fn config(url: &str) -> Value {
    let with = |policy: &str| {
        let mut toolbox = moody(&json!({}));
        toolbox["predecessor_topics"] = policy.into();
        toolbox
    };
    json!({"bus": {"url": url}, "toolboxes": {"warns": with("warn"), "ignores": with("ignore"), "answers": with("answer")}})
}

fn counts(document: &Value, toolbox_id: &str) -> (u64, u64, String) {
    let toolboxes = document["toolboxes"].as_array().expect("toolboxes");
    let found = toolboxes.iter().find(|toolbox| toolbox["toolbox_id"] == toolbox_id);
    let toolbox = found.unwrap_or_else(|| panic!("{toolbox_id} is told: {document}"));
    (
        toolbox["predecessor_calls"].as_u64().expect("a number"),
        toolbox["replacement_calls"].as_u64().expect("a number"),
        toolbox["verdict"].as_str().unwrap_or("-").to_owned(),
    )
}

#[tokio::test]
async fn the_report_counts_callers_by_topic_and_says_whether_it_is_quiet() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let old = json!({"name": "echo", "kwargs": {}});
    for _ in 0..3 {
        caller.ask(&predecessor("warns"), &old).await;
        assert!(caller.stays_unanswered(&predecessor("ignores"), &old).await);
    }
    caller.call("answers", "echo", &json!({})).await.expect("a result");

    let (code, document, said) = report(&host.socket(), "1h");
    assert_eq!(code, 1, "{said}");
    assert_eq!(counts(&document, "warns"), (3, 0, "used".to_owned()));
    assert_eq!(counts(&document, "ignores"), (3, 0, "used".to_owned()));
    assert_eq!(counts(&document, "answers"), (0, 1, "too_early".to_owned()));
    assert!(
        said.contains("the predecessor topic of 'warns', 'ignores'") || said.contains("'ignores', 'warns'"),
        "{said}"
    );
    assert!(
        said.contains("the calls to 'answers' have not been counted for 1h"),
        "{said}"
    );
    let caller_told = &document["toolboxes"][2]["callers"][0];
    assert_eq!(caller_told["source"], "caller");
    assert_eq!(caller_told["session_id"], "s");
    assert_eq!(caller_told["context_keys"], "token source destination session");
    assert_eq!(counts(&host.status().expect("a status")["migration"], "warns").0, 3);
    let log = host.log();
    assert!(
        log.contains(r#"{\"toolbox_id\": \"warns\", \"name\": ..., \"kwargs\": {...}}"#),
        "{log}"
    );
    let (code, document, said) = report(&host.socket(), "0s");
    assert_eq!((code, document["quiet"].clone(), said.as_str()), (0, json!(true), ""));
    let metrics = metrics(&host.socket());
    for line in [
        r#"toolhost_topic_calls_total{toolbox_id="warns",source="caller",session_id="s",topic="predecessor"} 3"#,
        r#"toolhost_topic_calls_total{toolbox_id="answers",source="caller",session_id="s",topic="replacement"} 1"#,
        r#"toolhost_toolbox_ready{toolbox_id="warns"} 1"#,
        r#"toolhost_calls_total{toolbox_id="warns",outcome="ok"} 3"#,
    ] {
        assert!(metrics.lines().any(|told| told == line), "{line} is not in\n{metrics}");
    }
    host.stop().await;
}

#[tokio::test]
async fn the_counts_outlive_a_restart_and_nobody_else_can_read_them() {
    let bus = Embedded::start().await;
    let mut host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    caller.ask(&predecessor("warns"), &json!({"name": "echo"})).await;
    host.signal(Signal::SIGTERM);
    host.ended().await;
    let folder = host.folder().join(".local/state/toolhost");
    let files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the state folder")
        .flatten()
        .collect();
    let counts_file = files
        .iter()
        .find(|file| file.file_name().to_string_lossy().starts_with("usage-"));
    let mode = counts_file
        .expect("the counts")
        .metadata()
        .expect("its mode")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let again = host.restart().await;
    caller.ask(&predecessor("warns"), &json!({"name": "echo"})).await;
    let (_, document, _) = report(&again.socket(), "14d");
    assert_eq!(counts(&document, "warns").0, 2);
    again.stop().await;
}

#[tokio::test]
async fn counts_that_cannot_be_read_are_set_aside_and_the_host_starts() {
    let bus = Embedded::start().await;
    let mut host = Host::start(&config(&bus.url)).await;
    host.signal(Signal::SIGTERM);
    host.ended().await;
    let folder = host.folder().join(".local/state/toolhost");
    let is_counts = |name: &str| name.starts_with("usage-") && name.ends_with(".json");
    let mut files = std::fs::read_dir(&folder).expect("the state folder").flatten();
    let file = files
        .find(|file| is_counts(&file.file_name().to_string_lossy()))
        .expect("the counts")
        .path();
    std::fs::write(&file, "{broken").expect("written");
    let again = host.restart().await;
    assert!(again.log().contains("counting begins anew"), "{}", again.log());
    assert_eq!(
        std::fs::read_to_string(file.with_extension("bad")).expect("set aside"),
        "{broken"
    );
    again.stop().await;
}
