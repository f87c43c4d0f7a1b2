//! Strings put together: literals, `+`, `%`, `format`, `join`, templates, and names given earlier.

use std::ops::Range;

use super::code::Code;
use super::language::Language;
use super::template::{Given, Marks, filled, replaced};
use super::token::{HOLE, Kind, Piece};

/// Expressions inside each other that are followed.
const DEPTH: usize = 24;

/// Bytes of an expression that may come to be a toolbox_id. A whole program in brackets is none.
const LONGEST: usize = 400;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Known.
    Text(String),
    /// Not known before the program runs.
    Hole(Hole),
}

/// An expression whose text is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hole {
    /// Its source.
    pub(super) source: String,
    /// How it becomes text.
    pub(super) how: How,
}

/// How an expression becomes part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It is a text, or adding it would fail.
    Joined,
    /// Whatever it is, it is written as `format` writes it.
    Formatted,
    /// As `%s` writes it.
    Percent,
    /// In a way that the source alone does not tell: filled in elsewhere, or formatted as a number is.
    Elsewhere,
}

/// What an expression comes to.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A text.
    Text(Vec<Part>),
    /// Texts that may yet be joined.
    List(Vec<Vec<Part>>),
}

impl Value {
    pub(super) fn text(self) -> Option<Vec<Part>> {
        match self {
            Self::Text(parts) => Some(parts),
            Self::List(_) => None,
        }
    }
}

/// An expression, read.
#[derive(Debug, Clone)]
pub(super) struct Folded {
    pub(super) value: Value,
    /// The token behind it.
    pub(super) end: usize,
    /// Whether it is more than one name or one call.
    pub(super) is_made: bool,
}

/// The text of parts without holes.
pub(super) fn text_of(parts: &[Part]) -> Option<String> {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Hole(_) => None,
        })
        .collect()
}

/// The text of parts, with [`HOLE`] for each hole.
pub(super) fn flat(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Hole(_) => text.push(HOLE),
        }
    }
    text
}

/// The pieces of a string as parts.
pub(super) fn parts_of(source: &str, pieces: &[Piece]) -> Vec<Part> {
    let part = |piece: &Piece| match piece {
        Piece::Text { value, .. } => Part::Text(value.clone()),
        Piece::Hole { inner, formatted, .. } => Part::Hole(Hole {
            source: source.get(inner.clone()).unwrap_or_default().trim().to_owned(),
            how: if *formatted { How::Elsewhere } else { How::Formatted },
        }),
    };
    pieces.iter().map(part).collect()
}

/// The expression that begins at the token `at`.
pub(super) fn expression(code: &Code<'_>, at: usize) -> Option<Folded> {
    sum(code, at, DEPTH)
}

/// The text of all the tokens in `tokens`; a hole where it is not known.
fn whole(code: &Code<'_>, tokens: &Range<usize>, how: How, depth: usize) -> Vec<Part> {
    let folded = sum(code, tokens.start, depth).filter(|folded| folded.end == tokens.end);
    match folded.and_then(|folded| folded.value.text()) {
        Some(parts) if !matches!(parts.as_slice(), [Part::Hole(_)]) => parts,
        _ => vec![hole(code, tokens, how)],
    }
}

fn hole(code: &Code<'_>, tokens: &Range<usize>, how: How) -> Part {
    let source = code.source(tokens);
    let is_long = source.len() > LONGEST;
    Part::Hole(Hole {
        source: if is_long { "...".to_owned() } else { source.to_owned() },
        how: if is_long { How::Elsewhere } else { how },
    })
}

fn sum(code: &Code<'_>, at: usize, depth: usize) -> Option<Folded> {
    let depth = depth.checked_sub(1)?;
    let mut first = operand(code, at, depth)?;
    loop {
        if code.is(first.end, "+") {
            let Some(second) = operand(code, first.end + 1, depth) else {
                return Some(first);
            };
            let mut parts = first.value.text()?;
            parts.extend(second.value.text()?);
            first = Folded {
                value: Value::Text(parts),
                end: second.end,
                is_made: true,
            };
        } else if code.is(first.end, "%") && code.language == Language::Python {
            first = percent(code, first, depth)?;
        } else {
            return Some(first);
        }
    }
}

