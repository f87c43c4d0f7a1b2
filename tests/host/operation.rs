//! What the owner of a host sees, and what nobody may see.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, DISCOVER, LIST, call};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};

fn config(url: &str, toolboxes: &Value) -> Value {
    json!({"bus": {"url": url}, "tool_service": true, "toolboxes": toolboxes})
}

/// What `toolhost status` prints about a host.
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
fn status(host: &Host, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command.args(["status", "--socket"]).arg(host.socket()).args(arguments);
    let output = command.output().expect("toolhost runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test]
async fn status_shows_what_is_supervised() {
    let bus = Embedded::start().await;
    let toolboxes =
        json!({"up": moody(&json!({})), "down": {"command": ["no-such-program"], "restart": {"when": "never"}}});
    let host = Host::start(&config(&bus.url, &toolboxes)).await;
    let mut caller = Caller::connect(&bus.url).await;
    caller.call("up", "echo", &json!({})).await.unwrap();
    caller.call("up", "raise", &json!({})).await.unwrap_err();
    caller.call("up", "exit", &json!({})).await.unwrap_err();
    assert_eq!(caller.call("up", "echo", &json!({})).await, Ok(json!({})));
    let status: Value = serde_json::from_str(&status(&host, &["--json"])).expect("JSON");
    assert_eq!(status["host"]["pid"], host.pid().as_raw());
    assert_eq!(status["host"]["bus"]["state"], "connected");
    assert_eq!(status["host"]["tool_service"], "answering");
    let [up, down] = &status["toolboxes"].as_array().unwrap()[..] else {
        panic!("two: {status}")
    };
    assert_eq!(up["state"], "ready");
    assert_eq!(up["processes"][0]["pid"], host.pid_of("up"));
    assert_eq!(up["restarts"], 1);
    assert_eq!(up["calls"], json!({"ok": 2, "error": 2, "pending": 0}));
    assert_eq!(down["state"], "failed");
    assert!(
        down["reason"]
            .as_str()
            .unwrap()
            .starts_with("'no-such-program' not found"),
        "{down}"
    );
    host.stop().await;
}

#[tokio::test]
async fn values_of_the_environment_are_seen_by_their_toolbox_alone() {
    const SECRET: &str = "s3cr3t-value";
    let bus = Embedded::start().await;
    let secretive = |mut toolbox: Value| {
        toolbox["env"] = json!({"API_KEY": SECRET, "FROM_HOST": "${HOST_SECRET}"});
        toolbox
    };
    let toolboxes = json!({
        "up": secretive(moody(&json!({}))),
        "dies": secretive(moody(&json!({"die_on_describe": true}))),
        "missing": secretive(json!({"command": ["no-such-program"]})),
    });
    let mut host = Host::launch_with(&config(&bus.url, &toolboxes), |command| {
        command.env("HOST_SECRET", SECRET).args(["--log-level", "debug"]);
    });
    host.ready().await;
    let mut caller = Caller::connect(&bus.url).await;
    let environment = caller.call("up", "environment", &json!({})).await.unwrap();
    assert_eq!(
        (&environment["API_KEY"], &environment["FROM_HOST"]),
        (&SECRET.into(), &SECRET.into())
    );
    let said_before = caller.everything_heard().matches(SECRET).count();
    for (toolbox_id, tool) in [
        ("up", "raise"),
        ("up", "exit"),
        ("up", "nope"),
        ("dies", "echo"),
        ("missing", "echo"),
    ] {
        caller
            .call(toolbox_id, tool, &json!({"password": "p4ssw0rd"}))
            .await
            .unwrap_err();
    }
    caller
        .call(
            "up",
            "raw",
            &json!({"lines": ["noise", "{\"id\": $ID, \"result\": 1}"]}),
        )
        .await
        .unwrap();
    for topic in [LIST, "ovos.tools.reload"] {
        caller.ask(topic, &json!({})).await;
    }
    let discover = caller.send(DISCOVER, &json!({})).await;
    caller.wait(&discover, 3).await;
    assert_eq!(
        caller.everything_heard().matches(SECRET).count(),
        said_before,
        "in an answer"
    );
    assert!(!status(&host, &["--json"]).contains(SECRET), "in the status");
    for pid in host.processes().into_iter().chain([host.pid().as_raw()]) {
        let argv = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&argv).contains(SECRET),
            "in the arguments of {pid}"
        );
    }
    let log = host.log();
    assert!(log.contains("DEBUG"), "the log is as talkative as it gets here");
    assert!(!log.contains(SECRET), "in the log");
    assert!(!log.contains("p4ssw0rd"), "an argument in the log");
    host.stop().await;
}

