//! Templates of `run` and `stdin`: how the arguments of a call become the argv of a program, as toolboxes/README.md
//! has it.
//!
//! What a caller sends can fill an argument and nothing else. The program and the number of
//! arguments a placeholder gives are the owner's: `{name}` is always one argument, whatever it holds,
//! and `{name...}` one an item. toolhost never hands any of it to a shell. That much is guaranteed, whatever the
//! program is.
//!
//! What the program does with an argument is its own affair: a shell runs the one behind `-c`, `env` starts
//! one. The guard against that is a heuristic about known programs: a value in the script of a shell (`shell`),
//! in the code of an interpreter (`code`) or in the place of the program behind a wrapper (`wrapper`) is refused
//! when the file is read. Of a program that is not known there, or an option of it, the owner has to know.
//!
//! | written | is |
//! |---|---|
//! | `{name}` | the argument as text: a string as it is, anything else as compact JSON |
//! | `{name...}` | an array spread over several arguments; stands alone in its item |
//! | `{name?}` | nothing, and keeps its item only where the argument is true |
//! | `{{` and `}}` | braces |
//!
//! An item, or a group, whose placeholder has no value is left out whole. The empty text is a value.

mod argv;
mod code;
mod shell;
mod values;
mod words;
mod wrapper;

use std::borrow::Cow;

pub use argv::{Argv, Element};
pub use values::Values;

/// Bytes one argument of a program may have, or one variable with its name: what Linux takes without the NUL
/// (`MAX_ARG_STRLEN`). A longer one fails the start with E2BIG.
pub const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

/// How a placeholder takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `{name}`: as text.
    Text,
    /// `{name...}`: an array, an argument an item.
    Spread,
    /// `{name?}`: nothing, but only where it is true.
    Flag,
}

/// One text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Placeholder(String, Form),
}

impl Template {
    /// Reads a text with placeholders.
    ///
    /// # Errors
    /// In words for the owner: what is no placeholder, and how a brace is written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err("'}' without a '{' before it: a brace is written }}".to_owned());
            }
            let end = after
                .find('}')
                .ok_or("'{' without a '}' after it: a brace is written {{")?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(placeholder(&after[..end])?);
            rest = &after[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        let spread = pieces.iter().find_map(|piece| match piece {
            Piece::Placeholder(name, Form::Spread) => Some(name),
            _ => None,
        });
        match spread {
            Some(name) if pieces.len() > 1 => Err(format!(
                "'{{{name}...}}' in the middle of a text: it becomes several arguments, so it stands alone in its item"
            )),
            _ => Ok(Self { pieces }),
        }
    }

    /// A text without placeholders, braces and all.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        let pieces = if text.is_empty() {
            Vec::new()
        } else {
            vec![Piece::Literal(text)]
        };
        Self { pieces }
    }

    /// The text, where it has no placeholder.
    pub fn as_literal(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The arguments it names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.placeholders().map(|(name, _)| name)
    }

    /// Its placeholders in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = (&str, Form)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Placeholder(name, form) => Some((name.as_str(), *form)),
            Piece::Literal(_) => None,
        })
    }

    /// The text; `None` where a placeholder has no value (absent or null), or a `{flag?}` is not true.
    ///
    /// # Errors
    /// `<where>: <why>`: a spread, which is no text, and a flag that is no boolean.
    pub fn fill(&self, values: &Values) -> Result<Option<String>, String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Placeholder(name, form) => match value(name, *form, values)? {
                    Some(text) => out.push_str(&text),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(out))
    }
}

/// What a placeholder in a text gives; `None` leaves the text out.
fn value<'v>(name: &str, form: Form, values: &'v Values) -> Result<Option<Cow<'v, str>>, String> {
    match form {
        Form::Text => Ok(values.text(name).map(Cow::Borrowed)),
        Form::Flag if values.flag(name)? => Ok(Some(Cow::Borrowed(""))),
        Form::Flag => Ok(None),
        Form::Spread => Err(format!(
            "{name}: '{{{name}...}}' becomes several arguments and cannot stand in one text"
        )),
    }
}

/// What stands between `{` and `}`.
fn placeholder(inside: &str) -> Result<Piece, String> {
    let (name, form) = match (inside.strip_suffix("..."), inside.strip_suffix('?')) {
        (Some(name), _) => (name, Form::Spread),
        (_, Some(name)) => (name, Form::Flag),
        _ => (inside, Form::Text),
    };
    if name.is_empty() {
        return Err(format!(
            "'{{{inside}}}' names no argument: write {{name}}, or {{{{ and }}}} for braces"
        ));
    }
    let fits = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    if !name.chars().all(fits) || !name.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        let shown: String = inside.chars().take(40).collect();
        return Err(format!(
            "'{{{shown}}}' is no placeholder: write {{{{ and }}}} for braces"
        ));
    }
    Ok(Piece::Placeholder(name.to_owned(), form))
}

/// The variable that hands the argument `name` to the script of `shell:`: `ARG_` and the name in capitals,
/// each character that no variable of a shell can have as `_`.
pub fn variable(name: &str) -> String {
    let fit = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!("ARG_{}", name.chars().map(fit).collect::<String>())
}

#[cfg(test)]
mod tests;
