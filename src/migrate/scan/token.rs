//! The tokens of a text, as far as joining strings needs them. Spans are bytes of the text they were read from.

use std::ops::Range;

/// A byte range of a text.
pub(super) type Span = Range<usize>;

/// Stands for a hole in a text; the first of the characters that do.
pub(super) const HOLE: char = '\u{E000}';

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string with its pieces, adjacent quotes of a shell word included.
    Str(Vec<Piece>),
    /// A name or a keyword.
    Ident,
    /// A number.
    Number,
    /// An operator or a bracket.
    Punct,
    /// The end of a line that ends a statement.
    Newline,
    /// A comment.
    Comment,
}

/// How a piece of a string is quoted: what may be written into it, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Nothing stands for anything else: a shell's single quotes, a raw heredoc.
    Raw,
    /// A shell's double quotes.
    Double,
    /// A shell's heredoc.
    Heredoc,
    /// Any other: nothing is written into it.
    Other,
}

/// A piece of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text, as the program sees it, and where each byte of it comes from.
    Text {
        /// The text without its escapes.
        value: String,
        /// The byte of the source that each byte of `value` comes from.
        at: Vec<usize>,
        /// How it is quoted.
        quoting: Quoting,
    },
    /// The value of an expression.
    Hole {
        /// The expression alone.
        inner: Span,
        /// With its braces.
        outer: Span,
        /// Whether it is to be formatted in some way (`{x!r:>3}`).
        formatted: bool,
        /// How what stands around it is quoted.
        quoting: Quoting,
    },
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Bytes of the opening and the closing quote of a string, its prefix included.
    pub(super) quotes: (usize, usize),
}

impl Token {
    pub(super) fn new(kind: Kind, span: Span) -> Self {
        Self {
            kind,
            span,
            quotes: (0, 0),
        }
    }

    pub(super) fn string(pieces: Vec<Piece>, span: Span, quotes: (usize, usize)) -> Self {
        Self {
            kind: Kind::Str(pieces),
            span,
            quotes,
        }
    }

    pub(super) fn pieces(&self) -> Option<&[Piece]> {
        match &self.kind {
            Kind::Str(pieces) => Some(pieces),
            _ => None,
        }
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.kind, Kind::Str(_))
    }
}

/// Collects the pieces of a string.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    done: Vec<Piece>,
}

impl Pieces {
    /// Adds `c`, which comes from the source at `at`.
    pub(super) fn push(&mut self, c: char, from: usize, quoting: Quoting) {
        let fresh = !matches!(self.done.last(), Some(Piece::Text { quoting: last, .. }) if *last == quoting);
        if fresh {
            self.done.push(Piece::Text {
                value: String::new(),
                at: Vec::new(),
                quoting,
            });
        }
        if let Some(Piece::Text { value, at, .. }) = self.done.last_mut() {
            value.push(c);
            at.extend((0..c.len_utf8()).map(|byte| from + byte));
        }
    }

    pub(super) fn hole(&mut self, hole: Piece) {
        self.done.push(hole);
    }

    pub(super) fn done(self) -> Vec<Piece> {
        self.done
    }
}

/// A text with a place in it.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// How many commands inside commands it is in.
    pub(super) depth: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next.
    pub(super) fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    pub(super) fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        while self.peek().is_some_and(&mut wanted) {
            self.next();
        }
    }

    /// Goes behind the next `what`, or to the end.
    pub(super) fn skip_past(&mut self, what: &str) {
        self.at = self
            .rest()
            .find(what)
            .map_or(self.text.len(), |found| self.at + found + what.len());
    }

    pub(super) fn skip_line(&mut self) {
        self.skip_while(|c| c != '\n');
    }
}

/// Whether `c` stands for a hole. In text that is read as code itself each hole has a character of its own.
pub(super) fn is_hole(c: char) -> bool {
    (HOLE..='\u{F8FF}').contains(&c)
}

/// Whether a name may begin with `c`.
pub(super) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$' || is_hole(c)
}

/// Whether a name may go on with `c`.
pub(super) fn continues_name(c: char) -> bool {
    begins_name(c) || c.is_numeric()
}

/// What a character or a few of them are, for which one token is wanted.
const OPERATORS: [&str; 26] = [
    "===", "!==", "...", "**=", "==", "!=", "+=", "-=", "%=", "=>", "->", "::", "?.", "??", "||", "&&", "<=", ">=",
    ":=", "**", "//", "|=", "&=", "<<", ">>", "..",
];

/// Reads an operator or a bracket.
pub(super) fn operator(cursor: &mut Cursor<'_>) -> Token {
    let start = cursor.at;
    if !OPERATORS.iter().any(|operator| cursor.eat(operator)) {
        cursor.next();
    }
    Token::new(Kind::Punct, start..cursor.at)
}

/// Reads a number.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Token {
    let start = cursor.at;
    cursor.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
    Token::new(Kind::Number, start..cursor.at)
}
