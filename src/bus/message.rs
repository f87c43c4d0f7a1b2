//! The Message envelope (OVOS-MSG-1): read from a frame, and written to one.
//!
//! Reading checks all of §2 and §6 and the session carrier of OVOS-SESSION-1 §2.5, and leaves every
//! value the text it came in. Writing knows the three keys of the envelope and no other.

use std::borrow::Cow;

use super::derive::{derive, forward};
use super::malformed::field;
pub use super::malformed::{Malformed, Why};
use super::topic::valid_type;
use crate::json::{self, Kind, Members};

/// One well-formed Message, borrowed from its frame.
#[derive(Debug)]
pub struct Message<'a> {
    /// Its `type`.
    pub topic: Cow<'a, str>,
    /// Its payload; empty where it has none.
    pub data: Members<'a>,
    /// Its metadata; empty where it has none.
    pub context: Members<'a>,
    /// The context as it stands in the frame, `None` where it has none.
    pub context_text: Option<&'a str>,
}

impl<'a> Message<'a> {
    /// Reads a frame. Unknown top-level keys are ignored (OVOS-MSG-1 §2), of a repeated one the last counts.
    ///
    /// # Errors
    /// Why the Message must be dropped (§6.1).
    pub fn parse(frame: &'a str) -> Result<Self, Box<Malformed>> {
        let members = Members::parse(frame).map_err(|error| Box::new(Malformed::unreadable(frame, &error)))?;
        Self::of(&members).map_err(|why| Box::new(Malformed::object(frame, &members, why)))
    }

    fn of(members: &Members<'a>) -> Result<Self, Why> {
        let topic = topic(members)?;
        let data = object(members, "data").map_err(|_| Why::DataNotAnObject)?;
        let context = object(members, "context").map_err(|_| Why::ContextNotAnObject)?;
        if let Some(session) = context.get("session")
            && !matches!(json::kind(session), Kind::Object | Kind::Null)
        {
            return Err(Why::SessionNotAnObject);
        }
        let context_text = members.get("context").map(|raw| raw.get());
        // It goes back on the answer unchanged, and nothing sent from here may break a receiver.
        json::fit_to_send(context_text.unwrap_or_default()).map_err(Why::ContextUnfit)?;
        Ok(Self {
            topic,
            data,
            context,
            context_text,
        })
    }

    /// The context of an answer (§5.2), as JSON text.
    pub fn reply_context(&self) -> String {
        derive(&self.context)
    }

    /// The string under `name` in the context, clipped for a log line.
    pub fn context_field(&self, name: &str) -> Option<String> {
        field(Some(&self.context), name)
    }

    /// The `session_id`, clipped for a log line.
    pub fn session_id(&self) -> Option<String> {
        let session = Members::parse(self.context.get("session")?.get()).ok()?;
        field(Some(&session), "session_id")
    }
}

fn topic<'a>(members: &Members<'a>) -> Result<Cow<'a, str>, Why> {
    let raw = match members.get("type") {
        Some(raw) => raw,
        None if members.get("ciphertext").is_some() => return Err(Why::Encrypted),
        None => return Err(Why::NoType),
    };
    if json::kind(raw) != Kind::String {
        return Err(Why::TypeNotAString);
    }
    // A string no parser can decode (a lone surrogate) is outside the grammar as well.
    json::string(raw)
        .filter(|topic| valid_type(topic))
        .ok_or(Why::TypeGrammar)
}

/// The object under `name`, empty where it is absent; `null` is not absent.
fn object<'a>(members: &Members<'a>, name: &str) -> Result<Members<'a>, serde_json::Error> {
    members
        .get(name)
        .map_or(Ok(Members::default()), |raw| Members::parse(raw.get()))
}

/// What can be the `data` of a Message.
pub trait Payload {
    /// About how many bytes it takes.
    fn length(&self) -> usize;

    /// Appends it as one JSON object.
    fn write(&self, out: &mut String);
}

/// No payload: `{}`.
#[derive(Debug, Clone, Copy)]
pub struct Empty;

impl Payload for Empty {
    fn length(&self) -> usize {
        2
    }

    fn write(&self, out: &mut String) {
        out.push_str("{}");
    }
}

/// One frame: `topic` within the grammar, `context` a JSON object as text.
pub fn frame(topic: &str, data: &impl Payload, context: &str) -> String {
    debug_assert!(valid_type(topic) && context.starts_with('{'), "{topic} {context}");
    let mut out = String::with_capacity(topic.len() + data.length() + context.len() + 40);
    out.push_str("{\"type\":\"");
    out.push_str(topic);
    out.push_str("\",\"data\":");
    data.write(&mut out);
    out.push_str(",\"context\":");
    out.push_str(context);
    out.push('}');
    out
}

