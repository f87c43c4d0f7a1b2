//! A conversation with a program that speaks the protocol: all its input at once, then its end.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What came of it.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The lines on stdout, blank ones among them.
    pub(crate) lines: Vec<String>,
    pub(crate) stderr: String,
    pub(crate) status: Option<i32>,
}

impl Exchange {
    /// Writes `input` to `command`, closes it, and waits until the program has ended.
    pub(crate) fn of(mut command: Command, input: &[u8]) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            // Apart, since the program may answer before it has read everything.
            scope.spawn(move || stdin.write_all(input).ok());
            child.wait_with_output().expect("it ends")
        });
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            lines: text(output.stdout).lines().map(str::to_owned).collect(),
            stderr: text(output.stderr),
            status: output.status.code(),
        }
    }

    /// The answer to request `id`, of which there must be one.
    pub(crate) fn answer(&self, id: u64) -> Value {
        let parsed = self
            .lines
            .iter()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut found: Vec<Value> = parsed.filter(|answer| answer["id"] == id).collect();
        assert_eq!(found.len(), 1, "answers to {id}: {self:?}");
        found.remove(0)
    }

    /// The result of request `id`.
    pub(crate) fn result(&self, id: u64) -> Value {
        let answer = self.answer(id);
        answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
    }
}
