//! `toolhost migrate scan`: files in, findings out, and the exit code they come to.

use super::args::ScanArgs;
use crate::cli::output::Output;
use crate::error::Error;

/// `toolhost migrate scan`
pub(super) fn run(args: &ScanArgs, _output: Output) -> Result<(), Error> {
    Err(Error::usage(format!("cannot scan {} paths yet", args.paths.len())))
}
