//! M. Late finds: halves of lines, writers in each other's way, liveness, statuses, command lines.

use std::time::Duration;

use serde_json::{Value, json};
use toolhost::supervisor::status::Phase;

use crate::harness::{Folder, Hosted, config, eventually};
use crate::moods::{Healthy, LANGUAGES, mood, up};
use crate::world::World;

#[tokio::test]
async fn answers_that_come_in_pieces_under_a_steady_stream_of_calls_are_all_whole() {
    let healthy = Healthy::start().await;
    let toolbox = up("rust", &json!({"capabilities": ["concurrent"]})).await;
    let callers = async {
        let callers = (0..50).map(async |caller| {
            for n in 0..8 {
                let kwargs = json!({"bytes": 50_000, "caller": caller, "n": n});
                let answer = toolbox.call("pieced", kwargs.clone()).await.unwrap();
                assert_eq!(answer["kwargs"], kwargs);
                assert_eq!(answer["filling"].as_str().unwrap().len(), 50_000);
            }
        });
        futures_util::future::join_all(callers).await
    };
    healthy.beside(callers).await;
    healthy.never_noticed().await;
}

#[tokio::test]
async fn fifty_large_requests_at_once_arrive_as_whole_lines() {
    let healthy = Healthy::start().await;
    let toolbox = up("rust", &json!({"capabilities": ["concurrent"]})).await;
    let text = "q".repeat(100 << 10);
    let all = async {
        let calls: Vec<_> = (0..50)
            .map(|n| (n, toolbox.send("echo", json!({"n": n, "text": text}))))
            .collect();
        for (n, call) in calls {
            assert_eq!(call.get().await.unwrap()["n"], json!(n));
        }
    };
    healthy.beside(all).await;
    assert_eq!(toolbox.call("broken_lines", json!({})).await, Ok(json!(0)));
}

#[tokio::test]
async fn eight_slow_calls_of_a_concurrent_toolbox_run_at_once_and_of_a_serial_one_in_turn() {
    let toolbox = up("rust", &json!({"capabilities": ["concurrent"]})).await;
    let slow: Vec<_> = (0..8).map(|_| toolbox.send("slowly", json!({"seconds": 1}))).collect();
    // Without waiting for one another they are all in hand before the first has ended.
    toolbox
        .seen("eight calls in hand", |seen| seen.processes[0].in_flight == 8)
        .await;
    for call in slow {
        assert_eq!(call.get().await, Ok(json!("slept")));
    }
    let serial = up("rust", &json!({})).await;
    let slow: Vec<_> = (0..3).map(|_| serial.send("slowly", json!({"seconds": 0.3}))).collect();
    serial
        .seen("one call in hand, and the rest waits", |seen| {
            assert!(seen.processes[0].in_flight <= 1, "{seen:?}");
            seen.processes[0].in_flight == 1 && seen.pending > 0
        })
        .await;
    for call in slow {
        assert_eq!(call.get().await, Ok(json!("slept")));
    }
}

#[tokio::test]
async fn a_live_toolbox_is_never_told_as_dead_and_a_dead_one_is_noticed_without_a_call() {
    for language in LANGUAGES {
        let toolbox = up(language, &json!({})).await;
        for _ in 0..1000 {
            let seen = toolbox.handle.snapshot().await.unwrap();
            assert_eq!((&seen.phase, seen.processes.len()), (&Phase::Ready, 1), "{language}");
        }
        let pid = toolbox.pid().await;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).unwrap();
        toolbox
            .seen("another process, though nobody called", |seen| {
                seen.phase == Phase::Ready && seen.restarts == 1 && seen.processes[0].pid != pid
            })
            .await;
    }
}

