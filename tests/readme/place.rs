//! A folder that looks like a checkout, with a home of its own, where the README is followed.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::peers::RealBus;
use crate::common::ports::free_port;
use crate::common::scratch::Scratch;
use crate::root;

/// What a command printed, stdout before stderr.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) success: bool,
    pub(crate) output: String,
}

pub(crate) struct Place {
    server: Option<Child>,
    bus: Option<RealBus>,
    scratch: Scratch,
}

impl Place {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        let place = Self {
            server: None,
            bus: None,
            scratch,
        };
        for folder in [
            "bin",
            "home/.config/mycroft",
            "home/.cargo/bin",
            "run",
            "target/release",
        ] {
            std::fs::create_dir_all(place.path(folder)).expect("a folder");
        }
        for name in ["bin/toolhost", "home/.cargo/bin/toolhost", "target/release/toolhost"] {
            symlink(env!("CARGO_BIN_EXE_toolhost"), place.path(name)).expect("a link");
        }
        for folder in ["examples", "toolboxes"] {
            let copied = place.run(&format!("cp -r {}/{folder} .", root().display()));
            assert!(copied.success, "{copied:?}");
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn home(&self) -> String {
        self.path("home").display().to_string()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).expect("a file");
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "a test runs what the README tells people to run"
    )]
    fn shell(&self, script: &str) -> Command {
        let path = format!(
            "{}:{}",
            self.path("bin").display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let mut command = Command::new("bash");
        command
            .args(["-c", script])
            .current_dir(self.scratch.path())
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Said {
        let output = self.shell(line).output().expect("bash");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Said {
            success: output.status.success(),
            output: text(output.stdout) + &text(output.stderr),
        }
    }

    /// Starts a host in the place of the one that runs, and waits for its toolboxes; answers its process id.
    ///
    /// A configuration that does not embed a bus gets a real ovos-messagebus, which `mycroft.conf` names.
    pub(crate) async fn serve(&mut self, line: &str) -> i32 {
        self.stop();
        let mut line = line.replace("cargo run --release -- ", "toolhost ");
        let file = self.path(line.split_whitespace().last().expect("a configuration"));
        let port = free_port();
        self.write(
            "home/.config/mycroft/mycroft.conf",
            &format!("// The user's own.\n{{\"websocket\": {{\"port\": {port}}}}}\n"),
        );
        if std::fs::read_to_string(file)
            .expect("a configuration")
            .contains("url: embedded")
        {
            line.push_str(&format!(" --embedded-bus=127.0.0.1:{port}"));
        } else {
            let mut bus = RealBus::prepare(port, "");
            bus.restart().await;
            self.bus = Some(bus);
        }
        let log = std::fs::File::create(self.path("log")).expect("a log");
        let server = self.shell(&format!("exec {line}")).stderr(log).spawn().expect("bash");
        let pid = i32::try_from(server.id()).expect("a pid");
        self.server = Some(server);
        self.wait_until_ready().await;
        pid
    }

    pub(crate) async fn wait_until_ready(&self) {
        let start = Instant::now();
        while !self.is_ready() {
            let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
            assert!(start.elapsed() < Duration::from_secs(40), "the host is not up: {log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn is_ready(&self) -> bool {
        let Ok(status) = serde_json::from_str::<Value>(&self.run("toolhost status --json").output) else {
            return false;
        };
        let on_bus = ["embedded", "connected"]
            .iter()
            .any(|state| status["host"]["bus"]["state"] == *state);
        let toolboxes = status["toolboxes"].as_array();
        on_bus && toolboxes.is_some_and(|all| all.iter().all(|toolbox| toolbox["state"] == "ready"))
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            kill(
                Pid::from_raw(i32::try_from(server.id()).expect("a pid")),
                Signal::SIGTERM,
            )
            .ok();
            let status = server.wait().expect("it is gone");
            assert!(status.success() || std::thread::panicking(), "{status}");
        }
        self.bus = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stop();
    }
}
