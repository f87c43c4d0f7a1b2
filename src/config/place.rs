//! Keys and values that are right in themselves and stand in the wrong place: most often a matter of indentation. Pure.

use std::path::Path;

use super::read::TOP_KEYS;
use super::toolbox::KEYS;
use super::yaml::{Entry, Node, Value};

/// What names of scripts end in.
const ENDINGS: &[&str] = &["py", "js", "mjs", "cjs", "sh", "bash"];

/// Whether `text` names a script by its ending, and is nothing else.
pub(super) fn is_script(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending)) && !text.contains(char::is_whitespace) && !text.contains('=')
}

/// The entries that belong below an empty one before them, each with the key of that one: `a:` and, no deeper,
/// `script: ./a.py`. `keys` are those that may stand below it.
pub(super) fn too_shallow<'n>(entries: &'n [Entry], keys: &[&str]) -> Vec<(&'n Entry, &'n Entry)> {
    let mut owner: Option<&Entry> = None;
    let mut found = Vec::new();
    for entry in entries {
        match owner {
            Some(owner) if keys.contains(&entry.key.as_str()) && !is_whole(&entry.value, keys) => {
                found.push((entry, owner));
            }
            _ => owner = is_empty(&entry.value).then_some(entry),
        }
    }
    found
}

/// Whether a value has keys of its own that may stand there: then it is what its place says.
fn is_whole(node: &Node, keys: &[&str]) -> bool {
    matches!(&node.value, Value::Mapping(entries) if entries.iter().any(|entry| keys.contains(&entry.key.as_str())))
}

fn is_empty(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.is_missing())
}

/// Where a key stands that is none of `known`, and what is wrong with this place.
pub(super) fn elsewhere(key: &str, known: &[&str]) -> Option<String> {
    if known.contains(&key) {
        return None;
    }
    // `env` and `description` say nothing of where they belong, being known in several places.
    if TOP_KEYS.contains(&key) {
        return Some("unknown key here; it stands at the top of the file: this line is indented too far".to_owned());
    }
    if KEYS.contains(&key) && known != TOP_KEYS {
        return Some("unknown key here; it is a key of a toolbox: is this line indented too far?".to_owned());
    }
    let of_tool = matches!(key, "run" | "shell" | "stdin" | "parameters" | "argument_schema");
    (of_tool && known == KEYS).then(|| {
        "unknown key here; it is a key of a tool: indent it below the name of one under 'tools:', as in tools: {NAME: \
         {run: [program, argument]}}"
            .to_owned()
    })
}

/// What was meant by a toolbox or tool that is a text or a list.
pub(super) fn meant(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Scalar(scalar) if is_script(&scalar.typed) => {
            Some(format!("found a text: write {key}: {{script: {}}}", scalar.typed))
        }
        Value::Sequence(items) if !items.is_empty() => Some(format!(
            "found a list: write {key}: {{command: [...]}} for a program that speaks the protocol"
        )),
        _ => None,
    }
}

/// The variable that an unquoted `${NAME}` within braces or brackets was to be: YAML reads its `{` as a mapping.
pub(super) fn unquoted_variable(line: &str) -> Option<&str> {
    let mut rest = line;
    while let Some(at) = rest.find("${") {
        let before = &rest[..at];
        let end = rest[at..].find('}')?;
        let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
        let name = &rest[at + 2..at + end];
        let is_name = name
            .split(":-")
            .next()
            .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if !quoted && is_name {
            // A default may be a secret.
            return name.split(":-").next();
        }
        rest = &rest[at + end..];
    }
    None
}
