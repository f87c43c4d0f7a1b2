//! How commands end: by themselves, in time or not, with more or less than was asked for, and what they leave behind.

use serde_json::json;

use crate::Commands;
use crate::common::caller::{CALL, call};
use crate::common::eventually::eventually;
use crate::common::skipped::skipped;

#[tokio::test]
async fn a_failure_is_told_with_its_exit_and_last_words() {
    let tools = json!({
        "fails": {"description": "d", "shell": "echo first >&2; echo second >&2; exit 3"},
        "mute": {"description": "d", "shell": "echo out; exit 4"},
        "killed": {"description": "d", "shell": "kill -9 $$"},
        "finds_nothing": {"description": "d", "run": ["grep", "x", "/dev/null"], "accept_exit": [0, 1]},
        "talks": {"description": "d", "shell": "seq 100000 >&2; echo fine"},
        "floods": {"description": "d", "shell": "yes 'a long line of nothing at all' | head -c 5000000 >&2; exit 1"},
    });
    let mut commands = Commands::host(tools, json!({})).await;
    for (tool, expected) in [
        ("fails", Err("CommandError: exit status 3: first\nsecond".to_owned())),
        ("mute", Err("CommandError: exit status 4: out".to_owned())),
        ("killed", Err("CommandError: signal 9 (SIGKILL)".to_owned())),
        ("finds_nothing", Ok(json!({"output": ""}))),
        ("talks", Ok(json!({"output": "fine\n"}))),
    ] {
        assert_eq!(commands.call(tool, json!({})).await, expected, "{tool}");
    }
    let error = commands.call("floods", json!({})).await.unwrap_err();
    assert!(error.starts_with("CommandError: exit status 1: "), "{error}");
    assert!(error.len() < 2000, "{} bytes", error.len());
    commands.host.stop().await;
}

#[tokio::test]
async fn a_command_past_its_time_goes_with_everything_it_started() {
    let tools = json!({
        "stuck": {"description": "d", "shell": "trap '' TERM; sleep 300 & sleep 301 & wait", "timeout": "1s"},
        "quick": {"description": "d", "run": ["echo", "quick"]},
    });
    let mut commands = Commands::host(tools, json!({})).await;
    let token = commands.caller.send(CALL, &call("box", "stuck", &json!({}))).await;
    assert_eq!(commands.output("quick", json!({})).await, "quick\n");
    let answer = commands.caller.wait(&token, 1).await.remove(0);
    assert_eq!(answer["error"], "TimeoutError: 'stuck' did not answer within 1s");
    eventually("all of it is gone", || commands.host.processes().is_empty()).await;
    assert_eq!(commands.output("quick", json!({})).await, "quick\n");
    commands.host.stop().await;
}

#[tokio::test]
async fn what_a_command_leaves_running_does_not_hold_its_answer() {
    let tools = json!({
        "background": {"description": "d", "shell": "sleep 300 & echo answered"},
        // It holds the pipes for longer than a call may take.
        "daemon": {"description": "d", "shell": "setsid sh -c 'echo $$ > daemon; exec sleep 60' & until [ -s daemon ]; do sleep 0.01; done; echo answered"},
        "prints_on": {"description": "d", "shell": "echo answered; exec >&- 2>&-; exit 0"},
    });
    let mut commands = Commands::host(tools, json!({"box": {"timeout": "20s"}})).await;
    for tool in ["background", "daemon", "prints_on"] {
        assert_eq!(commands.output(tool, json!({})).await, "answered\n", "{tool}");
    }
    commands.host.what_left_is_gone("daemon").await;
    eventually("nothing is left", || commands.host.processes().is_empty()).await;
    commands.host.stop().await;
}

#[tokio::test]
async fn too_much_output_ends_the_command_and_not_the_host() {
    let tools = json!({
        "endless": {"description": "d", "run": ["yes"]},
        "just_fits": {"description": "d", "shell": "head -c 1000 /dev/zero | tr '\\0' x"},
        "too_long_as_json": {"description": "d", "shell": "head -c 1024 /dev/zero"},
    });
    let mut commands = Commands::host(tools, json!({"box": {"max_result": "1KiB"}})).await;
    let error = commands.call("endless", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        "ResultTooLarge: result too large (the command printed on and was ended, limit 1024)"
    );
    eventually("it is gone", || commands.host.processes().is_empty()).await;
    assert_eq!(commands.output("just_fits", json!({})).await.len(), 1000);
    let error = commands.call("too_long_as_json", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("ResultTooLarge: result too large (6157 bytes"),
        "{error}"
    );
    commands.host.stop().await;
}

#[tokio::test]
async fn slow_commands_run_side_by_side_and_the_rest_waits_its_turn() {
    let tools = json!({
        "wait": {"description": "d", "parameters": {"file": {"type": "string"}}, "shell": "until [ -e \"$ARG_FILE\" ]; do sleep 0.01; done"},
    });
    let others = json!({"box": {"processes": 2, "max_pending": 1}});
    let mut commands = Commands::host(tools, others).await;
    let kwargs = json!({"file": "go"});
    let mut tokens = Vec::new();
    for _ in 0..2 {
        tokens.push(commands.caller.send(CALL, &call("box", "wait", &kwargs)).await);
    }
    eventually("both run", || {
        let toolbox = commands.host.toolbox("box");
        toolbox["processes"]
            .as_array()
            .is_some_and(|processes| processes.len() == 2)
    })
    .await;
    tokens.push(commands.caller.send(CALL, &call("box", "wait", &kwargs)).await);
    assert_eq!(
        commands.call("wait", kwargs).await,
        Err("Overloaded: 1 calls are waiting".to_owned())
    );
    std::fs::write(commands.host.folder().join("go"), "").unwrap();
    for token in tokens {
        let answer = commands.caller.wait(&token, 1).await.remove(0);
        assert_eq!(answer["result"], json!({"output": ""}));
    }
    commands.host.stop().await;
}

#[tokio::test]
async fn the_end_of_the_host_ends_its_commands_and_answers_their_calls() {
    let tools = json!({"stuck": {"description": "d", "run": ["sleep", "300"]}});
    let mut commands = Commands::host(tools, json!({})).await;
    let token = commands.caller.send(CALL, &call("box", "stuck", &json!({}))).await;
    eventually("it runs", || commands.host.processes().len() == 1).await;
    commands.host.stop().await;
    let answer = commands.caller.wait(&token, 1).await.remove(0);
    assert_eq!(
        answer["error"],
        "ToolboxUnavailable: stopped while it worked on the call"
    );
}

#[tokio::test]
async fn two_hundred_commands_leave_no_process_and_no_descriptor() {
    let tools = json!({
        "quick": {"description": "d", "run": ["true"]},
        "late": {"description": "d", "run": ["sleep", "300"], "timeout": "100ms"},
    });
    let mut commands = Commands::host(tools, json!({})).await;
    commands.output("quick", json!({})).await;
    let before = commands.host.descriptors();
    if before.is_none() {
        skipped("the descriptors of a host: only root may look into one here");
    }
    let mut tokens = Vec::new();
    for n in 0..200 {
        let tool = if n % 4 == 0 { "late" } else { "quick" };
        tokens.push(commands.caller.send(CALL, &call("box", tool, &json!({}))).await);
    }
    for token in tokens {
        assert_eq!(commands.caller.wait(&token, 1).await.len(), 1);
    }
    eventually("no process is left", || commands.host.processes().is_empty()).await;
    eventually("no descriptor is left", || commands.host.descriptors() <= before).await;
    commands.host.stop().await;
}
