//! The payloads of forwarded calls: what goes to the host, what its answer comes to. Pure.

use bytes::Bytes;
use serde_json::Value;

use super::Asked;
use crate::bus::mark::same_context;
use crate::bus::message::{Message, Payload};
use crate::json::{self, Kind, Members, Text, push_string};
use crate::migrate::carry::PROBE_TOOL;
use crate::tools::outcome::{CallError, Outcome};

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

/// Whether `message` is what another toolhost made of the call `asked`.
pub(super) fn same_call(asked: &Asked, message: &Message<'_>) -> bool {
    same_context(asked.context(), message.context_text.unwrap_or("{}")) && same_payload(asked, message)
}

/// Whether `message` asks for the same as `asked`, whoever asks.
pub(super) fn same_payload(asked: &Asked, message: &Message<'_>) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    value(&asked.data) == value(&payload(&message.data, &asked.toolbox_id))
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
