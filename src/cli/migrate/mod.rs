//! `toolhost migrate`: one file here for each of its commands.

use super::output::Output;
use crate::error::Error;

use args::{MigrateArgs, MigrateCommand};

pub mod args;
mod files;
mod git;
mod scan;

/// `toolhost migrate`
///
/// One that waits for a bus or a host makes its own runtime with `super::quiet_runtime`.
pub(super) fn run(args: &MigrateArgs, output: Output) -> Result<(), Error> {
    match &args.command {
        MigrateCommand::Scan(args) => scan::run(args, output),
    }
}
