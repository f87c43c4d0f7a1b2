//! Reload: only what changed is touched, and every call is answered once through it.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, DISCOVER, LIST, RELOAD, call, outcome, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, is_alive, moody};

/// The way a person or another program asks for it.
enum Way {
    Topic,
    Hangup,
}

fn config(url: &str, toolboxes: &Value) -> Value {
    json!({"bus": {"url": url}, "tool_service": true, "toolboxes": toolboxes})
}

fn namespaced(namespace: &str) -> Value {
    let mut toolbox = moody(&json!({}));
    toolbox["namespace"] = namespace.into();
    toolbox
}

/// Toolbox and name of each tool in an answer with `tools`.
fn names(answer: &Value) -> Vec<(&str, &str)> {
    let tools = answer["tools"].as_array().expect("tools").iter();
    tools
        .map(|tool| (tool["toolbox_id"].as_str().unwrap(), tool["name"].as_str().unwrap()))
        .collect()
}

async fn a_reload_touches_only_what_changed(way: Way) {
    let bus = Embedded::start().await;
    let kept = moody(&json!({}));
    let before = json!({"kept": kept, "edited": namespaced("old"), "removed": moody(&json!({}))});
    let host = Host::start(&config(&bus.url, &before)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (kept_pid, edited_pid, removed_pid) = (host.pid_of("kept"), host.pid_of("edited"), host.pid_of("removed"));
    // A busy toolbox is waited for a while; this call takes longer.
    let slow = json!({"seconds": 6, "n": 1});
    let running = caller.send(CALL, &call("kept", "late_echo", &slow)).await;
    let ending = caller
        .send(CALL, &call("removed", "late_echo", &json!({"seconds": 1})))
        .await;
    eventually("both calls run", || {
        ["kept", "removed"]
            .iter()
            .all(|id| host.toolbox(id)["processes"][0]["in_flight"] == 1)
    })
    .await;
    host.write_config(&config(
        &bus.url,
        &json!({"kept": kept, "edited": namespaced("new"), "added": moody(&json!({}))}),
    ));
    match way {
        Way::Topic => {
            let answer = caller.ask(RELOAD, &json!({})).await;
            let names = names(&answer);
            for (pair, listed) in [
                (("kept", "echo"), true),
                (("edited", "new_echo"), true),
                (("added", "echo"), true),
                (("edited", "old_echo"), false),
                (("removed", "echo"), false),
            ] {
                assert_eq!(names.contains(&pair), listed, "{pair:?}");
            }
            assert_eq!(answer.get("error"), None);
        }
        Way::Hangup => {
            host.signal(Signal::SIGHUP);
            eventually("the reload is done", || host.log().contains("reloaded")).await;
        }
    }
    assert!(caller.answers(&running).is_empty(), "the slow call outlives the reload");
    for (toolbox_id, tool) in [("edited", "new_echo"), ("added", "echo")] {
        assert_eq!(
            caller.call(toolbox_id, tool, &json!({"n": 2})).await,
            Ok(json!({"n": 2})),
            "{toolbox_id}"
        );
    }
    let old_name = caller.call("edited", "old_echo", &json!({})).await;
    assert_eq!(old_name, Err("Unknown tool: 'old_echo'".into()));
    assert!(
        caller
            .stays_unanswered(CALL, &call("removed", "echo", &json!({})))
            .await
    );
    assert!(
        caller
            .stays_unanswered(&predecessor("removed"), &json!({"name": "echo"}))
            .await
    );
    assert_eq!(outcome(&caller.wait(&running, 1).await[0]), Ok(slow));
    assert_eq!(
        outcome(&caller.wait(&ending, 1).await[0]),
        Ok(json!({"seconds": 1})),
        "what it had it finished"
    );
    assert_eq!(host.pid_of("kept"), kept_pid);
    assert_ne!(host.pid_of("edited"), edited_pid);
    assert!(!is_alive(edited_pid) && !is_alive(removed_pid));
    assert_eq!(host.processes().len(), 3);
    host.stop().await;
}

#[tokio::test]
async fn a_reload_by_topic_touches_only_what_changed() {
    a_reload_touches_only_what_changed(Way::Topic).await;
}

#[tokio::test]
async fn a_reload_by_signal_touches_only_what_changed() {
    a_reload_touches_only_what_changed(Way::Hangup).await;
}

#[tokio::test]
async fn a_file_with_faults_changes_nothing_and_the_answer_says_why() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url, &json!({"a": moody(&json!({}))}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (pid, before) = (host.pid_of("a"), caller.ask(LIST, &json!({})).await);
    host.write_config(&config(
        &bus.url,
        &json!({"a": {"comand": ["python3"]}, "b": moody(&json!({}))}),
    ));
    let answer = caller.ask(RELOAD, &json!({})).await;
    let why = answer["error"].as_str().expect("why not");
    assert!(
        why.contains("toolhost.yaml:") && why.contains("comand"),
        "file, line and key: {why}"
    );
    assert_eq!(answer["tools"], before["tools"], "those that go on");
    host.signal(Signal::SIGHUP);
    eventually("the log says why, too", || {
        host.log().matches("reload refused").count() == 2
    })
    .await;
    assert_eq!(caller.ask(LIST, &json!({})).await, before);
    assert_eq!(host.pid_of("a"), pid);
    host.stop().await;
}

#[tokio::test]
async fn after_five_reloads_a_call_runs_once_and_is_answered_once() {
    let bus = Embedded::start().await;
    let calls = std::env::temp_dir().join(format!("toolhost-test-calls-{}", std::process::id()));
    let toolboxes = json!({"a": moody(&json!({"calls_file": calls}))});
    let host = Host::start(&config(&bus.url, &toolboxes)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let pid = host.pid_of("a");
    for _ in 0..5 {
        caller.ask(RELOAD, &json!({})).await;
    }
    let kwargs = json!({"token": "only"});
    assert_eq!(caller.call("a", "echo", &kwargs).await, Ok(kwargs));
    let discover = caller.send(DISCOVER, &json!({})).await;
    caller.wait(&discover, 1).await;
    // Anything that came a second time would have come before this.
    caller.call("a", "pid", &json!({"token": "fence"})).await.unwrap();
    caller.catch_up().await;
    assert!(caller.nothing_was_answered_twice());
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), "only\nfence\n");
    std::fs::remove_file(&calls).unwrap();
    assert_eq!(host.pid_of("a"), pid);
    host.stop().await;
}
