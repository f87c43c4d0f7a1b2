//! What toolboxes leave behind: processes in sessions of their own, forked twice, deaf to signals, without an environment.
//! They end with their toolbox, however it ends, and with the host, and a neighbor's never notice.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use toolhost::control::client;
use toolhost::control::order::Orders;
use toolhost::control::verb::Verb;

use crate::common::caller::{CALL, Caller, call};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, fixture, is_alive};
use crate::common::scratch::Scratch;

/// How a process gets away from who started it: shell lines, each of which starts one that writes its id into `$PIDS`.
const WAYS: [&str; 5] = [
    // Nowhere: it stays in the group.
    "sh -c 'echo $$ >> $PIDS; exec sleep 1000' &",
    "setsid sh -c 'echo $$ >> $PIDS; exec sleep 1000' &",
    // Forked twice: it has lost its parent at once.
    "(setsid sh -c 'echo $$ >> $PIDS; exec sleep 1000' > /dev/null 2>&1 &)",
    "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >> $PIDS; while :; do sleep 1000; done' &",
    // A family of its own.
    "setsid sh -c 'setsid sh -c \"echo \\$\\$ >> $PIDS; exec sleep 1000\" & wait' &",
];

/// Without anything to know it by: its own session, and no environment.
const BARE: &str = "setsid env -i /bin/sh -c \"echo \\$\\$ >> $PIDS; exec /bin/sleep 1000\" > /dev/null 2>&1 &";

struct Families {
    host: Host,
    caller: Caller,
    bus: Embedded,
}

impl Families {
    async fn host() -> Self {
        Self::host_of("leaver").await
    }

    /// Hosts a toolbox of that name beside the healthy one.
    async fn host_of(toolbox_id: &str) -> Self {
        let bus = Embedded::start().await;
        let mut families = Self {
            host: Host::start(&config(&bus.url, &[toolbox_id, "healthy"])).await,
            caller: Caller::connect(&bus.url).await,
            bus,
        };
        families.leaves("healthy", &WAYS).await;
        families
    }

    /// Has a toolbox start something in each of `ways`; the ids of what it left.
    async fn leaves(&mut self, toolbox_id: &str, ways: &[&str]) -> Vec<i32> {
        let file = self.host.folder().join(toolbox_id);
        std::fs::remove_file(&file).ok();
        for way in ways {
            let line = format!("PIDS={toolbox_id}; export PIDS; {way}");
            let started = self.caller.call(toolbox_id, "start", &json!({"line": line})).await;
            assert_eq!(started, Ok(Value::Null));
        }
        eventually("all have started", || pids(&file).len() == ways.len()).await;
        let left = pids(&file);
        assert!(left.iter().all(|pid| is_alive(*pid)), "{left:?}");
        left
    }

    /// What the healthy toolbox has is all there, and it answers.
    async fn healthy_is_well(&mut self, pid: i32) {
        assert_eq!(self.caller.call("healthy", "pid", &json!({})).await, Ok(json!(pid)));
        let left = pids(&self.host.folder().join("healthy"));
        assert!(left.len() == WAYS.len() && left.iter().all(|pid| is_alive(*pid)));
    }

    async fn order(&self, verb: fn(Orders) -> Verb) {
        self.order_of("leaver", verb).await;
    }

    async fn order_of(&self, toolbox_id: &str, verb: fn(Orders) -> Verb) {
        let orders = Orders {
            toolboxes: vec![toolbox_id.to_owned()],
            wait: true,
            grace_ms: 1000,
            ..Orders::default()
        };
        let socket = self.host.socket();
        let asked = tokio::task::spawn_blocking(move || client::ask(&socket, &verb(orders)));
        asked.await.expect("no panic").expect("it is done");
    }
}

fn config(url: &str, toolboxes: &[&str]) -> Value {
    let mut all = json!({});
    for id in toolboxes {
        all[id] = json!({
            "command": ["python3", fixture("family.py")],
            "config": {"ignore_term": *id == "deaf"},
            // So short that calls wait for it.
            "restart": {"backoff": "10ms", "max_backoff": "20ms"},
            "timeout": if *id == "leaver" { "2s" } else { "20s" },
        });
    }
    json!({"bus": {"url": url}, "toolboxes": all})
}

fn pids(file: &std::path::Path) -> Vec<i32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn alive(pids: &[i32]) -> Vec<i32> {
    pids.iter().copied().filter(|pid| is_alive(*pid)).collect()
}

