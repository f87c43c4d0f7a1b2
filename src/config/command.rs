//! What runs a toolbox: its argv.

use super::read::Reader;
use super::scalars::plain;
use super::yaml::{Node, Value};
use super::{expand, words};

impl Reader<'_> {
    /// `command:` as a list of arguments, or as one line to split.
    pub(super) fn command(&mut self, node: &Node, path: &str) -> Option<Vec<String>> {
        const EXPECTED: &str = "a program and its arguments: [program, argument, ...]";
        let argv = match &node.value {
            Value::Scalar(scalar) if !scalar.is_missing() => self.command_line(node, &scalar.typed, path)?,
            Value::Broken => return None,
            Value::Sequence(items) if !items.is_empty() => self.arguments(items, path)?,
            _ => {
                self.fault(node.at, path, format!("expected {EXPECTED}"));
                return None;
            }
        };
        match argv.first() {
            None => self.fault(node.at, path, format!("expected {EXPECTED}")),
            Some(program) if program.is_empty() => self.fault(node.at, path, "the program has no name"),
            Some(_) => return Some(argv.into_iter().map(|argument| self.rooted(argument)).collect()),
        }
        None
    }

    /// Words first, variables after: what a variable holds is never split.
    fn command_line(&mut self, node: &Node, line: &str, path: &str) -> Option<Vec<String>> {
        let expanded = |words: Vec<String>| words.iter().map(|word| expand::expand(word, self.env)).collect();
        let words: Result<Vec<String>, String> = words::split(line).and_then(expanded);
        match words {
            Ok(words) if words.iter().any(|word| word.contains('\0')) => {
                self.fault(node.at, path, "an argument cannot hold a NUL character");
                None
            }
            Ok(words) => Some(words),
            Err(what) => {
                self.fault(node.at, path, what);
                None
            }
        }
    }

    fn arguments(&mut self, items: &[Node], path: &str) -> Option<Vec<String>> {
        let mut argv = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let expected = "an argument (a text without a NUL character)";
            let fits = |text: &str| (!text.contains('\0')).then(|| text.to_owned());
            argv.extend(self.parsed(item, &format!("{path}[{index}]"), expected, fits));
        }
        if let ([one], [item]) = (&argv[..], items)
            && one
                .split_once(char::is_whitespace)
                .is_some_and(|(program, _)| !program.contains('/'))
        {
            let what = "an item of the list is one argument, blanks and all: write [program, argument, ...]";
            self.fault(item.at, &format!("{path}[0]"), what);
        }
        (argv.len() == items.len()).then_some(argv)
    }

    /// `./x` and `../x` are files beside the configuration, whatever folder the program starts in.
    pub(super) fn rooted(&self, argument: String) -> String {
        if !argument.starts_with("./") && !argument.starts_with("../") {
            return argument;
        }
        match self.folder.join(plain(&argument)).into_os_string().into_string() {
            Ok(path) => path,
            // A folder that is no UTF-8 cannot stand in an argument; the program sees what was typed.
            Err(_) => argument,
        }
    }
}