/// `"..." % value`
fn percent(code: &Code<'_>, template: Folded, depth: usize) -> Option<Folded> {
    let at = template.end + 1;
    let end = if code.is(at, "{") {
        code.pair(at)? + 1
    } else {
        operand(code, at, depth)?.end
    };
    let text = text_of(&template.value.text()?)?;
    let close = code.pair(at).filter(|close| *close + 1 == end);
    let arguments = match close {
        Some(_) if code.is(at, "(") || code.is(at, "{") => values(code, at, How::Percent, depth),
        _ => vec![(None, whole(code, &(at..end), How::Percent, depth))],
    };
    Some(Folded {
        value: Value::Text(filled(&text, &arguments, Marks::Percent)?),
        end,
        is_made: true,
    })
}

/// The arguments between the brackets at `open`, as texts.
fn values(code: &Code<'_>, open: usize, how: How, depth: usize) -> Given {
    let arguments = code.arguments(open).into_iter();
    arguments
        .map(|argument| (argument.key, whole(code, &argument.value, how, depth)))
        .collect()
}

fn operand(code: &Code<'_>, at: usize, depth: usize) -> Option<Folded> {
    let depth = depth.checked_sub(1)?;
    let start = at;
    let mut at = at;
    while ["&", "*", "-"].iter().any(|sign| code.is(at, sign))
        || (code.is_name(at) && matches!(code.word(at), "await" | "new" | "mut"))
    {
        at += 1;
    }
    let token = code.tokens.get(at)?;
    let mut folded = match &token.kind {
        Kind::Str(_) => adjacent(code, at),
        Kind::Number => Folded {
            value: Value::Text(vec![Part::Text(code.word(at).to_owned())]),
            end: at + 1,
            is_made: false,
        },
        Kind::Ident => name(code, at, depth)?,
        Kind::Punct if code.is(at, "(") => bracketed(code, at, depth)?,
        Kind::Punct if code.is(at, "[") => list(code, at, depth)?,
        _ => return None,
    };
    while let Some(next) = postfix(code, start, &folded, depth) {
        folded = next;
    }
    Some(folded)
}

/// A string; in Python with those right behind it.
fn adjacent(code: &Code<'_>, at: usize) -> Folded {
    let mut parts = Vec::new();
    let mut end = at;
    while let Some(pieces) = code.tokens.get(end).and_then(|token| token.pieces()) {
        for part in parts_of(code.text, pieces) {
            parts.push(match part {
                Part::Hole(hole) => known(code, at, hole),
                text => vec![text],
            });
        }
        end += 1;
        if code.language != Language::Python {
            break;
        }
    }
    // A name in quotes is no more than that name.
    let first = code.tokens.get(at).and_then(|token| token.pieces());
    let is_made = end > at + 1 || !matches!(first, Some([Piece::Hole { .. }]));
    Folded {
        value: Value::Text(parts.into_iter().flatten().collect()),
        end,
        is_made,
    }
}

/// The hole of a string, filled in where it is a name whose text is known.
fn known(code: &Code<'_>, at: usize, hole: Hole) -> Vec<Part> {
    let name = hole.source.rsplit(['.', ':']).next().unwrap_or_default();
    let simple = hole
        .source
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$'));
    let simple = simple && hole.how != How::Elsewhere;
    let parts = code
        .definition(name, at)
        .filter(|_| simple)
        .and_then(|definition| definition.parts.clone());
    match parts {
        Some(parts) if !matches!(parts.as_slice(), [Part::Hole(_)]) => parts,
        _ => vec![Part::Hole(hole)],
    }
}

