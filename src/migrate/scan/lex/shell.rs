//! The shell: one token a word, whatever it is quoted with.

use super::super::token::{Cursor, Kind, Piece, Pieces, Quoting, Token};
use super::quoted::end_of_hole;

/// Commands inside commands that are followed; nobody writes more.
const NESTED: usize = 32;

/// A heredoc whose lines are still to come.
struct Heredoc {
    delimiter: String,
    raw: bool,
    tabs: bool,
}

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    let mut heredocs = Vec::new();
    while let Some(c) = cursor.peek() {
        let start = cursor.at;
        match c {
            '\n' => {
                cursor.next();
                tokens.push(Token::new(Kind::Newline, start..cursor.at));
                for heredoc in heredocs.drain(..) {
                    tokens.push(lines(&mut cursor, &heredoc));
                }
            }
            '\\' if matches!(cursor.second(), Some('\n' | '\r')) => {
                cursor.next();
                cursor.eat("\r");
                cursor.eat("\n");
            }
            '#' => {
                cursor.skip_line();
                tokens.push(Token::new(Kind::Comment, start..cursor.at));
            }
            ' ' | '\t' | '\r' => {
                cursor.next();
            }
            ';' | '&' | '|' | '(' | ')' | '>' | '<' => {
                heredocs.extend(redirection(&mut cursor));
                tokens.push(Token::new(Kind::Punct, start..cursor.at));
            }
            _ => words(&mut cursor, &mut tokens),
        }
    }
    tokens
}

/// An operator, and the heredoc it may announce.
fn redirection(cursor: &mut Cursor<'_>) -> Option<Heredoc> {
    if cursor.eat("<<<") || cursor.eat(";;") || cursor.eat("&&") || cursor.eat("||") {
        return None;
    }
    if !cursor.eat("<<") {
        cursor.next();
        return None;
    }
    let tabs = cursor.eat("-");
    cursor.skip_while(|c| c == ' ');
    let start = cursor.at;
    cursor.skip_while(|c| !c.is_whitespace() && !";&|<>()".contains(c));
    let word = cursor.text.get(start..cursor.at)?;
    let delimiter: String = word.chars().filter(|c| !"'\"\\".contains(*c)).collect();
    let is_named = !delimiter.is_empty();
    is_named.then_some(Heredoc {
        raw: delimiter.len() < word.len(),
        delimiter,
        tabs,
    })
}

/// The lines of a heredoc as one string.
fn lines(cursor: &mut Cursor<'_>, heredoc: &Heredoc) -> Token {
    let start = cursor.at;
    let mut end = start;
    let exact = |line: &str| {
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = if heredoc.tabs {
            bare.trim_start_matches('\t')
        } else {
            bare
        };
        bare == heredoc.delimiter
    };
    let rest = cursor.rest();
    // A script in YAML or Markdown is indented as a whole.
    let is_indented = !rest.split_inclusive('\n').any(exact);
    for line in rest.split_inclusive('\n') {
        if exact(line) || (is_indented && line.trim() == heredoc.delimiter) {
            let mut inside = Cursor {
                text: cursor.text.get(..end).unwrap_or_default(),
                at: start,
                depth: 0,
            };
            let mut pieces = Pieces::default();
            let quoting = if heredoc.raw { Quoting::Raw } else { Quoting::Heredoc };
            while inside.peek().is_some() {
                piece(&mut inside, &mut pieces, quoting);
            }
            cursor.at = end + line.len();
            return Token::string(pieces.done(), start..end, (0, 0));
        }
        end += line.len();
    }
    // Without an end it is no heredoc, but perhaps a shift of bits.
    Token::new(Kind::Newline, start..start)
}

/// A word, or an assignment as a name, `=` and a word.
fn words(cursor: &mut Cursor<'_>, tokens: &mut Vec<Token>) {
    let start = cursor.at;
    let mut ahead = cursor.clone();
    ahead.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = ahead.at;
    let begins = cursor.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let assigned = ahead.eat("+=") || ahead.eat("=");
    // `==` is a comparison.
    if begins && assigned && ahead.peek() != Some('=') {
        tokens.push(Token::new(Kind::Ident, start..name));
        tokens.push(Token::new(Kind::Punct, name..ahead.at));
        cursor.at = ahead.at;
        if cursor.peek().is_none_or(|c| c.is_whitespace() || ";&|()<>".contains(c)) {
            return;
        }
    }
    tokens.push(word(cursor));
}

