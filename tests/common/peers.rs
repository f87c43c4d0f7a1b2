//! The real parts of OVOS, as processes.

use std::fs::File;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::eventually::eventually;
use super::ports::free_port;
use super::scratch::Scratch;

/// The Python with the real parts installed.
pub(crate) fn python() -> PathBuf {
    let venv = std::env::var_os("TOOLHOST_PEERS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers"),
        PathBuf::from,
    );
    let python = venv.join("bin/python");
    assert!(
        python.exists(),
        "the real OVOS parts are missing: there is no {}. Run `tests/setup`, or name a folder that has them in TOOLHOST_PEERS",
        python.display(),
    );
    python
}

/// Where the last ovos-plugin-manager that knows only the predecessor topics is, to be put before that Python's own.
pub(crate) fn old_python_path() -> PathBuf {
    let peers = std::env::var_os("TOOLHOST_PEERS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers"),
        PathBuf::from,
    );
    let beside = || {
        let mut name = peers.into_os_string();
        name.push("-old");
        PathBuf::from(name)
    };
    let folder = std::env::var_os("TOOLHOST_PEERS_OLD").map_or_else(beside, PathBuf::from);
    assert!(
        folder.join("ovos_plugin_manager").exists(),
        "ovos-plugin-manager 2.12.5a1 is missing: there is nothing in {}. Run `tests/setup`, or name a folder that has it in \
         TOOLHOST_PEERS_OLD",
        folder.display(),
    );
    folder
}

/// A command of that Python, whose folders are all in `scratch`.
#[allow(clippy::disallowed_methods)] // The real parts are no toolboxes.
pub(crate) fn python_command(scratch: &Path) -> Command {
    let mut command = Command::new(python());
    for (name, folder) in [
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
        ("HOME", "home"),
    ] {
        command.env(name, scratch.join(folder));
    }
    command.env("PYTHONUNBUFFERED", "1").stdin(Stdio::null());
    command
}

/// A real ovos-messagebus.
pub(crate) struct RealBus {
    scratch: Scratch,
    port: u16,
    child: Option<Child>,
}

impl RealBus {
    /// Starts one on a free port.
    pub(crate) async fn start() -> Self {
        let mut bus = Self::prepare(free_port(), "");
        bus.restart().await;
        bus
    }

    /// Starts one that serves wss://, with `extra` members of the `websocket` section.
    pub(crate) async fn start_with(extra: &str) -> Self {
        let mut bus = Self::prepare(free_port(), extra);
        bus.restart().await;
        bus
    }

    /// One that does not run yet.
    pub(crate) fn prepare(port: u16, extra: &str) -> Self {
        let scratch = Scratch::new();
        let folder = scratch.path().join("config/mycroft");
        std::fs::create_dir_all(&folder).expect("a configuration folder");
        let config = format!(
            r#"{{"websocket": {{"host": "127.0.0.1", "port": {port}, "route": "/core", "ssl": false, "max_msg_size": 25{extra}}}}}"#
        );
        std::fs::write(folder.join("mycroft.conf"), config).expect("a configuration");
        Self {
            scratch,
            port,
            child: None,
        }
    }

    /// Starts it (again), and waits until it listens.
    pub(crate) async fn restart(&mut self) {
        self.kill();
        let log = File::create(self.scratch.path().join("bus.log")).expect("a log file");
        let child = python_command(self.scratch.path())
            .args(["-m", "ovos_messagebus"])
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .expect("ovos-messagebus starts");
        self.child = Some(child);
        let port = self.port;
        eventually("ovos-messagebus listens", || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        })
        .await;
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/core", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("a running bus");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        kill(pid, signal).expect("the signal is sent");
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().expect("it is gone");
        }
    }
}

impl Drop for RealBus {
    fn drop(&mut self) {
        self.kill();
    }
}