#[tokio::test]
async fn a_toolbox_that_dies_of_every_call_is_started_less_and_less_often() {
    let healthy = Healthy::start().await;
    let folder = Folder::new();
    let starts = folder.path("starts");
    let mut config = mood("rust", &json!({"starts_file": starts}));
    config.restart.give_up_after = 4;
    let toolbox = Hosted::start(config).ready().await;
    let hammer = async {
        // 20 a second, until it is given up.
        loop {
            let error = toolbox.call("exit", json!({"status": 1})).await.unwrap_err();
            if error.contains("given up after 4 failures") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    healthy.beside(hammer).await;
    let starts = std::fs::read_to_string(starts).unwrap();
    assert_eq!(starts.lines().count(), 4, "a start a failure: {starts}");
    healthy.never_noticed().await;
}

#[tokio::test]
async fn every_way_a_command_ends_is_told_and_only_accepted_exits_are_results() {
    let shell = |line: &str| json!({"description": "d", "shell": line});
    let json_of = |line: &str| json!({"description": "d", "shell": line, "output": "json"});
    let accepting = |codes: Value| json!({"description": "d", "shell": "echo '{}'; exit 1", "output": "json", "accept_exit": codes});
    let table: [(&str, Value, Result<Value, &str>); 9] = [
        (
            "one",
            json_of("echo '{}'; exit 1"),
            Err("CommandError: exit status 1: {}"),
        ),
        ("accepted", accepting(json!([0, 1])), Ok(json!({}))),
        (
            "not_accepted",
            accepting(json!([0, 2])),
            Err("CommandError: exit status 1"),
        ),
        (
            "talks",
            shell("echo warning >&2; echo fine"),
            Ok(json!({"output": "fine\n"})),
        ),
        (
            "not_found",
            shell("no-such-program-here"),
            Err("CommandError: exit status 127: "),
        ),
        (
            "not_executable",
            shell("/etc/passwd"),
            Err("CommandError: exit status 126: "),
        ),
        (
            "killed",
            shell("kill -SEGV $$"),
            Err("CommandError: signal 11 (SIGSEGV)"),
        ),
        (
            "no_json",
            json_of("echo hello"),
            Err("CommandError: its output is not the JSON it should be"),
        ),
        ("text", shell("echo '{}'"), Ok(json!({"output": "{}\n"}))),
    ];
    let tools: Value = table
        .iter()
        .map(|(name, tool, _)| ((*name).to_owned(), tool.clone()))
        .collect();
    let mut world = World::start(json!({"box": {"tools": tools}})).await;
    for (name, _, expected) in table {
        let answer = world.call("box", name, json!({})).await;
        match (&answer, &expected) {
            (Err(error), Err(start)) => assert!(error.starts_with(start), "{name}: {error}"),
            _ => assert_eq!(answer, expected.map_err(str::to_owned), "{name}"),
        }
    }
    world.stop().await;
}

#[tokio::test]
async fn a_tiny_call_on_an_idle_toolbox_reaches_it_without_another_behind_it() {
    for language in LANGUAGES {
        let toolbox = up(language, &json!({})).await;
        for n in 0..5 {
            assert_eq!(
                toolbox.call("echo", json!({"n": n})).await,
                Ok(json!({"n": n})),
                "{language}"
            );
        }
    }
}

#[tokio::test]
async fn a_program_that_is_stopped_is_replaced_like_one_that_hangs() {
    let healthy = Healthy::start().await;
    let mut config = mood("rust", &json!({}));
    config.timeout = Duration::from_secs(1);
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    let stopped = healthy
        .beside(toolbox.call("signal", json!({"signal": nix::sys::signal::Signal::SIGSTOP as i32})))
        .await;
    assert_eq!(stopped, Err("TimeoutError: 'signal' did not answer within 1s".into()));
    healthy.beside(toolbox.served_again()).await;
    eventually("the stopped one is gone", || !crate::harness::is_alive(pid)).await;
    healthy.never_noticed().await;
}

#[tokio::test]
async fn a_file_with_a_blank_in_its_name_is_a_program_like_any_other() {
    let folder = Folder::new();
    let program = folder.path("my tool.py");
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/moods/mood.py"),
        &program,
    )
    .unwrap();
    let toolbox = Hosted::start(config("blank", &[crate::moods::python(), program.to_str().unwrap()]))
        .ready()
        .await;
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
}
