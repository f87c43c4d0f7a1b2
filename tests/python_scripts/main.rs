//! Plain Python scripts: what is a tool of one, what they may do, and what is said of one that cannot be loaded.

#![allow(clippy::expect_used, clippy::unwrap_used)] // The allowance for tests ends at their own functions.

#[path = "../common/mod.rs"]
mod common;

mod at_once;
mod callables;
mod choice;
mod harness;
mod liberties;
mod loading;
mod neighbors;
mod results;
