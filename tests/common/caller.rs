//! A caller of tools on the bus. Each request carries a token of its own in its context, which answers keep.

use std::collections::HashSet;

use futures_util::SinkExt;
use serde_json::{Value, json};

use super::eventually::within;
use super::raw::Raw;

pub(crate) const CALL: &str = "ovos.persona.tools.call";
pub(crate) const DISCOVER: &str = "ovos.persona.tools.discover";
pub(crate) const LIST: &str = "ovos.tools.list";
pub(crate) const GET: &str = "ovos.tools.get";
pub(crate) const INVOKE: &str = "ovos.tools.invoke";
pub(crate) const RELOAD: &str = "ovos.tools.reload";

pub(crate) fn predecessor(toolbox_id: &str) -> String {
    format!("ovos.persona.tools.{toolbox_id}.call")
}

/// The data of a call.
pub(crate) fn call(toolbox_id: &str, name: &str, kwargs: &Value) -> Value {
    json!({"toolbox_id": toolbox_id, "name": name, "kwargs": kwargs})
}

/// A caller, and every answer it has heard, to whomever.
pub(crate) struct Caller {
    raw: Raw,
    heard: Vec<Value>,
}

impl Caller {
    pub(crate) async fn connect(url: &str) -> Self {
        Self {
            raw: Raw::connect(url).await,
            heard: Vec::new(),
        }
    }

    /// Sends a Message; its token.
    pub(crate) async fn send(&mut self, topic: &str, data: &Value) -> String {
        let token = format!("{:016x}", fastrand::u64(..));
        self.send_as(topic, data, &token).await;
        token
    }

    /// Sends a Message with a token of the caller's choice.
    pub(crate) async fn send_as(&mut self, topic: &str, data: &Value, token: &str) {
        assert!(self.try_send(topic, data, token).await, "the bus is there");
    }

    /// Sends a Message as somebody else; its token.
    pub(crate) async fn send_from(&mut self, source: &str, topic: &str, data: &Value) -> String {
        let token = format!("{:016x}", fastrand::u64(..));
        assert!(
            self.try_send_from(source, topic, data, &token).await,
            "the bus is there"
        );
        token
    }

    /// Sends a Message; false where the connection has ended.
    pub(crate) async fn try_send(&mut self, topic: &str, data: &Value, token: &str) -> bool {
        self.try_send_from("caller", topic, data, token).await
    }

    async fn try_send_from(&mut self, source: &str, topic: &str, data: &Value, token: &str) -> bool {
        let context =
            json!({"token": token, "source": source, "destination": ["tools"], "session": {"session_id": "s"}});
        let message = json!({"type": topic, "data": data, "context": context}).to_string();
        self.raw.0.send(message.into()).await.is_ok()
    }

    /// Connects again, and keeps what was heard.
    pub(crate) async fn reconnect(&mut self, url: &str) {
        self.raw = Raw::connect(url).await;
    }

    /// Hears `count` more answers, to whomever.
    pub(crate) async fn hear_answers(&mut self, count: usize) {
        let enough = self.heard.len() + count;
        within("answers", async {
            while self.heard.len() < enough {
                assert!(self.hear().await, "the bus is there");
            }
        })
        .await;
    }

    /// Hears one more frame; false where the connection has ended.
    pub(crate) async fn hear(&mut self) -> bool {
        let Some(text) = self.raw.text().await else {
            return false;
        };
        self.note(&text);
        true
    }

    fn note(&mut self, text: &str) {
        // Most of what is on a busy bus is for nobody here.
        if !text.contains(".response\"") {
            return;
        }
        let frame: Value = serde_json::from_str(text).expect("JSON");
        if frame["type"].as_str().is_some_and(|topic| topic.ends_with(".response")) {
            self.heard.push(frame);
        }
    }

    /// Waits for a Message of this topic.
    pub(crate) async fn hear_topic(&mut self, topic: &str) {
        within(topic, async {
            while !self.raw.text().await.expect("the bus is there").contains(topic) {}
        })
        .await;
    }

    /// Every answer heard.
    pub(crate) fn heard(&self) -> &[Value] {
        &self.heard
    }

    /// Every answer heard, as text.
    pub(crate) fn everything_heard(&self) -> String {
        self.heard.iter().map(Value::to_string).collect()
    }

    /// Whether no request has two answers of those heard, discover aside, which each toolbox answers.
    pub(crate) fn nothing_was_answered_twice(&self) -> bool {
        let mut known = HashSet::new();
        let calls = self
            .heard
            .iter()
            .filter(|frame| frame["type"] != format!("{DISCOVER}.response"));
        calls
            .filter_map(|frame| frame["context"]["token"].as_str())
            .all(|token| known.insert(token))
    }

    /// Every answer heard to a request, of all callers.
    pub(crate) fn answers(&self, token: &str) -> Vec<&Value> {
        let to_it = |frame: &&Value| frame["context"]["token"] == token;
        self.heard.iter().filter(to_it).collect()
    }

    /// Waits until a request has `count` answers; their data.
    pub(crate) async fn wait(&mut self, token: &str, count: usize) -> Vec<Value> {
        within("the answers", async {
            let mut found = self.answers(token).len();
            while found < count {
                let before = self.heard.len();
                assert!(self.hear().await, "the bus is there");
                let new = &self.heard[before..];
                found += new.iter().filter(|frame| frame["context"]["token"] == token).count();
            }
        })
        .await;
        self.answers(token).iter().map(|frame| frame["data"].clone()).collect()
    }

    /// Waits until a request has an answer on this topic; its data.
    pub(crate) async fn hear_answer(&mut self, token: &str, topic: &str) -> Value {
        let found = |caller: &Self| {
            let answers = caller.answers(token);
            let answer = answers.iter().find(|answer| answer["type"] == topic);
            answer.map(|answer| answer["data"].clone())
        };
        within("the answer", async {
            loop {
                if let Some(data) = found(self) {
                    return data;
                }
                assert!(self.hear().await, "the bus is there");
            }
        })
        .await
    }

    /// Sends a Message and waits for its answer; the answer's data.
    pub(crate) async fn ask(&mut self, topic: &str, data: &Value) -> Value {
        let token = self.send(topic, data).await;
        self.wait(&token, 1).await.remove(0)
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, toolbox_id: &str, name: &str, kwargs: &Value) -> Result<Value, String> {
        outcome(&self.ask(CALL, &call(toolbox_id, name, kwargs)).await)
    }

    /// Hears everything that was said on the bus before now.
    pub(crate) async fn catch_up(&mut self) {
        let marker = json!({"type": "test.marker", "data": {}, "context": {"marker": fastrand::u64(..)}}).to_string();
        self.raw.send(marker.clone()).await;
        loop {
            let text = self.raw.text().await.expect("the bus is there");
            if text == marker {
                return;
            }
            self.note(&text);
        }
    }

    /// Whether a Message stays without an answer, though the host has answered a later one.
    pub(crate) async fn stays_unanswered(&mut self, topic: &str, data: &Value) -> bool {
        let token = self.send(topic, data).await;
        let alive = self.ask("mycroft.toolhost.is_alive", &json!({})).await;
        assert_eq!(alive, json!({"status": true}));
        self.answers(&token).is_empty()
    }
}

/// The end of a call, from the data of its answer.
pub(crate) fn outcome(data: &Value) -> Result<Value, String> {
    match (data.get("result"), data.get("error").and_then(Value::as_str)) {
        (Some(result), None) => Ok(result.clone()),
        (None, Some(error)) => Err(error.to_owned()),
        _ => panic!("neither a result nor an error: {data}"),
    }
}
