//! The verbs of the control socket: one table for the lines, the host and the commands. Pure but for the trait.

use std::future::Future;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::order::{Ordered, Orders, Reloaded};
use super::status::Status;
use crate::migrate::verdict::Report;

/// What can be asked of a running host, one JSON object a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Verb {
    /// `{"verb": "status"}`
    Status,
    /// `{"verb": "stop", "toolboxes": ["wordnet"]}`
    Stop(Orders),
    /// `{"verb": "start", "toolboxes": ["wordnet"]}`
    Start(Orders),
    /// `{"verb": "restart", "toolboxes": ["wordnet"]}`
    Restart(Orders),
    /// `{"verb": "reload"}`
    Reload,
    /// `{"verb": "migration"}`
    Migration,
}

/// What is asked of toolboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Be down until started.
    Stop,
    /// Be up.
    Start,
    /// Be up with new processes.
    Restart,
}

/// Who carries the verbs out: the running host, and tests.
pub trait Verbs: Send + Sync + 'static {
    /// How everything is.
    fn status(&self) -> impl Future<Output = Status> + Send;

    /// Has toolboxes do what is asked, all of them or, where one is not known, none.
    fn order(&self, order: Order, orders: Orders) -> impl Future<Output = Ordered> + Send;

    /// Who calls on which topic, and for how long nobody has used the predecessor.
    fn migration(&self) -> Report;

    /// Reads the configuration again; in words why it is refused.
    fn reload(&self) -> impl Future<Output = Result<Reloaded, String>> + Send;
}

/// How long a host may take to answer what it does at once.
const PATIENCE: Duration = Duration::from_secs(10);

impl Verb {
    /// The name it has in a request, and its answer in a reply.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Stop(_) => "stop",
            Self::Start(_) => "start",
            Self::Restart(_) => "restart",
            Self::Reload => "reload",
            Self::Migration => "migration",
        }
    }

    /// The line that asks for it, without a line end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| json!({"verb": self.name()}).to_string())
    }

    /// How long its answer may take; `None` where that is the toolboxes' time: `describe_timeout` and the grace bound it.
    pub fn patience(&self) -> Option<Duration> {
        match self {
            Self::Status | Self::Migration => Some(PATIENCE),
            Self::Stop(orders) | Self::Start(orders) | Self::Restart(orders) => (!orders.wait).then_some(PATIENCE),
            Self::Reload => None,
        }
    }
}

/// The answer to one line, without a line end.
pub async fn answer(line: &[u8], verbs: &impl Verbs) -> String {
    let verb: Verb = match serde_json::from_slice(line) {
        Ok(verb) => verb,
        Err(error) => return refusal(&error.to_string()).to_string(),
    };
    let name = verb.name();
    let answer = match verb {
        Verb::Status => serde_json::to_value(verbs.status().await),
        Verb::Migration => serde_json::to_value(verbs.migration()),
        Verb::Stop(orders) => serde_json::to_value(verbs.order(Order::Stop, orders).await),
        Verb::Start(orders) => serde_json::to_value(verbs.order(Order::Start, orders).await),
        Verb::Restart(orders) => serde_json::to_value(verbs.order(Order::Restart, orders).await),
        Verb::Reload => match verbs.reload().await {
            Ok(reloaded) => serde_json::to_value(reloaded),
            Err(why) => return refusal(&why).to_string(),
        },
    };
    let answer = answer.map_or_else(|error| refusal(&error.to_string()), |answer| json!({name: answer}));
    answer.to_string()
}

/// The answer to what is not carried out.
pub(super) fn refusal(why: &str) -> serde_json::Value {
    json!({"error": why})
}
