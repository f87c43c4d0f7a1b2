//! C. Birth, death and restart.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use toolhost::config::Kind;
use toolhost::supervisor::status::Phase;

use crate::common::caller::{LIST, RELOAD};
use crate::common::eventually::eventually;
use crate::harness::{Folder, Hosted, config};
use crate::moods::{Healthy, LANGUAGES, argv, entry, mood, python, up};
use crate::world::World;

/// Two calls in a process that dies of the second; what both callers are told.
async fn told_of_a_death(language: &str, tool: &str, kwargs: Value) -> String {
    let toolbox = up(language, &json!({"capabilities": ["concurrent"]})).await;
    let other = toolbox.send("pair", json!({}));
    let (answer, took) = toolbox.send(tool, kwargs).timed().await;
    let error = answer.unwrap_err();
    assert_eq!(
        other.get().await,
        Err(error.clone()),
        "{language}: all that were in it are told the same"
    );
    assert!(
        took < Duration::from_secs(15),
        "{language}: long before their time: {took:?}"
    );
    assert_eq!(
        toolbox.call("echo", json!({"n": 1})).await,
        Ok(json!({"n": 1})),
        "{language}: served again"
    );
    error
}

#[tokio::test]
async fn a_death_in_a_call_is_told_at_once_with_its_cause_in_every_language() {
    let healthy = Healthy::start().await;
    let deaths = [
        ("exit", json!({"status": 0}), "exit status 0: last words"),
        ("exit", json!({"status": 3}), "exit status 3: last words"),
        ("exit", json!({"status": 255}), "exit status 255: last words"),
        ("signal", json!({"signal": 9}), "signal 9 (SIGKILL): last words"),
        ("signal", json!({"signal": 11}), "signal 11 (SIGSEGV): last words"),
        ("signal", json!({"signal": 6}), "signal 6 (SIGABRT): last words"),
        ("shut", json!({}), "closed its stdout and lives on"),
    ];
    let every_language = LANGUAGES.map(async |language| {
        for (tool, kwargs, expected) in &deaths {
            let error = told_of_a_death(language, tool, kwargs.clone()).await;
            assert_eq!(error, format!("ToolboxCrashed: {expected}"), "{language} {tool}");
        }
    });
    healthy.beside(futures_util::future::join_all(every_language)).await;
    healthy.never_noticed().await;
}

#[tokio::test]
async fn every_signal_that_ends_a_program_is_named() {
    use Signal::{SIGALRM, SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};
    use Signal::{SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGIO, SIGPROF, SIGPWR, SIGQUIT, SIGSTKFLT, SIGSYS};
    let mut config = mood("rust", &json!({}));
    config.restart.backoff = Duration::from_millis(1);
    config.restart.max_backoff = Duration::from_millis(1);
    config.restart.give_up_after = 1000;
    let toolbox = Hosted::start(config).ready().await;
    let signals = [
        SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGSTKFLT,
        SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSYS,
    ];
    for signal in signals {
        let number = signal as i32;
        let error = toolbox.call("signal", json!({"signal": number})).await.unwrap_err();
        // 29 has two names.
        let name = signal.as_str();
        assert!(
            error.starts_with(&format!("ToolboxCrashed: signal {number} ({name})")),
            "{error}"
        );
        toolbox.served_again().await;
    }
}

#[tokio::test]
async fn a_program_that_aborts_overflows_its_stack_or_leaks_is_told_by_its_end() {
    let healthy = Healthy::start().await;
    let abort = healthy.beside(told_of_a_death("rust", "abort", json!({}))).await;
    assert!(abort.starts_with("ToolboxCrashed: signal 6 (SIGABRT)"), "{abort}");
    let overflow = healthy.beside(told_of_a_death("rust", "overflow", json!({}))).await;
    assert!(
        overflow.starts_with("ToolboxCrashed: signal 6 (SIGABRT): "),
        "{overflow}"
    );
    assert!(overflow.contains("stack overflow"), "{overflow}");
    healthy.never_noticed().await;

    let mut leaks = entry("rust", &json!({}));
    leaks["limits"] = json!({"memory": "128MiB"});
    let mut world = World::start(json!({"leaks": leaks})).await;
    let error = world
        .call("leaks", "leak", json!({"mebibytes": 400}))
        .await
        .unwrap_err();
    assert!(error.starts_with("ToolboxCrashed: signal 6 (SIGABRT)"), "{error}");
    world.served_again("leaks").await;
    assert_eq!(
        world.call("leaks", "leak", json!({"mebibytes": 10})).await,
        Ok(json!("leaked"))
    );
    world.stop().await;
}