/// Answers, reloads and stops, though nobody takes its log.
async fn works_without_its_log(url: &str, mut host: Host) {
    host.ready().await;
    let mut caller = Caller::connect(url).await;
    // Every one of these is logged.
    for n in 0..100 {
        let lines = json!({"lines": [format!("noise {n}"), "{\"id\": $ID, \"result\": 1}"]});
        assert_eq!(caller.call("a", "raw", &lines).await, Ok(json!(1)));
    }
    caller.ask("ovos.tools.reload", &json!({})).await;
    caller.call("a", "exit", &json!({})).await.unwrap_err();
    assert_eq!(caller.call("a", "echo", &json!({})).await, Ok(json!({})));
    host.stop().await;
}

#[tokio::test]
async fn a_full_disk_under_the_log_does_not_stop_the_host() {
    let bus = Embedded::start().await;
    let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let host = Host::launch_with(&config(&bus.url, &json!({"a": moody(&json!({}))})), |command| {
        command.stderr(full);
    });
    works_without_its_log(&bus.url, host).await;
}

#[tokio::test]
async fn a_closed_pipe_under_the_log_does_not_stop_the_host() {
    let bus = Embedded::start().await;
    let mut host = Host::launch_with(&config(&bus.url, &json!({"a": moody(&json!({}))})), |command| {
        command.stderr(Stdio::piped());
    });
    drop(host.stderr());
    works_without_its_log(&bus.url, host).await;
}

#[tokio::test]
async fn a_required_toolbox_that_cannot_start_ends_the_host_with_its_reason() {
    let bus = Embedded::start().await;
    let broken = json!({"command": ["no-such-program"], "required": true});
    let mut host = Host::launch(&config(
        &bus.url,
        &json!({"healthy": moody(&json!({})), "broken": broken}),
    ));
    assert_eq!(host.ended().await.code(), Some(1));
    let log = host.log();
    let said = "the required toolbox 'broken' cannot be started: 'no-such-program' not found on the PATH";
    assert!(log.contains(said), "{log}");
    assert_eq!(host.processes(), Vec::<i32>::new());
}

#[tokio::test]
async fn a_toolbox_that_cannot_start_keeps_no_other_from_working() {
    let bus = Embedded::start().await;
    let dying = moody(&json!({"die_on_describe": true}));
    let toolboxes = json!({"dying": dying, "missing": {"command": ["no-such-program"]}, "healthy": moody(&json!({}))});
    let host = Host::start(&config(&bus.url, &toolboxes)).await;
    let mut caller = Caller::connect(&bus.url).await;
    for n in 0..5 {
        assert_eq!(
            caller.call("healthy", "echo", &json!({"n": n})).await,
            Ok(json!({"n": n}))
        );
        let error = caller.call("missing", "echo", &json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: 'no-such-program' not found on the PATH"),
            "{error}"
        );
        let error = caller.ask(CALL, &call("dying", "echo", &json!({}))).await["error"].to_string();
        assert!(error.contains("exit status 1: no good start"), "{error}");
    }
    eventually("both are tried again", || {
        ["dying", "missing"]
            .iter()
            .all(|id| host.toolbox(id)["restarts"].as_u64() > Some(0) || host.toolbox(id)["state"] == "backoff")
    })
    .await;
    host.stop().await;
}
