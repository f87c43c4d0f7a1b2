//! The argv of a declared command: a fixed program, and arguments that values fill.

use std::collections::BTreeSet;

use super::words::Words;
use super::wrapper::{self, Before};
use super::{Form, LONGEST_ARGUMENT, Piece, Template, Values, code, shell};

/// Faults listed; the rest is counted.
const LISTED: usize = 10;

/// An item of `run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// One argument, or several where it is a spread.
    One(Template),
    /// Arguments that come or stay away together.
    Group(Vec<Template>),
}

impl Element {
    pub(super) fn templates(&self) -> &[Template] {
        match self {
            Self::One(template) => std::slice::from_ref(template),
            Self::Group(templates) => templates,
        }
    }
}

/// The argv of a declared command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv {
    program: String,
    /// Without the program.
    elements: Vec<Element>,
    /// Elements that belong to wrappers such as `env`: a `--` among them ends the options of the wrapper only.
    wrapping: usize,
    /// Elements that cannot be left out: what follows would become the program, or its code.
    needed: BTreeSet<usize>,
    reads_script: bool,
}

impl Argv {
    /// The argv of these items, the first of which is the program.
    ///
    /// # Errors
    /// In words for the owner: a program that is not fixed, or a value that would become shell text or code.
    pub fn new(mut elements: Vec<Element>) -> Result<Self, String> {
        if elements.is_empty() {
            return Err("is empty: the first item is the program".to_owned());
        }
        let program = match elements.remove(0) {
            Element::Group(_) => return Err("the first item is the program, which is no group".to_owned()),
            Element::One(first) => match first.as_literal() {
                None => {
                    return Err(
                        "the program is fixed: a value can fill an argument, but not choose what is started".to_owned(),
                    );
                }
                Some("") => return Err("the program has no name".to_owned()),
                Some(name) => name.to_owned(),
            },
        };
        if elements.iter().any(|element| element.templates().is_empty()) {
            return Err("an empty group: it holds at least one argument".to_owned());
        }
        let mut words = Words::new(&program, &elements);
        shell::split_by_env(&mut words)?;
        shell::refuse(&words)?;
        let Before {
            elements: wrapping,
            mut needed,
        } = wrapper::before(&words, elements.len())?;
        needed.extend(code::refuse(&words)?);
        let reads_script = shell::reads_script(&words);
        Ok(Self {
            program,
            elements,
            wrapping,
            needed,
            reads_script,
        })
    }

    /// The program, which no value can change.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Its placeholders in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = (&str, Form)> {
        let templates = self.elements.iter().flat_map(Element::templates);
        templates.flat_map(Template::placeholders)
    }

    /// Whether a shell or an interpreter is started that reads its script from stdin.
    pub fn reads_script(&self) -> bool {
        self.reads_script
    }

    /// The program and its arguments for one call. The parameters in `leading_dash` may begin with a `-`.
    ///
    /// # Errors
    /// Every fault as `<where>: <why>`, joined by `; `, without the values themselves.
    pub fn fill(&self, values: &Values, leading_dash: &BTreeSet<String>) -> Result<Vec<String>, String> {
        let mut argv = vec![self.program.clone()];
        let mut faults = Vec::new();
        let mut options_ended = false;
        for (index, element) in self.elements.iter().enumerate() {
            let told = faults.len();
            let Some(arguments) = arguments(element, values, &mut faults) else {
                if self.needed.contains(&index) && faults.len() == told {
                    faults.push(missing(element));
                }
                continue;
            };
            for argument in arguments {
                options_ended |= argument.is_end_of_options() && index >= self.wrapping;
                argument.check(options_ended, leading_dash, &mut faults);
                argv.push(argument.text);
            }
        }
        if faults.is_empty() {
            Ok(argv)
        } else {
            Err(joined(faults))
        }
    }
}

/// What is told of an element that must be there.
fn missing(element: &Element) -> String {
    let placeholders = element.templates().iter().flat_map(Template::placeholders);
    let names: Vec<&str> = placeholders.map(|(name, _)| name).collect();
    format!(
        "{}: must not be left out here, for what stands behind it in 'run' would take its place: send it, or have \
         the tool's owner make it 'required' or give it a default",
        names.join(", ")
    )
}

/// Joined by `; `, each once.
fn joined(mut faults: Vec<String>) -> String {
    let mut seen = BTreeSet::new();
    faults.retain(|fault| seen.insert(fault.clone()));
    let more = faults.len().saturating_sub(LISTED);
    faults.truncate(LISTED);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    faults.join("; ")
}

