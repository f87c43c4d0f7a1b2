//! The conformance suite against the program itself, on every bus it may meet.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

mod common;

use std::process::Stdio;

use common::peers::python_command;
use common::scratch::Scratch;

/// `toolhost`, as a word of a shell line.
const TOOLHOST: &str = concat!("'", env!("CARGO_BIN_EXE_toolhost"), "'");

/// Runs the whole suite; `host` starts the host, `bus` are the options that choose the bus.
fn conforms(host: &str, bus: &[&str]) {
    let scratch = Scratch::new();
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/run.py");
    let log = scratch.path().join("host.log");
    let output = python_command(scratch.path())
        .arg(run)
        .args(["--host", &format!("{TOOLHOST} {host}")])
        .args(bus)
        .arg("--log")
        .arg(&log)
        .stderr(Stdio::piped())
        .output()
        .expect("the suite runs");
    let log = std::fs::read_to_string(log).unwrap_or_default();
    assert!(
        output.status.success(),
        "the suite says\n{}{}\nthe host says\n{log}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

#[test]
fn on_the_real_bus() {
    conforms("run {config}", &["--bus", "real"]);
}

#[test]
fn on_a_bus_that_judges_nothing() {
    conforms("run {config}", &["--bus", "bare"]);
}

#[test]
fn on_the_bus_that_toolhost_serves_alone() {
    let bus = format!("{TOOLHOST} bus 127.0.0.1:{{port}}");
    conforms("run {config}", &["--bus-command", &bus]);
}

#[test]
fn on_the_bus_that_the_host_itself_serves() {
    conforms("run {config} --embedded-bus=127.0.0.1:{port}", &["--bus", "host"]);
}
