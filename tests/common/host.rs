//! The program as its owner runs it: `toolhost run` with a configuration, every folder its own.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use toolhost::control::client;
use toolhost::control::verb::Verb;

use super::eventually::eventually;
use super::scratch::Scratch;

/// The toolbox of every temperament, as an entry of `toolboxes`.
pub(crate) fn moody(config: &Value) -> Value {
    json!({"command": ["python3", fixture("moody.py")], "config": config})
}

/// A toolbox of the conformance suite.
pub(crate) fn fixture_of_the_suite(name: &str) -> Value {
    json!({"command": ["python3", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/toolboxes/").to_owned() + name]})
}

pub(crate) fn fixture(name: &str) -> String {
    format!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/{}"), name)
}

/// A `toolhost run`, killed with its owner if nobody ended it before.
pub(crate) struct Host {
    folder: Scratch,
    child: Child,
}

impl Host {
    /// Starts it, and waits until its toolboxes are up or down and the bus is reached.
    pub(crate) async fn start(config: &Value) -> Self {
        let mut host = Self::launch(config);
        host.ready().await;
        host
    }

    /// Starts it and does not wait.
    pub(crate) fn launch(config: &Value) -> Self {
        Self::launch_with(config, |_| {})
    }

    /// Starts it as `adjust` wants it.
    pub(crate) fn launch_with(config: &Value, adjust: impl FnOnce(&mut Command)) -> Self {
        let folder = Scratch::new();
        write_config(&folder.path().join("toolhost.yaml"), config);
        let mut command = run_command(folder.path());
        let log = File::create(folder.path().join("log")).expect("a log file");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        adjust(&mut command);
        let child = command.spawn().expect("toolhost starts");
        Self { folder, child }
    }

    /// Starts another one with the same folder, configuration and home, once this one has ended.
    pub(crate) async fn restart(mut self) -> Self {
        let mut command = run_command(self.folder());
        let log = File::options()
            .append(true)
            .open(self.folder().join("log"))
            .expect("a log file");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = command.spawn().expect("toolhost starts");
        self.ready().await;
        self
    }

    pub(crate) async fn ready(&mut self) {
        eventually("the host is up", || {
            if let Some(status) = self.child.try_wait().expect("its state") {
                panic!("the host ended with {status}:\n{}", self.log());
            }
            self.status().is_some_and(|status| is_up(&status))
        })
        .await;
    }

    /// What `toolhost status --json` shows, once it answers.
    pub(crate) fn status(&self) -> Option<Value> {
        let text = client::ask(&self.socket(), &Verb::Status).ok()?;
        Some(serde_json::from_str(&text).expect("a JSON document"))
    }

    /// What it shows of one toolbox.
    pub(crate) fn toolbox(&self, toolbox_id: &str) -> Value {
        let status = self.status().expect("the host tells its status");
        let toolboxes = status["toolboxes"].as_array().expect("toolboxes");
        let found = toolboxes.iter().find(|toolbox| toolbox["toolbox_id"] == toolbox_id);
        found.cloned().unwrap_or(Value::Null)
    }

    /// The process of a toolbox that has one.
    pub(crate) fn pid_of(&self, toolbox_id: &str) -> i32 {
        let toolbox = self.toolbox(toolbox_id);
        let pid = toolbox["processes"][0]["pid"].as_i64();
        i32::try_from(pid.unwrap_or_else(|| panic!("a process: {toolbox}"))).expect("a pid")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("control")
    }

    pub(crate) fn write_config(&self, config: &Value) {
        write_config(&self.folder.path().join("toolhost.yaml"), config);
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"))
    }

    /// How many descriptors it has open; `None` where only root may look into a host (before Linux 6.2).
    pub(crate) fn descriptors(&self) -> Option<usize> {
        let folder = PathBuf::from(format!("/proc/{}/fd", self.pid()));
        if let Ok(entries) = std::fs::read_dir(&folder) {
            return Some(entries.count());
        }
        let count = folder.metadata().expect("its descriptors").len();
        usize::try_from(count).ok().filter(|count| *count > 0)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("the signal is sent");
    }

    /// The other end of its stderr, where that was made a pipe.
    pub(crate) fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the host ends", || {
            status = self.child.try_wait().expect("its state");
            status.is_some()
        })
        .await;
        status.expect("just seen")
    }

    /// Ends it as a service manager does; it must end well and leave nothing.
    pub(crate) async fn stop(mut self) {
        self.signal(Signal::SIGTERM);
        let status = self.ended().await;
        assert_eq!(status.code(), Some(0), "{status}:\n{}", self.log());
        assert_eq!(self.processes(), Vec::<i32>::new(), "no process of any toolbox is left");
    }

    /// Waits until a process that left its toolbox, and wrote its id into `file`, is gone.
    pub(crate) async fn what_left_is_gone(&self, file: &str) {
        let path = self.folder().join(file);
        let mut pid = None;
        eventually("it writes its id", || {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            pid = text.strip_suffix('\n').and_then(|pid| pid.parse().ok());
            pid.is_some()
        })
        .await;
        let pid: i32 = pid.expect("just seen");
        eventually("what left its group ends with its command", || !is_alive(pid)).await;
    }

    /// Every process that was started for a toolbox of this host, by whomever, and is alive.
    ///
    /// They are known by their environment, which a wrapper's children and theirs have too.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let home = format!("HOME={}", self.folder.path().display());
        let of_this_host = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            is_alive(*pid)
                && variables.clone().any(|variable| variable == home.as_bytes())
                && variables.any(|variable| variable.starts_with(b"TOOLHOST_TOOLBOX_ID="))
        };
        let all = std::fs::read_dir("/proc").expect("a list of processes");
        let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(of_this_host).collect()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the log of the host:\n{}", self.log());
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// `toolhost run` with the configuration in `folder`, which is also its home.
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
pub(crate) fn run_command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    // The control socket wants a folder nobody else can write to.
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).expect("a private folder");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .args(["run", "toolhost.yaml", "--socket", "control"])
        .current_dir(folder);
    command
}

fn write_config(file: &Path, config: &Value) {
    // JSON is YAML. A reload never meets half a file.
    let new = file.with_extension("new");
    std::fs::write(&new, format!("{config:#}\n")).expect("a configuration");
    std::fs::rename(new, file).expect("a configuration");
}

fn is_up(status: &Value) -> bool {
    let toolboxes = status["toolboxes"].as_array().expect("toolboxes");
    status["host"]["bus"]["state"] != "connecting" && toolboxes.iter().all(|toolbox| toolbox["state"] != "starting")
}

/// Whether a process of that id exists and is no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}
