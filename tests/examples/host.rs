//! The real program hosting a configuration, spoken to as its users do.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::scratch::Scratch;

/// How long all the toolboxes of a configuration may take to come up on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// The program.
#[allow(clippy::disallowed_methods, reason = "a test starts the program as a user does")]
pub(crate) fn toolhost() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command.stdin(Stdio::null());
    command
}

/// A host at work on an embedded bus of its own.
pub(crate) struct Host {
    scratch: Scratch,
    child: Child,
    url: String,
}

impl Host {
    /// Hosts `file` until every toolbox is ready.
    pub(crate) fn start(file: &Path) -> Self {
        let scratch = Scratch::new();
        let log = std::fs::File::create(scratch.path().join("log")).expect("a log file");
        let child = toolhost()
            .arg("run")
            .arg(file)
            .args(["--embedded-bus=127.0.0.1:0", "--socket"])
            .arg(scratch.path().join("socket"))
            // What a toolbox keeps is kept here.
            .env("XDG_STATE_HOME", scratch.path().join("state"))
            .stderr(log)
            .spawn()
            .expect("the program starts");
        let mut host = Self {
            scratch,
            child,
            url: String::new(),
        };
        let start = Instant::now();
        loop {
            if let Some(status) = host.status()
                && host.is_up(&status)
            {
                host.url = status["host"]["bus"]["url"]
                    .as_str()
                    .expect("the URL of the bus")
                    .to_owned();
                return host;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{} is not up: {}",
                file.display(),
                host.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_up(&self, status: &Value) -> bool {
        status["toolboxes"]
            .as_array()
            .is_some_and(|all| all.iter().all(|toolbox| toolbox["state"] == "ready"))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.scratch.path().join("log")).unwrap_or_default()
    }

    fn status(&self) -> Option<Value> {
        let socket = self.scratch.path().join("socket");
        let output = toolhost()
            .args(["status", "--json", "--socket"])
            .arg(socket)
            .output()
            .ok()?;
        serde_json::from_slice(&output.stdout).ok()
    }

    /// The toolbox_ids.
    pub(crate) fn toolboxes(&self) -> Vec<String> {
        let status = self.status().expect("a status");
        let toolboxes = status["toolboxes"].as_array().expect("toolboxes").iter();
        toolboxes
            .map(|toolbox| toolbox["toolbox_id"].as_str().expect("an id").to_owned())
            .collect()
    }

    /// Every tool there is, with its toolbox.
    pub(crate) fn published(&self) -> BTreeSet<(String, String)> {
        let output = toolhost()
            .args(["list", "--json", "--bus", &self.url])
            .output()
            .expect("the program starts");
        let tools: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        tools
            .iter()
            .map(|tool| (text(&tool["toolbox_id"]), text(&tool["name"])))
            .collect()
    }

    /// What `toolhost call` says: the result, or the error as it stands on stderr.
    pub(crate) fn call(&self, toolbox: &str, tool: &str, kwargs: &Value) -> Result<Value, String> {
        let output = toolhost()
            .args(["call", "--bus", &self.url, toolbox, tool, "--json", &kwargs.to_string()])
            .output()
            .expect("the program starts");
        match output.status.code() {
            Some(0) => Ok(serde_json::from_slice(&output.stdout).expect("a result")),
            Some(1) => {
                let said = String::from_utf8(output.stderr).expect("text");
                let said = said.split("\nhint: ").next().unwrap_or_default().trim_end();
                Err(said.strip_prefix("error: ").unwrap_or(said).to_owned())
            }
            _ => panic!("{output:?}\n{}", self.log()),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"));
        kill(pid, Signal::SIGTERM).ok();
        let status = self.child.wait().expect("it is gone");
        if !std::thread::panicking() {
            assert!(status.success(), "{status}: {}", self.log());
        }
    }
}
