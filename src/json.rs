//! JSON as text: what toolhost looks at is parsed, what it only passes on stays the text it came in.
//!
//! Numbers keep their spelling, key order stays, nothing is escaped anew. A payload that crosses the
//! host is a [`Text`], a slice of the frame or line it arrived in.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// One JSON value as text, shared with the buffer it was read from: a clone copies no payload.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Bytes);

impl Text {
    /// The value `part`, which must be a slice of `whole`, without copying it.
    ///
    /// A `part` from elsewhere is copied.
    pub fn slice_of(whole: &Bytes, part: &str) -> Self {
        let start = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
        match start.checked_add(part.len()) {
            Some(end) if end <= whole.len() => Self(whole.slice(start..end)),
            _ => Self(Bytes::copy_from_slice(part.as_bytes())),
        }
    }

    /// The same, copied where it is a small part of the `whole` bytes it would keep in memory.
    pub fn detached(self, whole: usize) -> Self {
        if self.len() < whole / 2 {
            Self(Bytes::copy_from_slice(&self.0))
        } else {
            self
        }
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        // Every constructor takes a `str`, so this never falls back.
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text is empty, which no JSON value is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Bytes::from(text.into_bytes()))
    }
}

impl From<&serde_json::Value> for Text {
    fn from(value: &serde_json::Value) -> Self {
        Self::from(value.to_string())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The members of one JSON object in their order, values unparsed.
///
/// A repeated key is kept as often as it stands there; [`Members::get`] takes the last one, as
/// every JSON parser in common use does.
#[derive(Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// The parser's, where `text` is not one JSON object.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// Every member, in order, repeated keys included.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    members.push((key.0, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// A key, borrowed where it holds no escape. (serde's own `Cow` always copies.)
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// What kind of JSON value a text is, told by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{...}`
    Object,
    /// `[...]`
    Array,
    /// `"..."`
    String,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
    /// Anything else.
    Number,
}

/// The kind of `raw`.
pub fn kind(raw: &RawValue) -> Kind {
    match raw.get().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}

/// The string `raw` holds, or `None` where it is no string (or one no parser can decode).
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Key<'_>>(raw.get()).ok().map(|key| key.0)
}

/// The value of `name` in the object `text`, without a list of its members; of a repeated key the last.
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a RawValue> {
    struct One<'n>(&'n str);
    impl<'de> DeserializeSeed<'de> for One<'_> {
        type Value = Option<&'de RawValue>;
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_map(self)
        }
    }
    impl<'de> Visitor<'de> for One<'_> {
        type Value = Option<&'de RawValue>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Key<'de>>()? {
                let value = map.next_value()?;
                if key.0 == self.0 {
                    found = Some(value);
                }
            }
            Ok(found)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    One(name).deserialize(&mut reader).ok().flatten()
}

/// Appends `text` to `out` as a JSON string.
pub fn push_string(out: &mut String, text: &str) {
    // Serializing a `str` cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// How deep a value may nest where toolhost parses it (serde_json's own limit).
pub const PARSE_DEPTH: usize = 127;

/// Why a value must not be sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Deeper than receivers on the bus can parse.
    #[error("nested too deeply (limit {PARSE_DEPTH})")]
    TooDeep,
    /// `\ud800` without its other half: many parsers refuse it.
    #[error("a lone surrogate in a string")]
    LoneSurrogate,
}

/// Looks through a syntactically valid value for what a receiver on the bus might choke on.
///
/// # Errors
/// The first [`Unfit`] found.
pub fn fit_to_send(text: &str) -> Result<(), Unfit> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > PARSE_DEPTH {
                    return Err(Unfit::TooDeep);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = skip_string(bytes, at)?,
            _ => {}
        }
    }
    Ok(())
}

/// The index after the string whose content starts at `at`.
fn skip_string(bytes: &[u8], mut at: usize) -> Result<usize, Unfit> {
    while let Some(step) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += step;
        if bytes[at] == b'"' {
            return Ok(at + 1);
        }
        at += match surrogate(bytes, at) {
            None => 2,
            Some(true) if surrogate(bytes, at + 6) == Some(false) => 12,
            Some(_) => return Err(Unfit::LoneSurrogate),
        };
    }
    Ok(bytes.len())
}

/// Whether a `\uXXXX` escape at `at` is a high (`true`) or low (`false`) surrogate.
fn surrogate(bytes: &[u8], at: usize) -> Option<bool> {
    match bytes.get(at..at + 4)? {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B'] => Some(true),
        [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F'] => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_is_found_as_in_the_list_of_all() {
        for text in [
            r#"{"a":1,"session_id":"x","b":[{"session_id":2}]}"#,
            r#"{"session_id":"x","session\u005fid":"y"}"#,
            r#"{"b":1}"#,
            "{}",
            "null",
            "[1]",
        ] {
            let all = Members::parse(text).ok();
            let expected = all.as_ref().and_then(|all| all.get("session_id")).map(|raw| raw.get());
            assert_eq!(member(text, "session_id").map(|raw| raw.get()), expected, "{text}");
        }
    }

    #[test]
    fn members_keep_order_spelling_and_the_last_of_a_repeated_key() {
        let members = Members::parse(r#" {"b": 1.0, "a\u0020": [1e2], "b": 18446744073709551616} "#).unwrap();
        let seen: Vec<_> = members
            .iter()
            .map(|(key, value)| (key.to_owned(), value.get().to_owned()))
            .collect();
        assert_eq!(
            seen,
            [
                ("b".into(), "1.0".into()),
                ("a ".into(), "[1e2]".into()),
                ("b".into(), "18446744073709551616".into())
            ]
        );
        assert_eq!(members.get("b").unwrap().get(), "18446744073709551616");
        assert!(Members::parse("[1]").is_err());
        assert!(Members::parse("{} x").is_err());
    }

    #[test]
    fn a_slice_shares_its_frame() {
        let frame = Bytes::from_static(b"{\"a\": [1,2]}");
        let whole = std::str::from_utf8(&frame).unwrap();
        let text = Text::slice_of(&frame, &whole[6..11]);
        assert_eq!(text.as_str(), "[1,2]");
        assert_eq!(text.0.as_ptr(), frame[6..].as_ptr());
        assert_eq!(Text::slice_of(&frame, "7").as_str(), "7");
        let (kept, copied) = (text.clone().detached(10), text.detached(12));
        assert_eq!(kept.0.as_ptr(), frame[6..].as_ptr());
        assert_ne!(copied.0.as_ptr(), frame[6..].as_ptr());
        assert_eq!(copied, kept);
    }

    #[test]
    fn what_receivers_choke_on_is_found() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        let table = [
            (r#"{"a":"]]]{{{","b":"\"[\\"}"#.to_owned(), Ok(())),
            (deep(127), Ok(())),
            (deep(128), Err(Unfit::TooDeep)),
            (r#""\ud83d\ude00""#.to_owned(), Ok(())),
            (r#""\\ud800""#.to_owned(), Ok(())),
            (r#""\ud83d x""#.to_owned(), Err(Unfit::LoneSurrogate)),
            (r#""\uDE00""#.to_owned(), Err(Unfit::LoneSurrogate)),
            (r#""\ud83d\ud83d\ude00""#.to_owned(), Err(Unfit::LoneSurrogate)),
        ];
        for (text, expected) in table {
            assert_eq!(fit_to_send(&text), expected, "{text:.40}");
        }
    }
}
