//! Python: strings with their prefixes, and the lines that end a statement.

use super::super::token::{Cursor, Kind, Token, begins_name, continues_name, number, operator};
use super::quoted::{self, Holes, Inside};

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    // Inside brackets the end of a line ends nothing.
    let mut depth = 0usize;
    while let Some(c) = cursor.peek() {
        let start = cursor.at;
        match c {
            '\n' => {
                cursor.next();
                if depth == 0 {
                    tokens.push(Token::new(Kind::Newline, start..cursor.at));
                }
            }
            '\\' => {
                cursor.next();
                cursor.eat("\r");
                cursor.eat("\n");
            }
            '#' => {
                cursor.skip_line();
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            '"' | '\'' => tokens.push(string(&mut cursor, start)),
            _ if c.is_whitespace() => {
                cursor.next();
            }
            _ if c.is_ascii_digit() => tokens.push(number(&mut cursor)),
            _ if begins_name(c) => {
                cursor.skip_while(continues_name);
                let quoted = matches!(cursor.peek(), Some('"' | '\''));
                if quoted && prefix(text.get(start..cursor.at).unwrap_or_default()).is_some() {
                    tokens.push(string(&mut cursor, start));
                } else {
                    tokens.push(Token::new(Kind::Ident, start..cursor.at));
                }
            }
            _ => {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                tokens.push(operator(&mut cursor));
            }
        }
    }
    tokens
}

/// Whether a string with this prefix is raw, and whether it has holes.
pub(super) fn prefix(prefix: &str) -> Option<(bool, bool)> {
    let prefix = prefix.to_ascii_lowercase();
    let known = matches!(
        prefix.as_str(),
        "" | "r" | "b" | "u" | "f" | "t" | "br" | "rb" | "fr" | "rf" | "tr" | "rt"
    );
    known.then(|| (prefix.contains('r'), prefix.contains(['f', 't'])))
}

/// The string whose prefix begins at `start` and whose quote is next.
pub(super) fn string(cursor: &mut Cursor<'_>, start: usize) -> Token {
    let (raw, holes) = prefix(cursor.text.get(start..cursor.at).unwrap_or_default()).unwrap_or_default();
    let triple = ["\"\"\"", "'''"]
        .into_iter()
        .find(|quote| cursor.rest().starts_with(quote));
    let close = triple.unwrap_or(if cursor.peek() == Some('"') { "\"" } else { "'" });
    cursor.at += close.len();
    let opened = cursor.at - start;
    let inside = Inside {
        close,
        escapes: !raw,
        holes: if holes { Holes::Brace } else { Holes::None },
        lines: triple.is_some(),
    };
    let (pieces, closed) = quoted::read(cursor, inside);
    Token::string(pieces, start..cursor.at, (opened, closed))
}
