//! `toolhost check`: the report, and the exit code it comes to.

use super::args::CheckArgs;
use super::early::Held;
use super::output::Output;
use crate::check::{self, Checked};
use crate::error::Error;

/// `toolhost check`
pub(super) async fn run(args: &CheckArgs, output: Output, held: Held) -> Result<(), Error> {
    // Ended at once, as any program: the guard ends what it started.
    drop(held);
    let options = check::Options {
        timeout: args.timeout,
        oneshot: args.oneshot,
    };
    let checked = match args.command.as_slice() {
        [] => check::configuration(args.file.as_deref().or(args.config.as_deref()), options).await?,
        argv => Checked {
            reports: vec![check::command(argv, options).await?],
            ..Checked::default()
        },
    };
    output.data(text(&checked).as_bytes())?;
    let faulty = checked.reports.iter().filter(|report| !report.is_good()).count();
    match faulty {
        0 => Ok(()),
        1 => Err(Error::failed("1 toolbox has faults")),
        faulty => Err(Error::failed(format!("{faulty} toolboxes have faults"))),
    }
}

fn text(checked: &Checked) -> String {
    let mut text: String = checked.reports.iter().map(ToString::to_string).collect();
    match checked.forwarded.as_slice() {
        [] if text.is_empty() => text.push_str("no toolboxes\n"),
        [] => {}
        [one] => text.push_str(&format!(
            "forwards 1 toolbox of another host, which is not checked: {one}\n"
        )),
        ids => text.push_str(&format!(
            "forwards {} toolboxes of other hosts, which are not checked: {}\n",
            ids.len(),
            ids.join(", ")
        )),
    }
    text
}
