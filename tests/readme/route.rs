//! The route that makes the stock bus quick, tried in a network of its own, so that the machine's stays as it is.

#![allow(
    clippy::disallowed_methods,
    reason = "a test runs what the README tells people to run"
)]

use std::process::{Command, Output, Stdio};

use crate::common::peers::python;
use crate::common::scratch::Scratch;
use crate::common::skipped::skipped;
use crate::{readme, root};

/// Runs a script as the root of a network that has only a loopback of its own; nothing where the system forbids that.
fn in_own_network(script: &str, arguments: &[&str]) -> Option<Output> {
    let run = |script: &str, arguments: &[&str]| {
        let script = format!("set -e; ip link set lo up; {script}");
        let mut command = Command::new("unshare");
        command
            .args(["--map-root-user", "--net", "bash", "-c", &script, "bash"])
            .args(arguments);
        command.stdin(Stdio::null()).output()
    };
    if !run("true", &[]).is_ok_and(|output| output.status.success()) {
        skipped("this system allows no network namespaces");
        return None;
    }
    Some(run(script, arguments).expect("unshare"))
}

/// Whether the kernel takes the command.
pub(crate) fn is_accepted(command: &str) {
    if let Some(output) = in_own_network(&format!("{command}; ip route show table local"), &[]) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("quickack 1"), "{output:?}");
    }
}

#[test]
fn the_route_of_the_readme_takes_the_wait_out_of_a_call_on_the_stock_bus() {
    let readme = readme();
    let command = readme
        .lines()
        .find_map(|line| line.strip_prefix("$ sudo ip route"))
        .expect("the route");
    let scratch = Scratch::new();
    let (scratch, root) = (scratch.path().display().to_string(), root().display().to_string());
    let python = python().display().to_string();
    let script = format!(
        r#"XDG_CONFIG_HOME=$1 XDG_STATE_HOME=$1 XDG_CACHE_HOME=$1 HOME=$1 "$2" -m ovos_messagebus > "$1/log" 2>&1 & bus=$!
        "$3" run "$4/examples/hello.yaml" --bus ws://127.0.0.1:8181/core --socket "$1/socket" 2>> "$1/log" & host=$!
        trap 'kill $host $bus; wait' EXIT
        HOME=$1 "$2" "$4/tests/readme/round_trip.py"
        ip route{command}
        HOME=$1 "$2" "$4/tests/readme/round_trip.py""#
    );
    let arguments = [&scratch, &python, env!("CARGO_BIN_EXE_toolhost"), &root];
    let Some(output) = in_own_network(&script, &arguments) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    // Answered calls, acknowledgments put off, and the time of a call, which is for people: this machine may be busy.
    println!("before and after:\n{said}");
    let counted = |line: &str| -> Option<Vec<u64>> { line.split(' ').take(2).map(|word| word.parse().ok()).collect() };
    let rounds: Vec<_> = said.lines().filter_map(counted).collect();
    let [before, after] = rounds.as_slice() else {
        panic!("{output:?}");
    };
    assert_eq!((before[0], after[0]), (25, 25), "every call is answered: {said}");
    assert!(
        before[1] >= 20 && after[1] <= 2,
        "each call waits for an acknowledgment put off, and then none: {said}"
    );
}
