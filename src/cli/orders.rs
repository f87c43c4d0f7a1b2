//! `toolhost stop`, `start`, `restart` and `reload`: what the owner of a running host asks over its control socket.

use std::time::Duration;

use super::args::{OrderArgs, ReloadArgs, StopArgs};
use super::output::Output;
use super::socket_path;
use super::spell::plain;
use crate::config::nearest;
use crate::control::client::{self, ClientError};
use crate::control::order::{Done, End, GRACE_MS, Ordered, Orders, Reloaded};
use crate::control::verb::Verb;
use crate::error::Error;

/// `toolhost stop`
pub(super) fn stop(args: &StopArgs, output: Output) -> Result<(), Error> {
    order(&args.order, args.grace, Verb::Stop, output)
}

/// `toolhost start`
pub(super) fn start(args: &OrderArgs, output: Output) -> Result<(), Error> {
    order(args, None, Verb::Start, output)
}

/// `toolhost restart`
pub(super) fn restart(args: &StopArgs, output: Output) -> Result<(), Error> {
    order(&args.order, args.grace, Verb::Restart, output)
}

fn order(
    args: &OrderArgs,
    grace: Option<Duration>,
    verb: impl FnOnce(Orders) -> Verb,
    output: Output,
) -> Result<(), Error> {
    let orders = Orders {
        toolboxes: args.toolboxes.clone(),
        all: args.all,
        wait: !args.no_wait,
        grace_ms: grace.map_or(GRACE_MS, |grace| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX)),
    };
    let text = client::ask(&socket_path(args.socket.as_deref()), &verb(orders))?;
    let ordered: Ordered = serde_json::from_str(&text).map_err(|error| odd(&error))?;
    if let Some(wrong) = ordered.unknown.first() {
        return Err(unknown(wrong, &ordered.known));
    }
    if args.show.json || !output.stdout_is_terminal {
        let ends = serde_json::to_string(&ordered.toolboxes).map_err(|error| odd(&error))?;
        output.json(&ends)?;
    } else {
        let lines: Vec<String> = ordered.toolboxes.iter().filter_map(line).collect();
        if !lines.is_empty() {
            output.data(lines.join("\n").as_bytes())?;
        }
    }
    failed(&ordered.toolboxes)
}

/// What was done, for people.
fn line(end: &End) -> Option<String> {
    let words = match end.done? {
        Done::Stopped => "stopped",
        Done::WasStopped => "was stopped already",
        Done::Started => "started",
        Done::WasRunning => "was running already",
        Done::Restarted => "restarted",
        Done::ReadAgain => "its tools were read again; it has no process to restart",
        Done::Asked => "asked",
    };
    Some(format!("{}: {words}", end.toolbox_id))
}

/// Every toolbox that does not stand as asked.
fn failed(ends: &[End]) -> Result<(), Error> {
    let told = |end: &End| end.error.as_ref().map(|why| format!("'{}': {why}", end.toolbox_id));
    let faults: Vec<String> = ends.iter().filter_map(told).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::failed(faults.join("\n"))
        .with_hint("`toolhost status` shows how it stands, the log of the host what it said"))
}

/// An id the host does not have; the nearest one it has comes first.
fn unknown(wrong: &str, known: &[String]) -> Error {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let error = Error::usage(format!("this host has no toolbox '{wrong}'"));
    let meant = nearest(wrong, &known);
    let rest = known.iter().filter(|id| Some(**id) != meant);
    let listed: Vec<String> = meant.iter().chain(rest).map(|id| format!("'{id}'")).collect();
    error.with_hint(if listed.is_empty() {
        "it hosts none".to_owned()
    } else {
        format!("it has {}", listed.join(", "))
    })
}

/// `toolhost reload` of the host on the control socket; `false` where there is none and the bus is to be asked.
pub(super) fn reload(args: &ReloadArgs, output: Output) -> Result<bool, Error> {
    if args.ask.bus.is_some() || args.ask.config.is_some() || args.ask.ca_file.is_some() {
        return Ok(false);
    }
    let path = socket_path(args.socket.as_deref());
    let text = match client::ask_within(&path, &Verb::Reload, args.ask.timeout) {
        Ok(text) => text,
        Err(ClientError::NobodyThere(_) | ClientError::Socket(_)) if args.socket.is_none() => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    if args.show.json || !output.stdout_is_terminal {
        return output.json(&text).map(|()| true);
    }
    let reloaded: Reloaded = serde_json::from_str(&text).map_err(|error| odd(&error))?;
    output.data(reload_view(&reloaded).as_bytes()).map(|()| true)
}

/// What a reload did, for people.
fn reload_view(reloaded: &Reloaded) -> String {
    let parts = [
        ("added", &reloaded.added),
        ("removed", &reloaded.removed),
        ("changed", &reloaded.changed),
        ("unchanged", &reloaded.unchanged),
    ];
    let mut told: Vec<String> = parts
        .iter()
        .filter(|(_, ids)| !ids.is_empty())
        .map(|(what, ids)| format!("{what:<9}  {}", plain(&ids.join(", "))))
        .collect();
    if reloaded.settings {
        told.push("settings changed".to_owned());
    }
    if told.is_empty() {
        return "no toolboxes".to_owned();
    }
    told.join("\n")
}

fn odd(error: &serde_json::Error) -> Error {
    Error::failed(format!("the answer of the host cannot be understood: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_toolbox_is_told_with_the_nearest_first() {
        let known = ["notes", "greet_bash", "greet"].map(str::to_owned);
        let error = unknown("gret", &known);
        assert_eq!(error.to_string(), "this host has no toolbox 'gret'");
        assert_eq!(error.hint(), Some("it has 'greet', 'notes', 'greet_bash'"));
        assert_eq!(unknown("gret", &[]).hint(), Some("it hosts none"));
    }

    #[test]
    fn what_was_done_is_told_a_line_each_and_every_failure_together() {
        let end = |id: &str, done, error: Option<&str>| End {
            toolbox_id: id.to_owned(),
            done,
            error: error.map(str::to_owned),
        };
        assert_eq!(
            line(&end("a", Some(Done::Restarted), None)).as_deref(),
            Some("a: restarted")
        );
        assert_eq!(line(&end("a", None, Some("no"))), None);
        assert!(failed(&[end("a", Some(Done::Started), None)]).is_ok());
        let error = failed(&[end("a", None, Some("no luck")), end("b", None, Some("no file"))]).unwrap_err();
        assert_eq!(error.to_string(), "'a': no luck\n'b': no file");
    }

    #[test]
    fn a_reload_is_told_by_what_changed() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let reloaded = Reloaded {
            added: ids(&["c", "d"]),
            unchanged: ids(&["a"]),
            ..Reloaded::default()
        };
        assert_eq!(reload_view(&reloaded), "added      c, d\nunchanged  a");
        assert_eq!(reload_view(&Reloaded::default()), "no toolboxes");
        let of_the_host = |unchanged: &[&str]| Reloaded {
            unchanged: ids(unchanged),
            settings: true,
            ..Reloaded::default()
        };
        assert_eq!(reload_view(&of_the_host(&["a"])), "unchanged  a\nsettings changed");
        assert_eq!(reload_view(&of_the_host(&[])), "settings changed");
    }
}
