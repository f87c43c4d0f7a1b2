//! Off the predecessor topics: what a running host counts, reports and forwards, with real processes on both sides.

#![allow(clippy::expect_used, clippy::unwrap_used)] // The allowance for tests ends at their own functions.

#[path = "../common/mod.rs"]
mod common;

mod counts;
mod forwarding;
mod hosts;
mod matrix;
mod rehearsal;
mod several;
mod watching;
