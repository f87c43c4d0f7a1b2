//! Processes that are killed, hosts that are stopped or killed: every caller is answered, nothing is left.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, call, outcome};
use crate::common::embedded::Embedded;
use crate::common::eventually::{DEADLINE, eventually};
use crate::common::host::{Host, fixture, is_alive, moody};

/// Toolboxes that are hard to end: a wrapper, one that hears nothing, one with children of its own.
fn stubborn_toolboxes() -> Value {
    let wrapped = format!("python3 '{}'; true", fixture("moody.py"));
    json!({
        "wrapped": {"command": ["sh", "-c", wrapped], "config": {"ignore_eof": true}},
        "deaf": moody(&json!({"ignore_eof": true, "ignore_term": true})),
        "parent": moody(&json!({})),
    })
}

async fn stubborn_host(url: &str) -> (Host, Caller) {
    let host = Host::start(&json!({"bus": {"url": url}, "toolboxes": stubborn_toolboxes()})).await;
    let mut caller = Caller::connect(url).await;
    let grandchild = caller.call("parent", "background", &json!({})).await.expect("a pid");
    assert!(is_alive(i32::try_from(grandchild.as_i64().unwrap()).unwrap()));
    assert!(
        host.processes().len() >= 5,
        "shell, two Pythons below it or beside it, one with a child"
    );
    (host, caller)
}

fn in_flight(host: &Host, toolbox_id: &str) -> u64 {
    host.toolbox(toolbox_id)["processes"][0]["in_flight"]
        .as_u64()
        .unwrap_or_default()
}

#[tokio::test]
async fn a_killed_process_costs_each_of_its_calls_one_answer_and_its_neighbor_nothing() {
    let bus = Embedded::start().await;
    let concurrent = moody(&json!({"capabilities": ["concurrent"]}));
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": concurrent, "healthy": moody(&json!({}))}});
    let host = Host::start(&config).await;
    let healthy = host.pid_of("healthy");
    let mut caller = Caller::connect(&bus.url).await;
    let mut tokens = Vec::new();
    for _ in 0..20 {
        tokens.push(
            caller
                .send(CALL, &call("a", "late_echo", &json!({"seconds": 60})))
                .await,
        );
    }
    eventually("the process has every call", || in_flight(&host, "a") == 20).await;
    kill(Pid::from_raw(host.pid_of("a")), Signal::SIGKILL).unwrap();
    assert_eq!(
        caller.call("healthy", "echo", &json!({"n": 1})).await,
        Ok(json!({"n": 1}))
    );
    for token in &tokens {
        let error = outcome(&caller.wait(token, 1).await[0]).unwrap_err();
        assert_eq!(error, "ToolboxCrashed: signal 9 (SIGKILL): moody is up");
    }
    assert_eq!(
        caller.call("a", "echo", &json!({"n": 2})).await,
        Ok(json!({"n": 2})),
        "served again"
    );
    caller.catch_up().await;
    assert!(
        tokens.iter().all(|token| caller.answers(token).len() == 1),
        "answered once"
    );
    assert_eq!(host.pid_of("healthy"), healthy);
    host.stop().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_host_that_is_killed() {
    let bus = Embedded::start().await;
    let (mut host, _caller) = stubborn_host(&bus.url).await;
    host.signal(Signal::SIGKILL);
    host.ended().await;
    eventually("no process of any toolbox is left", || host.processes().is_empty()).await;
}

#[tokio::test]
async fn a_host_that_is_stopped_answers_what_runs_leaves_nothing_and_ends_well() {
    let bus = Embedded::start().await;
    let (host, mut caller) = stubborn_host(&bus.url).await;
    let running = caller
        .send(CALL, &call("parent", "late_echo", &json!({"seconds": 1})))
        .await;
    eventually("the call runs", || in_flight(&host, "parent") == 1).await;
    host.stop().await;
    assert_eq!(outcome(&caller.wait(&running, 1).await[0]), Ok(json!({"seconds": 1})));
}

#[tokio::test]
async fn ctrl_c_reaches_the_host_alone() {
    let bus = Embedded::start().await;
    let marker = std::env::temp_dir().join(format!("toolhost-test-marker-{}", std::process::id()));
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": moody(&json!({"marker": marker}))}});
    let mut host = Host::launch_with(&config, in_a_terminal);
    host.ready().await;
    let mut caller = Caller::connect(&bus.url).await;
    let running = caller.send(CALL, &call("a", "late_echo", &json!({"seconds": 1}))).await;
    eventually("the call runs", || in_flight(&host, "a") == 1).await;
    // The terminal types Ctrl-C when it is told to.
    host.signal(Signal::SIGUSR1);
    assert_eq!(host.ended().await.code(), Some(0));
    assert_eq!(outcome(&caller.wait(&running, 1).await[0]), Ok(json!({"seconds": 1})));
    assert_eq!(host.processes(), Vec::<i32>::new());
    let farewell = std::fs::read_to_string(&marker).expect("the toolbox ended by itself");
    std::fs::remove_file(&marker).unwrap();
    assert_eq!(farewell, "eof", "it saw the end of its input, and no SIGINT before");
}

/// Has the command run in a terminal of its own.
#[allow(clippy::disallowed_methods)] // As a person starts it.
fn in_a_terminal(command: &mut Command) {
    let mut terminal = Command::new("python3");
    terminal
        .arg(fixture("terminal.py"))
        .arg(command.get_program())
        .args(command.get_args());
    terminal.env_clear().current_dir(command.get_current_dir().unwrap());
    terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    terminal.stderr(std::fs::File::create(command.get_current_dir().unwrap().join("log")).unwrap());
    terminal.process_group(0);
    *command = terminal;
}

#[tokio::test]
async fn a_host_is_stopped_while_a_toolbox_still_starts() {
    let bus = Embedded::start().await;
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": moody(&json!({"describe_delay": 600}))}});
    let host = Host::launch(&config);
    eventually("the toolbox starts", || {
        !host.processes().is_empty() && host.status().is_some()
    })
    .await;
    host.stop().await;
}

/// Whether the signal would no longer end the process by default: it is held back or handled.
fn is_met(host: &Host, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.pid())).unwrap_or_default();
    let masks = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigBlk:").or(line.strip_prefix("SigCgt:")));
    let bit = 1_u64 << (signal as i32 - 1);
    masks
        .map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap())
        .any(|mask| mask & bit != 0)
}

