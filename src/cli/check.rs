//! `toolhost check`: the report, and the exit code it comes to.

use super::args::CheckArgs;
use super::early::Held;
use super::output::Output;
use crate::check;
use crate::error::Error;

/// `toolhost check`
pub(super) async fn run(args: &CheckArgs, output: Output, held: Held) -> Result<(), Error> {
    // Ended at once, as any program: the guard ends what it started.
    drop(held);
    let options = check::Options {
        timeout: args.timeout,
        oneshot: args.oneshot,
    };
    let reports = match args.command.as_slice() {
        [] => check::configuration(args.file.as_deref().or(args.config.as_deref()), options).await?,
        argv => vec![check::command(argv, options).await?],
    };
    let text: String = reports.iter().map(ToString::to_string).collect();
    output.data(text.as_bytes())?;
    let faulty = reports.iter().filter(|report| !report.is_good()).count();
    match faulty {
        0 => Ok(()),
        1 => Err(Error::failed("1 toolbox has faults")),
        faulty => Err(Error::failed(format!("{faulty} toolboxes have faults"))),
    }
}