/// A name, a path, a call of something known, or a macro.
fn name(code: &Code<'_>, start: usize, depth: usize) -> Option<Folded> {
    let mut at = start;
    while matches!(code.word(at + 1), "." | "::") && code.is_name(at + 2) && !code.is(at + 3, "(") {
        at += 2;
    }
    let unknown = |end: usize| Folded {
        value: Value::Text(vec![hole(code, &(start..end), How::Joined)]),
        end,
        is_made: false,
    };
    let word = code.word(at);
    if code.is(at + 1, "!") && ["(", "[", "{"].iter().any(|open| code.is(at + 2, open)) {
        let end = code.pair(at + 2)? + 1;
        let value = made_by_macro(code, word, at + 2, depth);
        return Some(value.map_or_else(
            || unknown(end),
            |value| Folded {
                value,
                end,
                is_made: true,
            },
        ));
    }
    // The last name of a path may be a function that is known, such as `String::from`.
    if matches!(code.word(at + 1), "." | "::")
        && code.is(at + 3, "(")
        && let Some(value) = made_by_call(code, start, at + 2, depth)
    {
        let end = code.pair(at + 3)? + 1;
        return Some(Folded {
            value,
            end,
            is_made: true,
        });
    }
    if code.is(at + 1, "(") {
        let end = code.pair(at + 1)? + 1;
        let value = made_by_call(code, start, at, depth);
        return Some(value.map_or_else(
            || unknown(end),
            |value| Folded {
                value,
                end,
                is_made: true,
            },
        ));
    }
    let parts = code
        .definition(word, at)
        .and_then(|definition| definition.parts.clone());
    Some(match parts {
        Some(parts) => Folded {
            value: Value::Text(parts),
            end: at + 1,
            is_made: false,
        },
        None => unknown(at + 1),
    })
}

fn made_by_macro(code: &Code<'_>, name: &str, open: usize, depth: usize) -> Option<Value> {
    if !matches!(name, "format" | "concat" | "vec") {
        return None;
    }
    let given = values(code, open, How::Formatted, depth);
    match name {
        "format" => {
            let (template, rest) = given.split_first()?;
            let template = text_of(&template.1)?;
            let rest: Given = rest.iter().cloned().chain(captured(code, open, &template)).collect();
            filled(&template, &rest, Marks::Brace).map(Value::Text)
        }
        "concat" => Some(Value::Text(given.into_iter().flat_map(|(_, parts)| parts).collect())),
        "vec" => Some(Value::List(given.into_iter().map(|(_, parts)| parts).collect())),
        _ => None,
    }
}

/// The variables that a template names itself, as `{id}` in Rust does.
fn captured(code: &Code<'_>, at: usize, template: &str) -> Given {
    let names = template
        .split('{')
        .skip(1)
        .filter_map(|mark| mark.split(['}', ':']).next());
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let value = |name: &str| {
        let source = name.to_owned();
        known(
            code,
            at,
            Hole {
                source,
                how: How::Formatted,
            },
        )
    };
    names
        .filter(is_name)
        .map(|name| (Some(name.to_owned()), value(name)))
        .collect()
}

/// What `str(x)`, `String::from(x)` and functions that join come to.
fn made_by_call(code: &Code<'_>, start: usize, at: usize, depth: usize) -> Option<Value> {
    let path: Vec<_> = (start..=at).map(|at| code.word(at)).collect();
    let path = path.concat();
    let given = || values(code, at + 1, How::Formatted, depth);
    match path.as_str() {
        "str" | "String" | "String::from" | "Some" | "Ok" | "Template" | "string.Template" => {
            let mut given = given().into_iter();
            let only = given.next().filter(|(key, _)| key.is_none() && given.len() == 0)?;
            Some(Value::Text(only.1))
        }
        // A path has slashes, and so it makes no topic.
        "os.path.join" | "path.join" | "posixpath.join" => None,
        _ if code.word(at).to_ascii_lowercase().contains("join") => {
            let parts: Vec<_> = given().into_iter().map(|(_, parts)| parts).collect();
            let first = text_of(parts.first()?)?;
            (parts.len() > 1 && first.starts_with("ovos")).then(|| Value::Text(joined(&parts, ".")))
        }
        _ => None,
    }
}

fn joined(texts: &[Vec<Part>], separator: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            parts.push(Part::Text(separator.to_owned()));
        }
        parts.extend(text.iter().cloned());
    }
    parts
}

fn bracketed(code: &Code<'_>, open: usize, depth: usize) -> Option<Folded> {
    let close = code.pair(open)?;
    let inner = sum(code, open + 1, depth).filter(|inner| inner.end == close);
    Some(match inner {
        Some(inner) => Folded {
            end: close + 1,
            ..inner
        },
        None => match code.arguments(open).len() {
            2.. => list(code, open, depth)?,
            _ => Folded {
                value: Value::Text(vec![hole(code, &(open..close + 1), How::Joined)]),
                end: close + 1,
                is_made: false,
            },
        },
    })
}

