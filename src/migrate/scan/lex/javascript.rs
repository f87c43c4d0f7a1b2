//! JavaScript, TypeScript and JSON, and what looks like them inside strings.

use super::super::language::Language;
use super::super::token::{Cursor, Kind, Token, begins_name, continues_name, number, operator};
use super::python;
use super::quoted::{self, Holes, Inside};

/// Words behind which a slash begins a regular expression.
const BEFORE_EXPRESSION: [&str; 8] = ["return", "typeof", "case", "in", "of", "do", "else", "void"];

/// The tokens of `text`.
pub(super) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut cursor = Cursor::new(text);
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(c) = cursor.peek() {
        let start = cursor.at;
        match c {
            '/' if cursor.second() == Some('/') => {
                cursor.skip_line();
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            '/' if cursor.second() == Some('*') => {
                cursor.skip_past("*/");
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            '#' if language != Language::JavaScript && begins_line(text, start) => {
                cursor.skip_line();
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            '/' if language == Language::JavaScript && expects_expression(text, tokens.last()) => {
                tokens.push(expression(&mut cursor).unwrap_or_else(|| operator(&mut cursor)));
            }
            '"' | '\'' => tokens.push(string(&mut cursor, if c == '"' { "\"" } else { "'" })),
            '`' => tokens.push(template(&mut cursor)),
            _ if c.is_whitespace() => {
                cursor.next();
            }
            _ if c.is_ascii_digit() => tokens.push(number(&mut cursor)),
            _ if begins_name(c) => {
                cursor.skip_while(continues_name);
                // `python3 -c` inside a shell's string.
                let f_string = language == Language::Embedded
                    && matches!(cursor.peek(), Some('"' | '\''))
                    && python::prefix(text.get(start..cursor.at).unwrap_or_default()).is_some();
                tokens.push(if f_string {
                    python::string(&mut cursor, start)
                } else {
                    Token::new(Kind::Ident, start..cursor.at)
                });
            }
            _ => tokens.push(operator(&mut cursor)),
        }
    }
    tokens
}

fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
}

fn expects_expression(text: &str, last: Option<&Token>) -> bool {
    let Some(last) = last else { return true };
    let word = text.get(last.span.clone()).unwrap_or_default();
    match last.kind {
        Kind::Punct => !matches!(word, ")" | "]" | "}"),
        Kind::Ident => BEFORE_EXPRESSION.contains(&word),
        _ => false,
    }
}

/// A regular expression on one line, as a string of its source.
fn expression(cursor: &mut Cursor<'_>) -> Option<Token> {
    let start = cursor.at;
    let mut ahead = cursor.clone();
    ahead.next();
    let mut in_class = false;
    loop {
        match ahead.peek()? {
            '\n' => return None,
            '\\' => {
                ahead.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => break,
            _ => {}
        }
        ahead.next();
    }
    let end = ahead.at;
    cursor.at = start + 1;
    let mut pieces = super::super::token::Pieces::default();
    while cursor.at < end {
        let from = cursor.at;
        let c = cursor.next()?;
        pieces.push(c, from, super::super::token::Quoting::Other);
    }
    cursor.next();
    cursor.skip_while(char::is_alphabetic);
    Some(Token::string(pieces.done(), start..cursor.at, (1, cursor.at - end)))
}

fn string(cursor: &mut Cursor<'_>, close: &str) -> Token {
    let start = cursor.at;
    cursor.next();
    let inside = Inside {
        close,
        escapes: true,
        holes: Holes::None,
        lines: false,
    };
    let (pieces, closed) = quoted::read(cursor, inside);
    Token::string(pieces, start..cursor.at, (1, closed))
}

fn template(cursor: &mut Cursor<'_>) -> Token {
    let start = cursor.at;
    cursor.next();
    let inside = Inside {
        close: "`",
        escapes: true,
        holes: Holes::Dollar,
        lines: true,
    };
    let (pieces, closed) = quoted::read(cursor, inside);
    Token::string(pieces, start..cursor.at, (1, closed))
}
