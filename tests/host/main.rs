//! The program on a bus: real processes on both sides, and what callers and owners see of them.

#![allow(clippy::expect_used, clippy::unwrap_used)] // The allowance for tests ends at their own functions.

#[path = "../common/mod.rs"]
mod common;

mod births;
mod bus_away;
mod calls;
mod clock;
mod endings;
mod errors;
mod families;
mod lazy;
mod logs;
mod operation;
mod pid_one;
mod reload;
mod secrets;
mod service;
mod verbs;
mod watch;
