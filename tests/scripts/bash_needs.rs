//! What is said of a Bash script that cannot be hosted, and that it is up as soon as it can.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::Scripts;
use crate::common::eventually::eventually;
use crate::common::scratch::Scratch;

const TRIED_OFTEN: &str = "50ms";

/// Keys of a toolbox that is tried again at once.
fn eager() -> Value {
    json!({"restart": {"backoff": TRIED_OFTEN, "max_backoff": TRIED_OFTEN, "give_up_after": 100_000}})
}

/// What `toolhost check` prints about a configuration with this one toolbox.
#[allow(clippy::disallowed_methods, reason = "a test starts the program as a user does")]
fn checked(folder: &Path, script: &str) -> (Option<i32>, String) {
    let yaml = format!("toolboxes:\n  box:\n    script: ./{script}\n");
    std::fs::write(folder.join("check.yaml"), yaml).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["check", "check.yaml"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

/// A script, and what a call of it is told and `check` says.
const FAULTS: [(&str, &str, &str); 9] = [
    (
        "needy.sh",
        "# @meta require-tools jq,no-such-program\n# @cmd A\na() { :; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
        "needs 'no-such-program'",
    ),
    (
        "unset.sh",
        "# @env NO_SUCH_VARIABLE!  The key\n# @cmd A\na() { :; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
        "needs the variable 'NO_SUCH_VARIABLE'; set it under 'env', or name it in 'inherit_env'",
    ),
    (
        "bare.sh",
        "#!/bin/bash\necho hello\n",
        "has no annotations; above each function that should be a tool write",
    ),
    ("empty.sh", "", "has no annotations"),
    (
        "misspelled.sh",
        "# @cmd A\n# @optoin --x\na() { :; }\n",
        "has annotations argc cannot read: @optoin(line 2) is unknown tag",
    ),
    (
        "unserved.sh",
        "# @cmd A\na() { :; }\nmain() { echo wrong; }\nmain \"$@\"\n",
        "never runs the function that is called, because it does not hand its arguments to argc: its last line has to be eval",
    ),
    (
        "undeclared.sh",
        "#!/bin/bash\nmain() { echo hello; }\nmain\n",
        "Or leave it as it is and declare it",
    ),
    (
        "noshell.sh",
        "#!/opt/no/such/bash\n# @cmd A\na() { :; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
        "/opt/no/such/bash",
    ),
    (
        "hidden.sh",
        "# @cmd A\n_a() { :; }\n",
        "none that can run under a name that does not begin with '_'",
    ),
];

#[tokio::test]
async fn a_script_that_cannot_be_hosted_says_why_to_callers_and_in_check() {
    let files = FAULTS.map(|(name, text, _)| (name, text));
    let mut scripts = Scripts::host(&files, &json!({})).await;
    for (name, _, why) in FAULTS {
        let toolbox = name.trim_end_matches(".sh");
        let error = scripts.call(toolbox, "a", json!({})).await.unwrap_err();
        let named = error.starts_with("ToolboxUnavailable: ") && error.contains(name);
        assert!(named && error.contains(why), "{name}: {error}");
        scripts.neighbor_is_well().await;
        let (exit, said) = checked(scripts.path(), name);
        assert!(exit == Some(1) && said.contains(why), "{name}: {exit:?} {said}");
    }
    scripts.host.stop().await;
}

#[tokio::test]
async fn what_bash_says_of_a_syntax_error_is_the_error_of_the_call() {
    let broken = "# @cmd A\na() {\n  if true; then echo a\n}\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";
    let mut scripts = Scripts::host(&[("broken.sh", broken)], &json!({})).await;
    let error = scripts.call("broken", "a", json!({})).await.unwrap_err();
    let told = error.starts_with("CommandError: exit status 2: ") || error.starts_with("ToolboxUnavailable: ");
    assert!(
        told && error.contains("line 4") && error.contains("syntax error"),
        "{error}"
    );
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_saved_with_crlf_is_refused_with_what_to_do() {
    let text = "#!/usr/bin/env bash\r\n# @cmd A\r\n# @option --x\r\na() { echo \"$argc_x.\"; }\r\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\r\n";
    let mut scripts = Scripts::host(&[("crlf.sh", text)], &json!({})).await;
    let error = scripts.call("crlf", "a", json!({"x": "y"})).await.unwrap_err();
    let says = "crlf.sh cannot be read by Bash: the file has Windows line ends (CRLF); convert it";
    assert!(
        error.starts_with("ToolboxUnavailable: ") && error.contains(says),
        "{error}"
    );
    let (exit, said) = checked(scripts.path(), "crlf.sh");
    assert!(exit == Some(1) && said.contains("(CRLF)"), "{exit:?} {said}");
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_that_comes_later_is_up_when_it_is_there() {
    let mut scripts = Scripts::host(&[("late.sh", "")], &eager()).await;
    let path = scripts.path().join("late.sh");
    std::fs::remove_file(&path).unwrap();
    let is_told = || scripts.host.toolbox("late").to_string().contains("does not exist");
    eventually("it is told", is_told).await;
    let error = scripts.call("late", "a", json!({})).await.unwrap_err();
    assert!(error.starts_with("ToolboxUnavailable: the script "), "{error}");
    scripts.neighbor_is_well().await;
    std::fs::write(
        &path,
        "# @cmd A\na() { echo there; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
    )
    .unwrap();
    eventually("it is up", || scripts.host.toolbox("late")["state"] == "ready").await;
    let said = scripts.call("late", "a", json!({})).await;
    assert_eq!(said, Ok(json!({"output": "there\n"})));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_pipe_or_a_device_in_the_place_of_a_script_holds_nobody_up() {
    let mut toolboxes = json!({});
    let folder = Scratch::new();
    for (id, ending) in [("bash", "sh"), ("python", "py"), ("node", "mjs"), ("unknown", "txt")] {
        let pipe = folder.path().join(format!("pipe.{ending}"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        toolboxes[id] = json!({"script": pipe});
        let device = folder.path().join(format!("zero.{ending}"));
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        toolboxes[format!("{id}_device")] = json!({"script": device});
    }
    std::fs::write(folder.path().join("neighbor.sh"), crate::NEIGHBOR).unwrap();
    toolboxes["neighbor"] = json!({"script": folder.path().join("neighbor.sh")});
    let mut scripts = Scripts::start(folder, &toolboxes).await;
    scripts.neighbor_is_well().await;
    for id in ["bash", "python", "node", "unknown", "bash_device", "python_device"] {
        let error = scripts.call(id, "a", json!({})).await.unwrap_err();
        assert!(error.contains("cannot be read: it is no file"), "{id}: {error}");
    }
    scripts.host.stop().await;
}
