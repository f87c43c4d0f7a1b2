//! The `reply` derivation of a context (OVOS-MSG-1 §5.2), on its text.
//!
//! It reads nothing but the context it is given: the answer never carries an id of toolhost's own.
//! What it does not swap is carried as it stands, the session above all (§4.1), so that neither the
//! spelling of a number nor a field nobody has heard of changes on the way back.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::json::{self, Kind, Members};

/// Keys an ordinary context may have.
const FEW: usize = 16;

/// The context of a reply to a Message with `context`, as JSON text.
///
/// `source` becomes the old `destination`, its first member where it is an array, and `destination`
/// the old `source`. Without a `destination` the `source` is carried through; without a `source` the
/// `destination` stays. A value of another type than the specification names is swapped as it is.
pub(super) fn derive(context: &Members<'_>) -> String {
    let old_source = context.get("source").and_then(present);
    let old_destination = context.get("destination").and_then(present);
    let source = match &old_destination {
        Some(destination) => Some(first(destination)),
        None => old_source.as_deref(),
    };
    let destination = old_source.as_deref().or(old_destination.as_deref());

    let members = last_of_each(context);
    let mut out = Object::with_capacity(length(&members));
    let mut unwritten = (source, destination);
    for (key, value) in members {
        let value = match key {
            "source" => unwritten.0.take(),
            "destination" => unwritten.1.take(),
            _ => Some(value.get()),
        };
        if let Some(value) = value {
            out.push(key, value);
        }
    }
    for (key, value) in [("source", unwritten.0), ("destination", unwritten.1)] {
        if let Some(value) = value {
            out.push(key, value);
        }
    }
    out.finish()
}

/// The context of a Message that is forwarded (OVOS-MSG-1 §5.1): `context` as it is, with `key` set to `value`.
pub(super) fn forward(context: &Members<'_>, key: &str, value: &str) -> String {
    let members = last_of_each(context);
    let mut out = Object::with_capacity(length(&members));
    for (name, value) in members.into_iter().filter(|(name, _)| *name != key) {
        out.push(name, value.get());
    }
    out.push(key, value);
    out.finish()
}

/// About how many bytes they take.
fn length(members: &[(&str, &RawValue)]) -> usize {
    let each = members.iter();
    each.map(|(key, value)| key.len() + value.get().len() + 4).sum()
}

/// The members, of a repeated key only the last: what receivers make of it anyway, and said once.
fn last_of_each<'m, 'a>(context: &'m Members<'a>) -> Vec<(&'m str, &'a RawValue)> {
    // Whoever sends 50,000 keys should not cost their square, nor every other caller a set.
    let mut seen = HashSet::new();
    let many = context.iter().nth(FEW).is_some();
    let mut members: Vec<(&str, &RawValue)> = Vec::with_capacity(FEW);
    for (key, value) in context.iter().rev() {
        let new = if many {
            seen.insert(key)
        } else {
            members.iter().all(|(other, _)| *other != key)
        };
        if new {
            members.push((key, value));
        }
    }
    members.reverse();
    members
}

/// A routing value as text, or `None` where it counts as absent: `null`, the empty string, which
/// must never be emitted (OVOS-MSG-1 §3), and an array of nothing else.
fn present(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    if matches!(text, "null" | "\"\"") {
        return None;
    }
    if json::kind(raw) != Kind::Array {
        return Some(Cow::Borrowed(text));
    }
    let members: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    // As deep as a context may nest, which `json::fit_to_send` bounds.
    let kept = members.iter().filter(|raw| present(raw).is_some());
    let kept: Vec<_> = kept.map(|raw| raw.get()).collect();
    match kept.len() {
        0 => None,
        n if n == members.len() => Some(Cow::Borrowed(text)),
        _ => Some(Cow::Owned(format!("[{}]", kept.join(",")))),
    }
}

/// The one address among the `destination`s of a present value: older producers write an array.
fn first(destination: &str) -> &str {
    if !destination.starts_with('[') {
        return destination;
    }
    let members: Vec<&RawValue> = serde_json::from_str(destination).unwrap_or_default();
    members.first().map_or(destination, |member| member.get())
}

/// One JSON object under construction.
struct Object(String);

