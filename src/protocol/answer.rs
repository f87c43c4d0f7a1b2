//! Answers: what a line on a toolbox's stdout means (contract §1).
//!
//! A good line is parsed once and its result stays a slice of it. Only a bad one is looked at
//! again, by `salvage`, to say what is wrong in words its author can act on, and to whom.

mod error;
mod salvage;

use std::fmt;

use serde_json::value::RawValue;

use crate::json::{self, Kind, Members};

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'a> {
    /// The answer to a request.
    Answer {
        /// The request's id.
        id: u64,
        /// The raw result, or the error as text (`type: message`).
        outcome: Result<&'a str, String>,
    },
    /// An answer that cannot be used. It still ends its request, as a protocol error.
    Faulty {
        /// The request's id, where it can be told.
        id: Option<u64>,
        /// What is wrong with it.
        why: String,
    },
    /// An error without a request (`"id": null`): it is the answer if exactly one request is in flight.
    NullId {
        /// The error as text.
        error: String,
    },
    /// The toolbox asks to be described again.
    ToolsChanged,
    /// A call makes progress. Reserved: logged only.
    Progress {
        /// The id of the call.
        call: Option<u64>,
    },
    /// Not part of the protocol: logged and skipped, it fails no call.
    Noise(Noise),
    /// Nothing but blanks.
    Blank,
}

/// Why a line is no part of the protocol. `Display` says it, with a hint where a habit is behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Not JSON at all: a banner, a stray `print`.
    NotJson,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// JSON, but no object.
    NotAnObject,
    /// An object with neither a usable `id` nor an `event`.
    NoId,
    /// An object with an `event` version 1 does not know.
    UnknownEvent,
    /// A line of an LSP-style header.
    HeaderFraming,
    /// A piece of an object spread over several lines.
    Spread,
}

impl Noise {
    /// What an author who framed answers in another way should know when a call gets no answer.
    pub fn framing(self) -> Option<&'static str> {
        match self {
            Self::HeaderFraming => {
                Some(" (its stdout looks like header framing: one JSON object per line is expected)")
            }
            Self::Spread => {
                Some(" (its stdout looks like JSON spread over several lines: one line per object is expected)")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotJson => "not JSON (stdout is for answers: print everything else to stderr)",
            Self::NotUtf8 => "not UTF-8",
            Self::NotAnObject => "JSON, but not an object",
            Self::NoId => "an object with neither the 'id' of a request nor an 'event'",
            Self::UnknownEvent => "an event this protocol version does not know",
            Self::HeaderFraming => "looks like header framing (Content-Length): send one JSON object per line instead",
            Self::Spread => "looks like JSON spread over several lines: send each object on one line (jq -c)",
        })
    }
}

/// Reads one line, with or without its line end.
pub fn parse(line: &[u8]) -> Line<'_> {
    let line = trim(line);
    if line.is_empty() {
        return Line::Blank;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return salvage::not_utf8(line);
    };
    if !text.starts_with('{') {
        return Line::Noise(salvage::noise(text));
    }
    match Members::parse(text) {
        Ok(members) => object(&members),
        Err(error) => salvage::broken(text, &error),
    }
}

/// The id in the beginning of a line that was too long to be kept.
pub fn id_in(head: &[u8]) -> Option<u64> {
    salvage::id_in(trim(head))
}

/// A byte order mark is dropped wherever a line starts with one: writers that are opened anew for
/// each line put one before each.
fn trim(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

fn object<'a>(members: &Members<'a>) -> Line<'a> {
    // As JSON-RPC 1.0 writes it, null stands for the one of the two that is not meant.
    let error = members.get("error").filter(|error| json::kind(error) != Kind::Null);
    let result = members
        .get("result")
        .filter(|result| error.is_none() || json::kind(result) != Kind::Null);
    let id = members.get("id").map_or(Id::Odd, Id::read);
    match (result, error) {
        (None, None) => without_outcome(members, id),
        (None, Some(error)) => failed(id, error),
        (Some(result), None) => succeeded(id, result),
        (Some(_), Some(_)) => faulty(id, "both result and error".to_owned()),
    }
}

