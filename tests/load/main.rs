//! The host under load, as real processes: more than it can do, a bus that takes nothing, calls of many megabytes. Healthy
//! calls are answered all the while, what is refused is refused in words, and memory has a bound.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::print_stdout)] // The allowance for tests ends at their own functions.

#[path = "../common/mod.rs"]
mod common;

mod embedded;
mod foreign;
mod measure;
mod neighbors;
mod queued;
mod results;
mod slow_bus;
