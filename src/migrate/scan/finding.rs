//! What a scan finds, and what replaces it.

use std::ops::Range;

use super::place::Kind;
use super::topic;

/// A change of a text: what stands in `range` gives way to `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// What comes there.
    pub text: String,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A predecessor topic, or that of its answer.
    Predecessor {
        /// Whether it is the topic of the answer.
        answer: bool,
    },
    /// The arguments stand under `found`, where `wanted` belongs.
    Arguments {
        /// The topic of the call.
        topic: String,
        /// The key that is there.
        found: &'static str,
        /// The key that belongs there.
        wanted: &'static str,
    },
    /// What may come to a predecessor topic elsewhere, but cannot be followed.
    Unfinished,
    /// `toolhost call --predecessor`
    Flag,
}

/// One thing found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The bytes of the expression.
    pub span: Range<usize>,
    /// What is done with the topic.
    pub kind: Kind,
    /// Whether that is certain, and not only likely.
    pub certain: bool,
    /// Whether the same text has a host of the replacement as well.
    pub answers_both: bool,
    /// Whether the same call waits for the first answer: on the replacement that may be another toolbox's.
    pub takes_first: bool,
    /// What is wrong.
    pub what: What,
    /// The toolbox_id, where it stands there.
    pub toolbox_id: Option<String>,
    /// The toolbox_id as the source has it: a name, an expression, a placeholder.
    pub shown_id: String,
    /// What rewrites it, or why that is left to a person.
    pub fix: Result<Vec<Edit>, String>,
}

impl Finding {
    /// The toolbox_id, or in angle brackets what stands for it.
    fn id(&self) -> String {
        match &self.toolbox_id {
            Some(id) => id.clone(),
            None if self.shown_id.starts_with('<') && self.shown_id.ends_with('>') => self.shown_id.clone(),
            None => format!("<{}>", self.shown_id),
        }
    }

    /// The topic. What stands in angle brackets is not known before the program runs.
    pub fn topic(&self) -> String {
        match &self.what {
            What::Predecessor { answer } => {
                let end = if *answer { "call.response" } else { "call" };
                format!("{}{}.{end}", topic::PREFIX, self.id())
            }
            What::Flag => format!("{}{}.call", topic::PREFIX, self.id()),
            What::Arguments { topic, .. } => topic.clone(),
            What::Unfinished => topic::PREFIX.to_owned(),
        }
    }

    /// The topic to use instead.
    pub fn replacement_topic(&self) -> &str {
        match &self.what {
            What::Predecessor { answer: true } => topic::ANSWER,
            What::Arguments { topic, .. } if topic == topic::INVOKE => topic::INVOKE,
            _ => topic::CALL,
        }
    }

    /// The payload that goes with the replacement, as JSON. What stands in angle brackets is to be filled in.
    pub fn replacement_payload(&self) -> serde_json::Value {
        let id = self.id();
        match &self.what {
            What::Predecessor { answer: true } => serde_json::json!({"toolbox_id": id, "result": "<result>"}),
            What::Arguments { topic, .. } if topic == topic::INVOKE => {
                serde_json::json!({"name": "<tool>", "args": {}})
            }
            _ => serde_json::json!({"toolbox_id": id, "name": "<tool>", "kwargs": {}}),
        }
    }

    /// What it is, in one line.
    pub fn title(&self) -> String {
        let id = match &self.toolbox_id {
            Some(id) => format!("toolbox '{id}'"),
            None if self.shown_id.is_empty() => "a toolbox".to_owned(),
            None => format!("the toolbox that {} names", self.shown_id),
        };
        match (&self.what, self.kind) {
            (What::Arguments { topic, found, wanted }, _) => {
                format!("arguments of {topic} under '{found}', where '{wanted}' belongs")
            }
            (What::Unfinished, _) => {
                "the beginning of a predecessor topic; what it is joined with is not to be seen here".to_owned()
            }
            (What::Flag, _) => format!("a call of {id} on its predecessor topic"),
            (_, Kind::Caller) => format!("a call of {id} on its predecessor topic"),
            (What::Predecessor { answer: true }, Kind::Host) => format!("an answer for {id} on its predecessor topic"),
            (_, Kind::Host) => format!("a host of {id} on its predecessor topic"),
            (_, Kind::Listener) => format!("a wait for answers of {id} on its predecessor topic"),
            (_, Kind::Mention | Kind::Arguments) => format!("the predecessor topic of {id} is spoken of"),
        }
    }

    /// What to do about it, in one line.
    pub fn advice(&self) -> String {
        let topic = self.replacement_topic();
        let id = match &self.toolbox_id {
            Some(id) => format!("\"{id}\""),
            None => self.shown_id.clone(),
        };
        match (&self.what, self.kind) {
            (What::Arguments { found, wanted, .. }, _) => {
                format!("write '{wanted}' for '{found}': what stands under '{found}' is not read")
            }
            (What::Unfinished, _) => format!("look where it is used; the replacement is {topic} with data.toolbox_id"),
            (What::Flag, _) => format!("leave out --predecessor: toolhost sends {topic}"),
            (_, Kind::Host) if self.answers_both => {
                format!("{topic} is answered here as well; leave the predecessor out after one stable cycle")
            }
            (_, Kind::Host) => format!(
                "answer {topic} where data.toolbox_id is {id}, and stay silent on any other; keep the predecessor for one stable cycle"
            ),
            (_, Kind::Listener) => format!("listen to {topic} and take answers whose data.toolbox_id is {id}"),
            (_, Kind::Mention) => format!("the replacement is {topic} with data.toolbox_id"),
            _ => format!("send {topic} with {{\"toolbox_id\": {id}, \"name\": ..., \"kwargs\": {{...}}}}"),
        }
    }
}