#[tokio::test]
async fn signals_in_the_first_moments_mean_what_they_always_mean() {
    const RUNS: u32 = 200;
    let bus = Embedded::start().await;
    // It has no process of its own, which would take longer to start than all that is tested here.
    let toolbox = json!({"tools": {"t": {"description": "Does nothing.", "run": ["true"]}}});
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": toolbox}});
    for n in 0..RUNS {
        let mut host = Host::launch(&config);
        // From the first line of the program on, and a little later each time, within ten milliseconds.
        let start = std::time::Instant::now();
        while !is_met(&host, Signal::SIGHUP) || !is_met(&host, Signal::SIGTERM) {
            assert!(start.elapsed() < DEADLINE, "the program never took its signals on");
            std::thread::yield_now();
        }
        let later = std::time::Duration::from_millis(10) * n / RUNS;
        let met = std::time::Instant::now();
        while met.elapsed() < later {
            std::hint::spin_loop();
        }
        host.signal(Signal::SIGHUP);
        if n % 20 == 0 {
            // It lives on, and comes up.
            host.ready().await;
        }
        host.signal(Signal::SIGTERM);
        let status = host.ended().await;
        assert_eq!(status.code(), Some(0), "{status}, {later:?} after the start");
    }
}

/// Attaches to a process as a debugger does, and says so: what it has attached to ends for its parent when it lets go.
const HOLD: &str = "import ctypes, sys, time
libc = ctypes.CDLL(None)
print('held' if libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0 else 'not held', flush=True)
time.sleep(1000)";

#[tokio::test]
#[allow(clippy::disallowed_methods)] // Somebody else's program.
async fn a_process_that_cannot_be_ended_does_not_keep_its_host_from_ending() {
    let bus = Embedded::start().await;
    let held = json!({"command": ["python3", fixture("family.py")]});
    let mut host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": {"held": held}})).await;
    let mut caller = Caller::connect(&bus.url).await;
    let mut holder = std::process::Command::new("python3")
        .args(["-c", HOLD, &host.pid_of("held").to_string()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut said = String::new();
    let mut out = std::io::BufReader::new(holder.stdout.take().expect("its stdout"));
    std::io::BufRead::read_line(&mut out, &mut said).unwrap();
    if said == "held\n" {
        let token = caller.send(CALL, &call("held", "hang", &json!({}))).await;
        eventually("the call is in hand", || {
            host.toolbox("held")["processes"][0]["in_flight"] == 1
        })
        .await;
        host.signal(Signal::SIGTERM);
        assert_eq!(host.ended().await.code(), Some(0));
        assert!(host.log().contains("cannot be ended"), "{}", host.log());
        let answer = caller.wait(&token, 1).await.remove(0);
        assert!(answer["error"].is_string(), "{answer}");
    } else {
        println!("skipped: another process may not be attached to here");
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
}
