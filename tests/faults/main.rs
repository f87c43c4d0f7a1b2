//! Faults of programs like this one, each as what a user would see: real toolboxes that misbehave, in Bash, Python, Node
//! and Rust, beside a healthy one that must never notice. `tests/README.md` says which case is where.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic, and programs are started as their owners start them"
)]

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "this binary uses its own part of it")]
#[path = "../supervision/harness.rs"]
mod harness;

mod births;
mod bus;
mod calls;
mod child;
mod late;
mod moods;
mod pipes;
mod places;
mod reload;
mod schemas;
mod stdout;
mod table;
mod tools;
mod values;
mod world;
mod yaml;
