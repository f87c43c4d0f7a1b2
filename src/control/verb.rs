//! The verbs of the control socket: one table for the lines, the host and the commands. Pure but for the trait.

use std::future::Future;

use serde::Deserialize;
use serde_json::json;

use super::status::Status;

/// What can be asked of a running host, one JSON object a line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Verb {
    /// `{"verb": "status"}`
    Status,
}

/// Who carries the verbs out: the running host, and tests.
pub trait Verbs: Send + Sync + 'static {
    /// How everything is.
    fn status(&self) -> impl Future<Output = Status> + Send;
}

impl Verb {
    /// The name it has in a request, and its answer in a reply.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status => "status",
        }
    }

    /// The line that asks for it, without a line end.
    pub fn line(&self) -> String {
        json!({"verb": self.name()}).to_string()
    }
}

/// The answer to one line, without a line end.
pub(super) async fn answer(line: &[u8], verbs: &impl Verbs) -> String {
    let answer = match serde_json::from_slice::<Verb>(line) {
        Ok(Verb::Status) => serde_json::to_value(verbs.status().await).map(|status| json!({"status": status})),
        Err(error) => Err(error),
    };
    answer.unwrap_or_else(|error| refusal(&error.to_string())).to_string()
}

/// The answer to what is not carried out.
pub(super) fn refusal(why: &str) -> serde_json::Value {
    json!({"error": why})
}
