//! Another user for a toolbox: only root may, and then it is that user in every way.

use std::process::Command;

use serde_json::json;

use super::{Held, can, is_root, script, shell};
use crate::common::scratch::Scratch;

#[tokio::test]
async fn a_toolbox_runs_as_its_user_with_that_users_home_and_pipes() {
    if !can("another user", "root", is_root()) {
        return;
    }
    let line = "id -u; id -G; echo $USER $LOGNAME; echo $HOME | grep -c toolhost; echo said > /dev/stderr; echo ok";
    let mut held = Held::host(json!({
        "nobody": {"tools": {"look": shell(line)}, "user": "nobody", "cwd": "/"},
        "number": {"tools": {"look": shell("id -u; id -g; id -G")}, "user": 54321, "group": 54322, "cwd": "/"},
        "own_home": {"tools": {"look": shell("echo $HOME")}, "user": "nobody", "cwd": "/", "env": {"HOME": "/own"}},
    }))
    .await;
    let nobody = nix::unistd::User::from_name("nobody").unwrap().expect("a nobody");
    let said = held.output("nobody", "look").await;
    let expected = format!("{0}\n{1}\nnobody nobody\n0\nok\n", nobody.uid, nobody.gid);
    assert_eq!(said, expected);
    assert_eq!(held.output("number", "look").await, "54321\n54322\n54322\n");
    assert_eq!(held.output("own_home", "look").await, "/own\n");
    held.host.stop().await;
}

#[tokio::test]
async fn an_annotated_script_works_as_another_user_and_gives_its_result_in_a_file() {
    if !can("a Bash script of another user", "root", is_root()) {
        return;
    }
    let reachable = Command::new("setpriv")
        .args([
            "--reuid=54321",
            "--regid=54321",
            "--clear-groups",
            env!("CARGO_BIN_EXE_toolhost"),
            "--version",
        ])
        .output();
    let reachable = reachable.is_ok_and(|output| output.status.success());
    if !can(
        "a Bash script of another user",
        "a toolhost that every user may start",
        reachable,
    ) {
        return;
    }
    let folder = Scratch::new();
    let text = "#!/usr/bin/env bash\n# @describe Who.\n\n# @cmd Who.\nwho() { id -u >> \"$LLM_OUTPUT\"; }\n\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";
    let path = script(&folder, "who.sh", text);
    let mut held = Held::host(json!({"who": {"script": path, "user": 54321, "group": 54321, "cwd": "/"}})).await;
    assert_eq!(held.output("who", "who").await, "54321\n");
    held.host.stop().await;
}

#[test]
fn a_limit_of_processes_that_does_not_hold_for_root_is_told() {
    if !can("a limit that does not hold", "root", is_root()) {
        return;
    }
    let folder = Scratch::new();
    let file = folder.path().join("toolhost.yaml");
    let of =
        |user: &str| json!({"tools": {user: shell("true")}, "limits": {"processes": 32}, "user": user, "cwd": "/"});
    let mut toolboxes = json!({"root": of("root"), "none": of("none"), "nobody": of("nobody")});
    toolboxes["none"].as_object_mut().unwrap().remove("user");
    std::fs::write(&file, json!({"toolboxes": toolboxes}).to_string()).unwrap();
    let check = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .arg("check")
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&check.stdout);
    let told = "warning in limits: 'processes' does not hold for root: give the toolbox a 'user'";
    assert_eq!(said.matches(told).count(), 2, "{said}");
    let (_, nobody) = said.split_once(" nobody").expect("one of nobody");
    assert!(!nobody.contains(told), "{said}");
}

#[tokio::test]
async fn a_user_that_cannot_be_had_is_told_with_what_to_do() {
    let folder = Scratch::new();
    let mut asked = vec![(
        "nobody-has-this-name",
        "its user 'nobody-has-this-name' does not exist on this machine",
    )];
    if can("a refused user", "a toolhost that is not root", !is_root()) {
        asked.push(("root", "which only root may start, and toolhost runs as user"));
    }
    for (user, expected) in asked {
        let config = json!({"toolboxes": {"box": {"user": user, "tools": {"t": shell("true")}}}});
        let file = folder.path().join("toolhost.yaml");
        std::fs::write(&file, config.to_string()).unwrap();
        let check = Command::new(env!("CARGO_BIN_EXE_toolhost"))
            .arg("check")
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&check.stdout);
        assert!(said.contains(expected) && said.contains("'user'"), "{said}");
        assert!(said.contains("limits and sandboxes here: "), "{said}");
        assert_eq!(check.status.code(), Some(1));
    }
}
