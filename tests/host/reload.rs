//! Reload: only what changed is touched, and every call is answered once through it.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use toolhost::control::client;
use toolhost::control::order::{GRACE_MS, Orders};
use toolhost::control::verb::Verb;

use crate::common::caller::{CALL, Caller, DISCOVER, INVOKE, LIST, RELOAD, call, outcome, predecessor};
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

/// Calls a toolbox that runs until its gate is opened, and waits until it does.
async fn busy(host: &Host, caller: &mut Caller, gate: &Path) -> String {
    std::fs::create_dir(gate).unwrap();
    let kwargs = json!({"folder": gate, "parties": 2});
    let running = caller.send(CALL, &call("edited", "meet", &kwargs)).await;
    eventually("the call runs", || {
        host.toolbox("edited")["processes"][0]["in_flight"] == 1
    })
    .await;
    running
}

/// What callers find of a toolbox whose next process waits for the old one, which has a call in hand.
async fn nobody_misses_it(host: &Host, caller: &mut Caller, running: &str, gate: &Path) {
    eventually("the next one is awaited", || {
        host.toolbox("edited")["state"] == "starting"
    })
    .await;
    let listed = caller.ask(LIST, &json!({})).await;
    let got = caller.ask("ovos.tools.get", &json!({"name": "echo"})).await;
    let kwargs = json!({"n": 1});
    let invoking = caller.send(INVOKE, &json!({"name": "echo", "args": kwargs})).await;
    let discovering = caller.send(DISCOVER, &json!({})).await;
    // Answered behind the call: so nobody refused that at once.
    caller.ask(LIST, &json!({})).await;
    assert!(
        caller.answers(running).is_empty(),
        "the old one is still there: {}",
        host.log()
    );
    assert!(names(&listed).contains(&("edited", "echo")), "{listed}");
    assert_eq!(got["name"], "echo", "{got}");
    assert!(
        caller.answers(&invoking).is_empty(),
        "it waits: {:?}",
        caller.answers(&invoking)
    );
    std::fs::write(gate.join("open"), "").unwrap();
    let ended = outcome(&caller.wait(running, 1).await[0]);
    assert!(ended.is_ok(), "what it had it finished: {ended:?}");
    assert_eq!(outcome(&caller.wait(&invoking, 1).await[0]), Ok(kwargs));
    let discovered = caller.wait(&discovering, 1).await;
    let mut tools = discovered[0]["tools"].as_array().expect("tools").iter();
    assert!(tools.any(|tool| tool["name"] == "echo"), "{discovered:?}");
}

#[tokio::test]
async fn a_toolbox_that_a_reload_changes_is_listed_and_called_all_the_while() {
    let bus = Embedded::start().await;
    let mut edited = moody(&json!({"ignore_term": true}));
    let host = Host::start(&config(&bus.url, &json!({"edited": edited}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (pid, gate) = (host.pid_of("edited"), host.folder().join("gate"));
    let running = busy(&host, &mut caller, &gate).await;
    edited["deny"] = json!(["raise"]);
    host.write_config(&config(&bus.url, &json!({"edited": edited})));
    let reloading = caller.send(RELOAD, &json!({})).await;
    eventually("the old one is told", || {
        host.log().contains("changed or removed, stopping")
    })
    .await;
    let denied = caller.send(INVOKE, &json!({"name": "raise", "args": {}})).await;
    nobody_misses_it(&host, &mut caller, &running, &gate).await;
    let checked = outcome(&caller.wait(&denied, 1).await[0]);
    assert_eq!(checked, Err("Unknown tool: 'raise'".into()), "by what the new one says");
    let reloaded = caller.wait(&reloading, 1).await.remove(0);
    assert!(names(&reloaded).contains(&("edited", "echo")) && !names(&reloaded).contains(&("edited", "raise")));
    assert!(!is_alive(pid));
    assert!(caller.nothing_was_answered_twice());
    host.stop().await;
}

#[tokio::test]
async fn a_toolbox_that_its_owner_restarts_is_listed_and_called_all_the_while() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url, &json!({"edited": moody(&json!({}))}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (pid, gate) = (host.pid_of("edited"), host.folder().join("gate"));
    let running = busy(&host, &mut caller, &gate).await;
    let orders = Orders {
        toolboxes: vec!["edited".to_owned()],
        grace_ms: GRACE_MS,
        ..Orders::default()
    };
    client::ask(&host.socket(), &Verb::Restart(orders)).expect("it is asked");
    nobody_misses_it(&host, &mut caller, &running, &gate).await;
    assert!(!is_alive(pid));
    host.stop().await;
}

#[tokio::test]
async fn a_changed_toolbox_that_does_not_come_up_is_down_and_not_unknown() {
    let bus = Embedded::start().await;
    let mut edited = moody(&json!({}));
    let host = Host::start(&config(&bus.url, &json!({"edited": edited}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    edited["config"] = json!({"die_on_describe": true});
    edited["restart"] = json!({"backoff": "1ms", "give_up_after": 2});
    host.write_config(&config(&bus.url, &json!({"edited": edited})));
    caller.ask(RELOAD, &json!({})).await;
    eventually("it is given up", || host.toolbox("edited")["state"] == "failed").await;
    let invoked = caller.ask(INVOKE, &json!({"name": "echo", "args": {}})).await;
    let why = outcome(&invoked).unwrap_err();
    assert!(
        why.starts_with("ToolboxUnavailable: exit status 1: no good start"),
        "{why}"
    );
    host.stop().await;
}

#[tokio::test]
async fn a_pipe_that_the_file_names_or_in_its_place_is_a_fault_and_the_host_goes_on() {
    let bus = Embedded::start().await;
    let mut toolbox = moody(&json!({}));
    let host = Host::start(&config(&bus.url, &json!({"a": toolbox}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    let pid = host.pid_of("a");
    let make_pipe = |name: &str| {
        let path = host.folder().join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        path
    };
    make_pipe("secrets");
    toolbox["env_file"] = "./secrets".into();
    host.write_config(&config(&bus.url, &json!({"a": toolbox})));
    let why = caller.ask(RELOAD, &json!({})).await["error"].to_string();
    assert!(
        why.contains("secrets cannot be read: it is no file but a pipe"),
        "{why}"
    );
    std::fs::rename(make_pipe("another"), host.folder().join("toolhost.yaml")).unwrap();
    let why = caller.ask(RELOAD, &json!({})).await["error"].to_string();
    assert!(
        why.contains("toolhost.yaml: cannot be read: it is no file but a pipe"),
        "{why}"
    );
    assert_eq!(caller.call("a", "pid", &json!({})).await, Ok(json!(pid)));
    host.stop().await;
}
