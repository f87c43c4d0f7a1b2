//! YAML: its scalars as strings. A block scalar is one string as well.

use super::super::token::{Cursor, Kind, Pieces, Quoting, Token};
use super::quoted::{self, Holes, Inside};

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader {
        cursor: Cursor::new(text),
        tokens: Vec::new(),
        flow: 0,
    };
    while reader.step().is_some() {}
    reader.tokens
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    tokens: Vec<Token>,
    /// How many brackets are open.
    flow: usize,
}

impl Reader<'_> {
    fn step(&mut self) -> Option<()> {
        let c = self.cursor.peek()?;
        let start = self.cursor.at;
        match c {
            '\n' => {
                self.cursor.next();
                if self.flow == 0 {
                    self.push(Kind::Newline, start);
                }
            }
            '#' if self.is_apart() => {
                self.cursor.skip_line();
                self.push(Kind::Comment, start);
            }
            _ if c.is_whitespace() => {
                self.cursor.next();
            }
            '"' | '\'' => self.quoted(c),
            '{' | '[' | '}' | ']' | ',' if self.flow > 0 || matches!(c, '{' | '[') => {
                self.cursor.next();
                match c {
                    '{' | '[' => self.flow += 1,
                    '}' | ']' => self.flow -= 1,
                    _ => {}
                }
                self.push(Kind::Punct, start);
            }
            ':' | '-' | '?' if self.ends_here(1) => {
                self.cursor.next();
                self.push(Kind::Punct, start);
            }
            // JSON's way, in a flow.
            ':' if self.flow > 0 && self.tokens.last().is_some_and(|last| last.span.end == start) => {
                self.cursor.next();
                self.push(Kind::Punct, start);
            }
            '|' | '>' if self.flow == 0 && self.is_value() => self.block(),
            '&' | '!' | '*' => {
                self.cursor.skip_while(|c| !c.is_whitespace() && !",[]{}".contains(c));
            }
            _ => self.plain(),
        }
        Some(())
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.tokens.push(Token::new(kind, start..self.cursor.at));
    }

    /// Whether white space, or nothing, stands before.
    fn is_apart(&self) -> bool {
        let before = self.cursor.text.get(..self.cursor.at).unwrap_or_default();
        before.chars().next_back().is_none_or(char::is_whitespace)
    }

    /// Whether white space, the end or (in a flow) a bracket stands `ahead` bytes further.
    fn ends_here(&self, ahead: usize) -> bool {
        let next = self.cursor.rest().get(ahead..).and_then(|rest| rest.chars().next());
        next.is_none_or(|c| c.is_whitespace() || (self.flow > 0 && ",[]{}".contains(c)))
    }

    /// Whether a value is expected: behind `:` or `-`.
    fn is_value(&self) -> bool {
        let last = self.tokens.last();
        last.is_some_and(|last| matches!(self.cursor.text.get(last.span.clone()), Some(":" | "-")))
    }

    fn quoted(&mut self, quote: char) {
        let start = self.cursor.at;
        self.cursor.next();
        let inside = Inside {
            close: if quote == '"' { "\"" } else { "'" },
            escapes: quote == '"',
            holes: Holes::None,
            lines: true,
        };
        let (pieces, closed) = quoted::read(&mut self.cursor, inside);
        self.tokens
            .push(Token::string(pieces, start..self.cursor.at, (1, closed)));
    }

    fn plain(&mut self) {
        let start = self.cursor.at;
        let mut end = start;
        while let Some(c) = self.cursor.peek() {
            let ends = match c {
                '\n' => true,
                ':' => self.ends_here(1),
                '#' => self.is_apart(),
                ',' | '[' | ']' | '{' | '}' => self.flow > 0,
                _ => false,
            };
            if ends {
                break;
            }
            self.cursor.next();
            if !c.is_whitespace() {
                end = self.cursor.at;
            }
        }
        if end == start {
            // Never without a step forward.
            self.cursor.next();
            return;
        }
        self.take(start, end);
    }

    fn block(&mut self) {
        let indicator = self.cursor.at;
        self.cursor.skip_line();
        let line = self.cursor.text.get(..indicator).unwrap_or_default();
        let parent = indent(line.rsplit('\n').next().unwrap_or_default());
        self.cursor.next();
        let start = self.cursor.at;
        let mut end = start;
        for line in self.cursor.rest().split_inclusive('\n') {
            if !line.trim().is_empty() && indent(line) <= parent {
                break;
            }
            end += line.len();
        }
        self.take(start, end);
    }

    fn take(&mut self, start: usize, end: usize) {
        self.cursor.at = start;
        let mut pieces = Pieces::default();
        while self.cursor.at < end {
            let from = self.cursor.at;
            let Some(c) = self.cursor.next() else { break };
            pieces.push(c, from, Quoting::Other);
        }
        self.tokens.push(Token::string(pieces.done(), start..end, (0, 0)));
    }
}

/// How far a line is indented. `- ` counts: what stands behind it is a level of its own.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
