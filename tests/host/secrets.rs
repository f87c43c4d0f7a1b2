//! Secrets of toolboxes and callers: seen by the toolbox they are for, and nowhere else.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::Command;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, INVOKE, LIST, call, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, fixture, fixture_of_the_suite, moody};
use crate::common::skipped::skipped;

/// In `env`, in `env_file`, in a variable of the host that `env` takes over, and in the arguments of calls.
const ENV: &str = "s3cr3t-of-env";
const FILE: &str = "s3cr3t-of-file";
const HOST: &str = "s3cr3t-of-host";
const ARGUMENT: &str = "s3cr3t-argument";
const ALL: [&str; 4] = [ENV, FILE, HOST, ARGUMENT];

/// The same with every kind of secret, and `more`.
fn secretive(mut toolbox: Value, more: &Value) -> Value {
    toolbox["env"] = json!({"API_KEY": ENV, "TOKEN": "${HOST_SECRET}"});
    toolbox["env_file"] = "secrets.env".into();
    for (key, value) in more.as_object().unwrap() {
        toolbox[key] = value.clone();
    }
    toolbox
}

/// Toolboxes that go wrong in every way there is.
fn toolboxes() -> Value {
    let moody = |more: Value| secretive(moody(&json!({})), &more);
    let never = json!({"restart": {"when": "never"}});
    let declared = json!({"tools": {
        "fails": {"description": "Fails.", "run": ["sh", "-c", "echo no >&2; exit 3"]},
        "gone": {"description": "Is not there.", "run": ["no-such-program"]},
        "shell": {"description": "Fails.", "shell": "exit 4"},
    }});
    json!({
        "up": moody(json!({"timeout": "1s", "max_result": "4KiB", "max_pending": 1})),
        "frail": moody(never.clone()),
        "strict": secretive(fixture_of_the_suite("alpha.py"), &json!({})),
        "twin": secretive(fixture_of_the_suite("beta.py"), &json!({})),
        "dies": secretive(crate::common::host::moody(&json!({"die_on_describe": true})), &never),
        "missing": secretive(json!({"command": ["no-such-program"]}), &never),
        "nowhere": moody(json!({"cwd": "no-such-folder"})),
        "no_program": secretive(json!({"command": [fixture("moody.toml")]}), &never),
        "needs": moody(json!({"requires": ["no-such-program"]})),
        "once": moody(json!({"mode": "oneshot"})),
        "held": moody(json!({"limits": {"open_files": 64}})),
        "declared": secretive(declared, &json!({})),
        "script": secretive(json!({"script": "broken.py"}), &never),
    })
}

