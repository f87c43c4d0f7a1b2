//! The status of a running host for people. Pure.

use std::time::Duration;

use crate::control::status::{Bus, BusState, Host, Status, ToolService, Toolbox, ToolboxState};

use crate::migrate::carry::{Forward, Way};

use super::migrate::view as migration;
use super::span::span;
use super::table::{Cell, Tint, render};

/// The whole status, several lines.
pub(crate) fn status_view(status: &Status, color: bool) -> String {
    let mut rows = host_rows(&status.host);
    rows.extend(status.forwards.iter().map(forward_row));
    let mut out = render(&rows, color);
    out.push('\n');
    out.push_str(&toolboxes(&status.toolboxes, color));
    // Of toolboxes that are forwarded too: a host may have none of its own.
    let callers = migration::callers(&status.migration);
    if !callers.is_empty() {
        out.push('\n');
        out.push_str(&render(&callers, color));
    }
    out
}

fn toolboxes(toolboxes: &[Toolbox], color: bool) -> String {
    if toolboxes.is_empty() {
        return "no toolboxes\n".to_owned();
    }
    let heading = [
        Cell::left("TOOLBOX"),
        Cell::left("STATE"),
        Cell::right("TOOLS"),
        Cell::left("PID"),
        Cell::right("UP"),
        Cell::right("RESTARTS"),
        Cell::right("OK"),
        Cell::right("ERRORS"),
        Cell::right("PENDING"),
        Cell::right("P50"),
        Cell::right("P99"),
        Cell::left("REMARK"),
    ];
    let mut rows = vec![heading.map(|cell| cell.tinted(Tint::Dim)).to_vec()];
    rows.extend(toolboxes.iter().map(toolbox_row));
    render(&rows, color)
}

fn host_rows(host: &Host) -> Vec<Vec<Cell>> {
    let row = |name: &str, cell: Cell| vec![Cell::left(name).tinted(Tint::Dim), cell];
    let line = format!("{}, pid {}, up {}", host.version, host.pid, span(host.uptime_seconds));
    let service = match host.tool_service {
        ToolService::Answering => Cell::left("answering ovos.tools.*"),
        ToolService::Off => Cell::left("off"),
        ToolService::Silent => Cell::left("silent, another tool service answers on this bus").tinted(Tint::Waiting),
    };
    let messages = host.messages;
    let counts = format!(
        "{} received, {} sent, {} malformed",
        messages.received, messages.sent, messages.malformed
    );
    let mut rows = vec![
        row("toolhost", Cell::left(line)),
        row("config", Cell::left(&host.config)),
        row("bus", bus_cell(&host.bus)),
        row("service", service),
        row("messages", Cell::left(counts)),
    ];
    rows.extend(
        host.conflicts
            .iter()
            .map(|text| row("conflict", Cell::left(text).tinted(Tint::Bad))),
    );
    rows
}

fn forward_row(forward: &Forward) -> Vec<Cell> {
    let way = match forward.way {
        Way::ToPredecessor => "to its predecessor topic",
        Way::ToStatic => "to the replacement topic",
    };
    let id = &forward.toolbox_id;
    let calls = forward.forwarded;
    let cell = if forward.learned {
        Cell::left(format!("{id}: no longer, its host answers by itself ({calls} before)")).tinted(Tint::Good)
    } else if forward.heard {
        Cell::left(format!("{id} {way}, {calls} calls"))
    } else {
        Cell::left(format!("{id} {way}, {calls} calls; no host heard yet")).tinted(Tint::Waiting)
    };
    vec![Cell::left("forwards").tinted(Tint::Dim), cell]
}

fn bus_cell(bus: &Bus) -> Cell {
    let (word, tint) = match bus.state {
        BusState::Connected => ("connected", Tint::Good),
        BusState::Connecting => ("not reached", Tint::Bad),
        BusState::Embedded => ("served by this host", Tint::Good),
    };
    let mut text = format!("{} {word} for {}", bus.url, span(bus.since_seconds));
    if let Some(error) = &bus.last_error {
        // Of a bus that is there again it is history.
        let when = if bus.state == BusState::Connecting {
            ""
        } else {
            "last fault: "
        };
        text.push_str(&format!(" ({when}{error})"));
    }
    Cell::left(text).tinted(tint)
}

