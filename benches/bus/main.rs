//! What a call costs over toolhost, beside what it costs over the shipped tool service: in one go,
//! side by side, in alternating blocks, so that what the machine does meanwhile falls on all alike.
//!
//! ```text
//! cargo bench                          # everything
//! cargo bench -- wrapping              # only this; latency, cost, wrapping
//! cargo bench -- --quick               # less of everything
//! cargo bench -- --alone               # toolhost only
//! cargo bench -- --beside=PROGRAM      # wrapping with another build of toolhost beside this one
//! ```
//!
//! The numbers belong to the machine and its load; the ratios travel.

// A benchmark has no caller to report to: it prints its table, and ends where anything is amiss.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]
// What it starts are no toolboxes.
#![allow(clippy::disallowed_methods)]

mod caller;
mod cost;
mod echo;
mod latency;
mod parts;
mod table;
mod wrapping;

use std::path::PathBuf;

/// How much is measured, and beside what.
struct Plan {
    blocks: usize,
    calls: usize,
    foreign: usize,
    peers: Option<PathBuf>,
    beside: Option<PathBuf>,
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let has = |option: &str| given.iter().any(|argument| argument == option);
    if has("echo-toolbox") {
        echo::serve().expect("the host reads and writes");
        return;
    }
    let peers = match parts::peers() {
        _ if has("--alone") => None,
        Ok(python) => Some(python),
        Err(why) => {
            eprintln!("{why}");
            None
        }
    };
    let beside = given.iter().find_map(|argument| argument.strip_prefix("--beside="));
    let beside = beside.map(PathBuf::from);
    let plan = if has("--quick") {
        Plan {
            blocks: 3,
            calls: 200,
            foreign: 20_000,
            peers,
            beside,
        }
    } else {
        Plan {
            blocks: 9,
            calls: 1000,
            foreign: 200_000,
            peers,
            beside,
        }
    };
    println!("{}", machine());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let parts = ["latency", "cost", "wrapping"];
    let is_wanted = |part: &str| has(part) || !parts.iter().any(|part| has(part));
    if is_wanted("latency") {
        runtime.block_on(latency::compare(&plan));
    }
    if is_wanted("cost") {
        runtime.block_on(cost::compare(&plan));
    }
    if is_wanted("wrapping") {
        runtime.block_on(wrapping::compare(&plan));
    }
    println!("\n{}", machine());
}

/// What the numbers are to be read with.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!("{cores} cores, load {}", load.join(" "))
}