fn succeeded<'a>(id: Id, result: &'a RawValue) -> Line<'a> {
    match (id, json::fit_to_send(result.get())) {
        (Id::Known(id), Ok(())) => Line::Answer {
            id,
            outcome: Ok(result.get()),
        },
        (id, Err(unfit)) => faulty(id, format!("the result is {}", unfit_text(unfit))),
        (Id::Null | Id::Odd, Ok(())) => Line::Noise(Noise::NoId),
    }
}

fn failed<'a>(id: Id, error: &RawValue) -> Line<'a> {
    match (id, error::text(error)) {
        (Id::Known(id), Ok(error)) => Line::Answer {
            id,
            outcome: Err(error),
        },
        (Id::Null, Ok(error)) => Line::NullId { error },
        (id, Err(why)) => faulty(id, why),
        (Id::Odd, Ok(_)) => Line::Noise(Noise::NoId),
    }
}

/// An object that answers nothing: an event, a fault, or noise.
fn without_outcome<'a>(members: &Members<'a>, id: Id) -> Line<'a> {
    if let Some(event) = members.get("event") {
        return match json::string(event).as_deref() {
            Some("tools_changed") => Line::ToolsChanged,
            Some("progress") => Line::Progress {
                call: members.get("call").and_then(|call| Id::read(call).known()),
            },
            _ => Line::Noise(Noise::UnknownEvent),
        };
    }
    if members.get("op").is_some() {
        return faulty(
            id,
            "neither result nor error: it looks like a request, echoed".to_owned(),
        );
    }
    // Both null: what JSON-RPC 1.0 sends for a function that returns nothing.
    match (id, members.get("result")) {
        (Id::Known(id), Some(null)) => Line::Answer {
            id,
            outcome: Ok(null.get()),
        },
        _ => faulty(id, "neither result nor error".to_owned()),
    }
}

/// A fault of a known request; of an unknown one it is noise.
fn faulty<'a>(id: Id, why: String) -> Line<'a> {
    match id.known() {
        Some(id) => Line::Faulty { id: Some(id), why },
        None => Line::Noise(Noise::NoId),
    }
}

fn unfit_text(unfit: json::Unfit) -> String {
    match unfit {
        json::Unfit::TooDeep => unfit.to_string(),
        json::Unfit::LoneSurrogate => "no valid text: it holds a lone surrogate".to_owned(),
    }
}

/// The id of an answer. The host issues one family of ids, integers, so that another spelling of
/// one (`"7"` from a shell script, `7.0` from Lua) cannot be mistaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    Known(u64),
    Null,
    Odd,
}

impl Id {
    fn read(raw: &RawValue) -> Self {
        match json::kind(raw) {
            Kind::Null => Self::Null,
            Kind::Number => Self::from_text(raw.get()),
            Kind::String => json::string(raw).map_or(Self::Odd, |text| Self::from_text(text.trim())),
            Kind::Object | Kind::Array | Kind::Bool => Self::Odd,
        }
    }

    pub(super) fn from_text(text: &str) -> Self {
        /// Up to here every integer has a float of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if let Ok(id) = text.parse() {
            return Self::Known(id);
        }
        match text.parse::<f64>() {
            Ok(float) if float.fract() == 0.0 && (0.0..=EXACT).contains(&float) => Self::Known(float as u64),
            _ => Self::Odd,
        }
    }

    fn known(self) -> Option<u64> {
        match self {
            Self::Known(id) => Some(id),
            Self::Null | Self::Odd => None,
        }
    }
}

/// A clipped sample of a line for the log: nothing in it can move a cursor or forge a log line.
pub fn sample(line: &[u8]) -> String {
    sample_of(line, 120)
}

/// The same with up to `chars` characters.
pub fn sample_of(line: &[u8], chars: usize) -> String {
    // A char has at most four bytes, so that these are enough of a line of any length.
    let head = &line[..line.len().min(chars * 4)];
    let text = String::from_utf8_lossy(head);
    let mut out = String::with_capacity(chars + 16);
    for char in text.trim_end_matches(['\r', '\n']).chars().take(chars) {
        match char {
            '"' | '\'' => out.push(char),
            char => out.extend(char.escape_debug()),
        }
    }
    if line.len() > head.len() || text.chars().count() > chars {
        out.push_str(&format!("… ({} bytes)", line.len()));
    }
    out
}

#[cfg(test)]
mod tests;
