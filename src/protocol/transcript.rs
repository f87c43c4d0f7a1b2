//! The golden transcripts of `protocol/transcripts` (protocol/README.md §11), for the tests and for
//! `toolhost check`, which replays the generic ones at a real program.

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::answer::Id;
use crate::json::Members;

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The host sends this request: its exact text, without the line end.
    Host(String),
    /// The host sends this line, request or not.
    Raw(String),
    /// The toolbox sends a line that matches this pattern.
    Toolbox(Value),
    /// The toolbox sends these very bytes; for decoders only.
    ToolboxRaw(String),
    /// The host closes the toolbox's standard input.
    Close,
    /// The toolbox exits by itself.
    Exits,
}

macro_rules! transcripts {
    ($family:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../protocol/transcripts/", $family, "/", $name, ".jsonl")))),*]
    };
}

/// Name and text of the transcripts every toolbox must pass, whatever its tools.
pub const GENERIC: &[(&str, &str)] =
    transcripts!("generic": "describe" "unknown_tool" "unknown_op" "blank_line" "two_at_once" "close");

/// Name and text of the transcripts that show what a host must understand.
pub const EXAMPLE: &[(&str, &str)] = transcripts!("example": "tools" "capabilities" "odd_but_legal");

/// The member of a pattern object that allows further ones.
const MORE: &str = "...";

/// Reads a transcript: its steps in order.
///
/// # Errors
/// The line that is no step, and why.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| step(line).ok_or_else(|| format!("line {} is no step: {line}", index + 1)))
        .collect()
}

fn step(line: &str) -> Option<Step> {
    let members = Members::parse(line).ok()?;
    let mut all = members.iter();
    let ((kind, raw), None) = (all.next()?, all.next()) else {
        return None;
    };
    let flag = |step: Step| (raw.get() == "true").then_some(step);
    match kind {
        "host" => Members::parse(raw.get()).ok().map(|_| Step::Host(raw.get().to_owned())),
        "raw" => text(raw).map(Step::Raw),
        "toolbox" => serde_json::from_str(raw.get()).ok().map(Step::Toolbox),
        "toolbox_raw" => text(raw).map(Step::ToolboxRaw),
        "close" => flag(Step::Close),
        "exits" => flag(Step::Exits),
        _ => None,
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Whether a line from a toolbox is what `pattern` stands for: as [`matches()`] tells it, with an `id` in any
/// spelling a host accepts.
pub fn matches_line(pattern: &Value, line: &[u8]) -> bool {
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    if let (Some(Value::Number(wanted)), Some(id)) = (pattern.get("id"), value.get_mut("id")) {
        let spelled = match &*id {
            Value::Number(number) => Id::from_text(number.as_str()),
            Value::String(text) => Id::from_text(text.trim()),
            _ => Id::Odd,
        };
        if spelled != Id::Odd && spelled == Id::from_text(wanted.as_str()) {
            *id = Value::Number(wanted.clone());
        }
    }
    matches(pattern, &value)
}

/// Whether `value` is what `pattern` stands for.
pub fn matches(pattern: &Value, value: &Value) -> bool {
    match (pattern, value) {
        (Value::String(text), _) if text.starts_with('<') && text.ends_with('>') => placeholder(text, value),
        (Value::Object(wanted), Value::Object(members)) => object(wanted, members),
        (Value::Array(wanted), Value::Array(items)) => {
            wanted.len() == items.len() && wanted.iter().zip(items).all(|(one, item)| matches(one, item))
        }
        (Value::Number(wanted), Value::Number(number)) => same_number(wanted, number),
        _ => pattern == value,
    }
}

fn placeholder(name: &str, value: &Value) -> bool {
    match name {
        "<any>" => true,
        "<string>" => value.is_string(),
        "<number>" => value.is_number(),
        "<boolean>" => value.is_boolean(),
        "<array>" => value.is_array(),
        "<object>" => value.is_object(),
        "<error>" => match value {
            Value::String(text) => !text.trim().is_empty(),
            Value::Object(members) => ["type", "message"].iter().any(|part| members.contains_key(*part)),
            _ => false,
        },
        // Nothing else is a placeholder: it is the string it looks like.
        text => value.as_str() == Some(text),
    }
}

fn object(wanted: &Map<String, Value>, members: &Map<String, Value>) -> bool {
    let told = |name: &String| wanted.contains_key(name);
    let has = |(name, one): (&String, &Value)| members.get(name).is_some_and(|value| matches(one, value));
    wanted.iter().filter(|(name, _)| *name != MORE).all(has) && (wanted.contains_key(MORE) || members.keys().all(told))
}

/// Numbers are kept as they are spelled, so that equal ones can differ as text.
fn same_number(one: &Number, other: &Number) -> bool {
    let float = |number: &Number| number.as_f64().filter(|float| float.is_finite());
    let whole = |number: &Number| {
        number
            .as_str()
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    // Two whole numbers beyond 2^53 are the same float without being the same.
    one == other || (!(whole(one) && whole(other)) && float(one).is_some() && float(one) == float(other))
}

#[cfg(test)]
mod tests;
