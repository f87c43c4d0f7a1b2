//! Text → a tree that knows its lines.
//!
//! Scalars stay the text that was typed: what `no`, `1.10` or `0777` mean is for whoever reads the
//! key to say. Aliases (`*name`) and merge keys (`<<`) work; how much text aliases may copy and how
//! deep a file may nest are bounded, so no few lines can exhaust the memory or the stack.

use saphyr_parser::{Marker, Parser, ScanError};

use super::build::Builder;
use super::fault::Position;
use super::place;

/// One value.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
    /// Something whose fault has been told; readers leave it at that.
    Broken,
}

/// A scalar, untyped.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// As it stands in the file, quotes and escapes resolved.
    pub(super) typed: String,
    /// The same with its variables expanded; `None` where it holds none.
    pub(super) expanded: Option<String>,
    /// Whether it stands there without quotes.
    pub(super) plain: bool,
}

impl Scalar {
    /// The value.
    pub(super) fn text(&self) -> &str {
        self.expanded.as_deref().unwrap_or(&self.typed)
    }

    /// Whether nothing at all stands after the colon or dash.
    pub(super) fn is_missing(&self) -> bool {
        self.plain && self.typed.is_empty()
    }

    /// Whether YAML calls it null.
    pub(super) fn is_null(&self) -> bool {
        self.plain && matches!(self.typed.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// One key of a mapping and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) at: Position,
    pub(super) value: Node,
}

/// Something wrong with the text itself.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) at: Position,
    pub(super) path: String,
    pub(super) what: String,
}

/// `path` with `key` under it, as faults show it.
pub(super) fn below(path: &str, key: &str) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    match key.split_once('=') {
        // `env: {KEY=secret}` makes a key of a secret.
        Some((name, _)) => format!("{path}{dot}{name}=..."),
        None => format!("{path}{dot}{key}"),
    }
}

/// The tree of the one document in `text`, `None` where it holds none, and all that is wrong with it.
///
/// After an error of syntax there is no tree: what follows it cannot be told from guesses.
pub(super) fn parse(text: &str) -> (Option<Node>, Vec<Mistake>) {
    let mut builder = Builder::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let end = end_of(text);
    for event in Parser::new_from_str(text) {
        let outcome = match event {
            Ok((event, span)) => builder.event(event, position(span.start).min(end)),
            // The parser reads ahead of its events, so no key can be named for sure.
            Err(error) => {
                let at = position(*error.marker()).min(end);
                let line = text.lines().nth(at.line - 1).unwrap_or_default();
                let variable = place::unquoted_variable(line)
                    .map(|name| format!("; within {{}} and [] a variable stands in quotes: quote \"${{{name}}}\""));
                Err(Mistake {
                    at,
                    path: String::new(),
                    what: syntax(&error) + &variable.unwrap_or_default(),
                })
            }
        };
        if let Err(mistake) = outcome {
            builder.mistakes.push(mistake);
            return (None, builder.mistakes);
        }
    }
    (builder.root, builder.mistakes)
}

/// Where a text ends. The parser tells what is missing there on a line of its own, even where there is none.
fn end_of(text: &str) -> Position {
    let ends = text.matches(['\n', '\r']).count() - text.matches("\r\n").count();
    let last = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    Position {
        line: ends + 1,
        column: last.chars().count() + 1,
    }
}

fn position(marker: Marker) -> Position {
    Position {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}

/// What the parser means, for someone who has never read the grammar.
fn syntax(error: &ScanError) -> String {
    const MEANT: &[(&str, &str)] = &[
        (
            "expected alphabetic",
            "a '&' or '*' without a name; a text that begins with one is quoted",
        ),
        ("tab", "a tab in the indentation; YAML is indented with spaces"),
        (
            "unknown anchor",
            "an alias (*) of an anchor (&) that does not stand above it; a text that begins with * is quoted",
        ),
        (
            "mapping values are not allowed",
            "a second ':' where a value was expected; a value with ': ' in it is quoted, and a key stands on a line of its own; \
             or this line is indented too far",
        ),
        ("recursion limit", "nested far too deeply"),
        ("end of stream", "the file ends inside a quoted text"),
        ("unexpected eof", "the file ends too early"),
        (
            "invalid indentation in quoted",
            "a quoted text began above and does not end before this line, which is indented less",
        ),
        (
            "parsing a flow",
            "a comma or a closing bracket is missing before this place",
        ),
        (
            "block mapping, did not",
            "expected a key; is this line indented like its neighbors, neither deeper nor less?",
        ),
        (
            "expected '-' indicator",
            "expected '- '; is this line indented like its neighbors?",
        ),
        ("expected node content", "expected a value"),
        ("simple key expect", "expected ':' after the key"),
        (
            "unknown escape",
            "an escape YAML does not know; between single quotes a backslash is text",
        ),
    ];
    let info = error.info();
    match MEANT.iter().find(|(part, _)| info.contains(part)) {
        Some((_, meant)) => (*meant).to_owned(),
        None => format!("not YAML: {info}"),
    }
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
