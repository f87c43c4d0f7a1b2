//! Calls that are refused because too much is on hand: counted, and told in the log as one line for many.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::log_limit::LogLimit;
use crate::tools::outcome::CallError;

/// One line in so long: whoever is overloaded has no use for one a call.
const PERIOD: Duration = Duration::from_secs(10);

/// The refusals of one toolbox: of its mailbox, whose calls never reach the task, and of the task.
#[derive(Debug, Clone)]
pub(super) struct Refusals(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    toolbox: String,
    before_the_task: AtomicU64,
    lines: Mutex<LogLimit>,
}

impl Refusals {
    pub(super) fn of(toolbox: &str) -> Self {
        Self(Arc::new(Inner {
            toolbox: toolbox.to_owned(),
            before_the_task: AtomicU64::new(0),
            lines: Mutex::new(LogLimit::new(1, PERIOD)),
        }))
    }

    /// A call was refused that the task never sees.
    pub(super) fn count(&self, error: &CallError) {
        self.0.before_the_task.fetch_add(1, Ordering::Relaxed);
        self.tell(error);
    }

    /// How many calls the task never saw.
    pub(super) fn counted(&self) -> u64 {
        self.0.before_the_task.load(Ordering::Relaxed)
    }

    /// Tells the log, unless it was told a moment ago.
    pub(super) fn tell(&self, error: &CallError) {
        let mut lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let admitted = lines.admit(Instant::now());
        drop(lines);
        if let Some(suppressed) = admitted {
            tracing::warn!(toolbox = self.0.toolbox, suppressed, %error, "overloaded, calls are refused");
        }
    }
}
