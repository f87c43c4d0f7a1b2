//! What the command line asks of the rest of the program.
//!
//! `run`, `check` and `bus` get the signals held back: they are let through, by dropping `held`,
//! once the handlers are there.

use std::path::Path;

use super::address::DEFAULT_BUS_URL;
use super::args::{AskArgs, CheckArgs, RunArgs};
use super::ask::Attached;
use super::attach;
use super::early::Held;
use super::output::Output;
use crate::bus::client::ClientConfig;
use crate::error::Error;

/// `toolhost run`: hosts until a signal ends it.
pub(super) async fn run(_args: &RunArgs, _output: Output, _held: Held) -> Result<(), Error> {
    Err(not_wired_yet("run"))
}

/// `toolhost check`
pub(super) async fn check(_args: &CheckArgs, _output: Output, _held: Held) -> Result<(), Error> {
    Err(not_wired_yet("check"))
}

/// Starts to join the bus that was named, or the one OVOS is configured for; only frames that contain `key` come in.
pub(super) fn join_bus(args: &AskArgs, key: &str) -> Result<Attached, Error> {
    let mut config = ClientConfig::new(args.bus.as_deref().unwrap_or(DEFAULT_BUS_URL));
    config.ca_file.clone_from(&args.ca_file);
    attach::join(config, key)
}

/// Hosts the toolboxes of `config`, or only the one asked for, on a bus within this process.
///
/// The ids are those of the whole file, so that a wrong one can be told at once.
pub(super) async fn host_for_one_request(_config: &Path, _only: Option<&str>, _key: &str) -> Result<Attached, Error> {
    Err(not_wired_yet("--config"))
}

fn not_wired_yet(what: &str) -> Error {
    Error::failed(format!("{what} is not wired yet"))
}
