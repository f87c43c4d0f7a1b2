//! Templates of `run` and `stdin`: a value arrives byte for byte in the one place that is its own, or is refused in words.

use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::value::RawValue;
use toolhost::json::Members;
use toolhost::tools::template::{Argv, Element, Form, LONGEST_ARGUMENT, Template, Values, variable};

use super::{SECRET, two_parts};

/// The first part is a `run`, an item a line and tabs between the items of a group; the second the arguments of a call.
pub fn hold(data: &[u8]) {
    let Some((run, kwargs)) = two_parts(data) else { return };
    let names = names(kwargs);
    let values = match Values::parse(kwargs, &BTreeSet::new()) {
        Ok(values) => values,
        Err(why) => {
            return assert!(
                !why.contains(SECRET) || names.iter().any(|name| name.contains(SECRET)),
                "{why}"
            );
        }
    };
    shell_variables(&values);
    let Some(given) = Given::of(kwargs) else { return };
    // What its owner writes has none: the file is refused then.
    if run.contains('\0') {
        return;
    }
    let lines: Vec<&str> = run.lines().collect();
    for line in &lines {
        as_stdin(line, &values, &given);
    }
    let Some(elements) = lines.iter().map(|line| element(line)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let Ok(argv) = Argv::new(elements) else { return };
    let items: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
    for leading_dash in [BTreeSet::new(), names] {
        let filled = argv.fill(&values, &leading_dash);
        check(&items, &given, &leading_dash, &filled);
    }
}

fn names(kwargs: &str) -> BTreeSet<String> {
    let members = Members::parse(kwargs).unwrap_or_default();
    members.iter().map(|(name, _)| name.to_owned()).collect()
}

fn element(line: &str) -> Option<Element> {
    let templates = line.split('\t').map(Template::parse).collect::<Result<Vec<_>, _>>();
    let mut templates = templates.map_err(|why| assert!(!why.is_empty())).ok()?;
    Some(if templates.len() == 1 {
        Element::One(templates.remove(0))
    } else {
        Element::Group(templates)
    })
}

/// The arguments as a second reader has them.
struct Given(Vec<(String, Option<Is>)>);

enum Is {
    Text(String),
    Json(String),
}

impl Given {
    fn of(kwargs: &str) -> Option<Self> {
        let Value::Object(tree) = super::value(kwargs)? else {
            return None;
        };
        let raw = Members::parse(kwargs).ok()?;
        let is = |(name, value): (&String, &Value)| {
            let is = match value {
                Value::Null => None,
                Value::String(text) => Some(Is::Text(text.clone())),
                _ => Some(Is::Json(compact(raw.get(name).expect("both have it").get()))),
            };
            (name.clone(), is)
        };
        Some(Self(tree.iter().map(is).collect()))
    }

    fn get(&self, name: &str) -> Option<&Is> {
        self.0.iter().find(|(other, _)| other == name)?.1.as_ref()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|is| match is {
            Is::Text(text) | Is::Json(text) => text.as_str(),
        })
    }

    /// The arguments of a spread.
    fn items(&self, name: &str) -> Option<Vec<String>> {
        match self.get(name)? {
            Is::Json(json) if json.starts_with('[') => {
                let items: Vec<&RawValue> = serde_json::from_str(json).expect("an array");
                let text =
                    |raw: &RawValue| serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned());
                Some(items.into_iter().map(text).collect()).filter(|items: &Vec<_>| !items.is_empty())
            }
            Is::Json(text) | Is::Text(text) => Some(vec![text.clone()]),
        }
    }
}

/// JSON without the blanks outside of its strings.
fn compact(json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        out.extend(rest[..at].split([' ', '\t', '\n', '\r']));
        let body = &rest[at + 1..];
        let mut end = 0;
        while !body[end..].starts_with('"') {
            end += if body[end..].starts_with('\\') {
                2
            } else {
                body[end..].chars().next().map_or(1, char::len_utf8)
            };
        }
        out.push_str(&rest[at..at + end + 2]);
        rest = &body[end + 1..];
    }
    out.extend(rest.split([' ', '\t', '\n', '\r']));
    out
}

/// What a text with placeholders becomes: `Ok(None)` where it is left out, `Err` where it must be refused.
fn model(template: &str, given: &Given) -> Result<Option<String>, ()> {
    let mut out = String::new();
    let mut chars = template.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '{' | '}' if chars.peek() == Some(&char) => {
                chars.next();
                out.push(char);
            }
            '{' => {
                let inside: String = chars.by_ref().take_while(|char| *char != '}').collect();
                match inside.strip_suffix('?') {
                    Some(flag) => match given.text(flag) {
                        Some("true") if matches!(given.get(flag), Some(Is::Json(_))) => {}
                        Some("false") if matches!(given.get(flag), Some(Is::Json(_))) => return Ok(None),
                        None => return Ok(None),
                        Some(_) => return Err(()),
                    },
                    None => match given.text(&inside) {
                        Some(text) => out.push_str(text),
                        None => return Ok(None),
                    },
                }
            }
            char => out.push(char),
        }
    }
    Ok(Some(out))
}

