//! One value of the tree → one Rust value, or a fault that says what was expected and what was found.

use std::path::{Path, PathBuf};

use super::expand::Place;
use super::fault::{Fault, Position};
use super::read::Reader;
use super::suggest::{listed, nearest};
use super::yaml::{Entry, Node, Scalar, Value};
use super::{expand, place, quantity, yaml};

/// What stands there, for the end of a fault: shown as typed, so that no variable's value is shown.
fn found(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) if scalar.is_missing() => "nothing".into(),
        Value::Scalar(scalar) if scalar.expanded.is_some() => format!("the value of {}", quoted(&scalar.typed)),
        Value::Scalar(scalar) => quoted(&scalar.typed),
        Value::Sequence(_) => "a list".into(),
        Value::Mapping(_) | Value::Broken => "a mapping".into(),
    }
}

/// `text`, shortened. What follows a `=` is left out: `KEY=secret` may stand in a wrong place.
pub(super) fn quoted(text: &str) -> String {
    let (shown, secret) = match text.split_once('=') {
        Some((name, _)) => (name, "=..."),
        None => (text, ""),
    };
    match shown.char_indices().nth(40) {
        Some((end, _)) => format!("'{}...'", &shown[..end]),
        None => format!("'{shown}{secret}'"),
    }
}