#[tokio::test]
async fn what_a_toolbox_left_is_gone_when_its_owner_is_told_that_it_stopped() {
    let mut families = Families::host().await;
    let healthy = families.host.pid_of("healthy");
    for verb in [Verb::Restart, Verb::Stop] {
        let left = families.leaves("leaver", &WAYS).await;
        families.order(verb).await;
        // Not a moment later: the next process may want what these held.
        assert_eq!(alive(&left), Vec::<i32>::new());
        families.healthy_is_well(healthy).await;
    }
    families.host.stop().await;
}

#[tokio::test]
async fn what_a_toolbox_left_ends_when_it_crashes_hangs_or_is_taken_out_of_the_file() {
    let mut families = Families::host().await;
    let healthy = families.host.pid_of("healthy");

    let left = families.leaves("leaver", &WAYS).await;
    let crash = families.caller.call("leaver", "exit", &json!({})).await.unwrap_err();
    assert!(crash.starts_with("ToolboxCrashed: exit status 3"), "{crash}");
    assert_eq!(alive(&left), Vec::<i32>::new(), "after a crash");
    families.healthy_is_well(healthy).await;

    let left = families.leaves("leaver", &WAYS).await;
    kill(Pid::from_raw(families.host.pid_of("leaver")), Signal::SIGKILL).unwrap();
    eventually("nothing left of a killed one", || alive(&left).is_empty()).await;

    let left = families.leaves("leaver", &WAYS).await;
    let late = families.caller.call("leaver", "hang", &json!({})).await.unwrap_err();
    assert!(late.starts_with("TimeoutError: "), "{late}");
    eventually("nothing left of one that was replaced", || alive(&left).is_empty()).await;

    let left = families.leaves("leaver", &WAYS).await;
    families.host.write_config(&config(&families.bus.url, &["healthy"]));
    families.host.signal(Signal::SIGHUP);
    eventually("nothing left of one that was taken out", || alive(&left).is_empty()).await;
    families.healthy_is_well(healthy).await;
    families.host.stop().await;
}

#[tokio::test]
async fn what_toolboxes_left_ends_with_the_host() {
    let mut families = Families::host_of("deaf").await;
    let mut left = families.leaves("deaf", &WAYS).await;
    left.extend(families.leaves("healthy", &[BARE]).await);
    families.host.stop().await;
    assert_eq!(alive(&left), Vec::<i32>::new());
}

#[tokio::test]
async fn a_host_in_a_hurry_leaves_nothing_either() {
    let mut families = Families::host_of("deaf").await;
    let left = families.leaves("deaf", &WAYS).await;
    let host = &mut families.host;
    host.signal(Signal::SIGTERM);
    eventually("it stops", || host.log().contains("stopping")).await;
    host.signal(Signal::SIGTERM);
    assert_eq!(host.ended().await.code(), Some(0));
    assert!(host.log().contains("asked again, stopping at once"), "{}", host.log());
    assert_eq!((alive(&left), host.processes()), (vec![], vec![]));
}

#[tokio::test]
async fn what_toolboxes_left_ends_with_a_host_that_is_killed() {
    let mut families = Families::host().await;
    let healthy = families.host.folder().join("healthy");
    let mut left = pids(&healthy);
    left.extend(families.leaves("leaver", &WAYS).await);
    // Its parent is still there to tell whose it is.
    left.extend(
        families
            .leaves("healthy", &[&format!("setsid sh -c '{BARE} wait' &")])
            .await,
    );
    families.host.signal(Signal::SIGKILL);
    families.host.ended().await;
    eventually("nothing is left", || alive(&left).is_empty()).await;
}

#[tokio::test]
async fn one_without_parent_and_environment_is_known_to_the_guard_from_the_next_end_of_a_process_on() {
    let mut families = Families::host().await;
    let left = families.leaves("healthy", &[BARE]).await;
    families.order(Verb::Restart).await;
    assert_eq!(alive(&left), left, "nobody can tell whose it is");
    families.host.signal(Signal::SIGKILL);
    families.host.ended().await;
    eventually("it is gone", || alive(&left).is_empty()).await;
}

