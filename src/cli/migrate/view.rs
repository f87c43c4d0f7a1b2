//! What is told of the migration, for people. Pure.

use std::time::{Duration, UNIX_EPOCH};

use crate::cli::span::span;
use crate::cli::spell::plain;
use crate::cli::table::{Cell, Tint, render};
use crate::migrate::usage::{Caller, Counts};
use crate::migrate::verdict::{Counted, Report, Verdict, verdict};
use crate::migrate::watch::{Answers, Watched};

/// The report, several lines.
pub(super) fn report(report: &Report, seconds: u64, color: bool) -> String {
    if report.toolboxes.is_empty() {
        return "no toolboxes\n".to_owned();
    }
    let heading = [
        Cell::left("TOOLBOX"),
        Cell::left("PREDECESSOR"),
        Cell::right("OLD CALLS"),
        Cell::right("NEW CALLS"),
        Cell::left("LAST OLD CALL"),
        Cell::right("QUIET FOR"),
        Cell::right("COUNTED FOR"),
        Cell::left("VERDICT"),
    ];
    let mut rows = vec![heading.map(|cell| cell.tinted(Tint::Dim)).to_vec()];
    rows.extend(
        report
            .toolboxes
            .iter()
            .map(|counted| toolbox(counted, seconds, report.now)),
    );
    let mut out = render(&rows, color);
    let callers = callers(report);
    if !callers.is_empty() {
        out.push('\n');
        out.push_str(&render(&callers, color));
    }
    if let Some(why) = &report.not_kept {
        let why = plain(why).replace(['\n', '\t'], " ");
        out.push_str(&format!("\nnot kept over a restart: {why}\n"));
    }
    out
}

fn toolbox(counted: &Counted, seconds: u64, now: u64) -> Vec<Cell> {
    let usage = &counted.usage;
    let (word, tint) = match verdict(counted, seconds, now) {
        Verdict::Quiet => ("quiet", Tint::Good),
        Verdict::Used => ("used", Tint::Bad),
        Verdict::TooEarly => ("too early to say", Tint::Waiting),
        Verdict::NoHost => ("no host heard", Tint::Bad),
    };
    vec![
        Cell::left(&counted.toolbox_id),
        Cell::left(&counted.predecessor_topics),
        Cell::right(usage.calls.predecessor_calls.to_string()),
        Cell::right(usage.calls.replacement_calls.to_string()),
        Cell::left(day(usage.calls.last_predecessor)),
        Cell::right(span(usage.quiet_seconds)),
        Cell::right(span(usage.counted_seconds)),
        Cell::left(word).tinted(tint),
    ]
}

/// A table of the callers of toolboxes that have been called on their predecessor topic; empty where none has.
pub(crate) fn callers(report: &Report) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    let used = |counted: &&Counted| counted.usage.calls.predecessor_calls > 0;
    for counted in report.toolboxes.iter().filter(used) {
        rows.extend(
            counted
                .usage
                .callers
                .iter()
                .map(|caller| row(&counted.toolbox_id, caller)),
        );
        let others = counted.usage.others;
        if others != Counts::default() {
            let more = Cell::left("(others)").tinted(Tint::Dim);
            rows.push(cells(
                &counted.toolbox_id,
                [more, Cell::left(""), Cell::left("")],
                &others,
            ));
        }
    }
    with_heading(rows)
}

/// The rows of callers under what their columns mean, if there are any.
fn with_heading(mut rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    let heading = [
        Cell::left("TOOLBOX"),
        Cell::left("CALLER"),
        Cell::left("SESSION"),
        Cell::left("CONTEXT KEYS"),
        Cell::right("OLD CALLS"),
        Cell::right("NEW CALLS"),
        Cell::left("LAST SEEN"),
    ];
    if !rows.is_empty() {
        rows.insert(0, heading.map(|cell| cell.tinted(Tint::Dim)).to_vec());
    }
    rows
}

fn row(toolbox_id: &str, caller: &Caller) -> Vec<Cell> {
    let or_dash = |text: &Option<String>| Cell::left(text.as_deref().unwrap_or("-"));
    let names = [
        or_dash(&caller.source),
        or_dash(&caller.session_id),
        Cell::left(&caller.context_keys),
    ];
    cells(toolbox_id, names, &caller.calls)
}

fn cells(toolbox_id: &str, names: [Cell; 3], calls: &Counts) -> Vec<Cell> {
    let [source, session, keys] = names;
    vec![
        Cell::left(toolbox_id),
        source,
        session,
        keys,
        Cell::right(calls.predecessor_calls.to_string()),
        Cell::right(calls.replacement_calls.to_string()),
        Cell::left(day(calls.last_seen())),
    ]
}

