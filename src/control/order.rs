//! What is asked of toolboxes by their owner, and what is told of it.

use serde::{Deserialize, Serialize};

/// Which toolboxes, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// Their toolbox_ids.
    #[serde(default)]
    pub toolboxes: Vec<String>,
    /// Every toolbox of the host instead.
    #[serde(default)]
    pub all: bool,
    /// Whether the answer waits for the end.
    #[serde(default = "waits")]
    pub wait: bool,
    /// Milliseconds the calls in hand have to end.
    #[serde(default = "grace")]
    pub grace_ms: u64,
}

/// Milliseconds the calls in hand have to end, where nobody said.
pub const GRACE_MS: u64 = 10_000;

fn grace() -> u64 {
    GRACE_MS
}

fn waits() -> bool {
    true
}

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ordered {
    /// Of those named, the ones this host does not have. Then nothing was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Those it has, where some were unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// What became of each.
    pub toolboxes: Vec<End>,
}

/// What became of one toolbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Its toolbox_id.
    pub toolbox_id: String,
    /// What was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Done>,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// It is down.
    Stopped,
    /// It was down by an earlier command.
    WasStopped,
    /// It is up.
    Started,
    /// It was up already.
    WasRunning,
    /// It is up with new processes.
    Restarted,
    /// It has no process; its tools were read anew.
    ReadAgain,
    /// It was asked, and nobody waited.
    Asked,
}

/// What a reload did, by toolbox_id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// Hosted from now on.
    pub added: Vec<String>,
    /// Hosted no longer.
    pub removed: Vec<String>,
    /// Started anew, since the file says something else of them.
    pub changed: Vec<String>,
    /// Left as they were.
    pub unchanged: Vec<String>,
    /// Whether something else changed that the file says: `tool_service`, `migrate`, `watch`.
    #[serde(default)]
    pub settings: bool,
}
