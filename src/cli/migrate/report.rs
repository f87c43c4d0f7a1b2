//! `toolhost migrate report`: what a running host has counted, and whether a quiet period has passed.

use std::time::Duration;

use serde_json::{Value, json};

use super::args::ReportArgs;
use super::view;
use crate::cli::output::Output;
use crate::cli::socket_path;
use crate::cli::span::span;
use crate::control::client;
use crate::control::verb::Verb;
use crate::error::{Error, Exit};
use crate::migrate::verdict::{Counted, Report, Verdict, all_quiet, verdict};

/// `toolhost migrate report`
pub(super) fn run(args: &ReportArgs, output: Output) -> Result<(), Error> {
    let seconds = whole_seconds(args.quiet);
    let report = told(args, output, seconds).map_err(no_verdict)?;
    if all_quiet(&report, seconds) {
        return Ok(());
    }
    Err(not_quiet(&report, seconds))
}

/// As the host counts: a part of one is one, so that no quiet is taken for longer than it was.
fn whole_seconds(quiet: Duration) -> u64 {
    quiet.as_secs().saturating_add(u64::from(quiet.subsec_nanos() > 0))
}

/// Asks the host and prints what it told.
fn told(args: &ReportArgs, output: Output, seconds: u64) -> Result<Report, Error> {
    let text = client::ask(&socket_path(args.socket.as_deref()), &Verb::Migration)?;
    let odd = |error| Error::failed(format!("the answer of the host cannot be understood: {error}"));
    let report: Report = serde_json::from_str(&text).map_err(odd)?;
    if args.show.json || !output.stdout_is_terminal {
        output.json(&document(&report, seconds).map_err(odd)?)?;
    } else {
        output.data(view::report(&report, seconds, output.colors_stdout()).as_bytes())?;
    }
    Ok(report)
}

/// What keeps the question from being answered must not look like the answer "not yet".
fn no_verdict(error: Error) -> Error {
    if error.exit() != Exit::Failed {
        return error;
    }
    let same = Error::no_answer(error.to_string());
    match error.hint() {
        Some(hint) => same.with_hint(hint),
        None => same,
    }
}

/// The report with its verdicts.
fn document(report: &Report, seconds: u64) -> Result<String, serde_json::Error> {
    let mut document = serde_json::to_value(report)?;
    let toolboxes = document.get_mut("toolboxes").and_then(Value::as_array_mut);
    for (value, counted) in toolboxes.into_iter().flatten().zip(&report.toolboxes) {
        value["verdict"] = serde_json::to_value(verdict(counted, seconds, report.now))?;
    }
    document["quiet"] = json!(all_quiet(report, seconds));
    document["quiet_period_seconds"] = json!(seconds);
    Ok(document.to_string())
}

/// Why the period has not passed.
fn not_quiet(report: &Report, seconds: u64) -> Error {
    let period = span(seconds);
    let of = |wanted: Verdict| {
        let is_wanted = move |counted: &&Counted| verdict(counted, seconds, report.now) == wanted;
        report.toolboxes.iter().filter(is_wanted)
    };
    let mut why = Vec::new();
    let used = ids(of(Verdict::Used));
    if !used.is_empty() {
        why.push(format!("the predecessor topic of {used} was used within {period}"));
    }
    let early = too_early(of(Verdict::TooEarly), &period);
    let is_early = !early.is_empty();
    why.extend(early);
    let unheard = ids(of(Verdict::NoHost));
    if !unheard.is_empty() {
        why.push(format!(
            "no host of {unheard} has been heard on the bus: is the id right, and its host running?"
        ));
    }
    if why.is_empty() {
        why.push("this host has no toolbox whose calls it could count".to_owned());
    }
    let hint = if !used.is_empty() {
        "the report names the callers; `toolhost migrate scan PATH` finds them in source code"
    } else if !unheard.is_empty() {
        "`toolhost discover` shows the toolboxes on the bus"
    } else if is_early {
        "ask again later, or for a shorter time with --quiet"
    } else {
        "it counts calls to what stands under `toolboxes:` and `migrate:` in its configuration"
    };
    Error::failed(why.join("; ")).with_hint(hint)
}

