//! toolhost as a service: what it tells systemd, the units in `examples/systemd/`, and both with the real systemd.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic; programs are started as their owner starts them"
)]

#[path = "common/mod.rs"]
mod common;

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use common::eventually::{DEADLINE, eventually};
use common::host::{Host, moody};
use common::scratch::Scratch;
use common::skipped::skipped;

/// systemd's end of the notification socket.
struct Manager {
    socket: UnixDatagram,
    folder: Scratch,
}

impl Manager {
    fn new() -> Self {
        let folder = Scratch::new();
        let socket = UnixDatagram::bind(folder.path().join("notify")).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        Self { socket, folder }
    }

    fn launch(&self, config: &Value, watchdog: Option<Duration>) -> Host {
        Host::launch_with(config, |command| {
            command.env("NOTIFY_SOCKET", self.folder.path().join("notify"));
            if let Some(watchdog) = watchdog {
                command.env("WATCHDOG_USEC", watchdog.as_micros().to_string());
            }
        })
    }

    /// What is said next.
    fn next(&self) -> String {
        let mut room = [0; 4096];
        let length = self.socket.recv(&mut room).expect("a datagram in time");
        String::from_utf8(room[..length].to_vec()).unwrap()
    }

    /// The next that is so.
    fn wait_for(&self, wanted: impl Fn(&str) -> bool) -> String {
        std::iter::repeat_with(|| self.next())
            .find(|said| wanted(said))
            .expect("one in time")
    }
}

/// On a bus that is never there: none is needed.
fn config(toolboxes: &Value) -> Value {
    json!({"bus": {"url": "ws://127.0.0.1:1/core"}, "toolboxes": toolboxes})
}

#[tokio::test]
async fn systemd_is_told_when_the_toolboxes_have_come_up_and_which_have_not() {
    let manager = Manager::new();
    let gone = json!({"command": ["no-such-program"], "restart": {"when": "never"}});
    let host = manager.launch(&config(&json!({"up": moody(&json!({})), "gone": gone})), None);
    let said = manager.next();
    assert_eq!(
        said,
        "READY=1\nSTATUS=1 of 2 toolboxes up, not gone; the bus is not reached"
    );
    assert_eq!(host.toolbox("up")["state"], "ready");
    assert_eq!(host.toolbox("gone")["state"], "failed");
    host.stop().await;
    assert_eq!(manager.next(), "STOPPING=1\nSTATUS=stopping");
}

#[tokio::test]
async fn systemd_is_told_of_a_reload_whoever_asked_for_it_and_of_one_that_is_refused() {
    let manager = Manager::new();
    let host = manager.launch(&config(&json!({"a": moody(&json!({}))})), None);
    assert!(manager.next().starts_with("READY=1\nSTATUS=1 of 1 toolbox up"));
    host.write_config(&config(&json!({"a": moody(&json!({})), "b": moody(&json!({}))})));
    let before = monotonic_usec();
    host.signal(Signal::SIGHUP);
    let said = manager.next();
    let began = said.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect("a time");
    assert!(began.parse::<u128>().unwrap() >= before, "{said}");
    assert!(manager.next().starts_with("READY=1\nSTATUS=2 of 2 toolboxes up"));
    host.write_config(&json!({"toolboxes": {"a": {"command": []}}}));
    host.signal(Signal::SIGHUP);
    manager.wait_for(|said| said.starts_with("RELOADING=1"));
    let said = manager.next();
    assert!(said.starts_with("READY=1\nSTATUS=2 of 2 toolboxes up"), "{said}");
    assert!(
        said.ends_with("; the last reload was refused, the log says why"),
        "{said}"
    );
    host.stop().await;
}

fn monotonic_usec() -> u128 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    Duration::from(now).as_micros()
}

