//! Rust: strings, raw strings and comments; a lifetime is no quote.

use super::super::token::{Cursor, Kind, Pieces, Quoting, Token, begins_name, continues_name, number, operator};
use super::quoted::{self, Holes, Inside};

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        let start = cursor.at;
        match c {
            '/' if cursor.second() == Some('/') => {
                cursor.skip_line();
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            '/' if cursor.second() == Some('*') => {
                block_comment(&mut cursor);
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            '"' => tokens.push(string(&mut cursor, start)),
            '\'' => character(&mut cursor),
            _ if c.is_whitespace() => {
                cursor.next();
            }
            _ if c.is_ascii_digit() => tokens.push(number(&mut cursor)),
            _ if begins_name(c) => {
                cursor.skip_while(continues_name);
                tokens.push(name_or_string(&mut cursor, start));
            }
            _ => tokens.push(operator(&mut cursor)),
        }
    }
    tokens
}

/// A name, unless it is the prefix of a string.
fn name_or_string(cursor: &mut Cursor<'_>, start: usize) -> Token {
    let prefix = cursor.text.get(start..cursor.at).unwrap_or_default();
    let is_raw = matches!(prefix, "r" | "br" | "cr");
    if is_raw && matches!(cursor.peek(), Some('"' | '#')) {
        let hashes = cursor.rest().chars().take_while(|c| *c == '#').count();
        if cursor.rest().get(hashes..).is_some_and(|rest| rest.starts_with('"')) {
            return raw_string(cursor, start, hashes);
        }
    }
    if matches!(prefix, "b" | "c") && cursor.peek() == Some('"') {
        return string(cursor, start);
    }
    Token::new(Kind::Ident, start..cursor.at)
}

fn string(cursor: &mut Cursor<'_>, start: usize) -> Token {
    cursor.next();
    let opened = cursor.at - start;
    let inside = Inside {
        close: "\"",
        escapes: true,
        holes: Holes::None,
        lines: true,
    };
    let (pieces, closed) = quoted::read(cursor, inside);
    Token::string(pieces, start..cursor.at, (opened, closed))
}

fn raw_string(cursor: &mut Cursor<'_>, start: usize, hashes: usize) -> Token {
    let close = format!("\"{}", "#".repeat(hashes));
    cursor.at += hashes + 1;
    let opened = cursor.at - start;
    let end = cursor
        .rest()
        .find(&close)
        .map_or(cursor.text.len(), |at| cursor.at + at);
    let mut pieces = Pieces::default();
    while cursor.at < end {
        let from = cursor.at;
        let Some(c) = cursor.next() else { break };
        pieces.push(c, from, Quoting::Other);
    }
    let closed = if cursor.eat(&close) { close.len() } else { 0 };
    Token::string(pieces.done(), start..cursor.at, (opened, closed))
}

fn block_comment(cursor: &mut Cursor<'_>) {
    let mut depth = 0usize;
    while cursor.peek().is_some() {
        if cursor.eat("/*") {
            depth += 1;
        } else if cursor.eat("*/") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return;
            }
        } else {
            cursor.next();
        }
    }
}

/// A character, or the tick of a lifetime.
fn character(cursor: &mut Cursor<'_>) {
    cursor.next();
    let mut ahead = cursor.clone();
    if ahead.next() == Some('\\') {
        ahead.next();
        ahead.skip_while(|c| c != '\'' && c != '\n');
    }
    if ahead.eat("'") {
        cursor.at = ahead.at;
    }
}