/// One frame that goes on to `topic` with `data`, a JSON object as text, and the context it came with, plus one member.
pub fn forwarded_frame(topic: &str, data: &str, context: &str, member: (&str, &str)) -> String {
    // Read before, when the Message was.
    let context = Members::parse(context).unwrap_or_default();
    let context = forward(&context, member.0, member.1);
    format!("{{\"type\":\"{topic}\",\"data\":{data},\"context\":{context}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_empty_and_what_is_unknown_is_ignored() {
        for frame in [
            r#"{"type":"a.b"}"#,
            r#" {"data":{},"context":{},"type":"a.b"}"#,
            r#"{"type":"a.b","msg_type":5,"data":{},"other":[null]}"#,
            r#"{"type":"a.b","data":[],"data":{},"context":null,"context":{}}"#,
            r#"{"type":"a.b","context":{"session":null}}"#,
            r#"{"type":"a.b","context":{"session":{}}}"#,
            r#"{"type":"a.b","context":{"session":{"session_id":5}}}"#,
            r#"{"type":"x y","type":"a.b"}"#,
            r#"{"type":"a.b","ciphertext":"00"}"#,
        ] {
            let message = Message::parse(frame).unwrap();
            assert_eq!(message.topic, "a.b", "{frame}");
            assert_eq!(message.data.iter().count(), 0, "{frame}");
        }
    }

    #[test]
    fn what_is_malformed_says_why() {
        let table = [
            ("", "not_json"),
            ("hello", "not_json"),
            ("{", "not_json"),
            (r#"{"type":"a.b"} x"#, "not_json"),
            (r#"{"type":"a.b"}{"type":"a.b"}"#, "not_json"),
            (r#"{"type":"a.b",}"#, "not_json"),
            (r#"{"type":"a.b","data":{"x":NaN}}"#, "not_json"),
            (r#"{'type':'a.b'}"#, "not_json"),
            ("\u{feff}{\"type\":\"a.b\"}", "byte_order_mark"),
            ("[1,2]", "not_an_object"),
            ("null", "not_an_object"),
            ("\"speak\"", "not_an_object"),
            ("5", "not_an_object"),
            ("{}", "no_type"),
            (r#"{"data":{},"context":{}}"#, "no_type"),
            (r#"{"Type":"a.b"}"#, "no_type"),
            (r#"{"ciphertext":"00","tag":"00","nonce":"00"}"#, "encrypted"),
            (r#"{"type":5}"#, "type_not_a_string"),
            (r#"{"type":null}"#, "type_not_a_string"),
            (r#"{"type":["a"]}"#, "type_not_a_string"),
            (r#"{"type":"a.b","type":5}"#, "type_not_a_string"),
            (r#"{"type":""}"#, "type_grammar"),
            (r#"{"type":"a..b"}"#, "type_grammar"),
            (r#"{"type":"a b"}"#, "type_grammar"),
            (r#"{"type":"\ud800"}"#, "type_grammar"),
            (r#"{"type":"a.b","data":null}"#, "data"),
            (r#"{"type":"a.b","data":[]}"#, "data"),
            (r#"{"type":"a.b","data":"{}"}"#, "data"),
            (r#"{"type":"a.b","data":0}"#, "data"),
            (r#"{"type":"a.b","data":{},"data":[]}"#, "data"),
            (r#"{"type":"a.b","context":null}"#, "context"),
            (r#"{"type":"a.b","context":[]}"#, "context"),
            (r#"{"type":"a.b","context":"x"}"#, "context"),
            (r#"{"type":"a.b","context":{"session":[]}}"#, "session"),
            (r#"{"type":"a.b","context":{"session":"default"}}"#, "session"),
            (r#"{"type":"a.b","context":{"session":5}}"#, "session"),
            (r#"{"type":"a.b","context":{"session":false}}"#, "session"),
            (r#"{"type":"a.b","context":{"x":"\ud800"}}"#, "context_unfit"),
        ];
        for (frame, kind) in table {
            let malformed = Message::parse(frame).unwrap_err();
            assert_eq!(malformed.why.kind(), kind, "{frame}");
            assert_eq!(malformed.bytes, frame.len());
        }
        let deep = format!(
            r#"{{"type":"a.b","context":{{"x":{}{}}}}}"#,
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        assert_eq!(Message::parse(&deep).unwrap_err().why.kind(), "context_unfit");
        let deep = format!(
            r#"{{"type":"a.b","data":{{"x":{}{}}}}}"#,
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        assert!(Message::parse(&deep).is_ok());
    }

    #[test]
    fn a_malformed_message_names_its_producer_and_shows_no_value() {
        let frame = r#"{"type":"a.b","data":["s3cr3t",{"pin":"s3cr3t"}],"context":{"source":"kitchen","session":{"session_id":"s1"}}}"#;
        let malformed = Message::parse(frame).unwrap_err();
        assert_eq!(malformed.to_string(), "its data is not an object");
        assert_eq!(malformed.topic.as_deref(), Some("a.b"));
        assert_eq!(malformed.source.as_deref(), Some("kitchen"));
        assert_eq!(malformed.session_id.as_deref(), Some("s1"));
        assert!(malformed.sample.contains(r#""pin":…"#), "{}", malformed.sample);
        assert!(!format!("{malformed:?}").contains("s3cr3t"));
    }

    #[test]
    fn a_frame_has_the_three_keys_of_the_envelope() {
        let frame = frame("a.b", &Empty, r#"{"x":1.0}"#);
        assert_eq!(frame, r#"{"type":"a.b","data":{},"context":{"x":1.0}}"#);
    }
}
