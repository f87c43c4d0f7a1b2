//! `run:`, `shell:` and `stdin:` of a declared tool, and whether they go with its parameters.
//!
//! Variables expand before placeholders are read, and what a variable holds is text: `Place::Template`
//! of `expand` doubles its braces. The text of `shell:` is not expanded, for the shell does that.

use super::parameters::{Parameter, Parameters};
use super::{Draft, Run};
use crate::config::expand;
use crate::config::fault::Position;
use crate::config::read::Reader;
use crate::config::suggest::nearest;
use crate::config::words;
use crate::config::yaml::{Node, Scalar, Value};
use crate::tools::template::{Argv, Element, Form, Template, variable};

/// A placeholder in a template.
pub(super) struct Use {
    at: Position,
    path: String,
    name: String,
    form: Form,
}

/// Stands for what a variable holds while faults are looked for: no name can have it, and no fault shows a value.
const HIDDEN: &str = "\u{fffd}";

impl Reader<'_> {
    pub(super) fn run(&mut self, node: &Node, path: &str, uses: &mut Vec<Use>) -> Option<Argv> {
        const EXPECTED: &str = "a list, one item an argument: [program, \"{name}\", ...]";
        let items = match &node.value {
            Value::Sequence(items) => items,
            Value::Scalar(scalar) if !scalar.is_missing() => {
                self.fault(node.at, path, as_list(&scalar.typed));
                return None;
            }
            Value::Broken => return None,
            _ => {
                self.fault(node.at, path, format!("expected {EXPECTED}"));
                return None;
            }
        };
        let faults = self.faults.len();
        let elements: Vec<Element> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.element(item, &format!("{path}[{index}]"), uses))
            .collect();
        if self.faults.len() > faults || elements.len() < items.len() {
            return None;
        }
        self.one_program(items, path);
        match Argv::new(elements) {
            Ok(argv) => Some(argv),
            Err(what) => {
                self.fault(node.at, path, what);
                None
            }
        }
    }

    /// `[df -h, ...]`: no program is called that.
    fn one_program(&mut self, items: &[Node], path: &str) {
        let Some(Value::Scalar(program)) = items.first().map(|item| &item.value) else {
            return;
        };
        let split = program.text().split_once(char::is_whitespace);
        if split.is_some_and(|(program, _)| !program.contains('/')) {
            let what = "an item of the list is one argument, blanks and all: write [program, argument, ...]";
            self.fault(items[0].at, &format!("{path}[0]"), what);
        }
    }

    /// One argument, or a group of them.
    fn element(&mut self, node: &Node, path: &str, uses: &mut Vec<Use>) -> Option<Element> {
        const EXPECTED: &str = "an argument (a text without a NUL character)";
        let Value::Sequence(items) = &node.value else {
            return self.argument(node, path, EXPECTED, uses).map(Element::One);
        };
        let group: Vec<Template> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.argument(item, &format!("{path}[{index}]"), EXPECTED, uses))
            .collect();
        (group.len() == items.len()).then_some(Element::Group(group))
    }

    /// A template; `./x` without placeholders is a file beside the configuration.
    fn argument(&mut self, node: &Node, path: &str, expected: &str, uses: &mut Vec<Use>) -> Option<Template> {
        let template = self.template(node, path, expected, uses)?;
        Some(match template.as_literal() {
            Some(text) => Template::literal(self.rooted(text.to_owned())),
            None => template,
        })
    }

    pub(super) fn template(
        &mut self,
        node: &Node,
        path: &str,
        expected: &str,
        uses: &mut Vec<Use>,
    ) -> Option<Template> {
        if let Some(name) = unquoted(node) {
            let what = format!("YAML reads {{{name}}} as a mapping: put it in quotes, \"{{{name}}}\"");
            self.fault(node.at, path, what);
            return None;
        }
        let fits = |text: &str| (!text.contains('\0')).then(|| text.to_owned());
        let text = self.parsed(node, path, expected, fits)?;
        let Value::Scalar(scalar) = &node.value else {
            return None;
        };
        let template = match Template::parse(&self.hidden(scalar)) {
            Ok(_) => Template::parse(&text),
            Err(what) => Err(what.replace(HIDDEN, "${...}")),
        };
        match template {
            Ok(template) => {
                uses.extend(template.placeholders().map(|(name, form)| Use {
                    at: node.at,
                    path: path.to_owned(),
                    name: name.to_owned(),
                    form,
                }));
                Some(template)
            }
            Err(what) => {
                self.fault(node.at, path, what);
                None
            }
        }
    }

    /// The text with what its variables hold hidden.
    fn hidden(&self, scalar: &Scalar) -> String {
        if scalar.expanded.is_none() {
            return scalar.typed.clone();
        }
        let hide = |name: &str| {
            let held = (self.env)(name)?;
            Some(if held.is_empty() { held } else { HIDDEN.to_owned() })
        };
        // It did expand before, with the same variables.
        expand::expand(&scalar.typed, &hide).unwrap_or_default()
    }

    /// Whether what the templates name is there and of a type that suits.
    pub(super) fn placeholders(&mut self, draft: &Draft, parameters: &Parameters) {
        let known = parameters.known.as_deref();
        for used in &draft.uses {
            match (known, parameters.find(&used.name)) {
                (_, Some(parameter)) => self.suits(used, parameter),
                (Some(known), None) => self.unknown_parameter(used, known),
                (None, None) => {}
            }
        }
        if let Some((Run::Shell(script), (at, path))) = draft.run.as_ref().zip(draft.command.clone()) {
            self.variables(script, at, &path, known.unwrap_or_default());
        }
        self.stdin_is_no_script(draft);
    }

    fn suits(&mut self, used: &Use, parameter: &Parameter) {
        let Some(kind) = &parameter.kind else {
            return;
        };
        let name = &used.name;
        let what = match used.form {
            Form::Spread if kind != "array" => {
                format!("'{{{name}...}}' spreads an array, and '{name}' has the type {kind}: write {{{name}}}")
            }
            Form::Flag if kind != "boolean" => format!(
                "'{{{name}?}}' asks whether a boolean is true, and '{name}' has the type {kind}: write {{{name}}}"
            ),
            _ => return,
        };
        self.fault(used.at, &used.path, what);
    }

    fn unknown_parameter(&mut self, used: &Use, known: &[Parameter]) {
        let names: Vec<&str> = known.iter().map(|parameter| parameter.name.as_str()).collect();
        let hint = match nearest(&used.name, &names) {
            Some(meant) => format!("did you mean '{meant}'?"),
            None => Self::named(known),
        };
        let what = format!("'{}' names no parameter; {hint}", used.name);
        self.fault(used.at, &used.path, what);
    }

    /// Whether each parameter has a variable of its own, and none is pasted.
    fn variables(&mut self, script: &str, at: Position, path: &str, known: &[Parameter]) {
        for (index, parameter) in known.iter().enumerate() {
            let (name, variable_name) = (&parameter.name, variable(&parameter.name));
            let twin = known[..index]
                .iter()
                .find(|other| variable(&other.name) == variable_name);
            if let Some(twin) = twin {
                let what = format!(
                    "becomes the variable {variable_name} in 'shell', as '{}' does: rename one of them",
                    twin.name
                );
                self.fault(parameter.at, &parameter.path, what);
            }
            if is_pasted(script, name) {
                let what = format!(
                    "'{{{name}}}' is not filled in here, a value must never become shell text: write \"${variable_name}\""
                );
                self.fault(at, path, what);
            }
        }
    }

    fn stdin_is_no_script(&mut self, draft: &Draft) {
        let Some((template, at, path)) = &draft.stdin else {
            return;
        };
        if let Some((name, _)) = template.placeholders().find(|(_, form)| *form == Form::Spread) {
            let what = format!("'{{{name}...}}' becomes several arguments, and stdin is one text: write {{{name}}}");
            self.fault(*at, path, what);
        }
        let reads = matches!(&draft.run, Some(Run::Argv(argv)) if argv.reads_script());
        if reads && template.as_literal().is_none() {
            let what = "the program of 'run' would read it as its script, and a value must never become shell text or code: \
                        use 'shell:' and its variables ($ARG_NAME), or give the program a script of its own";
            self.fault(*at, path, what);
        }
    }
}

/// The name in `{name}` without quotes, which YAML reads as a mapping.
fn unquoted(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Mapping(entries) => match &entries[..] {
            [entry] if matches!(&entry.value.value, Value::Scalar(scalar) if scalar.is_missing()) => Some(&entry.key),
            _ => None,
        },
        _ => None,
    }
}

/// Whether `{name}` stands in the script, other than as the variable `${name}`.
fn is_pasted(script: &str, name: &str) -> bool {
    let placeholder = format!("{{{name}}}");
    let mut places = script.match_indices(&placeholder);
    places.any(|(at, _)| !script[..at].ends_with('$'))
}

/// What to write instead of a line.
fn as_list(line: &str) -> String {
    let word = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("{word:?}")
        }
    };
    let words = words::split(line)
        .ok()
        .filter(|_| line.chars().count() <= 100 && !line.contains('='));
    let list = match words {
        Some(words) if !words.is_empty() => words.into_iter().map(word).collect::<Vec<_>>().join(", "),
        _ => "program, \"{name}\", ...".to_owned(),
    };
    format!("is a list, one item an argument: write [{list}], or 'shell:' where a shell is needed")
}
