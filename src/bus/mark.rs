//! What toolhosts say to each other in the context of a Message, by keys that other hosts carry along and do not read; and
//! which Messages are of one call, whatever was written into its context on the way. Pure.

use std::borrow::Cow;
use std::hash::BuildHasher;

use serde_json::Value;

use super::message::Message;
use crate::json::{self, Members};
use crate::migrate::carry::{PROBE_TOOL, Way};
use crate::topics::CALL;

/// The key of a question that a toolhost asks for its own sake: the instance id of the one that asks.
pub const PROBE: &str = "toolhost_probe";

/// The key of a Message that was forwarded from one call topic to the other: its [`Mark`].
pub const FORWARDED: &str = "toolhost_forwarded";

/// The key, in the discovers of a toolhost that forwards, of what it forwards and which way.
pub const FORWARDS: &str = "toolhost_forwards";

/// In the same, how many turns it leaves to others (see [`turn`](crate::migrate::others::Others::turn)).
pub const TURN: &str = "toolhost_turn";

/// In the same, when it asked, in its own milliseconds: an answer is as old as its question.
pub const ASKED: &str = "toolhost_asked";

/// The key, in the discovers of a toolhost, of the toolboxes which others forward `to_static` and it hosts: whether their
/// predecessor topic is answered, which no discover shows.
pub const ANSWERS: &str = "toolhost_answers_predecessor";

/// Bytes an instance id may have; ours have 32.
pub const LONGEST_INSTANCE: usize = 64;

/// What the context of a forwarded call says of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Mark {
    /// The instance that forwarded it.
    pub by: String,
    /// Its number there.
    pub call: u64,
    on: String,
    /// The toolbox it is for.
    pub toolbox_id: String,
}

impl Mark {
    /// The mark of `message`, or of what it was derived from.
    pub fn of(message: &Message<'_>) -> Option<Self> {
        let mark = Members::parse(message.context.get(FORWARDED)?.get()).ok()?;
        let text = |name: &str| Some(json::string(mark.get(name)?)?.into_owned());
        Some(Self {
            by: text("by").filter(|by| by.len() <= LONGEST_INSTANCE)?,
            call: mark.get("call")?.get().parse().ok()?,
            on: text("on")?,
            toolbox_id: text("toolbox_id")?,
        })
    }

    /// From where to where it was forwarded.
    pub fn way(&self) -> Way {
        match self.on.as_str() {
            CALL => Way::ToStatic,
            _ => Way::ToPredecessor,
        }
    }

    /// Whether the Message that carries it answers the forwarded one: a tool may carry it on in calls of its own, which
    /// have another topic, or another toolbox.
    pub fn is_on_answer(&self, message: &Message<'_>) -> bool {
        let named = message.data.get("toolbox_id").and_then(json::string);
        message.topic.strip_suffix(".response") == Some(&self.on) && named.is_none_or(|named| named == self.toolbox_id)
    }

    /// Whether the Message that carries it is the forwarded one, and not one that was derived from it later.
    pub fn is_on(&self, topic: &str, toolbox_id: &str) -> bool {
        self.on == topic && self.toolbox_id == toolbox_id
    }
}

/// The toolhost that asked `message` for its own sake, or what `message` answers.
pub fn asker<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    message.context.get(PROBE).and_then(json::string)
}

/// Whether a call on a predecessor topic only asks whether the host answers it: no tool is meant, and nobody calls.
pub fn is_probe(message: &Message<'_>) -> bool {
    let name = message.data.get("name").and_then(json::string);
    name.is_some_and(|name| name == PROBE_TOOL) && message.context.get(PROBE).is_some()
}

/// Whether a call to `toolbox_id` is one that a toolhost forwarded from the other topic.
pub fn is_forwarded(message: &Message<'_>, toolbox_id: &str) -> bool {
    Mark::of(message).is_some_and(|mark| mark.is_on(&message.topic, toolbox_id))
}

/// Whether two contexts are of the same call, but for what hosts and toolhosts write in.
pub fn same_context(one: &str, other: &str) -> bool {
    of_the_call(one) == of_the_call(other)
}