fn word(cursor: &mut Cursor<'_>) -> Token {
    let start = cursor.at;
    let mut pieces = Pieces::default();
    while let Some(c) = cursor.peek() {
        match c {
            _ if c.is_whitespace() || ";&|()<>".contains(c) => break,
            '\'' => {
                cursor.next();
                until(cursor, &mut pieces, '\'', Quoting::Raw);
            }
            '"' => {
                cursor.next();
                until(cursor, &mut pieces, '"', Quoting::Double);
            }
            '$' if matches!(cursor.second(), Some('\'')) => {
                cursor.at += 2;
                until(cursor, &mut pieces, '\'', Quoting::Other);
            }
            '\\' => {
                cursor.next();
                let from = cursor.at;
                match cursor.next() {
                    Some('\n') | None => {}
                    Some(c) => pieces.push(c, from, Quoting::Other),
                }
            }
            _ => piece(cursor, &mut pieces, Quoting::Other),
        }
    }
    let quoted = cursor.text.get(start..cursor.at).unwrap_or_default();
    let quote = usize::from(quoted.starts_with(['"', '\'']));
    Token::string(pieces.done(), start..cursor.at, (quote, quote))
}

/// What stands up to `quote`, and past it.
fn until(cursor: &mut Cursor<'_>, pieces: &mut Pieces, quote: char, quoting: Quoting) {
    while let Some(c) = cursor.peek() {
        if c == quote {
            cursor.next();
            return;
        }
        piece(cursor, pieces, quoting);
    }
}

/// One character, escape or hole.
fn piece(cursor: &mut Cursor<'_>, pieces: &mut Pieces, quoting: Quoting) {
    let from = cursor.at;
    let Some(c) = cursor.peek() else { return };
    let expands = quoting != Quoting::Raw;
    match c {
        '\\' if expands => {
            cursor.next();
            let escaped = cursor.peek();
            let special = escaped.is_some_and(|c| "$`\"\\\n'".contains(c))
                && (escaped != Some('\'') || quoting == Quoting::Other);
            if !special {
                return pieces.push('\\', from, quoting);
            }
            cursor.next();
            if let Some(c) = escaped.filter(|c| *c != '\n') {
                pieces.push(c, from, quoting);
            }
        }
        '$' | '`' if expands => {
            let inner = take_hole(cursor);
            if inner.is_empty() {
                cursor.at = from + 1;
                return pieces.push(c, from, quoting);
            }
            pieces.hole(Piece::Hole {
                inner,
                outer: from..cursor.at,
                formatted: false,
                quoting,
            });
        }
        _ => {
            cursor.next();
            pieces.push(c, from, quoting);
        }
    }
}

/// What expands here, if anything does.
fn take_hole(cursor: &mut Cursor<'_>) -> std::ops::Range<usize> {
    if cursor.eat("`") {
        let start = cursor.at;
        cursor.skip_while(|c| c != '`');
        let end = cursor.at;
        cursor.next();
        return start..end;
    }
    cursor.eat("$");
    if cursor.eat("{") {
        let start = cursor.at;
        return start..end_of_hole(cursor, "");
    }
    if cursor.eat("(") {
        let start = cursor.at;
        return start..end_of_command(cursor);
    }
    let start = cursor.at;
    if cursor
        .peek()
        .is_some_and(|c| c.is_ascii_digit() || "@*#?!$-".contains(c))
    {
        cursor.next();
    } else {
        cursor.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
    }
    start..cursor.at
}

/// Goes behind the `)` that ends a command; says where the command ends.
fn end_of_command(cursor: &mut Cursor<'_>) -> usize {
    if cursor.depth == NESTED {
        cursor.at = cursor.text.len();
        return cursor.at;
    }
    cursor.depth += 1;
    let end = end_of_nested(cursor);
    cursor.depth -= 1;
    end
}

fn end_of_nested(cursor: &mut Cursor<'_>) -> usize {
    let mut depth = 0usize;
    while let Some(c) = cursor.next() {
        match c {
            '\\' => {
                cursor.next();
            }
            '\'' => cursor.skip_past("'"),
            '"' => {
                let mut inside = Pieces::default();
                until(cursor, &mut inside, '"', Quoting::Double);
            }
            '(' => depth += 1,
            ')' if depth == 0 => return cursor.at - 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    cursor.at
}
