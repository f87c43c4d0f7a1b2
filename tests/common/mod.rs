//! What the integration tests share.
#![allow(dead_code)] // Each test binary uses its own part of it.
#![allow(clippy::expect_used, clippy::print_stdout)] // The allowance for tests ends at their own functions.

pub(crate) mod caller;
pub(crate) mod embedded;
pub(crate) mod eventually;
pub(crate) mod host;
pub(crate) mod peers;
pub(crate) mod ports;
pub(crate) mod raw;
pub(crate) mod recorder;
pub(crate) mod round_trips;
pub(crate) mod scratch;
pub(crate) mod skipped;
pub(crate) mod values;
