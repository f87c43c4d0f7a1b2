//! What the bridge tells about itself: counters, its part as a tool service, and names it shares.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::service::Other;

/// A snapshot for `status`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct BridgeStatus {
    /// The id this process probes with.
    pub instance: String,
    /// Whether `ovos.tools.*` is answered.
    pub tool_service: ServiceStatus,
    /// Names that another host on the bus answers for as well.
    pub conflicts: Vec<Conflict>,
    /// Requests that were for this host.
    pub handled: u64,
    /// Messages dropped as malformed.
    pub malformed: u64,
    /// Answers sent.
    pub answers: u64,
}

/// The part toolhost plays on `ovos.tools.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceStatus {
    /// The configuration says no.
    Off,
    /// It answers.
    Serving,
    /// It leaves the answers to another.
    Silent(Other),
}

/// A name two hosts answer for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Conflict {
    /// A toolbox_id, or `ovos.tools`.
    pub name: String,
    /// Answers of the other seen.
    pub seen: u64,
    /// When the last one was seen, in seconds since 1970.
    pub last_seen: u64,
    /// The `source` of the last one, where it has one.
    pub source: Option<String>,
}

/// Counts that threads share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) handled: AtomicU64,
    pub(super) malformed: AtomicU64,
}

/// Adds one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The conflicts seen so far; no more than there are hosted names.
#[derive(Debug, Default)]
pub(super) struct Conflicts(BTreeMap<String, Conflict>);

impl Conflicts {
    /// Another host answered for `name`.
    pub(super) fn record(&mut self, name: &str, source: Option<String>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let conflict = self.0.entry(name.to_owned()).or_insert_with(|| Conflict {
            name: name.to_owned(),
            seen: 0,
            last_seen: 0,
            source: None,
        });
        conflict.seen += 1;
        conflict.last_seen = now.as_secs();
        conflict.source = source;
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> Vec<Conflict> {
        self.0.values().cloned().collect()
    }
}