/// Every way in which a call can end badly.
async fn provoke(caller: &mut Caller) {
    let kwargs = json!({"password": ARGUMENT, "deep": [{"pin": ARGUMENT}]});
    let with = |more: Value| {
        let mut all = kwargs.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    for (toolbox_id, tool, kwargs) in [
        ("up", "raise", kwargs.clone()),
        ("up", "nope", kwargs.clone()),
        ("up", "exit", kwargs.clone()),
        ("up", "sleep", with(json!({"seconds": 2}))),
        ("up", "big", with(json!({"bytes": 9000}))),
        ("up", "close_stdout", kwargs.clone()),
        ("up", "raw", with(json!({"lines": ["noise", "{\"id\": $ID}"]}))),
        ("up", "bytes", with(json!({"hex": "ff00"}))),
        ("up", "kill", with(json!({"signal": 9}))),
        ("once", "exit", kwargs.clone()),
        ("held", "exit", kwargs.clone()),
        ("frail", "exit", kwargs.clone()),
        ("frail", "raise", kwargs.clone()),
        ("strict", "echo", json!({"text": [ARGUMENT], "other": ARGUMENT})),
        ("strict", "fail", json!({"password": ARGUMENT})),
        ("declared", "fails", kwargs.clone()),
        ("declared", "gone", json!({})),
        ("declared", "shell", json!({})),
    ] {
        let error = caller.call(toolbox_id, tool, &kwargs).await.unwrap_err();
        say_what_leaks("an error", &error, &ALL);
    }
    for toolbox_id in ["dies", "missing", "nowhere", "no_program", "needs", "script"] {
        caller.call(toolbox_id, "echo", &kwargs).await.unwrap_err();
    }
    caller
        .ask(&predecessor("up"), &json!({"name": "nope", "kwargs": kwargs}))
        .await;
    for name in ["shared", "nope"] {
        caller.ask(INVOKE, &json!({"name": name, "args": kwargs})).await;
    }
    caller.ask(CALL, &json!({"toolbox_id": "up", "kwargs": kwargs})).await;
    // Malformed, so nobody answers.
    caller.send(CALL, &json!(["up", ARGUMENT])).await;
    // One runs, one waits, the others are too many.
    let mut many = Vec::new();
    for _ in 0..4 {
        many.push(
            caller
                .send(CALL, &call("up", "sleep", &with(json!({"seconds": 0.2}))))
                .await,
        );
    }
    for token in many {
        caller.wait(&token, 1).await;
    }
}

/// What of a process everybody can read.
fn argv(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every process that the host has started, the guard among them.
fn family(host: &Host) -> Vec<i32> {
    let parent = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    let all = std::fs::read_dir("/proc").unwrap();
    let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let of_host = pids.filter(|pid| parent(*pid) == Some(host.pid().as_raw()));
    of_host.chain(host.processes()).chain([host.pid().as_raw()]).collect()
}

fn guard(host: &Host) -> i32 {
    let is_guard = |pid: &i32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "toolhost-guard")
    };
    family(host).into_iter().find(is_guard).expect("the guard")
}

fn say_what_leaks(place: &str, text: &str, secrets: &[&str]) {
    for secret in secrets {
        let lines: Vec<_> = text.lines().filter(|line| line.contains(secret)).collect();
        assert!(lines.is_empty(), "{secret} in {place}: {lines:#?}");
    }
}

#[tokio::test]
async fn no_secret_reaches_a_log_an_answer_the_status_or_the_list_of_processes() {
    for arguments in [["--log-level", "trace"], ["--log-format", "json"]] {
        let bus = Embedded::start().await;
        let config = json!({"bus": {"url": bus.url}, "tool_service": true, "toolboxes": toolboxes()});
        let mut host = Host::launch_with(&config, |command| {
            let folder = command.get_current_dir().unwrap();
            std::fs::write(folder.join("secrets.env"), format!("PASSWORD={FILE}\n")).unwrap();
            std::fs::write(folder.join("broken.py"), "import os\n\ndef f(:\n").unwrap();
            command.env("HOST_SECRET", HOST).args(arguments);
        });
        host.ready().await;
        let mut caller = Caller::connect(&bus.url).await;
        let environment = caller.call("up", "environment", &json!({})).await.unwrap();
        assert_eq!(
            [&environment["API_KEY"], &environment["PASSWORD"], &environment["TOKEN"]],
            [ENV, FILE, HOST],
            "they are where they belong"
        );
        assert_eq!(
            caller.call("held", "environment", &json!({})).await.unwrap()["API_KEY"],
            ENV
        );
        // Asked for, and so no leak.
        let asked_for: Vec<_> = ALL
            .map(|secret| caller.everything_heard().matches(secret).count())
            .into();
        provoke(&mut caller).await;
        for pid in family(&host) {
            say_what_leaks("the arguments of a process", &argv(pid), &ALL);
        }
        say_what_leaks("the status", &host.status().unwrap().to_string(), &ALL);
        // A file with faults, among them secrets in the wrong place.
        host.write_config(&json!({"bus": {"url": bus.url}, "toolboxes": {
            "up": {"command": ["x"], "env": {"API_KEY": [ENV], "TOKEN": {"x": HOST}}, "timeout": "soon", "config": {"p": FILE}},
        }}));
        caller.ask("ovos.tools.reload", &json!({})).await;
        caller.ask(LIST, &json!({})).await;
        let heard = caller.everything_heard();
        let now: Vec<_> = ALL.map(|secret| heard.matches(secret).count()).into();
        // The bus lets everybody hear what was asked; the answers must not say it again.
        assert_eq!(now[..3], asked_for[..3], "in an answer");
        let log = host.log();
        assert!(log.contains("reload refused"), "{log}");
        say_what_leaks("the log", &log, &ALL);
        host.stop().await;
    }
}