fn toolbox_row(toolbox: &Toolbox) -> Vec<Cell> {
    let (word, tint) = state(toolbox.state);
    let pids: Vec<String> = toolbox
        .processes
        .iter()
        .map(|process| process.pid.to_string())
        .collect();
    let up = toolbox
        .processes
        .iter()
        .map(|process| process.uptime_seconds)
        .max()
        .map(span);
    let milliseconds = |value: Option<f64>| value.map(latency).unwrap_or_else(|| "-".to_owned());
    vec![
        Cell::left(&toolbox.toolbox_id),
        Cell::left(word).tinted(tint),
        Cell::right(toolbox.tools.to_string()),
        Cell::left(if pids.is_empty() {
            "-".to_owned()
        } else {
            pids.join(",")
        }),
        Cell::right(up.unwrap_or_else(|| "-".to_owned())),
        Cell::right(toolbox.restarts.to_string()),
        Cell::right(toolbox.calls.ok.to_string()),
        Cell::right(toolbox.calls.error.to_string()),
        Cell::right(toolbox.calls.pending.to_string()),
        Cell::right(milliseconds(toolbox.latency.map(|latency| latency.p50_ms))),
        Cell::right(milliseconds(toolbox.latency.map(|latency| latency.p99_ms))),
        Cell::left(remark(toolbox)),
    ]
}

fn state(state: ToolboxState) -> (&'static str, Tint) {
    match state {
        ToolboxState::Stopped => ("stopped", Tint::Dim),
        ToolboxState::Starting => ("starting", Tint::Waiting),
        ToolboxState::Ready => ("ready", Tint::Good),
        ToolboxState::Asleep => ("asleep", Tint::Good),
        ToolboxState::Stopping => ("stopping", Tint::Waiting),
        ToolboxState::Backoff => ("backoff", Tint::Bad),
        ToolboxState::Failed => ("failed", Tint::Bad),
    }
}

