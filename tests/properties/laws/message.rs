//! Messages of the bus: what is taken, what is refused, and what goes back is what came.

use serde_json::Value;
use toolhost::bus::mapping;
use toolhost::bus::message::{Empty, Malformed, Message, Payload, frame};
use toolhost::bus::topic::{Peek, Topic, peek};
use toolhost::json::{self, Members, push_string};
use toolhost::protocol::request::Request;

use super::{SECRET, answer, value};

/// One frame of the bus.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    answer::fit(text);
    let read = Message::parse(text);
    agrees_with_the_value(text, &read);
    match &read {
        Ok(message) => {
            looks_alike(text, message);
            comes_back_equal(message);
            reply_keeps_what_is_not_its_own(message);
            reaches_a_toolbox_unchanged(message);
            // Whatever it asks for, or nothing.
            let _asked = mapping::map(Topic::of(&message.topic), &message.data);
        }
        Err(malformed) => shows_no_value(text, malformed),
    }
}

/// The members of an object as a parser of trees has them: the last of a repeated key, in no order.
fn last_of_each<'m>(members: &'m Members<'_>) -> std::collections::BTreeMap<&'m str, &'m str> {
    members.iter().map(|(key, raw)| (key, raw.get())).collect()
}

/// It is taken if a parser of trees and the rules of OVOS-MSG-1 take it.
fn agrees_with_the_value(text: &str, read: &Result<Message<'_>, Box<Malformed>>) {
    let Some(tree) = value(text) else {
        // A parser of trees also refuses what is only passed on: too deep, half a surrogate pair.
        assert!(
            read.is_err()
                || text.contains("$serde_json")
                || text.matches(['[', '{']).count() > 100
                || text.contains("\\u"),
            "no JSON, and taken: {text}"
        );
        return;
    };
    let expected = is_message(&tree);
    assert_eq!(read.is_ok(), expected, "{text}: {read:?}");
    let Ok(message) = read else { return };
    assert_eq!(tree["type"], *message.topic);
    for (name, members) in [("data", &message.data), ("context", &message.context)] {
        let empty = Value::Object(serde_json::Map::new());
        let object = tree.get(name).unwrap_or(&empty).as_object().expect("an object");
        let read = last_of_each(members);
        assert_eq!(read.len(), object.len());
        for (key, raw) in read {
            assert_eq!(value(raw).as_ref(), object.get(key), "{key}");
        }
    }
}

/// OVOS-MSG-1 §2 and the carrier rule of OVOS-SESSION-1 §2.5, of a tree.
fn is_message(tree: &Value) -> bool {
    let Value::Object(message) = tree else { return false };
    let object = |holder: &serde_json::Map<String, Value>, name: &str| holder.get(name).is_none_or(Value::is_object);
    let session = match message.get("context").and_then(|context| context.get("session")) {
        None | Some(Value::Null | Value::Object(_)) => true,
        Some(_) => false,
    };
    let is_topic = message.get("type").and_then(Value::as_str).is_some_and(|topic| {
        let parts = topic.split(['.', ':']);
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        parts.into_iter().all(|part| !part.is_empty() && part.chars().all(fits))
    });
    is_topic && object(message, "data") && object(message, "context") && session
}

/// The look at the topic, which settles most frames, and the reading of the whole say the same.
fn looks_alike(text: &str, message: &Message<'_>) {
    let types = Members::parse(text).expect("it was read");
    if types.iter().filter(|(key, _)| *key == "type").count() == 1 {
        assert_eq!(peek(text), Peek::Topic(message.topic.clone()));
    }
}

/// A payload as it was read.
struct Same<'m, 'a>(&'m Members<'a>);

impl Payload for Same<'_, '_> {
    fn length(&self) -> usize {
        0
    }

    fn write(&self, out: &mut String) {
        out.push_str(&object(self.0));
    }
}

/// An object of these members.
fn object(members: &Members<'_>) -> String {
    let mut out = String::from("{");
    for (index, (key, raw)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, key);
        out.push(':');
        out.push_str(raw.get());
    }
    out.push('}');
    out
}

