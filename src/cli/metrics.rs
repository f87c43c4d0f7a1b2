//! `toolhost metrics`: the status of a running host in the text form of Prometheus. Pure but for `run`.

use std::fmt::Write as _;

use super::args::MetricsArgs;
use super::output::Output;
use super::socket_path;
use crate::control::status::{BusState, Status, ToolboxState};
use crate::control::{client, verb::Verb};
use crate::error::Error;
use crate::migrate::usage::Counts;
use crate::migrate::verdict::Report;

/// `toolhost metrics`
pub(super) fn run(args: &MetricsArgs, output: Output) -> Result<(), Error> {
    let text = client::ask(&socket_path(args.socket.as_deref()), &Verb::Status)?;
    let status: Status = serde_json::from_str(&text)
        .map_err(|error| Error::failed(format!("the status of the host cannot be understood: {error}")))?;
    output.data(metrics(&status).as_bytes())
}

/// Names of labels, and their values.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// Families of samples, one after the other.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    /// Starts a family; `kind` is `counter` or `gauge`.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.push(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, value: impl std::fmt::Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        self.push(format_args!("{name}{labels} {value}\n"));
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        self.0.write_fmt(text).unwrap_or_default();
    }
}

/// As the format wants a label's value.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => out.push_str(r"\\"),
            '"' => out.push_str(r#"\""#),
            '\n' => out.push_str(r"\n"),
            // The format has no way to write it, and readers may stumble.
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

fn metrics(status: &Status) -> String {
    let mut out = Exposition::default();
    host(&mut out, status);
    toolboxes(&mut out, status);
    callers(&mut out, &status.migration);
    out.0
}

fn host(out: &mut Exposition, status: &Status) {
    let host = &status.host;
    out.family("toolhost_info", "gauge", "The running host.");
    out.sample("toolhost_info", &[("version", &host.version)], 1);
    out.family("toolhost_uptime_seconds", "gauge", "Seconds since it started.");
    out.sample("toolhost_uptime_seconds", &[], host.uptime_seconds);
    out.family("toolhost_bus_connected", "gauge", "Whether the bus is there.");
    let connected = host.bus.state != BusState::Connecting;
    out.sample("toolhost_bus_connected", &[], u8::from(connected));
    let messages = [
        ("received", host.messages.received),
        ("sent", host.messages.sent),
        ("malformed", host.messages.malformed),
    ];
    out.family(
        "toolhost_messages_total",
        "counter",
        "Requests for this host, its answers, and malformed messages.",
    );
    for (kind, count) in messages {
        out.sample("toolhost_messages_total", &[("kind", kind)], count);
    }
    out.family(
        "toolhost_forwarded_calls_total",
        "counter",
        "Calls forwarded to a host that knows one call topic only.",
    );
    for forward in &status.forwards {
        let labels = [("toolbox_id", forward.toolbox_id.as_str())];
        out.sample("toolhost_forwarded_calls_total", &labels, forward.forwarded);
    }
}

fn toolboxes(out: &mut Exposition, status: &Status) {
    out.family("toolhost_toolbox_ready", "gauge", "Whether the toolbox answers calls.");
    for toolbox in &status.toolboxes {
        let ready = toolbox.state == ToolboxState::Ready;
        out.sample(
            "toolhost_toolbox_ready",
            &[("toolbox_id", &toolbox.toolbox_id)],
            u8::from(ready),
        );
    }
    out.family(
        "toolhost_restarts_total",
        "counter",
        "How often a process of the toolbox was started again.",
    );
    for toolbox in &status.toolboxes {
        out.sample(
            "toolhost_restarts_total",
            &[("toolbox_id", &toolbox.toolbox_id)],
            toolbox.restarts,
        );
    }
    out.family(
        "toolhost_calls_pending",
        "gauge",
        "Calls that wait for a process or for its answer.",
    );
    for toolbox in &status.toolboxes {
        out.sample(
            "toolhost_calls_pending",
            &[("toolbox_id", &toolbox.toolbox_id)],
            toolbox.calls.pending,
        );
    }
    out.family("toolhost_calls_total", "counter", "Calls answered.");
    for toolbox in &status.toolboxes {
        for (outcome, count) in [("ok", toolbox.calls.ok), ("error", toolbox.calls.error)] {
            let labels = [("toolbox_id", toolbox.toolbox_id.as_str()), ("outcome", outcome)];
            out.sample("toolhost_calls_total", &labels, count);
        }
    }
}

fn callers(out: &mut Exposition, migration: &Report) {
    out.family(
        "toolhost_predecessor_quiet_seconds",
        "gauge",
        "Seconds counted since the last call on the predecessor topic.",
    );
    for counted in &migration.toolboxes {
        let labels = [("toolbox_id", counted.toolbox_id.as_str())];
        out.sample(
            "toolhost_predecessor_quiet_seconds",
            &labels,
            counted.usage.quiet_seconds,
        );
    }
    out.family(
        "toolhost_toolbox_topic_calls_total",
        "counter",
        "Calls by the topic they came on, kept over restarts.",
    );
    for counted in &migration.toolboxes {
        for (topic, count) in by_topic(&counted.usage.calls) {
            let labels = [("toolbox_id", counted.toolbox_id.as_str()), ("topic", topic)];
            out.sample("toolhost_toolbox_topic_calls_total", &labels, count);
        }
    }
    by_caller(out, &series(migration));
}

fn by_caller(out: &mut Exposition, series: &[Series]) {
    out.family(
        "toolhost_topic_calls_total",
        "counter",
        "Calls by caller and the topic they came on, kept over restarts; those of callers that made room are in caller=\"others\".",
    );
    for (names, calls) in series {
        for (topic, count) in by_topic(calls) {
            let mut labels = labels(names);
            labels.push(("topic", topic));
            out.sample("toolhost_topic_calls_total", &labels, count);
        }
    }
    out.family(
        "toolhost_caller_last_seen_seconds",
        "gauge",
        "When the caller was last heard, in seconds since 1970.",
    );
    for (names, calls) in series {
        if let Some(last) = calls.last_seen() {
            out.sample("toolhost_caller_last_seen_seconds", &labels(names), last);
        }
    }
}

/// What tells a caller from others, as labels, and its calls.
type Series = (Vec<(&'static str, String)>, Counts);

fn labels<'n>(names: &'n [(&'static str, String)]) -> Vec<(&'static str, &'n str)> {
    names.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// A series for each caller, and for each toolbox one of those that had to make room.
///
/// No count may go down, so a series belongs to a caller's number, which is never given twice: where somebody makes room, its
/// series ends and that of the others grows by what it had; when it comes back, it has another number and a series that
/// begins at nothing. A number is never the word that stands for the others.
fn series(migration: &Report) -> Vec<Series> {
    let mut all = Vec::new();
    for counted in &migration.toolboxes {
        let mut callers: Vec<_> = counted.usage.callers.iter().collect();
        callers.sort_unstable_by_key(|caller| caller.number);
        for caller in callers {
            let mut names = vec![
                ("toolbox_id", counted.toolbox_id.clone()),
                ("caller", caller.number.to_string()),
            ];
            let texts = [("source", &caller.source), ("session_id", &caller.session_id)];
            let told = texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?)));
            names.extend(told);
            all.push((names, caller.calls));
        }
        let names = vec![
            ("toolbox_id", counted.toolbox_id.clone()),
            ("caller", "others".to_owned()),
        ];
        all.push((names, counted.usage.others));
    }
    all
}

fn by_topic(calls: &Counts) -> [(&'static str, u64); 2] {
    [
        ("predecessor", calls.predecessor_calls),
        ("replacement", calls.replacement_calls),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::migrate::usage::{Keys, Moment, Topic, Usage, Who};
    use crate::migrate::verdict::Counted;

    #[test]
    fn a_value_of_a_stranger_stays_within_its_quotes() {
        let mut out = Exposition::default();
        out.sample("x", &[("source", "a\"b\\c\nd")], 1);
        assert_eq!(out.0, "x{source=\"a\\\"b\\\\c\\nd\"} 1\n");
    }

    #[test]
    fn what_no_text_can_hold_is_replaced() {
        assert_eq!(escaped("a\0b\r\u{1b}[31m"), "a\u{fffd}b\u{fffd}\u{fffd}[31m");
    }

    /// What a host with the calls of `usage` tells.
    fn told(usage: &mut Usage, now: u64) -> Report {
        let toolboxes = usage.told(at(now)).into_iter().map(|(toolbox_id, usage)| Counted {
            toolbox_id,
            predecessor_topics: "answer".to_owned(),
            host_heard: None,
            usage,
        });
        Report {
            toolboxes: toolboxes.collect(),
            ..Report::default()
        }
    }

    fn at(second: u64) -> Moment {
        Moment {
            wall: second,
            steady: second,
        }
    }

    fn call(usage: &mut Usage, session: &str, keys: &str, second: u64) {
        let who = Who {
            source: None,
            session_id: Some(session),
            keys: Keys::of(std::iter::once(keys)),
        };
        usage.count("wn", Topic::Predecessor, &who, || std::iter::once(keys), at(second));
    }

    /// Each sample of the family `name`.
    fn samples(report: &Report, name: &str) -> BTreeMap<String, u64> {
        let mut out = Exposition::default();
        callers(&mut out, report);
        let of_family = |line: &str| line.starts_with(&format!("{name}{{"));
        let mut samples = BTreeMap::new();
        for line in out.0.lines().filter(|line| of_family(line)) {
            let (labels, value) = line.rsplit_once(' ').unwrap();
            let known = samples.insert(labels.to_owned(), value.parse().unwrap());
            assert_eq!(known, None, "a series is told once: {labels}");
        }
        samples
    }

    #[test]
    fn the_series_add_up_to_the_total_and_none_ever_goes_down() {
        let mut usage = Usage::default();
        usage.connected(true, at(0));
        usage.present(["wn"], at(0));
        let mut before = BTreeMap::new();
        let mut calls = 0;
        // A hundred callers take turns, so that each makes room and comes back; two of them differ in their keys alone.
        for round in 0..4 {
            for n in 0..100 {
                for keys in ["source", "session"].iter().take(if n < 2 { 2 } else { 1 }) {
                    call(&mut usage, &format!("s{n}"), keys, round * 100 + n);
                    calls += 1;
                }
                if n % 7 == 0 {
                    let report = told(&mut usage, round * 100 + n);
                    let now = samples(&report, "toolhost_topic_calls_total");
                    assert_eq!(now.values().sum::<u64>(), calls);
                    let total = samples(&report, "toolhost_toolbox_topic_calls_total");
                    let of_topic = r#"toolhost_toolbox_topic_calls_total{toolbox_id="wn",topic="predecessor"}"#;
                    assert_eq!(total[of_topic], calls);
                    for (labels, value) in &now {
                        assert!(before.get(labels).is_none_or(|was| was <= value), "{labels} went down");
                    }
                    before.extend(now);
                }
            }
        }
        let others = r#"toolhost_topic_calls_total{toolbox_id="wn",caller="others",topic="predecessor"}"#;
        assert!(before[others] > 200, "{before:?}");
    }

    #[test]
    fn when_a_caller_was_last_heard_and_for_how_long_it_has_been_quiet_is_told() {
        let mut usage = Usage::default();
        usage.connected(true, at(0));
        usage.present(["quiet", "wn"], at(0));
        call(&mut usage, "s", "source", 7);
        let report = told(&mut usage, 20);
        let last = r#"toolhost_caller_last_seen_seconds{toolbox_id="wn",caller="1",session_id="s"}"#;
        let expected = BTreeMap::from([(last.to_owned(), 7)]);
        assert_eq!(samples(&report, "toolhost_caller_last_seen_seconds"), expected);
        let quiet = |id: &str| format!(r#"toolhost_predecessor_quiet_seconds{{toolbox_id="{id}"}}"#);
        let expected = BTreeMap::from([(quiet("quiet"), 20), (quiet("wn"), 13)]);
        assert_eq!(samples(&report, "toolhost_predecessor_quiet_seconds"), expected);
    }

    #[test]
    fn a_caller_that_calls_itself_others_is_not_them() {
        let mut usage = Usage::default();
        usage.present(["wn"], at(0));
        call(&mut usage, "others", "source", 1);
        let samples = samples(&told(&mut usage, 2), "toolhost_topic_calls_total");
        let expected = [
            (
                r#"{toolbox_id="wn",caller="1",session_id="others",topic="predecessor"}"#,
                1,
            ),
            (
                r#"{toolbox_id="wn",caller="1",session_id="others",topic="replacement"}"#,
                0,
            ),
            (r#"{toolbox_id="wn",caller="others",topic="predecessor"}"#, 0),
            (r#"{toolbox_id="wn",caller="others",topic="replacement"}"#, 0),
        ];
        let expected = expected.map(|(labels, value)| (format!("toolhost_topic_calls_total{labels}"), value));
        assert_eq!(samples, BTreeMap::from(expected));
    }
}