#[tokio::test]
async fn what_a_program_forked_is_gone_with_it() {
    let mut world = World::start(json!({"forks": entry("rust", &json!({}))})).await;
    let children = world.call("forks", "forks", json!({"count": 100})).await.unwrap();
    assert_eq!(children.as_array().unwrap().len(), 100);
    assert!(world.host.processes().len() > 100, "they are there");
    world.call("forks", "exit", json!({"status": 1})).await.unwrap_err();
    world.served_again("forks").await;
    eventually("the children are gone", || world.host.processes().len() == 2).await;
    world.stop().await;
}

#[tokio::test]
async fn calls_and_lists_cause_no_start_of_a_toolbox_that_dies_at_once() {
    let starts = Folder::new();
    let file = starts.path("starts");
    let line = format!("echo $$ >> '{}'; exit 1", file.display());
    let born = std::time::Instant::now();
    let mut world = World::start(json!({"dies": {"command": ["sh", "-c", line]}})).await;
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let error = world.call("dies", "any", json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: exit status 1; tried again in "),
            "{error}"
        );
        world.caller.ask(LIST, &json!({})).await;
        world.healthy().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // 0, 0.2, 0.6, 1.4 and 3 s, give or take a quarter.
    let starts = std::fs::read_to_string(file).unwrap().lines().count();
    let most = 4 + born.elapsed().as_secs() as usize;
    assert!((2..=most).contains(&starts), "{starts} starts in {:?}", born.elapsed());
    world.stop().await;
}

#[tokio::test]
async fn a_toolbox_that_dies_soon_after_each_start_waits_longer_each_time() {
    let toolbox = Hosted::start(mood("rust", &json!({"lives": 0.05}))).ready().await;
    toolbox
        .seen("the wait is above a second", |seen| {
            seen.retry_in > Some(Duration::from_secs(1))
        })
        .await;
    let seen = toolbox.handle.snapshot().await.unwrap();
    assert_eq!(seen.phase, Phase::Backoff("exit status 5: lived its life".into()));
    assert!(seen.restarts >= 2, "it was ready each time: {seen:?}");
}

#[tokio::test]
async fn a_program_that_is_repaired_is_up_again_by_itself_or_at_once_after_a_reload() {
    let patient = json!({"command": ["./tool"], "restart": {"backoff": "10m", "max_backoff": "10m"}});
    let eager =
        json!({"command": ["./tool"], "restart": {"backoff": "50ms", "max_backoff": "50ms", "give_up_after": 100_000}});
    let mut world = World::start(json!({"patient": patient, "eager": eager})).await;
    for id in ["patient", "eager"] {
        let error = world.call(id, "echo", json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: ") && error.contains("does not exist"),
            "{error}"
        );
    }
    let tool = world.host.folder().join("tool");
    let text = format!("#!/bin/sh\nexec {} {}\n", argv("python")[0], argv("python")[1]);
    std::fs::write(&tool, text).unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    eventually("it is up by itself", || world.host.toolbox("eager")["state"] == "ready").await;
    assert_eq!(world.host.toolbox("patient")["state"], "backoff");
    world.caller.ask(RELOAD, &json!({})).await;
    eventually("it is up after the reload", || {
        world.host.toolbox("patient")["state"] == "ready"
    })
    .await;
    world.stop().await;
}

#[tokio::test]
async fn a_wrapper_of_two_levels_goes_with_what_it_wraps() {
    let python = argv("python");
    let line = format!("sh -c '{} {}; true'; true", python[0], python[1]);
    let wrapped = json!({"command": ["sh", "-c", line], "config": {"stubborn": true}});
    let mut world = World::start(json!({"wrapped": wrapped})).await;
    assert_eq!(world.call("wrapped", "echo", json!({})).await, Ok(json!({})));
    assert_eq!(world.host.processes().len(), 4, "two shells, a Python and the neighbor");
    world.write(&json!({}));
    world.caller.ask(RELOAD, &json!({})).await;
    eventually("all three are gone", || world.host.processes().len() == 1).await;
    world.stop().await;
}

/// Ended children of the host that nobody has waited for.
fn zombies_of(host: i32) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap();
    let stats = all.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    let is_one = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&host.to_string())
    };
    stats.filter(is_one).collect()
}

