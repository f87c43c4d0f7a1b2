//! Which frames are relayed: the rule of the session carrier (OVOS-SESSION-1 §2.5). Pure.

use memchr::memmem;
use serde_json::value::RawValue;

use crate::json::{self, Kind, Members};

/// What becomes of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Relay,
    /// It is JSON, but no object, and some clients drop their connection over it.
    NoObject,
    /// Its carrier is malformed; this is broadcast in its place.
    Reject(String),
}

/// Looks at one text frame. Most are settled without parsing.
pub(super) fn judge(frame: &str) -> Verdict {
    match frame.bytes().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        // What is no JSON is relayed, as ovos-messagebus does: it is for each client to judge.
        _ => {
            return if serde_json::from_str::<&RawValue>(frame).is_ok() {
                Verdict::NoObject
            } else {
                Verdict::Relay
            };
        }
    }
    if !may_be_malformed(frame.as_bytes()) {
        return Verdict::Relay;
    }
    rejection(frame).map_or(Verdict::Relay, Verdict::Reject)
}

/// Whether some key `"session"` has a value that is neither an object nor null. The nested ones count too,
/// so this may say yes for nothing, but it never says no wrongly (for keys spelled without escapes).
fn may_be_malformed(frame: &[u8]) -> bool {
    memmem::find_iter(frame, br#""session""#).any(|start| {
        let rest = frame[start + br#""session""#.len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b":") else {
            return false;
        };
        let value = value.trim_ascii_start();
        !value.starts_with(b"{") && !value.starts_with(b"null")
    })
}

fn rejection(frame: &str) -> Option<String> {
    let message = Members::parse(frame).ok()?;
    let context = Members::parse(message.get("context")?.get()).ok()?;
    match json::kind(context.get("session")?) {
        Kind::Object | Kind::Null => return None,
        _ => {}
    }
    let msg_type = message.get("type").map_or("null", RawValue::get);
    let utterance = context.get("utterance_id").map(RawValue::get).filter(|id| is_given(id));
    let context = utterance.map_or_else(String::new, |id| format!(r#""utterance_id": {id}"#));
    Some(format!(
        r#"{{"type": "ovos.session.rejected", "data": {{"msg_type": {msg_type}, "reason": "malformed_carrier"}}, "context": {{{context}}}}}"#
    ))
}

/// Whether a value says anything, in the sense ovos-messagebus gives it.
fn is_given(value: &str) -> bool {
    !matches!(value, "null" | "false" | "0" | r#""""# | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_judged() {
        let relayed = [
            r#"{"type":"a","data":{},"context":{}}"#,
            r#"{"type":"a","context":{"session":{"session_id":"x"}}}"#,
            r#"{"type":"a","context":{"session" : null}}"#,
            r#"{"type":"a","data":{"session":5},"context":{"session":{}}}"#,
            r#"{"type":"a","session":5}"#,
            r#"{"type":"a","data":{"text":"session"}}"#,
            r#"{"type":"a","data":["session", "x"]}"#,
            r#"{"type":"a","context":[{"session":5}]}"#,
            r#"{"type":"a","context":{"session":5,"session":{}}}"#,
            r#"{"type":"a","context":{"session":5}"#,
            "no json",
            "",
        ];
        for frame in relayed {
            assert_eq!(judge(frame), Verdict::Relay, "{frame}");
        }
        for frame in ["[1,2]", "null", " 7", r#""text""#, "true"] {
            assert_eq!(judge(frame), Verdict::NoObject, "{frame}");
        }
    }

    #[test]
    fn a_malformed_carrier_is_rejected() {
        for value in ["5", r#""x""#, "[]", "true", "[{}]"] {
            let frame = format!(r#"{{"type":"a.b","context":{{"utterance_id":"u1","session": {value}}}}}"#);
            assert_eq!(
                judge(&frame),
                Verdict::Reject(
                    r#"{"type": "ovos.session.rejected", "data": {"msg_type": "a.b", "reason": "malformed_carrier"}, "context": {"utterance_id": "u1"}}"#
                        .to_owned()
                ),
                "{value}"
            );
        }
    }

    #[test]
    fn a_rejection_names_what_is_there() {
        let Verdict::Reject(rejection) = judge(r#"{"context":{"utterance_id":"","session":1}}"#) else {
            panic!("not rejected")
        };
        assert_eq!(
            rejection,
            r#"{"type": "ovos.session.rejected", "data": {"msg_type": null, "reason": "malformed_carrier"}, "context": {}}"#
        );
    }
}
