//! `toolhost metrics`: the status of a running host in the text form of Prometheus. Pure but for `run`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::args::MetricsArgs;
use super::output::Output;
use super::socket_path;
use crate::control::status::{BusState, Status, ToolboxState};
use crate::control::{client, verb::Verb};
use crate::error::Error;
use crate::migrate::usage::Counts;

/// `toolhost metrics`
pub(super) fn run(args: &MetricsArgs, output: Output) -> Result<(), Error> {
    let text = client::ask(&socket_path(args.socket.as_deref()), &Verb::Status)?;
    let status = serde_json::from_str(&text)
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
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

fn metrics(status: &Status) -> String {
    let mut out = Exposition::default();
    host(&mut out, status);
    toolboxes(&mut out, status);
    callers(&mut out, status);
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
    out.family("toolhost_messages_total", "counter", "Messages of the bus.");
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

fn callers(out: &mut Exposition, status: &Status) {
    out.family(
        "toolhost_predecessor_quiet_seconds",
        "gauge",
        "Seconds counted since the last call on the predecessor topic.",
    );
    for counted in &status.migration.toolboxes {
        let labels = [("toolbox_id", counted.toolbox_id.as_str())];
        out.sample(
            "toolhost_predecessor_quiet_seconds",
            &labels,
            counted.usage.quiet_seconds,
        );
    }
    // Callers that differ in their context keys only are one series.
    let mut series: BTreeMap<[&str; 3], Counts> = BTreeMap::new();
    for counted in &status.migration.toolboxes {
        let id = counted.toolbox_id.as_str();
        for caller in &counted.usage.callers {
            let names = [&caller.source, &caller.session_id].map(|text| text.as_deref().unwrap_or_default());
            series.entry([id, names[0], names[1]]).or_default().add(&caller.calls);
        }
    }
    out.family(
        "toolhost_topic_calls_total",
        "counter",
        "Calls by the topic they came on, kept over restarts.",
    );
    for ([id, source, session], calls) in &series {
        for (topic, count) in [
            ("predecessor", calls.predecessor_calls),
            ("replacement", calls.replacement_calls),
        ] {
            let labels = [
                ("toolbox_id", *id),
                ("source", source),
                ("session_id", session),
                ("topic", topic),
            ];
            out.sample("toolhost_topic_calls_total", &labels, count);
        }
    }
    out.family(
        "toolhost_caller_last_seen_seconds",
        "gauge",
        "When the caller was last heard, in seconds since 1970.",
    );
    for ([id, source, session], calls) in &series {
        let labels = [("toolbox_id", *id), ("source", source), ("session_id", session)];
        out.sample(
            "toolhost_caller_last_seen_seconds",
            &labels,
            calls.last_seen().unwrap_or_default(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_a_stranger_stays_within_its_quotes() {
        let mut out = Exposition::default();
        out.sample("x", &[("source", "a\"b\\c\nd")], 1);
        assert_eq!(out.0, "x{source=\"a\\\"b\\\\c\\nd\"} 1\n");
    }
}