/// Starts a host that may dump core as large as it likes.
async fn dumping_host(adjust: impl FnOnce(&mut Command)) -> (Embedded, Host) {
    let bus = Embedded::start().await;
    let toolbox = secretive(moody(&json!({})), &json!({"cwd": "."}));
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"a": toolbox}});
    let mut host = Host::launch_with(&config, |command| {
        let folder = command.get_current_dir().unwrap();
        std::fs::write(folder.join("secrets.env"), format!("PASSWORD={FILE}\n")).unwrap();
        command.env("HOST_SECRET", HOST);
        // SAFETY: a system call that allocates nothing.
        unsafe {
            command.pre_exec(|| {
                Ok(setrlimit(Resource::RLIMIT_CORE, 1 << 30, 1 << 30)
                    .or_else(|_| setrlimit(Resource::RLIMIT_CORE, 0, 1 << 30))?)
            });
        }
        adjust(command);
    });
    host.ready().await;
    (bus, host)
}

fn cores(host: &Host) -> Vec<PathBuf> {
    let files = std::fs::read_dir(host.folder()).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let is_core = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("core");
    files.filter(is_core).collect()
}

#[tokio::test]
async fn a_host_that_crashes_leaves_no_core_and_a_toolbox_that_does_dumps_as_ever() {
    let (_bus, mut host) = dumping_host(|_| {}).await;
    let pid = host.pid_of("a");
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    let may_dump = core.contains(&(1_u64 << 30).to_string()) && !core.contains(" 0 ");
    kill(Pid::from_raw(pid), Signal::SIGABRT).unwrap();
    let dumped = "SIGABRT), core dumped";
    eventually("its end is told", || host.log().contains("signal 6 (SIGABRT)")).await;
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    if may_dump && !pattern.starts_with(['|', '/']) {
        eventually("the toolbox has dumped", || !cores(&host).is_empty()).await;
        for core in cores(&host) {
            std::fs::remove_file(core).unwrap();
        }
    } else {
        skipped(&format!(
            "the core dump of a toolbox ({dumped}): they go to {}",
            pattern.trim()
        ));
    }
    host.signal(Signal::SIGABRT);
    let status = host.ended().await;
    assert_eq!(status.signal(), Some(Signal::SIGABRT as i32));
    assert!(!status.core_dumped());
    assert_eq!(cores(&host), Vec::<PathBuf>::new());
    eventually("nothing is left", || host.processes().is_empty()).await;
}

#[tokio::test]
async fn the_memory_of_host_and_guard_is_closed_to_their_user_and_that_of_toolboxes_is_not() {
    const NOBODY: u32 = 65534;
    let is_root = nix::unistd::geteuid().is_root();
    let (_bus, host) = dumping_host(|command| {
        let folder = command.get_current_dir().unwrap().to_owned();
        if is_root {
            for file in ["", "toolhost.yaml", "secrets.env"] {
                std::os::unix::fs::chown(folder.join(file), Some(NOBODY), Some(NOBODY)).unwrap();
            }
            command
                .uid(NOBODY)
                .gid(NOBODY)
                .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        }
    })
    .await;
    let user = if is_root {
        NOBODY
    } else {
        nix::unistd::geteuid().as_raw()
    };
    let owner = |pid: i32| std::fs::metadata(format!("/proc/{pid}/environ")).unwrap().uid();
    assert_eq!(owner(host.pid_of("a")), user);
    assert_eq!(
        (owner(host.pid().as_raw()), owner(guard(&host))),
        (0, 0),
        "that of a process nobody may look into"
    );
    host.stop().await;
}