/// One topic in a line.
pub(super) fn watched(watched: &Watched) -> String {
    let names: Vec<String> = watched.callers.iter().take(SHOWN).map(name).collect();
    let more = match watched.callers.len() - names.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let callers = if names.is_empty() {
        "nobody has called yet".to_owned()
    } else {
        format!("called by {}{more}", names.join(", "))
    };
    let forwarded = match ways(watched).as_str() {
        "" => String::new(),
        ways => format!("a toolhost forwards its calls ({ways}); "),
    };
    let host = match watched.host {
        Answers::Nothing => "no sign of a host".to_owned(),
        host => format!("its host answers {}", answers(host).0),
    };
    plain(&format!("{}  {host}; {forwarded}{callers}", watched.topic)).replace(['\n', '\t'], " ")
}

/// The ways it is forwarded, as the configuration spells them.
fn ways(watched: &Watched) -> String {
    let ways = watched.forwarded.iter().map(|way| way.name());
    ways.collect::<Vec<_>>().join(", ")
}

/// Callers named in a line.
const SHOWN: usize = 8;

fn name(caller: &Caller) -> String {
    let source = caller.source.as_deref().unwrap_or("one without a source");
    match (&caller.session_id, caller.calls.predecessor_calls) {
        (Some(session_id), 0) => format!("{source} (session {session_id}, on the replacement)"),
        (Some(session_id), _) => format!("{source} (session {session_id})"),
        (None, 0) => format!("{source} (on the replacement)"),
        (None, _) => source.to_owned(),
    }
}

/// Every topic in a table.
pub(super) fn all_watched(all: &[Watched], color: bool) -> String {
    if all.is_empty() {
        return "no toolbox and no call was heard\n".to_owned();
    }
    let heading = [
        Cell::left("TOPIC"),
        Cell::left("ITS HOST ANSWERS"),
        Cell::left("FORWARDED"),
        Cell::right("OLD CALLS"),
        Cell::right("NEW CALLS"),
        Cell::right("CALLERS"),
    ];
    let mut rows = vec![heading.map(|cell| cell.tinted(Tint::Dim)).to_vec()];
    rows.extend(all.iter().map(|watched| {
        let (words, tint) = answers(watched.host);
        let ways = ways(watched);
        vec![
            Cell::left(&watched.topic),
            Cell::left(words).tinted(tint),
            Cell::left(if ways.is_empty() { "-" } else { &ways }),
            Cell::right(watched.predecessor_calls.to_string()),
            Cell::right(watched.replacement_calls.to_string()),
            Cell::right(watched.callers.len().to_string()),
        ]
    }));
    let mut out = render(&rows, color);
    let callers = all.iter().flat_map(|watched| {
        let old = |caller: &&Caller| caller.calls.predecessor_calls > 0;
        let callers = watched.callers.iter().filter(old);
        callers.map(|caller| row(&watched.toolbox_id, caller))
    });
    let callers: Vec<_> = callers.collect();
    if !callers.is_empty() {
        out.push('\n');
        out.push_str(&render(&with_heading(callers), color));
    }
    out
}

/// In a few words, and whether that is as it should be.
fn answers(host: Answers) -> (&'static str, Tint) {
    match host {
        Answers::Both => ("both topics", Tint::Good),
        Answers::OldOnly => ("the predecessor only", Tint::Bad),
        Answers::NewOnly => ("the replacement only", Tint::Good),
        Answers::Old => ("the predecessor, perhaps the replacement too", Tint::Waiting),
        Answers::New => ("the replacement, perhaps the predecessor too", Tint::Good),
        Answers::Nothing => ("no sign of a host", Tint::Waiting),
    }
}

