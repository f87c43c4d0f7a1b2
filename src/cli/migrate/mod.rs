//! `toolhost migrate`: one file here for each of its commands.

use super::hosting::Hosting;
use super::output::Output;
use crate::error::Error;

use args::{MigrateArgs, MigrateCommand};

pub mod args;
mod files;
mod git;
mod hear;
mod report;
mod scan;
pub(super) mod view;
mod watch;

/// `toolhost migrate`
pub(super) fn run(args: &MigrateArgs, output: Output) -> Result<(), Error> {
    match &args.command {
        MigrateCommand::Scan(args) => scan::run(args, output),
        MigrateCommand::Report(args) => report::run(args, output),
        // It listens.
        MigrateCommand::Watch(_) => Ok(()),
    }
}

/// The command that listens to a bus.
pub(super) async fn listen(args: &MigrateArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    match &args.command {
        MigrateCommand::Watch(args) => watch::run(args, output, hosting).await,
        // Done before.
        _ => Ok(()),
    }
}
