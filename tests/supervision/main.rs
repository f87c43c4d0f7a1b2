//! What a toolbox's caller and its neighbors get, whatever the toolbox does: real child processes,
//! the supervisor alone, no bus.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

mod calls;
mod early;
mod faults;
mod harness;
mod lazy;
mod life;
mod lines;
mod orders;
mod panics;
mod rest;
mod starting;