/// `stdin` is filled as the model says; a spread has no place in it.
fn as_stdin(line: &str, values: &Values, given: &Given) {
    let Ok(template) = Template::parse(line) else { return };
    let filled = template.fill(values);
    if template.placeholders().any(|(_, form)| form == Form::Spread) {
        return assert!(filled.is_err());
    }
    match (filled, model(line, given)) {
        (Ok(filled), Ok(expected)) => assert_eq!(filled, expected, "{line}"),
        (Err(why), Err(())) => assert!(!why.is_empty()),
        (filled, expected) => panic!("{line}: {filled:?}, expected {expected:?}"),
    }
}

/// How an argument came to be: its text, and the names of the values it is made of.
struct Expected {
    text: String,
    /// What of the text the owner wrote before the first value; all of it where there is none.
    before: String,
    names: Vec<String>,
}

fn check(items: &[Vec<&str>], given: &Given, leading_dash: &BTreeSet<String>, filled: &Result<Vec<String>, String>) {
    let expected = expected(items, given);
    let argv = match (filled, &expected) {
        (Ok(argv), Some(_)) => argv,
        (Ok(argv), None) => panic!("a flag that is no boolean went through: {argv:?}"),
        (Err(why), _) => return refused(why, expected.as_deref(), given, leading_dash),
    };
    let expected = expected.unwrap_or_default();
    let texts: Vec<&str> = expected.iter().map(|argument| argument.text.as_str()).collect();
    assert_eq!(argv, &texts, "each value in its own place, and nothing else");
    let mut ended = false;
    for argument in &expected {
        ended |= argument.names.is_empty() && argument.text == "--";
        assert!(!argument.text.contains('\0') || argument.names.is_empty());
        assert!(argument.text.len() <= LONGEST_ARGUMENT || argument.names.is_empty());
        if !argument.names.is_empty() && argument.before.is_empty() && argument.text.starts_with('-') {
            let allowed = argument.names.iter().any(|name| leading_dash.contains(name));
            assert!(ended || allowed, "an option from a value: {:?}", argument.text);
        }
    }
}

/// The whole argv of these items, `None` where a flag is no boolean.
fn expected(items: &[Vec<&str>], given: &Given) -> Option<Vec<Expected>> {
    let mut all = Vec::new();
    for item in items {
        let mut group = Some(Vec::new());
        for template in item {
            group = match (group, one(template, given)?) {
                (Some(group), Some(arguments)) => Some(group.into_iter().chain(arguments).collect()),
                // What stands behind in the group is not looked at any more.
                _ => {
                    group = None;
                    break;
                }
            };
        }
        all.extend(group.into_iter().flatten());
    }
    Some(all)
}

/// What one template becomes: `Some(None)` where it is left out.
fn one(written: &str, given: &Given) -> Option<Option<Vec<Expected>>> {
    let template = Template::parse(written).expect("it was read");
    let placeholders: Vec<(&str, Form)> = template.placeholders().collect();
    if let [(name, Form::Spread)] = placeholders[..] {
        let argument = |text: String| Expected {
            text,
            before: String::new(),
            names: vec![name.to_owned()],
        };
        return Some(given.items(name).map(|items| items.into_iter().map(argument).collect()));
    }
    let before = written
        .replace("{{", "\u{1}")
        .split('{')
        .next()
        .unwrap_or_default()
        .replace('\u{1}', "{");
    let names = placeholders.iter().map(|(name, _)| (*name).to_owned()).collect();
    let text = model(written, given).ok()?;
    Some(text.map(|text| vec![Expected { text, before, names }]))
}

/// A refusal names a parameter, says nothing of a value, and has a reason.
fn refused(why: &str, expected: Option<&[Expected]>, given: &Given, leading_dash: &BTreeSet<String>) {
    assert!(!why.trim().is_empty());
    assert!(
        !why.contains(SECRET) || given.0.iter().any(|(name, _)| name.contains(SECRET)),
        "{why}"
    );
    let Some(expected) = expected else { return };
    let mut ended = false;
    let has_reason = expected.iter().any(|argument| {
        ended |= argument.names.is_empty() && argument.text == "--";
        let dash = argument.text.starts_with('-') && !argument.names.iter().all(|name| leading_dash.contains(name));
        argument.text.contains('\0') || argument.text.len() > LONGEST_ARGUMENT || dash
    });
    assert!(
        has_reason || why.contains("must not be left out"),
        "refused for nothing: {why}"
    );
}

/// Arguments become variables of a shell: names a shell can have, and nothing else.
fn shell_variables(values: &Values) {
    for (name, _) in values.iter() {
        let variable = variable(name);
        let rest = variable.strip_prefix("ARG_").expect("the prefix");
        assert!(
            rest.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'),
            "{variable}"
        );
    }
}
