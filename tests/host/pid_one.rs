//! toolhost as the first process of a container: what nobody waits for it reaps, and a signal ends it well.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::common::caller::{CALL, Caller, call};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, fixture, moody};
use crate::common::skipped::skipped;
use crate::families::zombies;

/// Has the command run as process 1 of a world of its own.
#[allow(clippy::disallowed_methods)] // As a person starts it.
fn in_a_container(command: &mut Command) {
    let mut container = Command::new("unshare");
    container
        .args(["--pid", "--fork", "--kill-child", "--mount-proc", "--"])
        .arg(command.get_program())
        .args(command.get_args());
    container.env_clear().current_dir(command.get_current_dir().unwrap());
    container.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    container.stderr(std::fs::File::create(command.get_current_dir().unwrap().join("log")).unwrap());
    *command = container;
}

/// Whether this machine lets us have such a world.
#[allow(clippy::disallowed_methods)] // As a person would look.
fn can_contain() -> bool {
    let tried = Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child", "--mount-proc", "true"])
        .output();
    tried.is_ok_and(|output| output.status.success())
}

/// The host itself, as it is known out here.
fn inside(host: &Host) -> Option<Pid> {
    let outer = host.pid();
    let text = std::fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).ok()?;
    Some(Pid::from_raw(text.split_whitespace().next()?.parse().ok()?))
}

#[tokio::test]
async fn as_process_1_it_reaps_orphans_steals_no_exit_status_and_ends_well_on_sigterm() {
    if !can_contain() {
        return skipped("process 1: this machine or user may not make a PID namespace (unshare --pid)");
    }
    let bus = Embedded::start().await;
    let status = "(setsid sh -c 'sleep 0.01' > /dev/null 2>&1 &); exit 7";
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {
        "loser": {"command": ["python3", fixture("family.py")]},
        "box": {"tools": {"fails": {"description": "d", "shell": status}}},
        "healthy": moody(&json!({})),
    }});
    let mut host = Host::launch_with(&config, in_a_container);
    host.ready().await;
    let first = inside(&host).expect("the host");
    let ids = std::fs::read_to_string(format!("/proc/{first}/status")).unwrap();
    assert!(
        ids.lines()
            .any(|line| line.starts_with("NSpid:") && line.ends_with("\t1")),
        "{ids}"
    );
    let healthy = host.pid_of("healthy");

    let mut caller = Caller::connect(&bus.url).await;
    let mut tokens = Vec::new();
    for _ in 0..50 {
        tokens.push(caller.send(CALL, &call("box", "fails", &json!({}))).await);
    }
    for token in tokens {
        let answer = caller.wait(&token, 1).await.remove(0);
        assert_eq!(answer["error"], "CommandError: exit status 7");
    }
    // Twenty that lose their parent and end a little later, when nothing else ends any more.
    let line = "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sh -c 'sleep 0.1' > /dev/null 2>&1 &); done";
    for _ in 0..2 {
        caller.call("loser", "start", &json!({"line": line})).await.unwrap();
    }
    eventually("what ended is reaped", || {
        let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap();
        // The guard, and the toolboxes whose thread has gone.
        zombies(first.as_raw()) == 0 && children.split_whitespace().count() <= 3
    })
    .await;
    assert_eq!(host.pid_of("healthy"), healthy);
    assert_eq!(
        caller.call("healthy", "echo", &json!({"n": 1})).await,
        Ok(json!({"n": 1}))
    );

    // Process 1 hears no signal but those it has a handler for.
    kill(first, Signal::SIGTERM).unwrap();
    assert_eq!(host.ended().await.code(), Some(0), "{}", host.log());
    assert_eq!(host.processes(), Vec::<i32>::new());
}
