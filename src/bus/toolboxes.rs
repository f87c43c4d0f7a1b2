//! The seam between the bus and what it publishes: the bus asks, and never sees a process.

use std::future::Future;

use crate::json::Text;
use crate::tools::outcome::{Call, CallError};

/// The tool definitions of one toolbox (OVOS-TOOLS-1 §3), ready to be put into an answer.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The toolbox.
    pub toolbox_id: String,
    /// A JSON array of definitions, each with its `toolbox_id`; `[]` for a toolbox that is down.
    pub tools: Text,
}

/// What a toolbox host can be asked. Implemented by the registry, and by tests.
pub trait Toolboxes: Send + Sync + 'static {
    /// Whether this toolbox is hosted here, compared exactly (OVOS-TOOLS-1 §4.2).
    fn hosts(&self, toolbox_id: &str) -> bool;

    /// Hands `call` to the toolbox, which answers through `call.reply`. Never blocks.
    fn call(&self, toolbox_id: &str, call: Call);

    /// Hands `call` to the one toolbox that publishes `call.name`, or answers
    /// [`CallError::UnknownTool`] or [`CallError::Ambiguous`]. Never blocks.
    fn invoke(&self, call: Call);

    /// The definition published under a flat name (OVOS-TOOLS-1 §5 `get`).
    ///
    /// # Errors
    /// [`CallError::UnknownTool`] or [`CallError::Ambiguous`].
    fn get(&self, name: &str) -> Result<Text, CallError>;

    /// Every published definition as one JSON array, as last described (§5 `list`).
    fn list(&self) -> Text;

    /// Describes every toolbox anew, side by side, and hands each listing to `answer` as soon as it
    /// is there: exactly one a toolbox (§4.1).
    fn discover(&self, answer: impl FnMut(Listing) + Send + 'static) -> impl Future<Output = ()> + Send;

    /// Reads the configuration again, applies what changed, describes every toolbox anew (§5 `reload`).
    ///
    /// # Errors
    /// Why the new configuration was refused; the old one goes on.
    fn reload(&self) -> impl Future<Output = Result<(), String>> + Send;

    /// Whether every toolbox has come up or failed since the host started.
    fn is_ready(&self) -> bool;

    /// What becomes of predecessor calls of this toolbox (OVOS-TOOLS-1 §6).
    fn predecessor_topics(&self, toolbox_id: &str) -> crate::config::PredecessorTopics;
}
