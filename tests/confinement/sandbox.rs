//! A sandbox: what is named can be reached and nothing else, and where that cannot be had, nothing starts.

use std::process::Command;

use serde_json::{Value, json};
use toolhost::process::confine::kernel;

use super::{Held, PYTHON, can, has_python, run, script, shell};
use crate::common::host::fixture;
use crate::common::scratch::Scratch;

pub(super) fn has_sandbox(test: &str) -> bool {
    can(test, "a kernel with Landlock", kernel::landlock() > 0)
}

/// A folder with a secret, one to read, one to write in.
pub(super) fn places(folder: &Scratch) -> [String; 3] {
    ["inside", "outside", "readable"].map(|name| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

#[tokio::test]
async fn nothing_a_sandboxed_toolbox_tries_gets_it_out() {
    if !has_sandbox("escapes from a sandbox") || !has_python("escapes from a sandbox") {
        return;
    }
    let folder = Scratch::new();
    let [inside, outside, readable] = places(&folder);
    std::fs::write(format!("{outside}/secret"), "secret").unwrap();
    std::fs::write(format!("{readable}/word"), "word").unwrap();
    std::fs::write(format!("{readable}/other"), std::process::id().to_string()).unwrap();
    let escapes = format!("{readable}/escapes.py");
    std::fs::copy(fixture("escapes.py"), &escapes).unwrap();
    let escapes = json!({
        "description": "d",
        "run": [PYTHON, &escapes, &inside, &outside, &readable],
        "output": "json",
    });
    let mut held = Held::host(json!({
        "held": {"tools": {"escape": escapes}, "sandbox": {"read": [&readable], "write": &inside, "network": false}},
    }))
    .await;
    let said = held.call("held", "escape").await.unwrap();
    let said = said.as_object().unwrap();
    let may = [
        "read inside",
        "write inside",
        "write to /dev/null",
        "a pipe of its own",
        "a child of its own",
    ];
    assert_eq!(said.len(), 27);
    for (attempt, result) in said {
        let expected = if may.contains(&attempt.as_str()) {
            "did"
        } else {
            "refused"
        };
        let held_here = attempt != "signal others" || kernel::landlock() >= kernel::SIGNALS;
        if can(attempt, "Landlock 6", held_here) {
            assert_eq!(result, expected, "{attempt}");
        }
    }
    assert_eq!(std::fs::read_to_string(format!("{outside}/secret")).unwrap(), "secret");
    held.host.stop().await;
}

#[tokio::test]
async fn scripts_of_every_language_serve_in_a_sandbox_without_being_named_in_it() {
    if !has_sandbox("scripts in a sandbox") || !has_python("scripts in a sandbox") {
        return;
    }
    let folder = Scratch::new();
    let python = script(
        &folder,
        "one.py",
        "def one() -> int:\n    \"\"\"One.\"\"\"\n    return 1\n",
    );
    let node = script(&folder, "one.mjs", "/** One. */\nexport function one() { return 1; }\n");
    let text = "#!/usr/bin/env bash\n# @cmd One.\none() { echo one >> \"$LLM_OUTPUT\"; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";
    let bash = script(&folder, "one.sh", text);
    let program = script(&folder, "own.sh", "#!/bin/sh\necho own\n");
    let limits = json!({"memory": "512MiB", "open_files": 256, "cpu_seconds": 60});
    let mut held = Held::host(json!({
        "python": {"script": python, "python": PYTHON, "sandbox": true, "limits": limits},
        "node": {"script": node, "sandbox": {"write": []}, "limits": limits},
        "bash": {"script": bash, "sandbox": true, "limits": limits},
        "command": {"tools": {"own": run(&[&program])}, "sandbox": true},
        "open": {"tools": {"own": shell("cat /etc/hostname >&2; ls / > /dev/null && echo open")}},
    }))
    .await;
    assert_eq!(held.call("python", "one").await, Ok(json!(1)));
    assert_eq!(held.call("node", "one").await, Ok(json!(1)));
    assert_eq!(held.output("bash", "one").await, "one\n");
    assert_eq!(held.output("command", "own").await, "own\n");
    assert_eq!(held.output("open", "own").await, "open\n");
    held.host.stop().await;
}

#[tokio::test]
async fn network_true_opens_sockets_and_no_files() {
    if !has_sandbox("the network in a sandbox") || !has_python("the network in a sandbox") {
        return;
    }
    let folder = Scratch::new();
    let [_, outside, _] = places(&folder);
    let line = "import socket, os, sys\nsocket.create_server(('127.0.0.1', 0))\ntry:\n    os.listdir(sys.argv[1])\nexcept OSError:\n    print('sockets alone')";
    let tools = json!({"listen": run(&[PYTHON, "-c", line, &outside])});
    let mut held = Held::host(json!({"held": {"tools": tools, "sandbox": {"network": true}}})).await;
    assert_eq!(held.output("held", "listen").await, "sockets alone\n");
    held.host.stop().await;
}

#[tokio::test]
async fn a_program_the_sandbox_hides_is_told_with_the_key_that_shows_it() {
    if !has_sandbox("a hidden interpreter") {
        return;
    }
    let folder = Scratch::new();
    let shell = folder.path().join("shell");
    std::fs::copy("/bin/sh", &shell).unwrap();
    let text = script(&folder, "hidden.sh", &format!("#!{}\necho ran\n", shell.display()));
    let shown = json!({"read": [folder.path()]});
    let mut held = Held::host(json!({
        "hidden": {"tools": {"t": run(&[&text])}, "sandbox": true},
        "shown": {"tools": {"t": run(&[&text])}, "sandbox": shown},
    }))
    .await;
    let error = held.call("hidden", "t").await.unwrap_err();
    assert!(
        error.contains("its sandbox does not let it start") && error.contains("'read'"),
        "{error}"
    );
    assert_eq!(held.output("shown", "t").await, "ran\n");
    held.host.stop().await;
}

/// What `toolhost check` says of a sandbox on a kernel without Landlock, and its exit code.
fn checked_without_landlock(sandbox: &Value) -> (String, Option<i32>) {
    let folder = Scratch::new();
    let file = folder.path().join("toolhost.yaml");
    let config = json!({"toolboxes": {"held": {"tools": {"t": shell("true")}, "sandbox": sandbox}}});
    std::fs::write(&file, config.to_string()).unwrap();
    let check = Command::new(PYTHON)
        .args([&fixture("no_landlock.py"), env!("CARGO_BIN_EXE_toolhost"), "check"])
        .arg(&file)
        .output()
        .unwrap();
    let said = [check.stdout, check.stderr].concat();
    (String::from_utf8_lossy(&said).into_owned(), check.status.code())
}

#[test]
fn without_landlock_nothing_starts_unless_less_will_do() {
    if !has_python("a kernel without Landlock") {
        return;
    }
    for sandbox in [json!(true), json!({"network": true})] {
        let (said, code) = checked_without_landlock(&sandbox);
        assert!(
            said.contains("its sandbox cannot be had: this system has no Landlock"),
            "{said}"
        );
        assert!(said.contains("'best_effort: true'"), "{said}");
        assert!(said.contains("limits and sandboxes here: no Landlock"), "{said}");
        assert_eq!(code, Some(1));
    }
    for sandbox in [json!("best_effort"), json!({"best_effort": true})] {
        let (said, code) = checked_without_landlock(&sandbox);
        assert!(said.contains("holds less than it says"), "{said}");
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    if !has_sandbox("a folder that is not there") {
        return;
    }
    let folder = Scratch::new();
    let file = folder.path().join("toolhost.yaml");
    let config = json!({"toolboxes": {"held": {"tools": {"t": shell("true")}, "sandbox": {"write": "./nowhere"}}}});
    std::fs::write(&file, config.to_string()).unwrap();
    let check = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .arg("check")
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&check.stdout);
    let expected = format!(
        "its sandbox names {}/nowhere under 'write', which does not exist",
        folder.path().display()
    );
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn a_module_that_a_sandbox_hides_is_told_as_that() {
    if !has_sandbox("a hidden module") || !has_python("a hidden module") {
        return;
    }
    let folder = Scratch::new();
    script(&folder, "beside.py", "WORD = 'a'\n");
    let path = script(
        &folder,
        "tool.py",
        "import beside\ndef f() -> str:\n    return beside.WORD\n",
    );
    let file = folder.path().join("toolhost.yaml");
    for (sandbox, is_told) in [(json!(true), true), (json!({"read": [folder.path()]}), false)] {
        let toolbox = json!({"script": path, "python": PYTHON, "sandbox": sandbox});
        std::fs::write(&file, json!({"toolboxes": {"held": toolbox}}).to_string()).unwrap();
        let check = Command::new(env!("CARGO_BIN_EXE_toolhost"))
            .arg("check")
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&check.stdout);
        assert_eq!(
            said.contains("warning in sandbox: it runs in a sandbox"),
            is_told,
            "{said}"
        );
        assert_eq!(check.status.success(), !is_told, "{said}");
    }
}
