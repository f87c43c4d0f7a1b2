//! What is wrong, in words: the place, the rule, never the value (F089).

use std::fmt::Write;

use jsonschema::error::{TypeKind, ValidationErrorKind as Rule};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, JsonTypeSet, ReferencingError, ValidationError};
use serde_json::Value;

/// Faults listed; the rest is counted.
const LISTED: usize = 10;

/// Faults counted; a result of a million wrong items is not walked to its end for a number.
const COUNTED: usize = 1_000;

/// Bytes of the whole text.
const TEXT: usize = 1_024;

/// Characters of one quoted name or list.
const QUOTED: usize = 200;

/// Every fault of a value, or `Ok` where the errors turn out to be none.
pub(super) fn of_value<'i>(
    errors: impl Iterator<Item = ValidationError<'i>>,
    root: &Value,
    whole: &str,
) -> Result<(), String> {
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
    if count == 0 {
        return Ok(());
    }
    Err(joined(&faults, count))
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

/// The rule that is broken.
fn why(error: &ValidationError<'_>) -> String {
    let many = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    match error.kind() {
        Rule::Type { kind } => expected(types(kind), error.instance()),
        Rule::Enum { options } => format!("expected {}", choices(options)),
        Rule::Constant { expected_value } => format!("expected {}", clip(&expected_value.to_string(), QUOTED)),
        Rule::Minimum { limit } => format!("is below the minimum {limit}"),
        Rule::Maximum { limit } => format!("is above the maximum {limit}"),
        Rule::ExclusiveMinimum { limit } => format!("must be above {limit}"),
        Rule::ExclusiveMaximum { limit } => format!("must be below {limit}"),
        Rule::MultipleOf { multiple_of } => format!("is no multiple of {multiple_of}"),
        Rule::MinLength { limit } => format!("is shorter than {}", many(*limit, "character")),
        Rule::MaxLength { limit } => format!("is longer than {}", many(*limit, "character")),
        Rule::MinItems { limit } => format!("has fewer than {}", many(*limit, "item")),
        Rule::MaxItems { limit } => format!("has more than {}", many(*limit, "item")),
        Rule::AdditionalItems { limit } => format!("has more than {}", many(*limit as u64, "item")),
        Rule::MinProperties { limit } if *limit == 1 => "has no property".to_owned(),
        Rule::MinProperties { limit } => format!("has fewer than {limit} properties"),
        Rule::MaxProperties { limit } => format!("has more than {limit} properties"),
        Rule::Pattern { pattern } => format!("does not match the pattern {}", clip(pattern, QUOTED)),
        Rule::BacktrackLimitExceeded { .. } | Rule::RegexEngineFailure { .. } => {
            "takes too many steps to match the pattern".to_owned()
        }
        Rule::Format { format } => format!("is no valid {}", clip(format, QUOTED)),
        Rule::ContentEncoding { content_encoding } => format!("is no valid {}", clip(content_encoding, QUOTED)),
        Rule::ContentMediaType { content_media_type } => format!("is no valid {}", clip(content_media_type, QUOTED)),
        Rule::FromUtf8 { .. } => "holds invalid UTF-8".to_owned(),
        Rule::UniqueItems => "has an item twice".to_owned(),
        Rule::UnevaluatedItems { .. } => "has items the schema does not allow".to_owned(),
        Rule::Contains => "has no fitting item, or too many of them".to_owned(),
        Rule::FalseSchema => "no value is allowed here".to_owned(),
        Rule::Not { .. } => "has a form the schema excludes".to_owned(),
        Rule::PropertyNames { error } => format!("has a property whose name {}", why(error)),
        Rule::OneOfMultipleValid { .. } => "fits several alternatives, expected exactly one".to_owned(),
        Rule::AnyOf { context } | Rule::OneOfNotValid { context } => alternatives(context, error),
        Rule::Required { .. } | Rule::AdditionalProperties { .. } | Rule::UnevaluatedProperties { .. } => {
            // Reached inside an alternative only.
            "lacks a property, or has one too many".to_owned()
        }
        Rule::Custom { keyword, .. } => format!("breaks the rule {keyword}"),
        Rule::Referencing(error) => of_reference(error),
    }
}

/// Why none of several alternatives fits. Where all ask for another type it is one sentence, as for
/// an optional value; else the alternatives of the right type tell what they miss.
fn alternatives(context: &[Vec<ValidationError<'static>>], error: &ValidationError<'_>) -> String {
    let wanted = |errors: &Vec<ValidationError<'static>>| match errors.first().map(|first| (first, first.kind())) {
        Some((first, Rule::Type { kind })) if first.instance_path() == error.instance_path() => Some(types(kind)),
        _ => None,
    };
    let close: Vec<_> = context.iter().filter(|errors| wanted(errors).is_none()).collect();
    if close.is_empty() {
        let all = context
            .iter()
            .filter_map(wanted)
            .fold(JsonTypeSet::empty(), JsonTypeSet::union);
        return expected(all, error.instance());
    }
    let base = error.instance_path().segments().count();
    let mut reasons: Vec<String> = Vec::new();
    for first in close.iter().filter_map(|errors| errors.first()) {
        let mut path = Location::new();
        for segment in first.instance_path().segments().skip(base) {
            path = path.join(segment);
        }
        let reason = of_error_at(first, &path);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let shown = reasons.len().min(3);
    format!(
        "fits no alternative ({})",
        clip(&reasons[..shown].join(", or "), QUOTED * 2)
    )
}

/// One reason inside an alternative, its place relative to the value the alternatives are for.
fn of_error_at(error: &ValidationError<'_>, place: &Location) -> String {
    match error.kind() {
        Rule::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("{} is required", where_is(place, Some(name), ""))
        }
        Rule::AdditionalProperties { unexpected } | Rule::UnevaluatedProperties { unexpected } => {
            let name = unexpected.first().map(String::as_str);
            format!("{} is not allowed", where_is(place, name, ""))
        }
        _ if place.is_empty() => why(error),
        _ => format!("{} {}", where_is(place, None, ""), why(error)),
    }
}

fn types(kind: &TypeKind) -> JsonTypeSet {
    match kind {
        TypeKind::Single(kind) => JsonTypeSet::from(*kind),
        TypeKind::Multiple(kinds) => *kinds,
    }
}

fn expected(types: JsonTypeSet, got: &Value) -> String {
    // `null` reads best at the end: "expected integer or null".
    let mut names: Vec<&str> = types
        .iter()
        .filter(|kind| *kind != JsonType::Null)
        .map(JsonType::as_str)
        .collect();
    if types.contains(JsonType::Null) {
        names.push("null");
    }
    let got = match got {
        Value::Number(number) if jsonschema_is_integer(number) => "integer",
        other => type_name(other),
    };
    format!("expected {}, got {got}", names.join(" or "))
}

/// Draft 4 alone tells `1.0` from an integer, and only says so where that is the fault.
fn jsonschema_is_integer(number: &serde_json::Number) -> bool {
    number
        .as_str()
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// The JSON name of a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn choices(options: &Value) -> String {
    let Value::Array(options) = options else {
        return clip(&options.to_string(), QUOTED);
    };
    let all: Vec<String> = options.iter().map(Value::to_string).collect();
    match all.as_slice() {
        [one] => clip(one, QUOTED),
        many => format!("one of {}", clip(&many.join(", "), QUOTED)),
    }
}

/// Why a schema is none.
pub(super) fn of_schema(error: &ValidationError<'_>) -> String {
    if let Rule::Referencing(error) = error.kind() {
        return of_reference(error);
    }
    let mut place = where_is(error.instance_path(), None, "the schema");
    if let Rule::Required { property } = error.kind() {
        place = where_is(error.instance_path(), property.as_str(), "the schema");
        return format!("{place}: is required");
    }
    if let (Rule::Format { format }, Value::String(pattern)) = (error.kind(), error.instance().as_ref()) {
        return match format.as_str() {
            "regex" => format!(
                "{place}: the pattern {} is no regular expression",
                clip(pattern, QUOTED)
            ),
            other => format!("{place}: is no valid {other}"),
        };
    }
    match error.kind() {
        // A message of the compiler's own, about the schema and not about any argument.
        Rule::Custom { message, .. } => format!("{place}: {}", clip(message, QUOTED)),
        _ => format!("{place}: {}", why(error)),
    }
}

/// Why a reference leads nowhere.
pub(super) fn of_reference(error: &ReferencingError) -> String {
    match error {
        ReferencingError::Unretrievable { uri, .. } => {
            let uri = clip(uri, QUOTED);
            format!("the reference to '{uri}' leads out of the schema, and nothing is ever fetched: copy it into $defs")
        }
        ReferencingError::PointerToNowhere { pointer } => {
            format!("the reference to '{}' leads nowhere", clip(pointer, QUOTED))
        }
        ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
            format!("the reference to '#{}' leads nowhere", clip(anchor, QUOTED))
        }
        other => clip(&other.to_string(), QUOTED),
    }
}

/// `text`, cut to about `limit` bytes at a character.
fn clip(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