#[tokio::test]
async fn no_zombie_is_left_of_commands_and_restarts() {
    let mut dies = entry("rust", &json!({}));
    dies["restart"] = json!({"backoff": "1ms", "max_backoff": "1ms", "give_up_after": 1000});
    let tools = json!({
        "quick": {"description": "d", "run": ["true"]},
        "late": {"description": "d", "shell": "sleep 300 & sleep 300", "timeout": "100ms"},
    });
    let mut world = World::start(json!({"dies": dies, "box": {"tools": tools}})).await;
    for n in 0..100 {
        let (tool, good) = if n % 4 == 0 { ("late", false) } else { ("quick", true) };
        assert_eq!(world.call("box", tool, json!({})).await.is_ok(), good);
        if n % 10 == 0 {
            world.call("dies", "exit", json!({"status": 1})).await.unwrap_err();
            world.served_again("dies").await;
        }
    }
    let host = world.host.pid().as_raw();
    eventually("no zombie is left", || zombies_of(host).is_empty()).await;
    eventually("the two programs are left", || world.host.processes().len() == 2).await;
    world.stop().await;
}

#[tokio::test]
async fn toolboxes_are_stopped_side_by_side_and_their_farewell_is_logged() {
    let shell = format!("{} {}", argv("bash")[0], argv("bash")[1]);
    let on_eof = format!("{shell}; echo 'farewell at the end' >&2; echo eof > marker");
    let on_term = format!("{shell}; trap 'echo farewell at the signal >&2; exit 0' TERM; while :; do sleep 0.1; done");
    let stubborn = entry("rust", &json!({"stubborn": true}));
    let toolboxes = json!({
        "a": {"command": ["bash", "-c", on_eof]}, "b": {"command": ["bash", "-c", on_term]},
        "c": stubborn, "d": stubborn, "e": stubborn,
    });
    let mut world = World::start(toolboxes).await;
    world.healthy().await;
    world.host.signal(Signal::SIGTERM);
    let status = world.host.ended().await;
    assert_eq!(status.code(), Some(0), "{}", world.host.log());
    assert_eq!(
        std::fs::read_to_string(world.host.folder().join("marker")).unwrap(),
        "eof\n"
    );
    for (id, farewell) in [("a", "farewell at the end"), ("b", "farewell at the signal")] {
        assert_eq!(
            world.lines(&[&format!("toolbox={id}"), farewell]).len(),
            1,
            "{}",
            world.host.log()
        );
    }
    assert_eq!(world.host.processes(), Vec::<i32>::new());
}

#[tokio::test]
async fn a_script_that_is_still_open_for_writing_is_started_once_it_is_closed() {
    use std::io::Write as _;
    let folder = Folder::new();
    let script = folder.path("tool");
    for round in 0..5 {
        let mut file = std::fs::File::create(&script).unwrap();
        writeln!(file, "#!/bin/sh\nexec {} {}", python(), argv("python")[1]).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut config = config("busy", &[script.to_str().unwrap()]);
        config.restart.when = toolhost::config::RestartWhen::Never;
        let toolbox = Hosted::start(config);
        let closing = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20 * round)).await;
            drop(file);
        });
        assert_eq!(toolbox.call("echo", json!({"n": round})).await, Ok(json!({"n": round})));
        closing.await.unwrap();
    }
}

#[tokio::test]
async fn a_start_that_takes_longer_than_a_call_may_is_waited_for() {
    let healthy = Healthy::start().await;
    let mut config = mood("rust", &json!({"starts_after": 1.5, "banner": "Downloading ...\n"}));
    config.timeout = Duration::from_millis(500);
    let toolbox = Hosted::start(config);
    let early = healthy.beside(toolbox.call("echo", json!({}))).await;
    assert_eq!(early, Err("TimeoutError: 'echo' did not answer within 500ms".into()));
    let toolbox = toolbox.ready().await;
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
    assert_eq!(toolbox.handle.snapshot().await.unwrap().restarts, 0);
    assert!(
        toolhost::config::ToolboxConfig::new("any", Kind::Command(vec![]), "/").describe_timeout
            >= Duration::from_secs(60)
    );
}

#[tokio::test]
async fn fifty_commands_that_hang_never_pile_up_and_are_gone_after_their_time() {
    let tools = json!({
        "hangs": {"description": "d", "run": ["sleep", "1000"], "timeout": "1s"},
        "patient": {"description": "d", "run": ["sleep", "1.5"], "timeout": "20s"},
    });
    let mut world = World::start(json!({"box": {"tools": tools, "timeout": "1s"}})).await;
    let mut tokens = Vec::new();
    for _ in 0..50 {
        tokens.push(world.send("box", "hangs", json!({})).await);
    }
    for token in tokens {
        let running = world.host.processes().len();
        assert!(running <= 9, "{running} processes, the neighbor among them");
        assert_eq!(
            world.answer(&token).await,
            Err("TimeoutError: 'hangs' did not answer within 1s".into())
        );
    }
    eventually("the neighbor alone is left", || world.host.processes().len() == 1).await;
    assert_eq!(
        world.call("box", "patient", json!({})).await,
        Ok(json!({"output": ""})),
        "its own time holds"
    );
    world.stop().await;
}