/// One argument, and which values it is made of.
struct Argument<'t> {
    text: String,
    /// The value its first character comes from, or stands behind where that is empty.
    first: Option<Source<'t>>,
    begins_with_value: bool,
    /// The longest value in it.
    longest: Option<(Source<'t>, usize)>,
    /// A value with a NUL in it.
    nul: Option<Source<'t>>,
    literal: bool,
}

/// A value: of a parameter, or an item of it.
#[derive(Clone, Copy)]
struct Source<'t> {
    name: &'t str,
    item: Option<usize>,
}

impl std::fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.item {
            Some(index) => write!(f, "{}[{index}]", self.name),
            None => f.write_str(self.name),
        }
    }
}

impl<'t> Argument<'t> {
    fn new(literal: bool) -> Self {
        Self {
            text: String::new(),
            first: None,
            begins_with_value: false,
            longest: None,
            nul: None,
            literal,
        }
    }

    fn push(&mut self, value: &str, source: Source<'t>) {
        // An empty value counts as well: what the owner wrote behind it is first only because of it.
        if self.text.is_empty() && (self.first.is_none() || !value.is_empty()) {
            self.first = Some(source);
            self.begins_with_value = !value.is_empty();
        }
        if self.longest.is_none_or(|(_, length)| value.len() > length) {
            self.longest = Some((source, value.len()));
        }
        if value.contains('\0') {
            self.nul = Some(source);
        }
        self.text.push_str(value);
    }

    /// Only what the owner wrote ends the options, not a value that happens to be `--`.
    fn is_end_of_options(&self) -> bool {
        self.literal && self.text == "--"
    }

    fn check(&self, options_ended: bool, leading_dash: &BTreeSet<String>, faults: &mut Vec<String>) {
        if let Some(source) = self.nul {
            faults.push(format!(
                "{source}: holds a NUL character, which no argument of a program can"
            ));
        }
        if let (Some((source, _)), true) = (self.longest, self.text.len() > LONGEST_ARGUMENT) {
            let length = self.text.len();
            faults.push(format!(
                "{source}: makes an argument of {length} bytes, and a program takes at most {LONGEST_ARGUMENT} in one: \
                 send less, or have the tool take it through 'stdin', which has no such limit"
            ));
        }
        let Some(source) = self.first.filter(|_| self.text.starts_with('-') && !options_ended) else {
            return;
        };
        if !leading_dash.contains(source.name) {
            let name = source.name;
            let how = if self.begins_with_value {
                "starts with '-'"
            } else {
                "is empty, so that the argument starts with '-'"
            };
            faults.push(format!(
                "{source}: {how}, which the program could take for an option: write it another way \
                 (a file as ./-name), or have the tool's owner put '--' before it in 'run' or 'leading_dash: true' \
                 at the parameter '{name}'"
            ));
        }
    }
}

/// The arguments an element becomes; `None` where a placeholder has no value.
fn arguments<'t>(element: &'t Element, values: &Values, faults: &mut Vec<String>) -> Option<Vec<Argument<'t>>> {
    let mut all = Vec::new();
    for template in element.templates() {
        match &template.pieces[..] {
            [Piece::Placeholder(name, Form::Spread)] => all.extend(spread(name, values)?),
            pieces => all.push(argument(pieces, values, faults)?),
        }
    }
    Some(all)
}

/// One argument an item; an empty array is no value, and what is no array is one argument.
fn spread<'t>(name: &'t str, values: &Values) -> Option<Vec<Argument<'t>>> {
    let one = |value: &str, item| {
        let mut argument = Argument::new(false);
        argument.push(value, Source { name, item });
        argument
    };
    match values.items(name)? {
        Ok(items) if items.is_empty() => None,
        Ok(items) => Some(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| one(item, Some(index)))
                .collect(),
        ),
        Err(whole) => Some(vec![one(whole, None)]),
    }
}

fn argument<'t>(pieces: &'t [Piece], values: &Values, faults: &mut Vec<String>) -> Option<Argument<'t>> {
    let literal = pieces.iter().all(|piece| matches!(piece, Piece::Literal(_)));
    let mut argument = Argument::new(literal);
    for piece in pieces {
        match piece {
            Piece::Literal(text) => argument.text.push_str(text),
            Piece::Placeholder(name, form) => match super::value(name, *form, values) {
                Ok(Some(text)) => argument.push(&text, Source { name, item: None }),
                Ok(None) => return None,
                Err(fault) => {
                    faults.push(fault);
                    return None;
                }
            },
        }
    }
    Some(argument)
}
