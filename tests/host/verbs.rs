//! `toolhost stop`, `start`, `restart` and `reload`, as an owner types them, while callers go on calling.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, DISCOVER, INVOKE, LIST, call, outcome};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, is_alive, moody};
use crate::common::scratch::Scratch;

const STOPPED: &str = "ToolboxUnavailable: stopped by its owner; start it with `toolhost start a`";

fn config(url: &str, toolboxes: &Value) -> Value {
    json!({"bus": {"url": url}, "tool_service": true, "toolboxes": toolboxes})
}

/// How a command ended: its exit code, its stdout as JSON, its stderr.
struct Said {
    code: Option<i32>,
    answer: Value,
    error: String,
}

/// Runs `toolhost VERB ...` for this host. It may last: the bus of the test goes on meanwhile.
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
async fn toolhost(host: &Host, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command.args(arguments).arg("--socket").arg(host.socket());
    outcome_of(command).await
}

async fn outcome_of(mut command: Command) -> Said {
    let run = move || command.output().expect("toolhost runs");
    let output: Output = tokio::task::spawn_blocking(run).await.expect("it ends");
    Said {
        code: output.status.code(),
        answer: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        error: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Asserts that all went well, and gives the answer.
async fn done(host: &Host, arguments: &[&str]) -> Value {
    let said = toolhost(host, arguments).await;
    assert_eq!((said.code, said.error.as_str()), (Some(0), ""), "{arguments:?}");
    said.answer
}

fn in_flight(host: &Host, toolbox_id: &str) -> u64 {
    host.toolbox(toolbox_id)["processes"][0]["in_flight"]
        .as_u64()
        .unwrap_or_default()
}

#[tokio::test]
async fn a_restart_loses_no_call_and_touches_no_neighbor() {
    let bus = Embedded::start().await;
    let toolboxes = json!({"a": moody(&json!({})), "b": moody(&json!({}))});
    let host = Host::start(&config(&bus.url, &toolboxes)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (old, neighbor) = (host.pid_of("a"), host.pid_of("b"));
    let slow = json!({"seconds": 2});
    let mut tokens = vec![caller.send(CALL, &call("a", "late_echo", &slow)).await];
    eventually("the call runs", || in_flight(&host, "a") == 1).await;
    for _ in 0..20 {
        tokens.push(caller.send(CALL, &call("a", "late_echo", &json!({"seconds": 0}))).await);
    }
    let answer = done(&host, &["restart", "a"]).await;
    assert_eq!(answer, json!([{"toolbox_id": "a", "done": "restarted"}]));
    assert!(!is_alive(old));
    for (n, token) in tokens.iter().enumerate() {
        let expected = if n == 0 { slow.clone() } else { json!({"seconds": 0}) };
        assert_eq!(outcome(&caller.wait(token, 1).await[0]), Ok(expected), "call {n}");
    }
    assert_ne!(host.pid_of("a"), old);
    assert_eq!(host.pid_of("b"), neighbor);
    assert_eq!(host.processes().len(), 2);
    caller.catch_up().await;
    assert!(caller.nothing_was_answered_twice());
    let all = done(&host, &["restart", "--all"]).await;
    let restarted = |id: &str| json!({"toolbox_id": id, "done": "restarted"});
    assert_eq!(all, json!([restarted("a"), restarted("b")]));
    assert_ne!(host.pid_of("b"), neighbor);
    host.stop().await;
}

#[tokio::test]
async fn a_stopped_toolbox_stays_so_until_it_is_started_or_its_entry_changes() {
    let bus = Embedded::start().await;
    let toolboxes = |a: Value| config(&bus.url, &json!({"a": a, "b": moody(&json!({}))}));
    let host = Host::start(&toolboxes(moody(&json!({})))).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (pid, neighbor) = (host.pid_of("a"), host.pid_of("b"));
    let stopped = json!([{"toolbox_id": "a", "done": "stopped"}]);
    assert_eq!(done(&host, &["stop", "a"]).await, stopped);
    assert!(!is_alive(pid));
    let seen = host.toolbox("a");
    assert_eq!(
        (&seen["state"], &seen["processes"]),
        (&json!("stopped"), &json!([])),
        "{seen}"
    );
    assert_eq!(caller.call("a", "echo", &json!({})).await, Err(STOPPED.into()));
    let invoked = caller.ask(INVOKE, &json!({"name": "moody_nothing", "args": {}})).await;
    assert_eq!(
        invoked["error"], "Unknown tool: 'moody_nothing'",
        "the others are served"
    );
    let discover = caller.send(DISCOVER, &json!({})).await;
    let answers = caller.wait(&discover, 2).await;
    let a = answers.iter().find(|answer| answer["toolbox_id"] == "a").unwrap();
    assert_eq!(a["tools"], json!([]), "as of any that is down");
    let listed = caller.ask(LIST, &json!({})).await["tools"].clone();
    let of_a = |tool: &&Value| tool["toolbox_id"] == "a";
    assert!(
        listed.as_array().unwrap().iter().any(|tool| of_a(&tool)),
        "what is known of it"
    );
    // A reload of an unchanged file leaves it as it is.
    let reloaded = done(&host, &["reload"]).await;
    assert_eq!(
        reloaded,
        json!({"added": [], "removed": [], "changed": [], "unchanged": ["a", "b"], "settings": false})
    );
    assert_eq!(caller.call("a", "echo", &json!({})).await, Err(STOPPED.into()));
    let ends = |done: &str| json!([{"toolbox_id": "a", "done": done}]);
    assert_eq!(done(&host, &["stop", "a"]).await, ends("was_stopped"));
    assert_eq!(done(&host, &["start", "a"]).await, ends("started"));
    assert_eq!(caller.call("a", "echo", &json!({})).await, Ok(json!({})));
    assert_eq!(done(&host, &["start", "a"]).await, ends("was_running"));
    assert_eq!(done(&host, &["stop", "a"]).await, stopped);
    let mut changed = moody(&json!({}));
    changed["timeout"] = "11s".into();
    host.write_config(&toolboxes(changed));
    let reloaded = done(&host, &["reload"]).await;
    assert_eq!(reloaded["changed"], json!(["a"]));
    assert_eq!(caller.call("a", "echo", &json!({})).await, Ok(json!({})));
    assert_eq!(host.pid_of("b"), neighbor);
    host.stop().await;
}

#[tokio::test]
async fn a_reload_of_what_is_forwarded_says_that_settings_changed() {
    let bus = Embedded::start().await;
    let forwarding = |ids: &[&str]| json!({"bus": {"url": bus.url}, "migrate": {"to_predecessor": ids}, "toolboxes": {"a": moody(&json!({}))}});
    let host = Host::start(&forwarding(&["old"])).await;
    let told =
        |settings: bool| json!({"added": [], "removed": [], "changed": [], "unchanged": ["a"], "settings": settings});
    host.write_config(&forwarding(&["old", "older"]));
    assert_eq!(done(&host, &["reload"]).await, told(true));
    assert_eq!(done(&host, &["reload"]).await, told(false), "nothing more");
    let log = host.log();
    assert!(
        log.contains("reloaded toolboxes=1 forwarded=2 settings_changed=true"),
        "{log}"
    );
    let mut off = forwarding(&["old", "older"]);
    off["tool_service"] = false.into();
    host.write_config(&off);
    assert_eq!(done(&host, &["reload"]).await, told(true));
    off["watch"] = true.into();
    host.write_config(&off);
    assert_eq!(done(&host, &["reload"]).await, told(true));
    host.stop().await;
}

#[tokio::test]
async fn a_stop_whose_grace_is_over_answers_the_call_in_hand() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url, &json!({"a": moody(&json!({}))}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    let running = caller
        .send(CALL, &call("a", "late_echo", &json!({"seconds": 25})))
        .await;
    eventually("the call runs", || in_flight(&host, "a") == 1).await;
    done(&host, &["stop", "a", "--grace", "100ms"]).await;
    assert_eq!(outcome(&caller.wait(&running, 1).await[0]), Err(STOPPED.into()));
    assert_eq!(host.processes(), Vec::<i32>::new());
    host.stop().await;
}

#[tokio::test]
async fn what_does_not_come_up_and_what_is_not_there_is_told() {
    let bus = Embedded::start().await;
    let folder = Scratch::new();
    let program = folder.path().join("frail.py");
    let moody_text = std::fs::read_to_string(crate::common::host::fixture("moody.py")).unwrap();
    std::fs::write(&program, &moody_text).unwrap();
    let toolboxes = json!({"frail": {"command": ["python3", program]}, "greet": moody(&json!({}))});
    let host = Host::start(&config(&bus.url, &toolboxes)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let neighbor = host.pid_of("greet");

    let said = toolhost(&host, &["restart", "gret", "greet"]).await;
    assert_eq!(said.code, Some(2));
    assert_eq!(
        said.error,
        "error: this host has no toolbox 'gret'\nhint: it has 'greet', 'frail'\n"
    );
    assert_eq!(host.pid_of("greet"), neighbor, "then nothing is done");

    std::fs::write(&program, "import sys\nsys.exit('a slip of the pen')\n").unwrap();
    let said = toolhost(&host, &["restart", "frail"]).await;
    assert_eq!(said.code, Some(1));
    let why = "error: 'frail': exit status 1: a slip of the pen; tried again in ";
    assert!(said.error.starts_with(why), "{}", said.error);
    assert_eq!(said.answer[0]["toolbox_id"], "frail");
    let asked = done(&host, &["stop", "frail", "--no-wait"]).await;
    assert_eq!(asked, json!([{"toolbox_id": "frail", "done": "asked"}]));

    std::fs::write(&program, &moody_text).unwrap();
    done(&host, &["start", "frail"]).await;
    assert_eq!(caller.call("frail", "echo", &json!({})).await, Ok(json!({})));
    assert_eq!(host.pid_of("greet"), neighbor);
    host.stop().await;
}

#[tokio::test]
async fn a_toolbox_that_was_given_up_is_loud_about_it_and_started_by_its_owner() {
    let bus = Embedded::start().await;
    let mut frail = moody(&json!({}));
    frail["restart"] = json!({"backoff": "1ms", "give_up_after": 2});
    let host = Host::start(&config(&bus.url, &json!({"a": frail}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    eventually("it is given up", || {
        if let Some(pid) = host.toolbox("a")["processes"][0]["pid"].as_i64() {
            let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).ok();
        }
        host.toolbox("a")["state"] == "failed"
    })
    .await;
    eventually("the log says so", || {
        let log = host.log();
        log.contains("ERROR") && log.contains("mend it, then `toolhost start`")
    })
    .await;
    let error = caller.call("a", "echo", &json!({})).await.unwrap_err();
    assert!(
        error.contains("(given up after 2 failures); not tried again before `toolhost start`"),
        "{error}"
    );
    assert_eq!(
        done(&host, &["start", "a"]).await,
        json!([{"toolbox_id": "a", "done": "started"}])
    );
    assert_eq!(caller.call("a", "echo", &json!({})).await, Ok(json!({})));
    host.stop().await;
}

#[tokio::test]
async fn a_restart_reads_the_tools_of_a_script_that_has_no_process_again() {
    let bus = Embedded::start().await;
    let folder = Scratch::new();
    let script = folder.path().join("words.sh");
    let text =
        "# @describe Words\n# @cmd Says one\nsay() { echo \"said\"; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";
    std::fs::write(&script, text).unwrap();
    let host = Host::start(&config(&bus.url, &json!({"words": {"script": script}}))).await;
    let mut caller = Caller::connect(&bus.url).await;
    assert_eq!(
        caller.call("words", "say", &json!({})).await,
        Ok(json!({"output": "said\n"}))
    );
    std::fs::write(&script, text.replace("say()", "sing()")).unwrap();
    let answer = done(&host, &["restart", "words"]).await;
    assert_eq!(answer, json!([{"toolbox_id": "words", "done": "read_again"}]));
    assert_eq!(
        caller.call("words", "sing", &json!({})).await,
        Ok(json!({"output": "said\n"}))
    );
    assert_eq!(
        caller.call("words", "say", &json!({})).await,
        Err("Unknown tool: 'say'".into())
    );
    // One that cannot be read any more goes on as it was, and its owner is told.
    std::fs::remove_file(&script).unwrap();
    let said = toolhost(&host, &["restart", "words"]).await;
    assert_eq!(said.code, Some(1));
    let why = "error: 'words': its tools cannot be read, they stay as they were: ";
    assert!(said.error.starts_with(why), "{}", said.error);
    std::fs::write(&script, text).unwrap();
    done(&host, &["stop", "words"]).await;
    let error = caller.call("words", "sing", &json!({})).await.unwrap_err();
    assert!(error.starts_with("ToolboxUnavailable: stopped by its owner"), "{error}");
    done(&host, &["start", "words"]).await;
    assert_eq!(
        caller.call("words", "say", &json!({})).await,
        Ok(json!({"output": "said\n"}))
    );
    host.stop().await;
}

#[tokio::test]
async fn a_reload_is_of_the_host_on_the_socket_unless_the_bus_is_named() {
    let bus = Embedded::start().await;
    let before = json!({"kept": moody(&json!({})), "edited": moody(&json!({})), "gone": moody(&json!({}))});
    let host = Host::start(&config(&bus.url, &before)).await;
    let mut edited = moody(&json!({}));
    edited["namespace"] = "new".into();
    let after = json!({"kept": moody(&json!({})), "edited": edited, "fresh": moody(&json!({}))});
    host.write_config(&config(&bus.url, &after));
    assert_eq!(
        done(&host, &["reload"]).await,
        json!({"added": ["fresh"], "removed": ["gone"], "changed": ["edited"], "unchanged": ["kept"], "settings": false})
    );
    host.write_config(&config(&bus.url, &json!({"kept": {"comand": ["python3"]}})));
    let said = toolhost(&host, &["reload"]).await;
    assert_eq!(said.code, Some(1));
    assert!(
        said.error.contains("toolhost.yaml:") && said.error.contains("comand"),
        "{}",
        said.error
    );
    host.write_config(&config(&bus.url, &after));
    #[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
    let mut over_the_bus = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    over_the_bus.args(["reload", "--bus", &bus.url]);
    let said = outcome_of(over_the_bus).await;
    assert_eq!(said.code, Some(0), "{}", said.error);
    assert!(
        said.answer.as_array().is_some_and(|tools| !tools.is_empty()),
        "{}",
        said.answer
    );
    host.stop().await;
}
