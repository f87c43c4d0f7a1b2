//! Why a schema is none.

use jsonschema::error::ValidationErrorKind as Rule;
use jsonschema::{ReferencingError, ValidationError};
use serde_json::Value;

use super::super::PATTERN_SIZE;
use super::rules::why;
use super::{QUOTED, clip, where_is};

/// Why a schema is none.
pub(in crate::tools::schema) fn of_schema(error: &ValidationError<'_>) -> String {
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
            "regex" => {
                let what = if is_too_large(pattern) {
                    "is too large: repeat less often, or say maxLength instead"
                } else {
                    "is no regular expression"
                };
                format!("{place}: the pattern {} {what}", clip(pattern, QUOTED))
            }
            other => format!("{place}: is no valid {other}"),
        };
    }
    match error.kind() {
        // A message of the compiler's own, about the schema and not about any argument.
        Rule::Custom { message, .. } => format!("{place}: {}", clip(message, QUOTED)),
        _ => format!("{place}: {}", why(error)),
    }
}

/// Whether nothing but its size keeps a pattern from being compiled.
fn is_too_large(pattern: &str) -> bool {
    use fancy_regex::{CompileError, Error, RegexBuilder};
    let mut builder = RegexBuilder::new(pattern);
    match builder.delegate_size_limit(PATTERN_SIZE).build() {
        Err(Error::CompileError(error)) => {
            matches!(*error, CompileError::InnerError(why) if why.size_limit().is_some())
        }
        _ => false,
    }
}

/// Why a reference leads nowhere.
pub(in crate::tools::schema) fn of_reference(error: &ReferencingError) -> String {
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
