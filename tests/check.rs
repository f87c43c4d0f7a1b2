//! `toolhost check` tells the author of a toolbox what is wrong with it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("check")
        .args(arguments)
        .output()
        .unwrap()
}

/// Checks a toolbox that answers with the Python expression `answer` of `request`, after `setup`.
fn check_python(setup: &str, answer: &str) -> Output {
    let program = format!(
        "import json, sys, time\n{setup}\nfor line in sys.stdin:\n  if line.strip():\n    request = json.loads(line)\n    \
         good = {{'result': {{'tools': []}}}} if request['op'] == 'describe' else {{'error': 'Unknown: no'}}\n    \
         print({answer}, flush=True)\n"
    );
    check(&["--", "python3", "-c", &program])
}

const GOOD: &str = "json.dumps({'id': request['id'], **good})";

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_good_toolbox_passes_with_its_tools_named() {
    let checked = check(&["examples/hello.yaml"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    assert_eq!(
        text(&checked.stdout).lines().next(),
        Some("ok   hello_sh: 1 tool, hello")
    );
    let checked = check_python("", GOOD);
    assert_eq!(
        (checked.status.code(), text(&checked.stdout)),
        (Some(0), "ok   check\n".to_owned()),
        "{checked:?}"
    );
}

#[test]
fn every_fault_is_shown_with_the_line_written_and_the_line_that_should_have_been() {
    let table = [
        ("", "json.dumps({**good})", "should: {\"id\":1,\"result\""),
        (
            "",
            "json.dumps({'id': 99, **good})",
            "wrong answer\n    wrote:  {\"id\": 99, ",
        ),
        ("", "'{\"id\": %d, \"result\": NaN}' % request['id']", "NaN"),
        ("sys.exit('no config')", GOOD, "exited instead (exit status 1)"),
        (
            "import atexit, os; atexit.register(lambda: os._exit(7))",
            GOOD,
            "ended with exit status 7 when its input was closed",
        ),
        (
            "",
            "json.dumps({'id': request['id'], 'result': {'tools': [{'name': 'a', 'argument_schema': {'type': 5}}]}} if \
             request['op'] == 'describe' else {'id': request['id'], **good})",
            "Invalid schema of 'a': argument_schema: ",
        ),
    ];
    for (setup, answer, expected) in table {
        let checked = check_python(setup, answer);
        let report = text(&checked.stdout);
        assert_eq!(checked.status.code(), Some(1), "{report}");
        assert!(
            report.starts_with("FAIL check") && report.contains(expected),
            "{expected}: {report}"
        );
        assert_eq!(text(&checked.stderr), "error: 1 toolbox has faults\n");
    }
}

#[test]
fn noise_is_a_warning_with_a_sample_and_no_fault() {
    let checked = check_python("print('Server v1.2 started \u{1f680}')", GOOD);
    let report = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{report}");
    assert!(
        report.contains("warning in describe: wrote noise to stdout") && report.contains("Server v1.2"),
        "{report}"
    );
}

#[test]
fn a_program_that_is_not_there_and_a_faulty_file_fail_the_check() {
    let checked = check(&["--", "no-such-program"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains("'no-such-program' not found on the PATH"));
    let file = std::env::temp_dir().join(format!("toolhost-check-{}.yaml", std::process::id()));
    std::fs::write(&file, "toolboxes: {a: {comand: [x]}}\n").unwrap();
    let checked = check(&[file.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stderr).contains("toolboxes.a.comand"), "{checked:?}");
    std::fs::remove_file(file).unwrap();
    assert_eq!(check(&["/no/such/toolhost.yaml"]).status.code(), Some(1));
}
