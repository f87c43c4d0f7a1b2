//! What the supervisor knows of a toolbox, as values to show.

use std::sync::Arc;
use std::time::Duration;

use crate::tools::tool::ToolSet;

/// What others need to know of a toolbox at any time; changes seldom.
#[derive(Debug, Clone, Default)]
pub struct Brief {
    /// Its tools as last described; `None` before the first time.
    pub tools: Option<Arc<ToolSet>>,
    /// Whether it can serve calls, now or in a moment; else why not.
    pub phase: Phase,
    /// Whether it has come up or failed since it was started.
    pub settled: bool,
}

/// The state of a toolbox: the best one among its processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Phase {
    /// Not started yet, or starting.
    #[default]
    Starting,
    /// Serves calls.
    Ready,
    /// Has no process; the next call starts one.
    Asleep,
    /// Down, for this reason, and started again by itself.
    Backoff(String),
    /// Down, for this reason, until asked.
    Failed(String),
    /// Being stopped.
    Stopping,
    /// Stopped.
    Stopped,
}

/// A toolbox at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its state.
    pub phase: Phase,
    /// Time until it is started again.
    pub retry_in: Option<Duration>,
    /// Its processes that are alive.
    pub processes: Vec<ProcessSnapshot>,
    /// Processes started beyond the first of each, apart from those that a call woke.
    pub restarts: u64,
    /// Calls answered with a result.
    pub succeeded: u64,
    /// Calls answered with an error.
    pub failed: u64,
    /// Calls waiting for a process.
    pub pending: usize,
    /// Median and 99th percentile of the last calls' time in the toolbox.
    pub latency: Option<(Duration, Duration)>,
}

/// One process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct ProcessSnapshot {
    /// Its process id.
    pub pid: i32,
    /// How long it has been up.
    pub uptime: Duration,
    /// Calls it is working on.
    pub in_flight: usize,
}

/// The times of the last calls.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    recent: Vec<Duration>,
    next: usize,
}

impl Latencies {
    const KEPT: usize = 512;

    /// Takes one call's time.
    pub(super) fn record(&mut self, time: Duration) {
        if self.recent.len() < Self::KEPT {
            self.recent.push(time);
        } else if let Some(oldest) = self.recent.get_mut(self.next) {
            *oldest = time;
        }
        self.next = (self.next + 1) % Self::KEPT;
    }

    /// Median and 99th percentile.
    pub(super) fn percentiles(&self) -> Option<(Duration, Duration)> {
        let mut sorted = self.recent.clone();
        sorted.sort_unstable();
        let at = |percent: usize| sorted.get((sorted.len().saturating_sub(1)) * percent / 100).copied();
        Some((at(50)?, at(99)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_last_calls_only() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.percentiles(), None);
        for ms in 0..10_000 {
            latencies.record(Duration::from_millis(if ms < 9_000 { 9_999 } else { ms % 101 }));
        }
        let (median, worst) = latencies.percentiles().unwrap();
        assert!(median < Duration::from_millis(101) && worst < Duration::from_millis(101) && median < worst);
    }
}
