//! The command line from the outside: help texts, exit codes, what goes to which stream.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const COMMANDS: [&str; 18] = [
    "run",
    "check",
    "call",
    "invoke",
    "list",
    "get",
    "discover",
    "reload",
    "stop",
    "start",
    "restart",
    "bus",
    "status",
    "metrics",
    "new",
    "migrate",
    "completions",
    "man",
];

const MIGRATE: [&str; 3] = ["scan", "report", "watch"];

/// The program, in an environment of its own.
#[allow(clippy::disallowed_methods, reason = "a test starts the program as a user does")]
fn toolhost(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("XDG_RUNTIME_DIR", std::env::temp_dir())
        .stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    toolhost(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Compares with the file of that name; `UPDATE=1` writes it.
fn snapshot(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots/help")
        .join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "UPDATE=1 rewrites {}", path.display());
}

#[test]
fn every_command_helps_as_written_down() {
    let help = output(&["--help"]);
    assert!(help.stderr.is_empty());
    snapshot("toolhost.txt", &text(&help.stdout));
    for command in COMMANDS {
        let help = output(&[command, "--help"]);
        assert_eq!(help.status.code(), Some(0), "{command}");
        snapshot(&format!("{command}.txt"), &text(&help.stdout));
    }
}

#[test]
fn every_command_of_migrate_helps_as_written_down() {
    for command in MIGRATE {
        let help = output(&["migrate", command, "--help"]);
        assert_eq!(help.status.code(), Some(0), "{command}");
        snapshot(&format!("migrate-{command}.txt"), &text(&help.stdout));
        let page = text(&output(&["man", "migrate", command]).stdout);
        assert!(page.contains(&format!(".TH toolhost-migrate-{command} 1")), "{page}");
    }
    assert_eq!(output(&["migrate"]).status.code(), Some(2), "which one is to be said");
}

#[test]
fn the_whole_help_lists_every_command() {
    let help = text(&output(&["--help"]).stdout);
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_says_why_on_stderr() {
    let table: [(&[&str], &str); 14] = [
        (&[], "Usage: toolhost"),
        (&["dance"], "unrecognized subcommand 'dance'"),
        (&["cal"], "similar subcommand"),
        (&["call", "wordnet"], "<TOOL>"),
        (
            &["call", "a", "b", "word"],
            "argument 'word' is neither key=text nor key:=json",
        ),
        (&["call", "a", "b", "n:=x"], "hint: for the text 'x', write n=x"),
        (&["call", "a", "b", "--json", "[]"], "--json is not one JSON object"),
        (&["call", "a", "b", "x=1", "--json", "{}"], "cannot be used with"),
        (&["list", "--timeout", "10 lightyears"], "expected a time such as 500ms"),
        (&["list", "--bus", "localhost:8181"], "expected ws://HOST:PORT/PATH"),
        (&["restart"], "<TOOLBOX>"),
        (&["stop", "a", "--all"], "cannot be used with"),
        (&["reload", "--socket", "s", "--bus", "ws://x"], "cannot be used with"),
        (&["run", "--bus", "ws://x", "--embedded-bus"], "cannot be used with"),
    ];
    for (arguments, expected) in table {
        let output = output(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_arguments_may_come_from_stdin_or_a_file() {
    let mut child = toolhost(&["call", "a", "b", "--json", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"[1]").unwrap();
    let stderr = text(&child.wait_with_output().unwrap().stderr);
    assert!(stderr.contains("stdin is not one JSON object"), "{stderr}");
    let stderr = text(&output(&["call", "a", "b", "--json", "@/no/such"]).stderr);
    assert!(stderr.contains("cannot read the arguments in /no/such"), "{stderr}");
}

#[test]
fn without_a_host_status_ends_with_3_and_says_what_to_do() {
    let output = output(&["status", "--socket", "/no/such.sock"]);
    assert_eq!(output.status.code(), Some(3));
    let expected = "error: no toolhost is running on the control socket /no/such.sock\n\
        hint: start one with `toolhost run`, or name the socket of a running one with --socket\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn without_a_host_its_owner_is_told_so_with_3() {
    for verb in ["stop", "start", "restart", "reload"] {
        let toolbox: &[&str] = if verb == "reload" { &[] } else { &["wordnet"] };
        let output = output(&[&[verb, "--socket", "/no/such.sock"], toolbox].concat());
        assert_eq!(output.status.code(), Some(3), "{verb}");
        let stderr = text(&output.stderr);
        let expected = "error: no toolhost is running on the control socket /no/such.sock\n";
        assert!(stderr.starts_with(expected), "{verb}: {stderr}");
    }
}

#[test]
fn a_reader_that_went_away_has_got_what_it_wanted() {
    let mut child = toolhost(&["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_full_disk_is_an_error_and_a_lost_stderr_is_not() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let output = toolhost(&["--version"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: cannot write the answer to stdout: "));
    let status = toolhost(&["dance"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn completions_and_man_pages_come_from_the_same_table() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&output(&["completions", shell]).stdout);
        assert!(script.contains("discover") && script.contains("predecessor"), "{shell}");
    }
    assert!(text(&output(&["man"]).stdout).contains(".TH toolhost 1"));
    for command in COMMANDS {
        let page = text(&output(&["man", command]).stdout);
        assert!(
            page.contains(&format!(".TH toolhost-{command} 1")),
            "{command}: {page:.300}"
        );
    }
    assert_eq!(output(&["man", "dance"]).status.code(), Some(2));
}

#[test]
fn a_new_toolbox_in_another_language_is_pointed_at_the_protocol() {
    let asked = output(&["new", "perl", "count"]);
    assert_eq!(asked.status.code(), Some(2));
    let told = text(&asked.stderr);
    assert!(
        told.contains("possible values: python") && told.contains("protocol/README.md"),
        "{told}"
    );
    assert!(!text(&output(&["new", "python", "a.b"]).stderr).contains("protocol/README.md"));
}
