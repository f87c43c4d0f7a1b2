//! One question on the bus, and which frames answer it. Pure.
//!
//! Topic names say nothing about who asked: of two callers waiting on one topic, each would take
//! the other's answer for its own. So a request carries a private key in its context, which every
//! answer derived from it carries back (OVOS-MSG-1 §5.2, §5.4). There is no session in it:
//! whoever means the default one leaves it out (OVOS-SESSION-1 §3.4).

use crate::json::{Members, Text, push_string, string};

/// The context key a request is told by.
const CONTEXT_KEY: &str = "toolhost_call";

/// One question.
#[derive(Debug, Clone)]
pub struct Request {
    topic: String,
    data: String,
    key: String,
}

impl Request {
    /// A question on `topic` with `data`, the text of a JSON object.
    pub fn new(topic: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            data: data.into(),
            key: format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..)),
        }
    }

    /// A further question of the same asker, told by the same key.
    pub fn beside(&self, topic: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            key: self.key.clone(),
            ..Self::new(topic, data)
        }
    }

    /// The topic it is asked on.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// What a frame must contain to be an answer: everything else on the bus can be passed over unparsed.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The Message that asks; its source is the program, so that it is told from other callers.
    pub fn frame(&self) -> String {
        let Self { topic, data, key } = self;
        let mut frame = String::with_capacity(data.len() + 160);
        frame.push_str("{\"type\":");
        push_string(&mut frame, topic);
        frame.push_str(",\"data\":");
        frame.push_str(data);
        frame.push_str(",\"context\":{\"source\":\"toolhost\",\"");
        frame.push_str(CONTEXT_KEY);
        frame.push_str("\":");
        push_string(&mut frame, key);
        frame.push_str("}}");
        frame
    }

    /// The `data` of `frame`, where it answers this request.
    pub fn answer_in(&self, frame: &str) -> Option<Text> {
        if !frame.contains(&self.key) {
            return None;
        }
        let message = Members::parse(frame).ok()?;
        let topic = string(message.get("type")?)?;
        if topic.strip_suffix(".response") != Some(&self.topic) {
            return None;
        }
        let context = Members::parse(message.get("context")?.get()).ok()?;
        if string(context.get(CONTEXT_KEY)?)? != self.key {
            return None;
        }
        let data = message.get("data").map_or("{}", |data| data.get());
        Some(Text::from(data.to_owned()))
    }
}

/// The text of an object whose members are strings or, marked so, JSON.
pub(crate) fn object(members: &[(&str, Value<'_>)]) -> String {
    let mut out = String::from("{");
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, key);
        out.push(':');
        match value {
            Value::String(text) => push_string(&mut out, text),
            Value::Json(text) => out.push_str(text),
        }
    }
    out.push('}');
    out
}

/// A member of [`object`].
pub(crate) enum Value<'a> {
    /// Becomes a JSON string.
    String(&'a str),
    /// Is JSON already.
    Json(&'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(topic: &str, key: &str) -> String {
        format!(r#"{{"type":"{topic}","data":{{"n": 1.0}},"context":{{"toolhost_call":"{key}","x":1}}}}"#)
    }

    #[test]
    fn a_request_is_one_message_without_a_session() {
        let request = Request::new("ovos.tools.get", object(&[("name", Value::String("a\"b"))]));
        let expected = format!(
            r#"{{"type":"ovos.tools.get","data":{{"name":"a\"b"}},"context":{{"source":"toolhost","toolhost_call":"{}"}}}}"#,
            request.key()
        );
        assert_eq!(request.frame(), expected);
    }

    #[test]
    fn only_its_own_answer_is_taken() {
        let request = Request::new("ovos.tools.list", "{}");
        let other = Request::new("ovos.tools.list", "{}");
        let take = |frame: &str| request.answer_in(frame).map(|text| text.as_str().to_owned());
        assert_eq!(
            take(&answer("ovos.tools.list.response", request.key())).as_deref(),
            Some("{\"n\": 1.0}")
        );
        assert_eq!(take(&answer("ovos.tools.list.response", other.key())), None);
        assert_eq!(take(&answer("ovos.tools.get.response", request.key())), None);
        assert_eq!(take(&request.frame()), None, "the bus sends our own frame back");
        let elsewhere = format!(
            r#"{{"type":"ovos.tools.list.response","data":{{"toolhost_call":"{}"}},"context":{{}}}}"#,
            request.key()
        );
        assert_eq!(take(&elsewhere), None);
        let garbage = format!("[{}", request.key());
        assert_eq!(take(&garbage), None);
    }

    #[test]
    fn an_answer_without_data_is_an_empty_object() {
        let request = Request::new("t", "{}");
        let frame = format!(
            r#"{{"type":"t.response","context":{{"toolhost_call":"{}"}}}}"#,
            request.key()
        );
        assert_eq!(request.answer_in(&frame).unwrap().as_str(), "{}");
    }
}
