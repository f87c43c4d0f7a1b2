//! Why a schema is none.

use jsonschema::error::ValidationErrorKind as Rule;
use jsonschema::{ReferencingError, ValidationError};
use serde_json::Value;

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