impl Object {
    fn with_capacity(length: usize) -> Self {
        let mut text = String::with_capacity(length + 64);
        text.push('{');
        Self(text)
    }

    fn push(&mut self, key: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        if key
            .bytes()
            .all(|byte| matches!(byte, b'_' | b'-' | b'.') || byte.is_ascii_alphanumeric())
        {
            self.0.push('"');
            self.0.push_str(key);
            self.0.push('"');
        } else {
            json::push_string(&mut self.0, key);
        }
        self.0.push(':');
        self.0.push_str(value);
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(context: &str) -> String {
        derive(&Members::parse(context).unwrap())
    }

    #[test]
    fn the_routing_pair_is_swapped_and_nothing_else_changes() {
        let table = [
            // Nothing to swap.
            ("{}", "{}"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            // The plain swap, in place.
            (
                r#"{"source":"a","destination":"b"}"#,
                r#"{"source":"b","destination":"a"}"#,
            ),
            (
                r#"{"destination":"b","x":0,"source":"a"}"#,
                r#"{"destination":"a","x":0,"source":"b"}"#,
            ),
            (
                r#"{"source":"a","destination":"a"}"#,
                r#"{"source":"a","destination":"a"}"#,
            ),
            (
                r#"{"source":"\u0061","destination":"b\n"}"#,
                r#"{"source":"b\n","destination":"\u0061"}"#,
            ),
            // One of the two.
            (r#"{"source":"a","x":0}"#, r#"{"source":"a","x":0,"destination":"a"}"#),
            (
                r#"{"destination":"b","x":0}"#,
                r#"{"destination":"b","x":0,"source":"b"}"#,
            ),
            // Absent in all but name.
            (r#"{"source":"","destination":""}"#, "{}"),
            (r#"{"source":null,"destination":null,"x":0}"#, r#"{"x":0}"#),
            (
                r#"{"source":"","destination":"b"}"#,
                r#"{"source":"b","destination":"b"}"#,
            ),
            (
                r#"{"source":"a","destination":""}"#,
                r#"{"source":"a","destination":"a"}"#,
            ),
            (
                r#"{"source":null,"destination":"b"}"#,
                r#"{"source":"b","destination":"b"}"#,
            ),
            (
                r#"{"source":"a","destination":null}"#,
                r#"{"source":"a","destination":"a"}"#,
            ),
            (
                r#"{"source":"a","destination":[]}"#,
                r#"{"source":"a","destination":"a"}"#,
            ),
            (r#"{"destination":[ ]}"#, "{}"),
            (
                r#"{"source":"a","destination":["",null]}"#,
                r#"{"source":"a","destination":"a"}"#,
            ),
            // Arrays.
            (
                r#"{"source":"a","destination":["b"]}"#,
                r#"{"source":"b","destination":"a"}"#,
            ),
            (
                r#"{"source":"a","destination":[ "b", "c" ]}"#,
                r#"{"source":"b","destination":"a"}"#,
            ),
            (
                r#"{"source":"a","destination":["","b"]}"#,
                r#"{"source":"b","destination":"a"}"#,
            ),
            (
                r#"{"destination":["b","c"]}"#,
                r#"{"destination":["b","c"],"source":"b"}"#,
            ),
            (
                r#"{"destination":["", "b", "c"]}"#,
                r#"{"destination":["b","c"],"source":"b"}"#,
            ),
            (
                r#"{"source":["a","c"],"destination":"b"}"#,
                r#"{"source":"b","destination":["a","c"]}"#,
            ),
            (
                r#"{"source":[],"destination":"b"}"#,
                r#"{"source":"b","destination":"b"}"#,
            ),
            // Other types go across as they are.
            (
                r#"{"source":5,"destination":{"b":[1.0]}}"#,
                r#"{"source":{"b":[1.0]},"destination":5}"#,
            ),
            (
                r#"{"source":true,"destination":1e2}"#,
                r#"{"source":1e2,"destination":true}"#,
            ),
            (
                r#"{"source":"a","destination":[5,"b"]}"#,
                r#"{"source":5,"destination":"a"}"#,
            ),
            (r#"{"destination":7}"#, r#"{"destination":7,"source":7}"#),
            // The session, and every other key, as it came.
            (r#"{"session":{}}"#, r#"{"session":{}}"#),
            (r#"{"session":null,"a":null}"#, r#"{"session":null,"a":null}"#),
            (
                r#"{"session":{"session_id":"default", "new" : [1.0,1e2,-0,18446744073709551616]},"source":"a"}"#,
                r#"{"session":{"session_id":"default", "new" : [1.0,1e2,-0,18446744073709551616]},"source":"a","destination":"a"}"#,
            ),
            (
                r#"{"f":0.10,"i":9007199254740993,"s":"\u00e9\/"}"#,
                r#"{"f":0.10,"i":9007199254740993,"s":"\u00e9\/"}"#,
            ),
            (
                r#"{"é \" k":"v","__collect_id__":"x","":0}"#,
                r#"{"é \" k":"v","__collect_id__":"x","":0}"#,
            ),
            // Repeated keys.
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
            (
                r#"{"source":"x","destination":"b","source":"a"}"#,
                r#"{"destination":"a","source":"b"}"#,
            ),
            (r#"{"session":{"session_id":"1"},"session":{}}"#, r#"{"session":{}}"#),
        ];
        for (context, expected) in table {
            assert_eq!(derived(context), expected, "{context}");
        }
    }

    #[test]
    fn a_forwarded_context_is_the_old_one_with_a_key_more() {
        for (context, expected) in [
            ("{}", r#"{"m":1}"#),
            (
                r#"{"source":"a","destination":["b"],"session":null,"f":1.0}"#,
                r#"{"source":"a","destination":["b"],"session":null,"f":1.0,"m":1}"#,
            ),
            (r#"{"m":{"x":2},"a":1,"a":2}"#, r#"{"a":2,"m":1}"#),
        ] {
            assert_eq!(forward(&Members::parse(context).unwrap(), "m", "1"), expected);
        }
    }

    #[test]
    fn many_keys_are_one_pass_and_still_said_once() {
        let members: Vec<_> = (0..20_000).map(|n| format!("\"k{}\":{n}", n % 10_000)).collect();
        let context = format!("{{{},\"source\":\"a\"}}", members.join(","));
        let text = derived(&context);
        let after = Members::parse(&text).unwrap();
        assert_eq!(after.iter().count(), 10_002);
        assert_eq!(after.get("k7").unwrap().get(), "10007");
        assert_eq!(after.get("destination").unwrap().get(), "\"a\"");
    }

    /// A value nobody would write by hand; never one of the routing keys.
    fn random_value(rng: &mut fastrand::Rng, depth: usize) -> String {
        let scalars = [
            "null",
            "true",
            "-0",
            "1.0",
            "1e-7",
            "18446744073709551616",
            r#""""#,
            r#""\ud83d\ude00 é\n""#,
        ];
        match rng.usize(..if depth == 0 { 1 } else { 3 }) {
            0 => rng.choice(scalars).unwrap().to_owned(),
            1 => {
                let members: Vec<_> = (0..rng.usize(..3)).map(|_| random_value(rng, depth - 1)).collect();
                format!("[{}]", members.join(" , "))
            }
            _ => {
                let members: Vec<_> = (0..rng.usize(..3))
                    .map(|n| format!("\"k{n}\": {}", random_value(rng, depth - 1)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    #[test]
    fn whatever_the_context_the_keys_of_others_keep_their_text() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let keys = ["source", "destination", "session", "a", "b", "", "utterance_id", "é"];
            let members: Vec<_> = (0..rng.usize(..8))
                .map(|_| {
                    let key = rng.choice(keys).unwrap();
                    format!("\"{key}\":{}", random_value(&mut rng, 3))
                })
                .collect();
            let context = format!("{{{}}}", members.join(", "));
            let before = Members::parse(&context).unwrap();
            let text = derived(&context);
            let after = Members::parse(&text).unwrap();
            for (key, value) in after.iter() {
                assert_eq!(after.iter().filter(|(other, _)| *other == key).count(), 1, "{text}");
                match key {
                    "source" | "destination" => assert!(present(value).is_some(), "{text}"),
                    _ => assert_eq!(value.get(), before.get(key).unwrap().get(), "{context}"),
                }
            }
            for (key, _) in before
                .iter()
                .filter(|(key, _)| !matches!(*key, "source" | "destination"))
            {
                assert!(after.get(key).is_some(), "{context}");
            }
        }
    }
}