/// A context without what hosts and toolhosts write in: shipped hosts a default session, toolhosts their mark.
fn of_the_call(context: &str) -> Value {
    let mut context: Value = serde_json::from_str(context).unwrap_or_default();
    if let Some(members) = context.as_object_mut() {
        members.remove("session");
        members.remove(FORWARDED);
    }
    context
}

/// What tells two contexts apart that are not [the same](same_context), as good as always, and is small: anybody can send
/// a large one.
pub fn digest(context: &str, seed: &impl BuildHasher) -> u64 {
    let mut context = of_the_call(context);
    context.sort_all_objects();
    seed.hash_one(context.to_string())
}

/// What is left of a call's context in an answer to it also where the host does not derive that as it should, as a digest;
/// `None` where that is nothing.
pub fn rest_digest(context: &str, seed: &impl BuildHasher) -> Option<u64> {
    let mut context = of_the_call(context);
    let members = context.as_object_mut()?;
    members.retain(|key, _| key != "source" && key != "destination");
    if members.is_empty() {
        return None;
    }
    context.sort_all_objects();
    Some(seed.hash_one(context.to_string()))
}

/// A mark, as text.
pub fn text(by: &str, call: u64, on: &str, toolbox_id: &str) -> String {
    // Neither topics nor toolbox_ids nor instances have a character that JSON escapes.
    format!(r#"{{"by":"{by}","call":{call},"on":"{on}","toolbox_id":"{toolbox_id}"}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_only_on_its_own_message() {
        let mark = text("ab", 7, "ovos.persona.tools.wn.call", "wn");
        let frame = format!(r#"{{"type":"ovos.persona.tools.wn.call","context":{{"{FORWARDED}":{mark}}}}}"#);
        let mark = Mark::of(&Message::parse(&frame).unwrap()).unwrap();
        assert_eq!((mark.by.as_str(), mark.call), ("ab", 7));
        assert_eq!(mark.way(), Way::ToPredecessor);
        assert!(mark.is_on("ovos.persona.tools.wn.call", "wn"));
        assert!(!mark.is_on("ovos.persona.tools.call", "wn"));
        assert!(!mark.is_on("ovos.persona.tools.wn.call", "other"));
        for broken in ["5", "null", "{}", r#"{"by":"a","call":-1,"on":"x","toolbox_id":"y"}"#] {
            let frame = format!(r#"{{"type":"a.b","context":{{"{FORWARDED}":{broken}}}}}"#);
            assert_eq!(Mark::of(&Message::parse(&frame).unwrap()), None, "{broken}");
        }
    }

    #[test]
    fn a_mark_of_an_instance_that_is_too_long_is_none() {
        let read = |length| {
            let mark = text(&"a".repeat(length), 7, CALL, "wn");
            let frame = format!(r#"{{"type":"{CALL}","context":{{"{FORWARDED}":{mark}}}}}"#);
            Mark::of(&Message::parse(&frame).unwrap()).is_some()
        };
        assert_eq!([read(LONGEST_INSTANCE), read(LONGEST_INSTANCE + 1)], [true, false]);
    }

    #[test]
    fn contexts_of_one_call_are_told_from_those_of_another() {
        let call = r#"{"source":"a","n":1,"in":{"x":1,"y":2}}"#;
        let seed = std::hash::RandomState::new();
        let table = [
            (r#"{"in":{"y":2,"x":1},"n":1,"source":"a"}"#, true),
            (
                r#"{"source":"a","n":1,"in":{"x":1,"y":2},"session":{"session_id":"default"}}"#,
                true,
            ),
            (
                r#"{"source":"a","n":1,"in":{"x":1,"y":2},"toolhost_forwarded":{"by":"b"}}"#,
                true,
            ),
            (r#"{"source":"a","n":2,"in":{"x":1,"y":2}}"#, false),
            (r#"{"source":"a","n":1,"in":{"x":1,"y":2},"toolhost_probe":"b"}"#, false),
            ("{}", false),
        ];
        for (other, expected) in table {
            assert_eq!(same_context(call, other), expected, "{other}");
            assert_eq!(digest(call, &seed) == digest(other, &seed), expected, "{other}");
        }
    }
}
