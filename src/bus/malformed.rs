//! Why a Message was dropped (OVOS-MSG-1 §6.1), in words that help to find its producer.
//!
//! What is shown of a frame is its shape and its keys: a value may be a password.

use std::fmt;

use crate::json::{self, Members, Unfit};

/// Characters of a sample, and of each part of it.
const SAMPLE: usize = 160;
const KEY: usize = 40;
/// Characters shown of what the context says about the producer.
const FIELD: usize = 80;

/// A Message that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong.
    pub why: Why,
    /// Its topic, where it has one.
    pub topic: Option<String>,
    /// What its context says of where it comes from, as far as that can be read.
    pub source: Option<String>,
    /// The `session_id` of its session, as far as that can be read.
    pub session_id: Option<String>,
    /// The shape of the frame: keys, and `…` for every value.
    pub sample: String,
    /// Bytes of the frame.
    pub bytes: usize,
}

/// What makes a Message malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// No JSON text (OVOS-MSG-1 §6).
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON text does not start with a byte order mark (§6).
    #[error("it starts with a byte order mark")]
    ByteOrderMark,
    /// A Message is an object (§2).
    #[error("not a JSON object")]
    NotAnObject,
    /// The sealed form of a bus with `websocket.secret_key`.
    #[error("it is encrypted: the sender has a websocket.secret_key, which toolhost does not support")]
    Encrypted,
    /// `type` is required (§2).
    #[error("it has no type")]
    NoType,
    /// `type` is a string (§2).
    #[error("its type is not a string")]
    TypeNotAString,
    /// `type` has a grammar (§2.1).
    #[error("its type is outside the grammar of topics")]
    TypeGrammar,
    /// `data` is an object where it is present (§2).
    #[error("its data is not an object")]
    DataNotAnObject,
    /// `context` is an object where it is present (§2).
    #[error("its context is not an object")]
    ContextNotAnObject,
    /// `session` is an object where it is present (OVOS-SESSION-1 §2.5).
    #[error("malformed carrier: its session is not an object")]
    SessionNotAnObject,
    /// A context that cannot be carried onto an answer: a receiver might choke on it.
    #[error("its context cannot be sent back: {0}")]
    ContextUnfit(Unfit),
}

impl Why {
    /// One word a kind: log lines are limited by it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "not_json",
            Self::ByteOrderMark => "byte_order_mark",
            Self::NotAnObject => "not_an_object",
            Self::Encrypted => "encrypted",
            Self::NoType => "no_type",
            Self::TypeNotAString => "type_not_a_string",
            Self::TypeGrammar => "type_grammar",
            Self::DataNotAnObject => "data",
            Self::ContextNotAnObject => "context",
            Self::SessionNotAnObject => "session",
            Self::ContextUnfit(_) => "context_unfit",
        }
    }
}

impl Malformed {
    /// A frame that is no JSON text, or no object.
    pub(super) fn unreadable(frame: &str, error: &serde_json::Error) -> Self {
        let why = if frame.starts_with('\u{feff}') {
            Why::ByteOrderMark
        } else if error.is_data() {
            Why::NotAnObject
        } else {
            // The message of the parser names a place, never the text found there.
            Why::NotJson(error.to_string())
        };
        // Behind the fault, what looks like a key may be a value.
        let readable = if error.is_data() {
            frame
        } else {
            before(frame, error.line(), error.column())
        };
        Self {
            why,
            topic: None,
            source: None,
            session_id: None,
            sample: shape(readable),
            bytes: frame.len(),
        }
    }

    /// An object that is no Message.
    pub(super) fn object(frame: &str, members: &Members<'_>, why: Why) -> Self {
        let context = inner(members, "context");
        let session = context.as_ref().and_then(|context| inner(context, "session"));
        Self {
            why,
            topic: field(Some(members), "type"),
            source: field(context.as_ref(), "source"),
            session_id: field(session.as_ref(), "session_id"),
            sample: shape(frame),
            bytes: frame.len(),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.why)
    }
}

impl std::error::Error for Malformed {}

/// The object under `name`.
fn inner<'a>(members: &Members<'a>, name: &str) -> Option<Members<'a>> {
    Members::parse(members.get(name)?.get()).ok()
}

/// The string under `name`, clipped, for a log line.
pub(super) fn field(members: Option<&Members<'_>>, name: &str) -> Option<String> {
    let text = json::string(members?.get(name)?)?;
    Some(text.chars().take(FIELD).collect())
}

/// The part of `frame` before a place the parser named.
fn before(frame: &str, line: usize, column: usize) -> &str {
    let start: usize = frame
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut end = (start + column.saturating_sub(1)).min(frame.len());
    while !frame.is_char_boundary(end) {
        end -= 1;
    }
    frame.get(..end).unwrap_or_default()
}

/// The structure of a JSON text: brackets, keys, and `…` in place of every value.
fn shape(text: &str) -> String {
    let mut out = String::with_capacity(SAMPLE);
    let mut rest = text;
    let mut shown = 0;
    while let Some(first) = rest.chars().next() {
        if shown >= SAMPLE {
            out.push_str(" ...");
            break;
        }
        let (piece, after) = match first {
            '"' => quoted(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => rest.split_at(1),
            _ => rest.split_at(rest.find(['"', '{', '}', '[', ']', ',', ':']).unwrap_or(rest.len())),
        };
        let key = first == '"' && after.trim_start().starts_with(':');
        let before = out.len();
        if key {
            piece.chars().take(KEY).for_each(|character| match character {
                '"' => out.push('"'),
                other => out.extend(other.escape_debug()),
            });
        } else if matches!(first, '{' | '}' | '[' | ']' | ',' | ':') {
            out.push(first);
        } else if !piece.trim().is_empty() {
            out.push('…');
        }
        shown += out.len() - before;
        rest = after;
    }
    out
}

/// The string literal `text` starts with, its end missing where it has none; and what follows.
fn quoted(text: &str) -> (&str, &str) {
    let mut escaped = true; // The opening quote.
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return text.split_at(at + 1),
            _ => {}
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_shows_keys_and_never_a_value() {
        let table = [
            (
                r#"{"type":"a.b","data":{"pin":1234,"p\"w":"s3cr3t","l":["s3cr3t",true]}}"#,
                r#"{"type":…,"data":{"pin":…,"p\\"w":…,"l":[…,…]}}"#,
            ),
            ("s3cr3t", "…"),
            (r#""s3cr3t"#, "…"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(shape(text), expected);
        }
        assert!(shape(&r#"{"a":"#.repeat(500)).len() < 200);
        assert!(shape(&format!(r#"{{"{}":1}}"#, "\u{1f600}".repeat(500))).len() < 500);
    }

    #[test]
    fn nothing_behind_a_fault_is_shown() {
        let frame = "{\"a\": \"x\"\n \"b\": \"says \"s3cr3t\": 1}";
        let error = Members::parse(frame).unwrap_err();
        let malformed = Malformed::unreadable(frame, &error);
        assert!(!format!("{malformed:?}").contains("s3cr3t"), "{malformed:?}");
        assert_eq!(malformed.sample, r#"{"a":…"#);
    }
}
