//! `toolhost check` tells the author of a toolbox what is wrong with it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

mod configuration;
mod descriptions;
mod endings;
mod healthy;
mod lines;
mod scratch;
mod scripts;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use scratch::Scratch;

/// What one run of `toolhost check` came to.
struct Checked {
    code: Option<i32>,
    report: String,
    stderr: String,
}

impl Checked {
    /// Whether the report has `lines` as whole lines, one after another, indented as they may be.
    #[track_caller]
    fn shows(&self, lines: &[&str]) {
        let report: Vec<&str> = self.report.lines().map(str::trim).collect();
        let found = report.windows(lines.len()).any(|window| {
            let pairs = window.iter().zip(lines);
            pairs.into_iter().all(|(line, start)| line.starts_with(start.trim()))
        });
        assert!(found, "{lines:#?}\nin\n{}{}", self.report, self.stderr);
    }
}

fn check_in(folder: &Path, arguments: &[&str]) -> Checked {
    check_with(folder, arguments, |_| {})
}

/// The same, with the command as `adjust` wants it.
fn check_with(folder: &Path, arguments: &[&str], adjust: impl FnOnce(&mut Command)) -> Checked {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    // Words of the system are compared, in English.
    command.env("LC_ALL", "C");
    adjust(&mut command);
    let Output { status, stdout, stderr } = command
        .current_dir(folder)
        .arg("check")
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Checked {
        code: status.code(),
        report: text(stdout),
        stderr: text(stderr),
    }
}

fn check(arguments: &[&str]) -> Checked {
    check_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

/// Checks a program of this text, in a file of this name, started by its first line.
fn check_program(name: &str, program: &str) -> Checked {
    let folder = Scratch::new();
    folder.program(name, program);
    check_in(folder.path(), &["--", &format!("./{name}")])
}

/// Checks a Python toolbox that answers with `answer`, an expression of `request` and `good`, after `setup`.
fn check_python(setup: &str, answer: &str) -> Checked {
    check(&[
        "--timeout",
        "20s",
        "--",
        interpreter(),
        "-S",
        "-c",
        &python(setup, answer),
    ])
}

/// Python itself: what stands on the PATH may be a script that looks for it anew at each start.
fn interpreter() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let asked = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output();
        String::from_utf8(asked.unwrap().stdout).unwrap().trim().to_owned()
    })
}

fn python(setup: &str, answer: &str) -> String {
    format!(
        "import json, os, sys, time\n{setup}\nfor line in sys.stdin:\n  if line.strip():\n    request = json.loads(line)\n    \
         good = {{'result': {{'tools': []}}}} if request['op'] == 'describe' else {{'error': 'Unknown: no'}}\n    \
         print({answer}, flush=True)\n"
    )
}

const GOOD: &str = "json.dumps({'id': request['id'], **good})";

#[test]
fn a_good_toolbox_passes_with_its_tools_named() {
    let checked = check(&["examples/hello.yaml"]);
    assert_eq!(checked.code, Some(0), "{}", checked.report);
    assert_eq!(checked.report.lines().next(), Some("ok   hello_sh: 1 tool, hello"));
    let checked = check_python("", GOOD);
    assert_eq!(
        (checked.code, checked.report.as_str()),
        (Some(0), "ok   check\n"),
        "{}",
        checked.stderr
    );
}

#[test]
fn a_program_that_is_not_there_and_a_faulty_file_fail_the_check() {
    let checked = check(&["--", "no-such-program"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.report.contains("'no-such-program' not found on the PATH"));
    let folder = Scratch::new();
    folder.file("toolhost.yaml", "toolboxes: {a: {comand: [x]}}\n");
    let checked = check_in(folder.path(), &["toolhost.yaml"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.stderr.contains("toolboxes.a.comand"), "{}", checked.stderr);
    assert_eq!(check(&["/no/such/toolhost.yaml"]).code, Some(1));
}