fn list(code: &Code<'_>, open: usize, depth: usize) -> Option<Folded> {
    let given = values(code, open, How::Joined, depth);
    Some(Folded {
        value: Value::List(given.into_iter().map(|(_, parts)| parts).collect()),
        end: code.pair(open)? + 1,
        is_made: false,
    })
}

/// What is done to the value that ends before `folded.end`.
fn postfix(code: &Code<'_>, start: usize, folded: &Folded, depth: usize) -> Option<Folded> {
    let end = folded.end;
    if matches!(code.language, Language::Shell | Language::Yaml) {
        return None;
    }
    let unknown = |end: usize| Folded {
        value: Value::Text(vec![hole(code, &(start..end), How::Joined)]),
        end,
        is_made: false,
    };
    let touches = !code.is_newline(end);
    if touches && (code.is(end, "[") || code.is(end, "(")) && !starts_line(code, end) {
        return Some(unknown(code.pair(end)? + 1));
    }
    if code.is(end, "!") && code.is(end + 1, ".") {
        return Some(Folded {
            end: end + 1,
            ..folded.clone()
        });
    }
    if code.is(end, "?") && code.is(end + 1, ".") && code.language == Language::Rust {
        return Some(Folded {
            end: end + 1,
            ..folded.clone()
        });
    }
    if !matches!(code.word(end), "." | "?." | "::") || !code.is_name(end + 1) {
        return None;
    }
    let open = end + 2;
    if !code.is(open, "(") {
        return Some(unknown(open));
    }
    let behind = code.pair(open)? + 1;
    let value = method(code, &folded.value, end + 1, depth);
    Some(value.map_or_else(
        || unknown(behind),
        |value| Folded {
            value,
            end: behind,
            is_made: true,
        },
    ))
}

/// Whether a line ends before the token `at`: in JavaScript that may end a statement.
fn starts_line(code: &Code<'_>, at: usize) -> bool {
    let between = at
        .checked_sub(1)
        .and_then(|before| Some(code.tokens.get(before)?.span.end..code.tokens.get(at)?.span.start));
    let between = between.and_then(|between| code.text.get(between)).unwrap_or_default();
    between.contains('\n') && code.is(at, "[")
}

fn method(code: &Code<'_>, value: &Value, name: usize, depth: usize) -> Option<Value> {
    let open = name + 1;
    let given = || values(code, open, How::Formatted, depth);
    match (code.word(name), value) {
        ("format", Value::Text(parts)) => filled(&text_of(parts)?, &given(), Marks::Brace).map(Value::Text),
        ("format_map", Value::Text(parts)) => {
            let braces = code
                .is(open + 1, "{")
                .then(|| values(code, open + 1, How::Formatted, depth));
            filled(&text_of(parts)?, &braces.unwrap_or_default(), Marks::Brace).map(Value::Text)
        }
        ("substitute" | "safe_substitute", Value::Text(_)) => Some(value.clone()),
        ("replace" | "replaceAll", Value::Text(parts)) => {
            let given = given();
            let [(None, old), (None, new)] = given.as_slice() else {
                return None;
            };
            replaced(&text_of(parts)?, &text_of(old)?, new).map(Value::Text)
        }
        ("concat", Value::Text(parts)) => {
            let mut parts = parts.clone();
            parts.extend(given().into_iter().flat_map(|(_, parts)| parts));
            Some(Value::Text(parts))
        }
        ("concat", Value::List(texts)) => Some(Value::Text(joined(texts, ""))),
        ("join", Value::Text(separator)) => {
            // Python: the separator's method.
            let list = sum(code, open + 1, depth)?;
            match list.value {
                Value::List(texts) => Some(Value::Text(joined(&texts, &text_of(separator)?))),
                Value::Text(_) => None,
            }
        }
        ("join", Value::List(texts)) => {
            let separator = text_of(&given().into_iter().next()?.1)?;
            Some(Value::Text(joined(texts, &separator)))
        }
        (
            "to_string" | "to_owned" | "into" | "as_str" | "as_ref" | "clone" | "toString" | "valueOf" | "trim"
            | "strip" | "encode" | "decode" | "iter" | "into_iter",
            _,
        ) => Some(value.clone()),
        _ => None,
    }
}