impl Reader<'_> {
    pub(super) fn fault(&mut self, at: Position, path: &str, what: impl Into<String>) {
        self.faults.push(Fault {
            file: self.file.clone(),
            at: Some(at),
            path: path.to_owned(),
            what: what.into(),
        });
    }

    fn expected(&mut self, node: &Node, path: &str, expected: &str) {
        if !matches!(node.value, Value::Broken) {
            self.fault(node.at, path, format!("expected {expected}, found {}", found(node)));
        }
    }

    /// The scalar that has to stand here; an empty text counts, no text at all does not.
    fn scalar<'n>(&mut self, node: &'n Node, path: &str, expected: &str) -> Option<&'n Scalar> {
        match &node.value {
            Value::Scalar(scalar) if !scalar.is_missing() => Some(scalar),
            _ => {
                self.expected(node, path, expected);
                None
            }
        }
    }

    /// What `parse` makes of the text here.
    pub(super) fn parsed<T>(
        &mut self,
        node: &Node,
        path: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = parse(self.scalar(node, path, expected)?.text());
        if value.is_none() {
            self.expected(node, path, expected);
        }
        value
    }

    /// A text with something in it and no NUL, which neither a program nor a file name can take.
    pub(super) fn text(&mut self, node: &Node, path: &str, expected: &str) -> Option<String> {
        self.parsed(node, path, expected, |text| {
            (!text.is_empty() && !text.contains('\0')).then(|| text.to_owned())
        })
    }

    pub(super) fn boolean(&mut self, node: &Node, path: &str) -> Option<bool> {
        self.parsed(node, path, "true or false", |text| match text {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        })
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&mut self, node: &Node, path: &str, choices: &[(&str, T)]) -> Option<T> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let expected = listed(&words, "or");
        self.parsed(node, path, &expected, |text| {
            choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// A time of at least a millisecond: none of the keys has a use for no time at all.
    pub(super) fn duration(&mut self, node: &Node, path: &str) -> Option<std::time::Duration> {
        let expected = "a time from 1ms to a year such as 200ms, 10s or 1m 30s";
        self.parsed(node, path, expected, |text| {
            quantity::duration(text).filter(|time| time.as_millis() > 0)
        })
    }

    pub(super) fn count(&mut self, node: &Node, path: &str, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.parsed(node, path, &expected, |text| {
            quantity::count(text).filter(|count| range.contains(count))
        })
    }

    /// A size from 1 KiB to `most`, which `named` says in words.
    pub(super) fn size(&mut self, node: &Node, path: &str, most: usize, named: &str) -> Option<usize> {
        let expected = format!("a size such as 512KiB or 8MB, from 1KiB to {named}");
        self.parsed(node, path, &expected, |text| {
            quantity::size(text).filter(|size| (1024..=most).contains(size))
        })
    }

    /// A path, made absolute by the folder of the file.
    pub(super) fn path(&mut self, node: &Node, path: &str, expected: &str) -> Option<PathBuf> {
        let text = self.text(node, path, expected)?;
        if text == "~" || text.starts_with("~/") {
            self.fault(
                node.at,
                path,
                "'~' has no meaning here; the home folder is written ${HOME}",
            );
            return None;
        }
        Some(self.folder.join(plain(&text)))
    }

    /// Each item of a list of texts. Nothing at all is an empty list.
    pub(super) fn texts(&mut self, node: &Node, path: &str, expected: &str) -> Option<Vec<String>> {
        let items = self.items(node, path, &format!("a list of {expected}s"))?;
        let texts = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.text(item, &format!("{path}[{index}]"), &format!("a {expected}")));
        Some(texts.collect())
    }

    /// The items of a list. Nothing at all is an empty one.
    pub(super) fn items<'n>(&mut self, node: &'n Node, path: &str, expected: &str) -> Option<&'n [Node]> {
        match &node.value {
            Value::Sequence(items) => Some(items),
            Value::Scalar(scalar) if scalar.is_null() => Some(&[]),
            _ => self.expected_more(node, path, expected),
        }
    }

    /// The keys of a mapping. Nothing at all is an empty one.
    pub(super) fn entries<'n>(&mut self, node: &'n Node, path: &str, expected: &str) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Mapping(entries) => Some(entries),
            Value::Scalar(scalar) if scalar.is_null() => Some(&[]),
            _ => self.expected_more(node, path, expected),
        }
    }

    /// A fault about a text where more was expected. The text is not shown: it may be a variable of an
    /// `env` whose lines are indented too little, and so a secret.
    fn expected_more<T>(&mut self, node: &Node, path: &str, expected: &str) -> Option<T> {
        match &node.value {
            Value::Scalar(_) => self.fault(node.at, path, format!("expected {expected}, found a text")),
            _ => self.expected(node, path, expected),
        }
        None
    }

    /// A key that nobody reads here.
    pub(super) fn unknown(&mut self, entry: &Entry, path: &str, known: &[&str]) {
        let what = match nearest(&entry.key, known) {
            _ if place::elsewhere(&entry.key, known).is_some() => {
                place::elsewhere(&entry.key, known).unwrap_or_default()
            }
            Some(meant) => format!("unknown key; did you mean '{meant}'?"),
            None => format!("unknown key; the keys here are {}", listed(known, "and")),
        };
        self.fault(entry.at, path, what);
    }

    /// Expands the variables of every value under `node`; keys stay as they are.
    pub(super) fn expand(&mut self, node: &mut Node, path: &str, place: Place) {
        match &mut node.value {
            _ if place == Place::Verbatim => {}
            Value::Scalar(scalar) if scalar.typed.contains("${") => {
                let expanded = match place {
                    Place::Template => expand::expand_template(&scalar.typed, self.env),
                    _ => expand::expand(&scalar.typed, self.env),
                };
                match expanded {
                    Ok(text) => scalar.expanded = Some(text),
                    Err(what) => {
                        node.value = Value::Broken;
                        self.fault(node.at, path, what);
                    }
                }
            }
            Value::Sequence(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.expand(item, &format!("{path}[{index}]"), place);
                }
            }
            Value::Mapping(entries) => {
                let parameters = if place == Place::Tool {
                    parameters(entries)
                } else {
                    Vec::new()
                };
                for entry in entries {
                    let place = place.below(&entry.key);
                    let faults = self.faults.len();
                    self.expand(&mut entry.value, &yaml::below(path, &entry.key), place);
                    for fault in self.faults.iter_mut().skip(faults).filter(|_| place == Place::Template) {
                        name_argument(fault, &parameters);
                    }
                }
            }
            Value::Scalar(_) | Value::Broken => {}
        }
    }
}

/// The parameters that a tool with these keys declares.
fn parameters(entries: &[Entry]) -> Vec<String> {
    let declared = entries.iter().find(|entry| entry.key == "parameters");
    match declared.map(|entry| &entry.value.value) {
        Some(Value::Mapping(parameters)) => parameters.iter().map(|entry| entry.key.clone()).collect(),
        _ => Vec::new(),
    }
}

/// `${name}` in a template is a variable of the environment, and most often was to be an argument.
fn name_argument(fault: &mut Fault, parameters: &[String]) {
    let unset = |name: &&String| {
        fault
            .what
            .starts_with(&format!("environment variable {name} is not set"))
    };
    if let Some(name) = parameters.iter().find(unset) {
        fault.what =
            format!("${{{name}}} is a variable of the environment, and not set; an argument is written {{{name}}}");
    }
}

/// `path` without the `./` before it, which would stand in the middle of a joined one.
pub(super) fn plain(path: &str) -> &Path {
    let mut rest = path;
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter.trim_start_matches('/');
    }
    Path::new(if rest == "." { "" } else { rest })
}
