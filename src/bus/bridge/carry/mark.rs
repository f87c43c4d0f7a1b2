//! The texts of forwarded calls: what marks them, what goes to the host, what its answer comes to. Pure.

use std::hash::{BuildHasher as _, RandomState};

use bytes::Bytes;
use serde_json::Value;

use super::Asked;
use crate::bus::message::{Message, Payload};
use crate::bus::service::PROBE;
use crate::json::{self, Kind, Members, Text, push_string};
use crate::migrate::carry::{PROBE_TOOL, Way};
use crate::migrate::owner::FORWARDED;
use crate::tools::outcome::{CallError, Outcome};
use crate::topics::CALL;

/// Bytes an instance id may have; ours have 32.
pub(super) const LONGEST_INSTANCE: usize = 64;

/// What the context of a forwarded call says of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The instance that forwarded it.
    pub(super) by: String,
    /// Its number there.
    pub(super) call: u64,
    on: String,
    /// The toolbox it is for.
    pub(super) toolbox_id: String,
}

impl Mark {
    /// The mark of `message`, or of what it was derived from.
    pub(super) fn of(message: &Message<'_>) -> Option<Self> {
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
    pub(super) fn way(&self) -> Way {
        match self.on.as_str() {
            CALL => Way::ToStatic,
            _ => Way::ToPredecessor,
        }
    }

    /// Whether the Message that carries it answers the forwarded one: a tool may carry it on in calls of its own, which
    /// have another topic, or another toolbox.
    pub(super) fn is_on_answer(&self, message: &Message<'_>) -> bool {
        let named = message.data.get("toolbox_id").and_then(json::string);
        message.topic.strip_suffix(".response") == Some(&self.on) && named.is_none_or(|named| named == self.toolbox_id)
    }

    /// Whether the Message that carries it is the forwarded one, and not one that was derived from it later.
    pub(super) fn is_on(&self, topic: &str, toolbox_id: &str) -> bool {
        self.on == topic && self.toolbox_id == toolbox_id
    }
}

/// The payload of a probe: a call on a predecessor topic for a tool that no toolbox has.
pub(super) struct ProbeCall<'a> {
    pub(super) toolbox_id: &'a str,
}

impl Payload for ProbeCall<'_> {
    fn length(&self) -> usize {
        self.toolbox_id.len() + 60
    }

    fn write(&self, out: &mut String) {
        let toolbox_id = self.toolbox_id;
        out.push_str(&format!(
            r#"{{"toolbox_id":"{toolbox_id}","name":"{PROBE_TOOL}","kwargs":{{}}}}"#
        ));
    }
}

/// Whether a call on a predecessor topic only asks whether the host answers it: no tool is meant, and nobody calls.
pub(in crate::bus::bridge) fn is_probe(message: &Message<'_>) -> bool {
    let name = message.data.get("name").and_then(json::string);
    name.is_some_and(|name| name == PROBE_TOOL) && message.context.get(PROBE).is_some()
}

/// Whether a call to `toolbox_id` is one that a toolhost forwarded from the other topic.
pub(in crate::bus::bridge) fn is_forwarded(message: &Message<'_>, toolbox_id: &str) -> bool {
    Mark::of(message).is_some_and(|mark| mark.is_on(&message.topic, toolbox_id))
}

/// Whether `message` is what another toolhost made of the call `asked`.
pub(super) fn same_call(asked: &Asked, message: &Message<'_>) -> bool {
    same_context(asked.context(), message.context_text.unwrap_or("{}")) && same_payload(asked, message)
}

/// Whether `message` asks for the same as `asked`, whoever asks.
pub(super) fn same_payload(asked: &Asked, message: &Message<'_>) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    value(&asked.data) == value(&payload(&message.data, &asked.toolbox_id))
}

/// Whether two contexts are of the same call, but for what hosts and toolhosts write in.
pub(super) fn same_context(one: &str, other: &str) -> bool {
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
pub(super) fn digest(context: &str, seed: &RandomState) -> u64 {
    let mut context = of_the_call(context);
    context.sort_all_objects();
    seed.hash_one(context.to_string())
}

/// What is left of a call's context in an answer to it also where the host does not derive that as it should, as a digest;
/// `None` where that is nothing.
pub(super) fn rest_digest(context: &str, seed: &RandomState) -> Option<u64> {
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
pub(super) fn text(by: &str, call: u64, on: &str, toolbox_id: &str) -> String {
    // Neither topics nor toolbox_ids nor instances have a character that JSON escapes.
    format!(r#"{{"by":"{by}","call":{call},"on":"{on}","toolbox_id":"{toolbox_id}"}}"#)
}

/// The payload of a call to `toolbox_id`: what was sent, addressed as the topic it came on addressed it.
pub(super) fn payload(data: &Members<'_>, toolbox_id: &str) -> String {
    let mut out = String::from("{\"toolbox_id\":");
    push_string(&mut out, toolbox_id);
    for (key, value) in data.iter().filter(|(key, _)| *key != "toolbox_id") {
        out.push(',');
        push_string(&mut out, key);
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    out
}

/// How a call ended, by the payload of its answer in `frame`.
pub(super) fn outcome(data: &Members<'_>, frame: &Bytes) -> Outcome {
    match (data.get("result"), data.get("error")) {
        (Some(result), None) => match json::fit_to_send(result.get()) {
            Ok(()) => Ok(Text::slice_of(frame, result.get())),
            Err(unfit) => Err(CallError::Protocol(format!(
                "the host's result cannot be sent on: {unfit}"
            ))),
        },
        (None, Some(error)) => {
            let error = match (json::kind(error), json::string(error)) {
                (Kind::String, Some(text)) => text.into_owned(),
                _ => error.get().to_owned(),
            };
            Err(CallError::Raised(error))
        }
        (Some(_), Some(_)) => Err(CallError::Protocol(
            "the host answered both a result and an error".to_owned(),
        )),
        (None, None) => Err(CallError::Protocol(
            "the host answered neither a result nor an error".to_owned(),
        )),
    }
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
    fn a_payload_keeps_every_spelling_and_is_addressed_once() {
        let data = r#"{"name":"x","toolbox_id":"other","kwargs":{ "n" : 1.0 },"toolbox_id":5,"new\n":null}"#;
        let expected = r#"{"toolbox_id":"wn","name":"x","kwargs":{ "n" : 1.0 },"new\n":null}"#;
        assert_eq!(payload(&Members::parse(data).unwrap(), "wn"), expected);
        assert_eq!(payload(&Members::default(), "wn"), r#"{"toolbox_id":"wn"}"#);
    }

    #[test]
    fn an_answer_comes_to_exactly_one_of_result_and_error() {
        let table = [
            (r#"{"result":{"n":1.0}}"#, Ok(r#"{"n":1.0}"#)),
            (r#"{"error":"ValueError: no"}"#, Err("ValueError: no")),
            (r#"{"error":{"a":1}}"#, Err(r#"{"a":1}"#)),
            (
                "{}",
                Err("ProtocolError: the host answered neither a result nor an error"),
            ),
            (
                r#"{"result":1,"error":"x"}"#,
                Err("ProtocolError: the host answered both a result and an error"),
            ),
        ];
        for (data, expected) in table {
            let whole = Bytes::copy_from_slice(data.as_bytes());
            let told = outcome(&Members::parse(data).unwrap(), &whole);
            let told = told
                .map(|text| text.as_str().to_owned())
                .map_err(|error| error.to_string());
            assert_eq!(told, expected.map(str::to_owned).map_err(str::to_owned), "{data}");
        }
    }
}
