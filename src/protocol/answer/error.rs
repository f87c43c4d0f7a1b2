//! The `error` of an answer as the one string the bus carries (OVOS-TOOLS-1 §4.2).

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Kind, Members};

/// Stands in for an error that says nothing: a caller must be able to tell it from no error.
const SILENT: &str = "Error: the tool failed without saying why";

/// The text of `raw`: a string as it is, an object as `type: message`.
///
/// # Errors
/// What is wrong with it, where it is neither.
pub(super) fn text(raw: &RawValue) -> Result<String, String> {
    let text = match json::kind(raw) {
        Kind::String => string(raw).into_owned(),
        Kind::Object => joined(raw),
        Kind::Array => return Err(odd("an array")),
        Kind::Number => return Err(odd("a number")),
        Kind::Bool => return Err(odd("a boolean")),
        Kind::Null => return Err(odd("null")),
    };
    if text.trim().is_empty() {
        return Ok(SILENT.to_owned());
    }
    Ok(text)
}

fn odd(kind: &str) -> String {
    format!("error is {kind}: expected a string or an object with type and message")
}

/// `type: message`, or the one part there is, or the object as it stands if it has neither.
fn joined(raw: &RawValue) -> String {
    let Ok(members) = Members::parse(raw.get()) else {
        return raw.get().to_owned();
    };
    match (part(&members, "type"), part(&members, "message")) {
        (Some(class), Some(message)) => format!("{class}: {message}"),
        (Some(one), None) | (None, Some(one)) => one.into_owned(),
        (None, None) if members.iter().next().is_none() => String::new(),
        (None, None) => raw.get().to_owned(),
    }
}

fn part<'a>(members: &Members<'a>, name: &str) -> Option<Cow<'a, str>> {
    let raw = members.get(name)?;
    let text = match json::kind(raw) {
        Kind::Null => return None,
        Kind::String => string(raw),
        _ => Cow::Borrowed(raw.get()),
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The string `raw` is. Half a surrogate pair (Python writes one for a file name that is no UTF-8)
/// becomes U+FFFD: losing the message for it would help nobody.
fn string(raw: &RawValue) -> Cow<'_, str> {
    json::string(raw).unwrap_or_else(|| {
        let mended = mend_surrogates(raw.get());
        Cow::Owned(serde_json::from_str(&mended).unwrap_or(mended))
    })
}

fn mend_surrogates(raw: &str) -> String {
    let mut mended = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        mended.push_str(plain);
        let (kept, length) = match (surrogate(escape), surrogate(escape.get(6..).unwrap_or_default())) {
            (Some(Half::High), Some(Half::Low)) => (12, 12),
            (Some(_), _) => (0, 6),
            // The char after a backslash may not be one of several bytes in valid JSON.
            (None, _) => (2, 2),
        };
        mended.push_str(if kept == 0 { "\\ufffd" } else { &escape[..kept] });
        rest = &escape[length..];
    }
    mended.push_str(rest);
    mended
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Which half of a pair the escape at the start of `text` is.
fn surrogate(text: &str) -> Option<Half> {
    let unit = u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    match unit {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_become_one_string() {
        let table = [
            (r#""ValueError: no such word""#, "ValueError: no such word"),
            (
                r#"{"type":"ValueError","message":"no such word"}"#,
                "ValueError: no such word",
            ),
            (r#"{"message":"no such word","code":-32601}"#, "no such word"),
            (r#"{"type":"KeyError","message":null}"#, "KeyError"),
            (r#"{"type":"KeyError","message":""}"#, "KeyError"),
            (r#"{"type":"E","message":{"a": 1}}"#, r#"E: {"a": 1}"#),
            (r#"{"code": 3}"#, r#"{"code": 3}"#),
            ("{}", SILENT),
            (r#""""#, SILENT),
            (
                r#""no file caf\udce9 \"\\ud800\" \ud83d\ude00""#,
                "no file caf\u{fffd} \"\\ud800\" 😀",
            ),
        ];
        for (raw, expected) in table {
            let raw: &RawValue = serde_json::from_str(raw).unwrap();
            assert_eq!(text(raw).unwrap(), expected, "{raw}");
        }
        for raw in ["3", "[]", "true"] {
            let raw: &RawValue = serde_json::from_str(raw).unwrap();
            assert!(text(raw).unwrap_err().starts_with("error is a"), "{raw}");
        }
    }
}