/// For how long each has been counted instead of the `period`; those that have it in common in one clause.
fn too_early<'r>(early: impl Iterator<Item = &'r Counted>, period: &str) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&Counted>)> = Vec::new();
    for counted in early {
        let since = match counted.usage.calls.last_predecessor {
            Some(_) => " since the last one on the predecessor topic",
            None => "",
        };
        let time = format!("{} only{since}", span(counted.usage.quiet_seconds));
        match groups.iter_mut().find(|(known, _)| *known == time) {
            Some((_, group)) => group.push(counted),
            None => groups.push((time, vec![counted])),
        }
    }
    let clause = |(time, group): (String, Vec<&Counted>)| {
        let ids = ids(group.into_iter());
        format!("the calls to {ids} have been counted for {time}, not yet for {period}")
    };
    groups.into_iter().map(clause).collect()
}

fn ids<'r>(toolboxes: impl Iterator<Item = &'r Counted>) -> String {
    let ids = toolboxes.map(|counted| format!("'{}'", counted.toolbox_id));
    ids.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_second_is_not_nothing() {
        let table = [
            (0, 0),
            (1, 1),
            (999, 1),
            (1000, 1),
            (1001, 2),
            (1_209_600_000, 1_209_600),
        ];
        for (milliseconds, seconds) in table {
            assert_eq!(
                whole_seconds(Duration::from_millis(milliseconds)),
                seconds,
                "{milliseconds}"
            );
        }
        assert_eq!(whole_seconds(Duration::MAX), u64::MAX);
    }

    #[test]
    fn why_it_is_not_quiet_is_said_in_whole_sentences() {
        let counted = |id: &str, quiet: u64, last: Option<u64>, heard: Option<bool>| -> Counted {
            let told = json!({
                "toolbox_id": id, "predecessor_topics": "answer", "host_heard": heard, "since": 0, "counted_seconds": quiet,
                "quiet_seconds": quiet, "predecessor_calls": 0, "replacement_calls": 0, "last_predecessor": last, "callers": [],
            });
            serde_json::from_value(told).unwrap()
        };
        let now = 1_800_000_000;
        let day = 86_400;
        let said = |toolboxes: &[Counted]| {
            let report = Report {
                now,
                not_kept: None,
                toolboxes: toolboxes.to_vec(),
            };
            not_quiet(&report, 14 * day).to_string()
        };
        let new = |id| counted(id, 10_800, None, None);
        assert_eq!(
            said(&[new("a"), counted("quiet", 15 * day, None, Some(true)), new("b")]),
            "the calls to 'a', 'b' have been counted for 3 h only, not yet for 14 days"
        );
        assert_eq!(
            said(&[
                counted("shoutr", 15 * day, None, Some(false)),
                counted("used", 60, Some(now - 60), None),
                new("a"),
                counted("off", 2 * day, Some(now - 20 * day), None),
            ]),
            "the predecessor topic of 'used' was used within 14 days; \
             the calls to 'a' have been counted for 3 h only, not yet for 14 days; \
             the calls to 'off' have been counted for 2 days only since the last one on the predecessor topic, not yet for 14 days; \
             no host of 'shoutr' has been heard on the bus: is the id right, and its host running?"
        );
    }

    #[test]
    fn only_a_verdict_ends_with_1() {
        let table = [
            (Error::failed("the host said no"), Exit::NoAnswer),
            (Error::no_answer("nobody is there"), Exit::NoAnswer),
            (Error::usage("no such folder"), Exit::Usage),
        ];
        for (error, expected) in table {
            let error = error.with_hint("try again");
            let seen = no_verdict(error.clone());
            assert_eq!((seen.exit(), seen.hint()), (expected, Some("try again")));
            assert_eq!(seen.to_string(), error.to_string());
        }
        assert_eq!(not_quiet(&Report::default(), 1).exit(), Exit::Failed);
    }
}