#[tokio::test]
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
async fn a_call_without_a_host_leaves_nothing_either() {
    let families = Families::host().await;
    families.order(Verb::Stop).await;
    let folder = families.host.folder().to_owned();
    // It has begun before the call is answered: else it may be ended before it has written its id.
    let begun = "until [ -s alone ]; do sleep 0.01; done";
    let script = format!("PIDS=alone; export PIDS; {} {begun}", WAYS[1]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command
        .args(["call", "--config", "toolhost.yaml", "leaver", "start"])
        .arg(format!("line={script}"))
        .current_dir(&folder);
    let ended = tokio::task::spawn_blocking(move || command.output().expect("it runs"))
        .await
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let left = pids(&folder.join("alone"));
    assert_eq!((left.len(), alive(&left)), (1, vec![]));
    families.host.stop().await;
}

#[tokio::test]
async fn commands_leave_nothing_and_keep_their_exit_status_whatever_else_dies() {
    let bus = Embedded::start().await;
    let lost = "for i in 1 2 3; do (setsid sh -c 'exec true' > /dev/null 2>&1 &); done; exit 7";
    let daemon = "setsid sh -c 'echo $$ >> pids; exec sleep 1000' & until [ -s pids ]; do sleep 0.01; done; exit 0";
    let tools = json!({
        "loses": {"description": "d", "shell": lost},
        "leaves": {"description": "d", "shell": daemon},
    });
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"box": {"tools": tools}}});
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url).await;
    let mut tokens = Vec::new();
    for _ in 0..100 {
        tokens.push(caller.send(CALL, &call("box", "loses", &json!({}))).await);
    }
    for token in tokens {
        let answer = caller.wait(&token, 1).await.remove(0);
        assert_eq!(answer["error"], "CommandError: exit status 7");
    }
    assert_eq!(
        caller.call("box", "leaves", &json!({})).await,
        Ok(json!({"output": ""}))
    );
    assert_eq!(alive(&pids(&host.folder().join("pids"))), Vec::<i32>::new());
    eventually("no zombie is left", || zombies(host.pid().as_raw()) == 0).await;
    host.stop().await;
}

/// A group signal does not reach it any more.
#[tokio::test]
async fn a_toolbox_that_left_its_own_group_is_restarted_and_ends_with_the_host() {
    let mut families = Families::host_of("deaf").await;
    let healthy = families.host.pid_of("healthy");
    let mut last = 0;
    for _ in 0..2 {
        eventually("a new process is up", || families.host.pid_of("deaf") != last).await;
        last = families.host.pid_of("deaf");
        let left = families.caller.call("deaf", "leave_group", &json!({})).await;
        assert_eq!(left, Ok(Value::Null));
        families.order_of("deaf", Verb::Restart).await;
        assert!(!is_alive(last));
    }
    let left = families.caller.call("deaf", "leave_group", &json!({})).await;
    assert_eq!(left, Ok(Value::Null));
    families.healthy_is_well(healthy).await;
    families.host.stop().await;
}

/// All of them are children of one thread, and end at about the same time.
#[tokio::test]
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
async fn no_exit_status_is_taken_from_who_waits_for_it() {
    let folder = Scratch::new();
    let mut toolboxes = json!({});
    for n in 0..20 {
        let ends = json!({"command": ["sh", "-c", "(setsid sleep 1000 &); exit 3"], "restart": {"when": "never"}});
        toolboxes[format!("ends_{n}")] = ends;
    }
    let config = json!({"toolboxes": toolboxes}).to_string();
    std::fs::write(folder.path().join("toolhost.yaml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command
        .args(["discover", "--config", "toolhost.yaml", "--log-level", "warn"])
        .current_dir(folder.path());
    let ended = tokio::task::spawn_blocking(move || command.output().expect("it runs"));
    let log = String::from_utf8(ended.await.unwrap().stderr).unwrap();
    let ends: Vec<&str> = log.lines().filter(|line| line.contains("process ended")).collect();
    assert_eq!(ends.len(), 20, "{log}");
    assert!(ends.iter().all(|line| line.contains("exit status 3")), "{log}");
}

/// How many children of a process have ended and were not reaped.
pub(crate) fn zombies(parent: i32) -> usize {
    let all = std::fs::read_dir("/proc").expect("a list of processes");
    let stats = all.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let behind_name = stat.rsplit(')').next().unwrap_or_default();
            let words: Vec<&str> = behind_name.split_whitespace().collect();
            words.first() == Some(&"Z") && words.get(1) == Some(&parent.to_string().as_str())
        })
        .count()
}