/// Why it is so, and when that may change.
fn remark(toolbox: &Toolbox) -> String {
    let retry = toolbox.retry_in_ms.map(|milliseconds| {
        let in_time = humantime::format_duration(Duration::from_millis(milliseconds));
        format!("again in {in_time}")
    });
    let parts: Vec<&str> = [toolbox.reason.as_deref(), retry.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    parts.join("; ")
}

/// Three digits or so, whatever the size.
fn latency(milliseconds: f64) -> String {
    match milliseconds {
        value if value < 10.0 => format!("{value:.2}ms"),
        value if value < 1000.0 => format!("{value:.0}ms"),
        value => format!("{:.1}s", value / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::status::{Calls, Latency, Messages, Process};
    use crate::migrate::usage::{Moment, Topic, Usage, Who};
    use crate::migrate::verdict::{Counted, Report};

    fn toolbox(toolbox_id: &str, state: ToolboxState) -> Toolbox {
        Toolbox {
            toolbox_id: toolbox_id.to_owned(),
            program: None,
            state,
            reason: None,
            retry_in_ms: None,
            tools: 0,
            processes: vec![],
            restarts: 0,
            calls: Calls::default(),
            latency: None,
        }
    }

    fn status() -> Status {
        let process = |pid| Process {
            pid,
            uptime_seconds: 273_600,
            in_flight: 0,
        };
        Status {
            host: Host {
                version: "0.1.0".to_owned(),
                pid: 7,
                uptime_seconds: 273_661,
                config: "/etc/toolhost/toolhost.yaml".to_owned(),
                bus: Bus {
                    url: "ws://127.0.0.1:8181/core".to_owned(),
                    state: BusState::Connecting,
                    since_seconds: 5,
                    last_error: Some("connection refused".to_owned()),
                },
                tool_service: ToolService::Silent,
                conflicts: vec!["'define' is owned by 'a', 'b'".to_owned()],
                messages: Messages {
                    received: 12,
                    sent: 3,
                    malformed: 0,
                },
            },
            toolboxes: vec![
                Toolbox {
                    tools: 2,
                    processes: vec![process(812), process(813)],
                    calls: Calls {
                        ok: 1234,
                        error: 1,
                        pending: 3,
                    },
                    latency: Some(Latency {
                        p50_ms: 1.204,
                        p99_ms: 1250.0,
                    }),
                    ..toolbox("wordnet", ToolboxState::Ready)
                },
                Toolbox {
                    reason: Some("exit status 1: no such\nfile".to_owned()),
                    retry_in_ms: Some(400),
                    restarts: 4,
                    ..toolbox("wiki", ToolboxState::Backoff)
                },
                Toolbox {
                    reason: Some("started by the next call".to_owned()),
                    tools: 7,
                    ..toolbox("big", ToolboxState::Asleep)
                },
            ],
            forwards: [
                (Way::ToPredecessor, false, true),
                (Way::ToStatic, true, true),
                (Way::ToPredecessor, false, false),
            ]
            .map(|(way, learned, heard)| Forward {
                toolbox_id: "old".to_owned(),
                way,
                learned,
                heard,
                forwarded: 12,
                tools: 1,
                waiting: 0,
            })
            .to_vec(),
            migration: Report::default(),
        }
    }

    #[test]
    fn the_status_is_an_aligned_table() {
        let expected = "\
toolhost  0.1.0, pid 7, up 3 days 4 h
config    /etc/toolhost/toolhost.yaml
bus       ws://127.0.0.1:8181/core not reached for 5 s (connection refused)
service   silent, another tool service answers on this bus
messages  12 received, 3 sent, 0 malformed
conflict  'define' is owned by 'a', 'b'
forwards  old to its predecessor topic, 12 calls
forwards  old: no longer, its host answers by itself (12 before)
forwards  old to its predecessor topic, 12 calls; no host heard yet

TOOLBOX  STATE    TOOLS  PID              UP  RESTARTS    OK  ERRORS  PENDING     P50   P99  REMARK
wordnet  ready        2  812,813  3 days 4 h         0  1234       1        3  1.20ms  1.2s
wiki     backoff      0  -                 -         4     0       0        0       -     -  exit status 1: no such file; again in 400ms
big      asleep       7  -                 -         0     0       0        0       -     -  started by the next call
";
        assert_eq!(status_view(&status(), false), expected);
    }

    #[test]
    fn color_adds_nothing_but_color() {
        let mut bare = status_view(&status(), true);
        assert!(bare.contains("\x1b[32mready\x1b[0m"));
        for code in ["\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
            bare = bare.replace(code, "");
        }
        assert_eq!(bare, status_view(&status(), false));
    }

    #[test]
    fn a_host_without_toolboxes_says_so() {
        let status = Status {
            toolboxes: vec![],
            ..status()
        };
        assert!(status_view(&status, false).ends_with("\n\nno toolboxes\n"));
    }

    #[test]
    fn who_still_calls_on_a_predecessor_topic_is_told_also_of_toolboxes_that_are_only_forwarded() {
        let at = |second| Moment {
            wall: 1_800_000_000 + second,
            steady: second,
        };
        let mut usage = Usage::default();
        let who = Who {
            source: Some("skill"),
            ..Who::default()
        };
        usage.count("old", Topic::Predecessor, &who, || ["source"].into_iter(), at(0));
        usage.count("old", Topic::Replacement, &who, || ["source"].into_iter(), at(60));
        usage.count("moved", Topic::Replacement, &who, || ["source"].into_iter(), at(60));
        let counted = usage.told(at(60)).into_iter().map(|(toolbox_id, usage)| Counted {
            toolbox_id,
            predecessor_topics: "to_static".to_owned(),
            host_heard: None,
            usage,
        });
        let status = Status {
            toolboxes: vec![],
            migration: Report {
                toolboxes: counted.collect(),
                ..Report::default()
            },
            ..status()
        };
        let expected = "
no toolboxes

TOOLBOX  CALLER  SESSION  CONTEXT KEYS  OLD CALLS  NEW CALLS  LAST SEEN
old      skill   -        source                1          1  2027-01-15 08:01:00Z
";
        let told = status_view(&status, false);
        assert!(told.ends_with(expected), "{told}");
    }
}
