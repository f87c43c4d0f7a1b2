//! Declared commands (`tools:`): the real program hosts them, real commands run, the caller stands at the bus.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

#[path = "../common/mod.rs"]
mod common;

mod endings;
mod values;

use serde_json::{Value, json};

use common::caller::Caller;
use common::embedded::Embedded;
use common::host::Host;

/// A host with one toolbox of commands, and a caller.
struct Commands {
    host: Host,
    caller: Caller,
    _bus: Embedded,
}

impl Commands {
    /// Hosts `tools` as the toolbox `box`, beside whatever `others` are.
    async fn host(tools: Value, others: Value) -> Self {
        let mut toolboxes = others;
        toolboxes["box"]["tools"] = tools;
        let bus = Embedded::start().await;
        let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
        let caller = Caller::connect(&bus.url).await;
        Self {
            host,
            caller,
            _bus: bus,
        }
    }

    async fn call(&mut self, tool: &str, kwargs: Value) -> Result<Value, String> {
        self.caller.call("box", tool, &kwargs).await
    }

    /// What the tool says, as one text.
    async fn output(&mut self, tool: &str, kwargs: Value) -> String {
        let result = self.call(tool, kwargs).await.expect("a result");
        result["output"].as_str().expect("an output").to_owned()
    }
}

#[tokio::test]
async fn what_a_command_prints_becomes_text_lines_or_json() {
    let tools = json!({
        "text": {"description": "d", "run": ["printf", "a\\n b\\n"]},
        "lines": {"description": "d", "run": ["printf", "a\\n\\nb"], "output": "lines"},
        "json": {"description": "d", "run": ["printf", "[1.10,18446744073709551616]\\n"], "output": "json"},
        "typed": {
            "description": "d",
            "run": ["printf", "[\"one\"]"],
            "output": "json",
            "output_schema": {"type": "array", "items": {"type": "integer"}},
        },
        "broken": {"description": "d", "run": ["echo", "no json"], "output": "json"},
    });
    let mut commands = Commands::host(tools, json!({})).await;
    assert_eq!(commands.call("text", json!({})).await, Ok(json!({"output": "a\n b\n"})));
    assert_eq!(
        commands.call("lines", json!({})).await,
        Ok(json!({"lines": ["a", "", "b"]}))
    );
    let result = commands.call("json", json!({})).await.expect("a result");
    assert_eq!(result.to_string(), "[1.10,18446744073709551616]");
    assert_eq!(
        commands.call("typed", json!({})).await,
        Err("Invalid output from 'typed': result[0]: expected integer, got string".to_owned())
    );
    let error = commands.call("broken", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("CommandError: its output is not the JSON it should be"),
        "{error}"
    );
    commands.host.stop().await;
}

#[tokio::test]
async fn folder_environment_stdin_and_defaults_are_those_of_the_tool() {
    let tools = json!({
        "here": {"description": "d", "run": ["pwd"]},
        "there": {"description": "d", "run": ["pwd"], "cwd": "/usr"},
        "variables": {
            "description": "d",
            "shell": "echo \"$SHARED $OWN ${TOOLHOST_TOOLBOX_ID}\"",
            "env": {"OWN": "own", "SHARED": "its own"},
        },
        "say": {
            "description": "d",
            "parameters": {"word": {"type": "string", "default": "nothing"}, "loud": {"type": "boolean", "default": false}},
            "run": ["sh", "-c", "printf '%s.' \"$@\"; cat", "sh", "--loud{loud?}", ["-w", "{word}"]],
            "stdin": "said: {word} {{x}}",
        },
        "silent": {"description": "d", "run": ["cat"]},
    });
    let others = json!({"box": {"env": {"SHARED": "the toolbox's"}}});
    let mut commands = Commands::host(tools, others).await;
    let here = format!("{}\n", commands.host.folder().canonicalize().unwrap().display());
    assert_eq!(commands.output("here", json!({})).await, here);
    assert_eq!(commands.output("there", json!({})).await, "/usr\n");
    assert_eq!(commands.output("variables", json!({})).await, "its own own box\n");
    assert_eq!(commands.output("say", json!({})).await, "-w.nothing.said: nothing {x}");
    let said = commands.output("say", json!({"word": "ä\nö", "loud": true})).await;
    assert_eq!(said, "--loud.-w.ä\nö.said: ä\nö {x}");
    assert_eq!(commands.output("silent", json!({})).await, "");
    commands.host.stop().await;
}

#[tokio::test]
async fn arguments_are_checked_before_anything_runs() {
    let tools = json!({"touch": {
        "description": "d",
        "parameters": {"count": {"type": "integer", "minimum": 1, "required": true}},
        "shell": "touch ran",
    }});
    let mut commands = Commands::host(tools, json!({})).await;
    for kwargs in [
        json!({"count": 0}),
        json!({"count": "1"}),
        json!({}),
        json!({"count": 1, "more": 2}),
    ] {
        let error = commands.call("touch", kwargs).await.unwrap_err();
        assert!(error.starts_with("Invalid arguments for 'touch': "), "{error}");
    }
    assert!(!commands.host.folder().join("ran").exists());
    commands.host.stop().await;
}

#[tokio::test]
async fn a_missing_program_fails_its_own_tool_and_a_missing_need_the_toolbox() {
    let tools = json!({
        "gone": {"description": "d", "run": ["no-such-program", "x"]},
        "here": {"description": "d", "run": ["echo", "x"]},
        "secret": {"description": "d", "run": ["no-such-program"], "env": {"PATH": "/its/own/secret"}},
    });
    let others = json!({
        "box": {"env": {"PATH": "/usr/bin:/bin"}},
        "needy": {"requires": ["sh", "no-such-need"], "tools": {"t": {"description": "d", "run": ["true"]}}},
    });
    let mut commands = Commands::host(tools, others).await;
    let error = commands.call("gone", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("CommandError: 'no-such-program' not found on the PATH"),
        "{error}"
    );
    let error = commands.call("secret", json!({})).await.unwrap_err();
    assert!(
        error.contains("that its env sets") && !error.contains("secret"),
        "{error}"
    );
    assert_eq!(commands.output("here", json!({})).await, "x\n");
    let error = commands.caller.call("needy", "t", &json!({})).await.unwrap_err();
    assert!(
        error.starts_with("ToolboxUnavailable: needs 'no-such-need', not found on the PATH"),
        "{error}"
    );
    commands.host.stop().await;
}

#[tokio::test]
async fn a_broken_need_is_mended_by_the_next_try() {
    let bus = Embedded::start().await;
    let late = json!({
        "requires": ["./late"],
        "restart": {"backoff": "50ms", "max_backoff": "50ms", "give_up_after": 100_000},
        "tools": {"t": {"description": "d", "run": ["echo", "there"]}},
    });
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": {"late": late}})).await;
    assert_eq!(host.toolbox("late")["state"], "backoff");
    let late = host.folder().join("late");
    std::fs::write(&late, "").unwrap();
    std::fs::set_permissions(&late, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    common::eventually::eventually("it is up", || host.toolbox("late")["state"] == "ready").await;
    let mut caller = Caller::connect(&bus.url).await;
    assert_eq!(
        caller.call("late", "t", &json!({})).await,
        Ok(json!({"output": "there\n"}))
    );
    host.stop().await;
}
