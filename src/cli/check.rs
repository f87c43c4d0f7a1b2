//! `toolhost check`: what is wrong with a configuration or a toolbox, said before its users find out.

use super::args::CheckArgs;
use super::early::Held;
use super::output::Output;
use crate::error::Error;

/// `toolhost check`
pub(super) async fn run(_args: &CheckArgs, _output: Output, _held: Held) -> Result<(), Error> {
    Err(Error::failed("check is not wired yet"))
}