#[tokio::test]
async fn systemd_is_told_when_a_toolbox_goes_down_and_comes_back() {
    let manager = Manager::new();
    let host = manager.launch(&config(&json!({"a": moody(&json!({}))})), None);
    assert!(manager.next().starts_with("READY=1"));
    let order = |order: &str| {
        let done = Command::new(env!("CARGO_BIN_EXE_toolhost"))
            .args([order, "a", "--socket"])
            .arg(host.socket())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    order("stop");
    manager.wait_for(|said| said.starts_with("STATUS=0 of 1 toolbox up, not a"));
    order("start");
    manager.wait_for(|said| said.starts_with("STATUS=1 of 1 toolbox up"));
    host.stop().await;
}

#[tokio::test]
async fn systemd_is_told_of_a_toolbox_that_sleeps_as_of_one_that_is_up() {
    let manager = Manager::new();
    let state = Scratch::new();
    let mut lazy = moody(&json!({}));
    lazy["start"] = "lazy".into();
    let socket = manager.folder.path().join("notify");
    let host = Host::launch_with(&config(&json!({"up": moody(&json!({})), "lazy": lazy})), |command| {
        command
            .env("NOTIFY_SOCKET", &socket)
            .env("XDG_STATE_HOME", state.path());
    });
    let said = manager.wait_for(|said| said.starts_with("READY=1"));
    assert_eq!(host.toolbox("lazy")["state"], "asleep");
    assert!(said.starts_with("READY=1\nSTATUS=2 of 2 toolboxes up;"), "{said}");
    host.stop().await;
}

#[tokio::test]
async fn the_watchdog_hears_of_a_host_that_works_and_nothing_of_one_that_stands_still() {
    let manager = Manager::new();
    let host = manager.launch(
        &config(&json!({"a": moody(&json!({}))})),
        Some(Duration::from_millis(100)),
    );
    for _ in 0..3 {
        manager.wait_for(|said| said == "WATCHDOG=1");
    }
    host.signal(Signal::SIGSTOP);
    let stopped = format!("/proc/{}/stat", host.pid());
    eventually("it stands still", || {
        std::fs::read_to_string(&stopped).unwrap().contains(") T ")
    })
    .await;
    // What it had said before.
    manager.socket.set_nonblocking(true).unwrap();
    let mut room = [0; 4096];
    while manager.socket.recv(&mut room).is_ok() {}
    manager.socket.set_nonblocking(false).unwrap();
    manager
        .socket
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    assert!(manager.socket.recv(&mut room).is_err());
    manager.socket.set_read_timeout(Some(DEADLINE)).unwrap();
    host.signal(Signal::SIGCONT);
    manager.wait_for(|said| said == "WATCHDOG=1");
    host.stop().await;
}

#[tokio::test]
async fn a_toolbox_cannot_speak_for_the_host() {
    let manager = Manager::new();
    let host = manager.launch(&config(&json!({"a": moody(&json!({}))})), Some(Duration::from_secs(60)));
    manager.wait_for(|said| said.starts_with("READY=1"));
    let environment = std::fs::read(format!("/proc/{}/environ", host.pid_of("a"))).unwrap();
    let environment = String::from_utf8_lossy(&environment);
    assert!(environment.contains("TOOLHOST_TOOLBOX_ID=a"));
    assert!(
        !environment.contains("NOTIFY_SOCKET") && !environment.contains("WATCHDOG"),
        "{environment}"
    );
    host.stop().await;
}

/// The units: the scope of systemd they are for, and their file.
fn units_of_examples() -> [(&'static str, PathBuf); 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/systemd");
    ["user", "system"].map(|scope| (scope, folder.join(scope).join("ovos-toolhost.service")))
}

/// The unit with the program and the files of this test.
fn localized(unit: &str, program: &str) -> String {
    ["%h/.cargo/bin/toolhost", "/usr/local/bin/toolhost"]
        .iter()
        .fold(unit.to_owned(), |unit, path| unit.replace(path, program))
}

/// What `systemd-analyze verify` has to say, where there is one.
fn verified(scope: &str, unit: &str) -> Option<String> {
    let folder = Scratch::new();
    let file = folder.path().join("ovos-toolhost.service");
    std::fs::write(&file, unit).unwrap();
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no", &format!("--{scope}")])
        .arg(&file)
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .ok()?;
    let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && said.is_empty() {
        said = output.status.to_string();
    }
    Some(said)
}

#[test]
fn systemd_understands_every_line_of_the_units() {
    for (scope, file) in units_of_examples() {
        let unit = localized(&std::fs::read_to_string(&file).unwrap(), env!("CARGO_BIN_EXE_toolhost"));
        let Some(said) = verified(scope, &unit) else {
            return skipped("the units by systemd-analyze, which is not here");
        };
        assert_eq!(said, "", "{}", file.display());
        let misspelled = unit.replace("KillMode=mixed", "KilMode=mixed");
        let said = verified(scope, &misspelled).unwrap();
        assert!(said.contains("KilMode"), "a fault would be seen: {said}");
    }
}

/// Every key that the units may have, also where there is no systemd to ask.
const KEYS: &str = "After Before CacheDirectory CapabilityBoundingSet Description Environment ExecReload ExecStart Group \
    KeyringMode KillMode LockPersonality NoNewPrivileges OOMPolicy PartOf PrivateDevices PrivateTmp ProtectClock \
    ProtectControlGroups ProtectHome ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables \
    ProtectSystem RemoveIPC Restart RestartPreventExitStatus RestartSec RestrictAddressFamilies RestrictNamespaces \
    RestrictRealtime RestrictSUIDSGID RuntimeDirectory RuntimeDirectoryMode StateDirectory SystemCallArchitectures \
    SystemCallErrorNumber SystemCallFilter TasksMax TimeoutStopSec Type UMask User WantedBy Wants WatchdogSec \
    WorkingDirectory IPAddressAllow IPAddressDeny MemoryHigh";

#[test]
fn the_keys_of_the_units_are_spelled_as_systemd_spells_them() {
    let known: Vec<_> = KEYS.split_whitespace().collect();
    for (_, file) in units_of_examples() {
        let unit = std::fs::read_to_string(&file).unwrap();
        // A line that is to be taken in is a key behind a `#` without a space.
        let lines = unit.lines().map(|line| line.strip_prefix('#').unwrap_or(line));
        let keys: Vec<_> = lines
            .filter_map(|line| line.split_once('='))
            .map(|(key, _)| key)
            .filter(|key| !key.contains(' '))
            .collect();
        assert!(keys.len() > 20, "{keys:?}");
        let unknown: Vec<_> = keys.iter().filter(|key| !known.contains(key)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", file.display());
    }
}

#[test]
fn the_units_keep_what_toolhost_counts_on() {
    for (scope, file) in units_of_examples() {
        let unit = std::fs::read_to_string(&file).unwrap();
        let has = |line: &str| assert!(unit.lines().any(|other| other == line), "{scope}: {line}");
        let has_not = |key: &str| assert!(!unit.lines().any(|line| line.starts_with(key)), "{scope}: {key}");
        // The ordered stop, and nothing left after it.
        has("KillMode=mixed");
        // One toolbox out of memory is not the end of all.
        has("OOMPolicy=continue");
        has("Type=notify");
        has("Restart=on-failure");
        // As the services of OVOS.
        has("PartOf=ovos.service");
        has("WantedBy=ovos.service");
        // Sandboxes are made by these.
        has("SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp");
        // Node could not compile, a core limit would be handed to the toolboxes.
        has_not("MemoryDenyWriteExecute=");
        has_not("LimitCORE=");
        has_not("ExecStop=");
    }
}

/// The unit of the user with the real systemd that runs here, in files of its own.
struct Service {
    scope: &'static str,
    name: String,
    folder: Scratch,
    unit: PathBuf,
}

impl Service {
    /// Installs it, where there is a systemd that takes units of ours.
    fn install(config: &Value) -> Option<Self> {
        let (scope, units) = manager_of_units()?;
        let folder = Scratch::new();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let name = format!("toolhost-test-{}.service", std::process::id());
        let shown = folder.path().display();
        let text = std::fs::read_to_string(&units_of_examples()[0].1).unwrap();
        let text = localized(&text, env!("CARGO_BIN_EXE_toolhost"))
            .replace(
                "%h/.config/toolhost/toolhost.yaml",
                &format!("{shown}/toolhost.yaml --socket {shown}/control"),
            )
            .replace("toolhost reload", &format!("toolhost reload --socket {shown}/control"))
            .replace("RestartSec=5s", "RestartSec=100ms")
            .replace("WatchdogSec=30s", "WatchdogSec=5s");
        let path = std::env::var("PATH").unwrap_or_default();
        let text = text.replace("[Service]", &format!("[Service]\nEnvironment=PATH={path}"));
        std::fs::create_dir_all(&units).unwrap();
        let unit = units.join(&name);
        std::fs::write(&unit, text).unwrap();
        let service = Self {
            scope,
            name,
            folder,
            unit,
        };
        service.write_config(config);
        assert!(service.systemctl(&["daemon-reload"]));
        Some(service)
    }

    fn write_config(&self, config: &Value) {
        std::fs::write(self.folder.path().join("toolhost.yaml"), config.to_string()).unwrap();
    }

    fn systemctl(&self, arguments: &[&str]) -> bool {
        Command::new("systemctl")
            .arg(self.scope)
            .args(arguments)
            .status()
            .unwrap()
            .success()
    }

    fn ask(&self, verb: &str) -> bool {
        self.systemctl(&[verb, &self.name])
    }

    fn property(&self, name: &str) -> String {
        let output = Command::new("systemctl")
            .args([self.scope, "show", "--value", "-p", name, &self.name])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn main(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.property("MainPID").parse().unwrap())
    }

    fn toolbox(&self) -> i32 {
        let socket = self.folder.path().join("control");
        let text = toolhost::control::client::ask(&socket, &toolhost::control::verb::Verb::Status).unwrap();
        let status: Value = serde_json::from_str(&text).unwrap();
        i32::try_from(status["toolboxes"][0]["processes"][0]["pid"].as_i64().unwrap()).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.ask("kill");
        self.ask("stop");
        std::fs::remove_file(&self.unit).ok();
        self.systemctl(&["daemon-reload"]);
    }
}

/// Which systemd takes units of ours, and from where.
fn manager_of_units() -> Option<(&'static str, PathBuf)> {
    if !Path::new("/run/systemd/system").is_dir() {
        return None;
    }
    if nix::unistd::geteuid().is_root() {
        return Some(("--system", "/run/systemd/system".into()));
    }
    let runtime = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    let reached = Command::new("systemctl")
        .args(["--user", "show-environment"])
        .output()
        .ok()?;
    reached
        .status
        .success()
        .then(|| ("--user", runtime.join("systemd/user")))
}

#[tokio::test]
async fn the_real_systemd_starts_it_reloads_it_restarts_it_and_stops_it_with_all_it_started() {
    let toolboxes = json!({"a": {"command": ["python3", common::host::fixture("moody.py")]}});
    let good = json!({"bus": {"url": "ws://127.0.0.1:1/core"}, "toolboxes": toolboxes});
    let Some(service) = Service::install(&good) else {
        return skipped("the unit with a real systemd: none runs here that takes units");
    };
    assert!(service.ask("start"));
    let status = service.property("StatusText");
    assert!(status.starts_with("1 of 1 toolbox up"), "{status}");
    let (first, toolbox) = (service.main(), service.toolbox());
    assert!(service.ask("reload"));
    service.write_config(&json!({"toolboxes": {"a": {"comand": ["x"]}}}));
    assert!(!service.ask("reload"), "it has a fault");
    eventually("it is told", || service.property("StatusText").contains("refused")).await;
    assert_eq!(
        (service.main(), service.toolbox()),
        (first, toolbox),
        "nothing has changed"
    );
    service.write_config(&good);
    // As services of OVOS are stopped, and as they end by themselves.
    nix::sys::signal::kill(first, Signal::SIGKILL).unwrap();
    eventually("it is started again", || service.property("NRestarts") == "1").await;
    eventually("it is up", || service.property("ActiveState") == "active").await;
    assert!(!common::host::is_alive(toolbox));
    let (second, toolbox) = (service.main(), service.toolbox());
    assert_ne!(first, second);
    nix::sys::signal::kill(second, Signal::SIGSTOP).unwrap();
    eventually("the watchdog has it started again", || {
        service.property("NRestarts") == "2"
    })
    .await;
    eventually("it is up", || service.property("ActiveState") == "active").await;
    assert!(!common::host::is_alive(toolbox));
    let toolbox = service.toolbox();
    assert!(service.ask("stop"));
    assert_eq!(
        (service.property("ActiveState"), service.property("Result")),
        ("inactive".into(), "success".into())
    );
    assert!(!common::host::is_alive(toolbox));
}
