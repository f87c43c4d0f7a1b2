//! The payload that goes with a topic: where it stands and what is in it.

use std::ops::Range;

use super::code::{Argument, Code};
use super::fold;
use super::language::Language;
use super::place::{self, Place};

/// What goes with a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Payload {
    /// Nothing is given.
    Absent,
    /// Given, but not as an object that could be read.
    Unread,
    /// An object that is written here.
    Object {
        /// Its bracket.
        open: usize,
        /// Whether it is written where it is sent, and not under a name that others may use as well.
        here: bool,
    },
    /// YAML, by lines: the tokens of its keys.
    Lines(Vec<usize>),
}

/// The payload that goes with the topic made by the tokens from `start` to `end`.
pub(super) fn of(code: &Code<'_>, start: usize, end: usize) -> Payload {
    match place::of(code, start, end) {
        Place::Call { open, index, .. } if code.is(open, "(") => {
            let arguments = code.arguments(open);
            let named = arguments
                .iter()
                .find(|argument| matches!(argument.key.as_deref(), Some("data" | "payload")));
            let next = arguments.get(index + 1).filter(|next| next.key.is_none());
            match named.or(next) {
                Some(argument) if argument.spread => Payload::Unread,
                Some(argument) => value(code, &argument.value),
                None if arguments.len() == 1 => Payload::Absent,
                None => Payload::Unread,
            }
        }
        Place::Member { key, .. } if !place::is_type(&key) => Payload::Unread,
        Place::Member { open: Some(open), .. } => {
            let members = code.arguments(open);
            match members.iter().find(|member| member.key.as_deref() == Some("data")) {
                Some(data) => value(code, &data.value),
                None if members.iter().any(|member| member.spread || member.key.is_none()) => Payload::Unread,
                None => Payload::Absent,
            }
        }
        Place::Member { open: None, key_at, .. } => lines(code, key_at),
        _ => Payload::Unread,
    }
}

fn value(code: &Code<'_>, tokens: &Range<usize>) -> Payload {
    let object = |open: usize, here: bool| Payload::Object { open, here };
    if let Some(open) = object_at(code, tokens) {
        return object(open, true);
    }
    // A name that an object was given to.
    let last = tokens.end.saturating_sub(1);
    let is_path = code.is_name(last) && code.path_start(last) == tokens.start;
    let named = code.definition(code.word(last), last).filter(|_| is_path);
    let open = named.and_then(|named| {
        let open = named.tokens.start;
        object_at(code, &(open..open + 1)).or_else(|| {
            let called = code.is(open + 1, "(") || code.is(open + 1, "!");
            let bracket = if code.is(open + 1, "!") { open + 2 } else { open + 1 };
            let end = code.pair(bracket).filter(|_| called)?;
            object_at(code, &(open..end + 1))
        })
    });
    open.map_or(Payload::Unread, |open| object(open, false))
}

/// The bracket of the object that the tokens are: `{...}`, `dict(...)`, `json!({...})`.
fn object_at(code: &Code<'_>, tokens: &Range<usize>) -> Option<usize> {
    let start = tokens.start;
    if code.is(start, "{") {
        let is_all = code
            .pair(start)
            .is_some_and(|close| close + 1 == tokens.end || tokens.len() == 1);
        return is_all.then_some(start);
    }
    if code.word(start) == "dict" && code.is(start + 1, "(") && code.language == Language::Python {
        let only_keys = code
            .arguments(start + 1)
            .iter()
            .all(|argument| argument.key.is_some() && !argument.spread);
        return only_keys.then_some(start + 1);
    }
    if code.word(start) == "json" && code.is(start + 1, "!") && code.is(start + 3, "{") {
        return Some(start + 3);
    }
    None
}

/// The entries of the object whose bracket is at `open`.
pub(super) fn entries(code: &Code<'_>, open: usize) -> Vec<Argument> {
    let mut entries = code.arguments(open);
    for entry in &mut entries {
        // In Python a name that is a key is no text, but stands for one.
        let is_named = code.language == Language::Python && code.is(open, "{") && code.is_name(entry.key_at);
        if is_named && entry.key.is_some() {
            let named = code.definition(code.word(entry.key_at), entry.key_at);
            entry.key = named.and_then(|named| fold::text_of(named.parts.as_ref()?));
        }
        // JavaScript: `{kwargs}`.
        let is_short = entry.key.is_none() && entry.value.len() == 1 && code.is_name(entry.key_at);
        if is_short && matches!(code.language, Language::JavaScript | Language::Embedded) {
            entry.key = Some(code.word(entry.key_at).to_owned());
        }
    }
    entries
}

/// The keys under `data:`, which stands as deep as the key at `key`.
fn lines(code: &Code<'_>, key: usize) -> Payload {
    let depth = column(code, key);
    let is_key = |at: &usize| code.is_string(*at) && code.is(at + 1, ":");
    // What stands less deep, such as the `-` of the next item, ends the mapping.
    let is_inside = |at: &usize| code.is_newline(*at) || column(code, *at) >= depth;
    let before = (0..key).rev().take_while(is_inside).filter(is_key);
    let mut around: Vec<usize> = before.collect();
    around.reverse();
    around.extend((key + 1..code.tokens.len()).take_while(is_inside).filter(is_key));
    let data = around
        .iter()
        .position(|at| column(code, *at) == depth && code.literal(*at).as_deref() == Some("data"));
    let Some(data) = data else { return Payload::Absent };
    if let Some(open) = around.get(data).map(|at| at + 2).filter(|open| code.is(*open, "{")) {
        return Payload::Object { open, here: true };
    }
    let below = around.iter().skip(data + 1).take_while(|at| column(code, **at) > depth);
    let below: Vec<usize> = below.copied().collect();
    let own = below.first().map(|first| column(code, *first));
    Payload::Lines(below.into_iter().filter(|at| Some(column(code, *at)) == own).collect())
}

fn column(code: &Code<'_>, at: usize) -> usize {
    let start = code.tokens.get(at).map_or(0, |token| token.span.start);
    let before = code.text.get(..start).unwrap_or_default();
    before.len() - before.rfind('\n').map_or(0, |line| line + 1)
}
