//! Each rule of JSON Schema, broken, in words.

use jsonschema::error::{TypeKind, ValidationErrorKind as Rule};
use jsonschema::paths::Location;
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use super::compile::of_reference;
use super::{QUOTED, clip, where_is};

/// The rule that is broken.
pub(super) fn why(error: &ValidationError<'_>) -> String {
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
        Value::Number(number) if is_integer(number) => "integer",
        other => type_name(other),
    };
    format!("expected {}, got {got}", names.join(" or "))
}

/// Draft 4 alone tells `1.0` from an integer, and only says so where that is the fault.
fn is_integer(number: &serde_json::Number) -> bool {
    number
        .as_str()
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// The JSON name of a value's type.
fn type_name(value: &Value) -> &'static str {
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