/// Its members with their order and spelling.
fn spelled(members: &Members<'_>) -> Vec<(String, String)> {
    members
        .iter()
        .map(|(key, raw)| (key.to_owned(), raw.get().to_owned()))
        .collect()
}

fn comes_back_equal(message: &Message<'_>) {
    let context = message.context_text.unwrap_or("{}");
    let written = frame(&message.topic, &Same(&message.data), context);
    let again = Message::parse(&written).expect("what was read can be written");
    assert_eq!(again.topic, message.topic);
    assert_eq!(spelled(&again.data), spelled(&message.data));
    assert_eq!(spelled(&again.context), spelled(&message.context));
    assert_eq!(
        peek(&written),
        Peek::Topic(message.topic.clone()),
        "every receiver finds the topic"
    );
}

/// The reply has every key of the context once and in its spelling; only the routing pair is its own.
fn reply_keeps_what_is_not_its_own(message: &Message<'_>) {
    let reply = message.reply_context();
    assert_eq!(json::fit_to_send(&reply), Ok(()));
    let written = frame("a.response", &Empty, &reply);
    let answer = Message::parse(&written).expect("an answer is a Message");
    let is_routing = |key: &str| key == "source" || key == "destination";
    let before = last_of_each(&message.context);
    let after = last_of_each(&answer.context);
    assert_eq!(after.len(), answer.context.iter().count(), "each key once: {reply}");
    for (key, raw) in &before {
        assert!(is_routing(key) || after.get(key) == Some(raw), "{key} in {reply}");
    }
    for (key, raw) in &after {
        assert!(is_routing(key) || before.contains_key(key), "{key} in {reply}");
        assert!(
            !is_routing(key) || !matches!(*raw, "\"\"" | "null" | "[]"),
            "{key} is there and empty: {reply}"
        );
    }
    // OVOS-MSG-1 §5.2 swaps the two where both are plain.
    let plain = |raw: Option<&&str>| {
        raw.and_then(|raw| value(raw))
            .filter(|v| v.as_str().is_some_and(|s| !s.is_empty()))
    };
    if let (Some(source), Some(destination)) = (plain(before.get("source")), plain(before.get("destination"))) {
        assert_eq!(plain(after.get("source")), Some(destination));
        assert_eq!(plain(after.get("destination")), Some(source));
    }
}

/// What a toolbox is sent is one line, and holds the payload as it came.
fn reaches_a_toolbox_unchanged(message: &Message<'_>) {
    let kwargs = object(&message.data);
    let mut line = Vec::new();
    let call = Request::Call {
        id: 7,
        name: &message.topic,
        kwargs: &kwargs,
        context: message.context_text,
    };
    call.write(&mut line);
    assert_eq!(
        line.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count(),
        1,
        "one line"
    );
    assert_eq!(line.last(), Some(&b'\n'));
    let line = String::from_utf8(line).expect("UTF-8");
    let read = Members::parse(&line).expect("an object");
    assert_eq!(read.get("id").map(|raw| raw.get()), Some("7"));
    let same = |name: &str, text: Option<&str>| {
        let sent = read.get(name).map(|raw| raw.get());
        assert_eq!(sent.is_some(), text.is_some());
        if let (Some(sent), Some(text)) = (sent.and_then(value), text.and_then(value)) {
            assert_eq!(sent, text);
        }
    };
    same("kwargs", Some(&kwargs));
    same("context", message.context_text);
}

/// The log shows where a malformed Message may come from, and no value of it.
fn shows_no_value(text: &str, malformed: &Malformed) {
    assert_eq!(malformed.bytes, text.len());
    let told = format!("{malformed} {}", malformed.sample);
    assert!(!told.chars().any(char::is_control), "{told:?}");
    assert!(malformed.sample.chars().count() < 400);
    let Some(tree) = value(text) else { return };
    if !is_in_a_key(&tree) {
        assert!(!told.contains(SECRET), "{told}");
    }
}

/// Whether a key, which the log does show, holds the secret.
fn is_in_a_key(tree: &Value) -> bool {
    match tree {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| key.contains(SECRET) || is_in_a_key(value)),
        Value::Array(items) => items.iter().any(is_in_a_key),
        _ => false,
    }
}
