//! Who sent a Message, as far as it says so. Pure.

use std::borrow::Cow;

use super::message::Message;
use crate::json;
use crate::migrate::usage::{Keys, Who};

/// What tells a caller from others, borrowed from its Message.
#[derive(Debug)]
pub struct Caller<'a> {
    source: Option<Cow<'a, str>>,
    session_id: Option<Cow<'a, str>>,
}

/// Characters of a text of a caller in a log line.
const SHOWN: usize = 80;

impl<'a> Caller<'a> {
    /// The sender of `message`.
    pub fn of(message: &Message<'a>) -> Self {
        let session = message.context.get("session");
        Self {
            source: message.context.get("source").and_then(json::string),
            session_id: session
                .and_then(|session| json::member(session.get(), "session_id"))
                .and_then(json::string),
        }
    }

    /// The same, for the accounts.
    pub fn who(&self, message: &Message<'_>) -> Who<'_> {
        Who {
            source: self.source.as_deref(),
            session_id: self.session_id.as_deref(),
            keys: Keys::of(message.context.iter().map(|(key, _)| key)),
        }
    }

    /// Its source and its session_id, clipped for a log line.
    pub fn shown(&self) -> (Option<String>, Option<String>) {
        let short = |text: &Option<Cow<'_, str>>| Some(text.as_deref()?.chars().take(SHOWN).collect());
        (short(&self.source), short(&self.session_id))
    }
}
