//! The toolbox written with the Bash helper, spoken to line by line with no host in between.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// For whatever should have happened by then on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(100);

/// The folder of the toolbox.
pub(crate) fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/helpers")
}

/// The toolbox, with no host in between.
pub(crate) struct Toolbox {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Toolbox {
    pub(crate) fn start(options: &str) -> Self {
        let mut child = Command::new("bash")
            .arg("toolbox.sh")
            .current_dir(fixtures())
            .env("TOOLBOX_OPTIONS", options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            lines,
            next: 1,
        }
    }

    /// Sends a line and reads the answer to it.
    pub(crate) fn line(&mut self, line: &str) -> Value {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        let answer = self.lines.recv_timeout(PATIENCE).expect("an answer");
        serde_json::from_str(&answer).expect(&answer)
    }

    /// The answer to a call, without its id, which must be the right one.
    pub(crate) fn call(&mut self, tool: &str, kwargs: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut answer = self.line(&json!({"id": id, "op": "call", "name": tool, "kwargs": kwargs}).to_string());
        assert_eq!(answer.as_object_mut().unwrap().remove("id"), Some(id.into()));
        answer
    }

    pub(crate) fn run(&mut self, code: &str) -> Value {
        self.call("run", &json!({"code": code}))
    }

    /// Closes its input, and tells how it ended and what it logged.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), log)
    }
}