/// `2026-11-30 12:56:34Z`.
fn day(seconds: Option<u64>) -> String {
    // What comes after the year 9999 has no such form.
    let Some(seconds) = seconds.filter(|seconds| *seconds < 253_402_300_800) else {
        return "-".to_owned();
    };
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    humantime::format_rfc3339_seconds(time).to_string().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::carry::Way;
    use crate::migrate::usage::{Keys, Moment, Topic, Usage, Who};

    #[test]
    fn the_report_names_each_toolbox_and_its_callers() {
        let at = |second| Moment {
            wall: 1_800_000_000 + second,
            steady: second,
        };
        let mut usage = Usage::default();
        usage.connected(true, at(0));
        usage.present(["disk", "wn"], at(0));
        let who = Who {
            source: Some("old\nskill"),
            session_id: Some("s1"),
            keys: Keys::default(),
        };
        usage.count(
            "wn",
            Topic::Predecessor,
            &who,
            || ["source", "session"].into_iter(),
            at(60),
        );
        usage.count("disk", Topic::Replacement, &who, std::iter::empty, at(60));
        let toolboxes = usage.told(at(7260)).into_iter().map(|(toolbox_id, usage)| Counted {
            toolbox_id,
            predecessor_topics: "answer".to_owned(),
            host_heard: None,
            usage,
        });
        let report = Report {
            now: 1_800_007_260,
            not_kept: Some("the disk is full".to_owned()),
            toolboxes: toolboxes.collect(),
        };
        let expected = "\
TOOLBOX  PREDECESSOR  OLD CALLS  NEW CALLS  LAST OLD CALL         QUIET FOR  COUNTED FOR  VERDICT
disk     answer               0          1  -                     2 h 1 min    2 h 1 min  quiet
wn       answer               1          0  2027-01-15 08:01:00Z        2 h    2 h 1 min  used

TOOLBOX  CALLER     SESSION  CONTEXT KEYS    OLD CALLS  NEW CALLS  LAST SEEN
wn       old skill  s1       source session          1          0  2027-01-15 08:01:00Z

not kept over a restart: the disk is full
";
        assert_eq!(super::report(&report, 7260, false), expected);
    }

    /// A toolbox on the bus, called by one on the predecessor and by `others` on the replacement.
    fn heard(toolbox_id: &str, host: Answers, forwarded: &[Way], others: usize) -> Watched {
        let mut usage = Usage::default();
        let moment = |wall| Moment { wall, steady: 0 };
        let mut call = |source: &str, topic, wall| {
            let who = Who {
                source: Some(source),
                ..Who::default()
            };
            usage.count(toolbox_id, topic, &who, || ["source"].into_iter(), moment(wall));
        };
        call("old\u{1b}skill", Topic::Predecessor, 1_800_000_000);
        for n in 0..others {
            call(&format!("new{n}"), Topic::Replacement, 1_800_000_060);
        }
        let counted = usage.told(moment(0)).remove(0).1;
        Watched {
            topic: crate::topics::predecessor(toolbox_id),
            toolbox_id: toolbox_id.to_owned(),
            host,
            forwarded: forwarded.to_vec(),
            predecessor_calls: counted.calls.predecessor_calls,
            replacement_calls: counted.calls.replacement_calls,
            callers: counted.callers,
        }
    }

    #[test]
    fn a_topic_in_a_line_says_who_answers_who_forwards_and_who_calls() {
        let forwarded = heard("wn", Answers::OldOnly, &[Way::ToPredecessor], 1);
        assert_eq!(
            watched(&forwarded),
            "ovos.persona.tools.wn.call  its host answers the predecessor only; a toolhost forwards its calls (to_predecessor); \
             called by old\\u001bskill, new0 (on the replacement)"
        );
        assert!(watched(&heard("wn", Answers::Both, &[], 9)).ends_with(" (on the replacement) and 2 more"));
        let nobody = Watched {
            callers: Vec::new(),
            ..heard("wn", Answers::Nothing, &[], 0)
        };
        assert_eq!(
            watched(&nobody),
            "ovos.persona.tools.wn.call  no sign of a host; nobody has called yet"
        );
    }

    #[test]
    fn the_table_at_the_end_names_who_still_calls_on_the_predecessor() {
        let all = [
            heard("disk", Answers::New, &[], 2),
            heard("wn", Answers::OldOnly, &[Way::ToPredecessor], 0),
        ];
        let expected = "\
TOPIC                         ITS HOST ANSWERS                              FORWARDED       OLD CALLS  NEW CALLS  CALLERS
ovos.persona.tools.disk.call  the replacement, perhaps the predecessor too  -                       1          2        3
ovos.persona.tools.wn.call    the predecessor only                          to_predecessor          1          0        1

TOOLBOX  CALLER          SESSION  CONTEXT KEYS  OLD CALLS  NEW CALLS  LAST SEEN
disk     old\\u001bskill  -        source                1          0  2027-01-15 08:00:00Z
wn       old\\u001bskill  -        source                1          0  2027-01-15 08:00:00Z
";
        assert_eq!(all_watched(&all, false), expected);
        assert_eq!(all_watched(&[], false), "no toolbox and no call was heard\n");
    }
}
