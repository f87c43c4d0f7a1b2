//! What the command line asks of the rest of the program: to host toolboxes, and to reach a bus.
//!
//! The composition root implements it; the command line sees neither bus nor supervisor at work.

use std::path::Path;
use std::pin::Pin;

use super::args::{AskArgs, RunArgs};
use super::ask::Attached;
use super::early::Held;
use super::output::Output;
use crate::error::Error;

/// A future of an object-safe trait. Stays on its thread: the signals held back belong to that.
pub type Eventually<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;

/// Hosts toolboxes and reaches buses.
pub trait Hosting {
    /// `toolhost run`: hosts until a signal ends it. `held` is dropped once the handlers are there.
    fn run<'a>(&'a self, args: &'a RunArgs, output: Output, held: Held) -> Eventually<'a, ()>;

    /// Starts to join the bus that was named, or the one OVOS is configured for, for one question told by `key`.
    ///
    /// # Errors
    /// A URL that cannot be used.
    fn join_bus(&self, args: &AskArgs, key: &str) -> Result<Attached, Error>;

    /// Hosts the toolboxes of `config`, or only the one asked for, on a bus within this process.
    ///
    /// The ids are those of the whole file, so that a wrong one can be told at once.
    fn host_for_one_request<'a>(
        &'a self,
        config: &'a Path,
        only: Option<&'a str>,
        key: &'a str,
    ) -> Eventually<'a, Attached>;
}
