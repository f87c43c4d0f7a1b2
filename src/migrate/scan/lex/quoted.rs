//! The inside of a quoted string: escapes, and holes as Python and JavaScript write them.

use super::super::token::{Cursor, Piece, Pieces, Quoting};

/// What may stand in a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inside<'a> {
    /// What ends it.
    pub(super) close: &'a str,
    /// Whether a backslash begins an escape.
    pub(super) escapes: bool,
    /// How its holes are written.
    pub(super) holes: Holes,
    /// Whether it may go over the end of a line.
    pub(super) lines: bool,
}

/// How holes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holes {
    /// There are none.
    None,
    /// `{x}`, and `{{` for a brace.
    Brace,
    /// `${x}`
    Dollar,
}

/// Reads up to the closing quote and past it. Says how long that was: 0 where it is missing.
pub(super) fn read(cursor: &mut Cursor<'_>, inside: Inside<'_>) -> (Vec<Piece>, usize) {
    let mut pieces = Pieces::default();
    while let Some(c) = cursor.peek() {
        if cursor.eat(inside.close) {
            return (pieces.done(), inside.close.len());
        }
        let from = cursor.at;
        match c {
            '\n' if !inside.lines => return (pieces.done(), 0),
            '\\' if inside.escapes => escape(cursor, &mut pieces),
            '\\' => {
                // Also where nothing is escaped, the quote behind a backslash does not end the string.
                cursor.next();
                pieces.push('\\', from, Quoting::Other);
                if let Some(c) = cursor.peek().filter(|c| *c != '\n' || inside.lines) {
                    pieces.push(c, cursor.at, Quoting::Other);
                    cursor.next();
                }
            }
            '{' | '}' if inside.holes == Holes::Brace => brace(cursor, &mut pieces, inside.close),
            '$' if inside.holes == Holes::Dollar && cursor.second() == Some('{') => {
                cursor.at += 2;
                let start = cursor.at;
                let end = end_of_hole(cursor, "");
                pieces.hole(hole(start..end, from..cursor.at, false));
            }
            _ => {
                cursor.next();
                pieces.push(c, from, Quoting::Other);
            }
        }
    }
    (pieces.done(), 0)
}

fn hole(inner: std::ops::Range<usize>, outer: std::ops::Range<usize>, formatted: bool) -> Piece {
    Piece::Hole {
        inner,
        outer,
        formatted,
        quoting: Quoting::Other,
    }
}

/// A brace of an f-string: doubled it stands for itself.
fn brace(cursor: &mut Cursor<'_>, pieces: &mut Pieces, close: &str) {
    let from = cursor.at;
    let Some(c) = cursor.next() else { return };
    if cursor.peek() == Some(c) {
        cursor.next();
        pieces.push(c, from, Quoting::Other);
        return;
    }
    if c == '}' {
        pieces.push(c, from, Quoting::Other);
        return;
    }
    let start = cursor.at;
    let end = end_of_hole(cursor, close);
    let expression = cursor.text.get(start..end).unwrap_or_default();
    let length = format_begins(expression);
    pieces.hole(hole(start..start + length, from..cursor.at, length < expression.len()));
}

/// Where in the expression of an f-string's hole its conversion begins.
fn format_begins(expression: &str) -> usize {
    let mut depth = 0usize;
    let bytes = expression.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return at,
            b'!' if depth == 0 && bytes.get(at + 1) != Some(&b'=') => return at,
            b'=' if depth == 0 && at + 1 == bytes.len() => return at,
            _ => {}
        }
    }
    expression.len()
}

/// Goes behind the `}` that ends a hole; says where its expression ends. `close` would end the string itself.
pub(super) fn end_of_hole(cursor: &mut Cursor<'_>, close: &str) -> usize {
    let mut depth = 0usize;
    while let Some(c) = cursor.peek() {
        if !close.is_empty() && cursor.rest().starts_with(close) {
            return cursor.at;
        }
        cursor.next();
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return cursor.at - 1,
            '}' => depth -= 1,
            '"' | '\'' | '`' => {
                // A string inside the hole; an apostrophe that is none ends with its line.
                let mut inner = cursor.clone();
                inner.skip_while(|next| next != c && next != '\n');
                if inner.peek() == Some(c) {
                    inner.next();
                    cursor.at = inner.at;
                }
            }
            _ => {}
        }
    }
    cursor.at
}

/// A backslash and what it stands for.
fn escape(cursor: &mut Cursor<'_>, pieces: &mut Pieces) {
    let from = cursor.at;
    cursor.next();
    let Some(c) = cursor.next() else { return };
    let stands_for = match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '\n' => return,
        'x' => match hexadecimal(cursor, 2) {
            Some(c) => c,
            None => return,
        },
        'u' if cursor.peek() == Some('{') => {
            cursor.next();
            let digits: String = cursor.rest().chars().take_while(char::is_ascii_hexdigit).collect();
            cursor.at += digits.len();
            cursor.eat("}");
            match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                Some(c) => c,
                None => return,
            }
        }
        'u' => match hexadecimal(cursor, 4) {
            Some(c) => c,
            None => return,
        },
        '"' | '\'' | '\\' | '`' | '/' | '$' => c,
        // One that is none in Python; the others do not come up in topics.
        other => {
            pieces.push('\\', from, Quoting::Other);
            other
        }
    };
    pieces.push(stands_for, from, Quoting::Other);
}

fn hexadecimal(cursor: &mut Cursor<'_>, length: usize) -> Option<char> {
    let digits = cursor.rest().get(..length)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    cursor.at += length;
    char::from_u32(value)
}
