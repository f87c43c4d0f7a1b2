//! What is wrong, in words: the place, the rule, never the value (F089).

mod compile;
mod rules;

use std::fmt::Write;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Rule;
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

pub(super) use compile::{of_reference, of_schema};
use rules::why;

/// Faults listed; the rest is counted.
const LISTED: usize = 10;

/// Faults counted; a result of a million wrong items is not walked to its end for a number.
const COUNTED: usize = 1_000;

/// Bytes of the whole text.
const TEXT: usize = 1_024;

/// Characters of one quoted name or list.
const QUOTED: usize = 200;

/// Every fault of a value that is not valid.
pub(super) fn of_value<'i>(errors: impl Iterator<Item = ValidationError<'i>>, root: &Value, whole: &str) -> String {
    let mut faults: Vec<String> = Vec::new();
    let mut count = 0;
    for error in errors.take(COUNTED) {
        for fault in of_error(&error, root, whole) {
            count += 1;
            if faults.len() < LISTED && !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    if faults.is_empty() {
        // A pattern that was not matched to its end can leave no error behind.
        return format!("{whole}: does not fit the schema");
    }
    joined(&faults, count)
}

/// Joined by `; `, at most [`TEXT`] bytes and always at least one fault.
fn joined(faults: &[String], count: usize) -> String {
    let mut text = clip(&faults[0], TEXT);
    let mut told = 1;
    for fault in &faults[1..] {
        if text.len() + fault.len() > TEXT {
            break;
        }
        text.push_str("; ");
        text.push_str(fault);
        told += 1;
    }
    let plus = if count >= COUNTED { "at least " } else { "" };
    if count > told && (told < faults.len() || faults.len() == LISTED) {
        write!(text, "; and {plus}{} more", count - told).ok();
    }
    text
}

fn of_error(error: &ValidationError<'_>, root: &Value, whole: &str) -> Vec<String> {
    let place = error.instance_path();
    match error.kind() {
        Rule::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![format!("{}: is required", where_is(place, Some(name), whole))]
        }
        Rule::AdditionalProperties { unexpected } | Rule::UnevaluatedProperties { unexpected } => {
            let known = known_properties(error.schema_path(), root);
            unexpected
                .iter()
                .map(|name| format!("{}: is not allowed{known}", where_is(place, Some(name), whole)))
                .collect()
        }
        _ => vec![format!("{}: {}", where_is(place, None, whole), why(error))],
    }
}

/// `options.depth`, `items[3].name`; the value itself is `whole`.
fn where_is(place: &Location, property: Option<&str>, whole: &str) -> String {
    let mut path = String::new();
    for segment in place.segments() {
        match segment {
            LocationSegment::Index(index) => write!(path, "[{index}]").ok(),
            LocationSegment::Property(name) => push_name(&mut path, &name),
        };
    }
    if let Some(name) = property {
        push_name(&mut path, name);
    }
    match path.as_bytes().first() {
        None => whole.to_owned(),
        Some(b'[') => format!("{whole}{path}"),
        Some(_) => path,
    }
}

fn push_name(path: &mut String, name: &str) -> Option<()> {
    let name = clip(name, 80);
    let plain = |char: char| char.is_alphanumeric() || "_-$@ ".contains(char);
    if name.is_empty() || !name.chars().all(plain) {
        return write!(path, "[{name:?}]").ok();
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(&name);
    Some(())
}

/// ` (known: a, b)`, from the schema the rule stands in.
fn known_properties(rule: &Location, root: &Value) -> String {
    let parent = rule.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = root.pointer(parent).and_then(|schema| schema.get("properties"));
    let Some(Value::Object(properties)) = properties.filter(|names| names.as_object().is_some_and(|m| !m.is_empty()))
    else {
        return String::new();
    };
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    format!(" (known: {})", clip(&names.join(", "), QUOTED))
}

/// `text`, cut to about `limit` bytes at a character.
fn clip(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
