//! What a toolbox shows of itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::lifecycle::{State, Then};
use super::status::{Brief, Phase, ProcessSnapshot, Snapshot};
use super::toolbox::Toolbox;
use super::worker::{Duty, Worker};
use crate::config::Mode;

impl Toolbox {
    /// Lets others know what changed.
    pub(super) fn publish_brief(&mut self) {
        let phase = self.phase();
        let tools = self.published().cloned();
        let settled = phase != Phase::Starting;
        let changed = self.brief.send_if_modified(|brief| {
            let same_tools = match (&brief.tools, &tools) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                (None, None) => true,
                _ => false,
            };
            if brief.phase == phase && same_tools {
                return false;
            }
            *brief = Brief {
                tools,
                settled: brief.settled || settled,
                phase,
            };
            true
        });
        if changed {
            self.surroundings.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// The best state among the processes.
    pub(super) fn phase(&self) -> Phase {
        let rank = |phase: &Phase| match phase {
            Phase::Ready => 0,
            Phase::Starting => 1,
            Phase::Asleep => 2,
            Phase::Backoff(_) => 3,
            Phase::Stopping => 4,
            Phase::Failed(_) => 5,
            Phase::Stopped => 6,
        };
        if self.is_stopping() {
            return Phase::Stopping;
        }
        if self.is_succeeding() {
            return if self.held { Phase::Stopping } else { Phase::Starting };
        }
        // A run-once process rests between requests, and is described by each that asks.
        let resting_is_asleep = self.config.mode == Mode::Persistent || self.list_is_old;
        let phases = self.workers.iter().map(|worker| match worker.lifecycle.state() {
            State::Idle | State::Stopping { then: Then::Idle, .. } if resting_is_asleep => Phase::Asleep,
            State::Ready { .. } | State::Idle | State::Stopping { then: Then::Idle, .. } => Phase::Ready,
            State::Starting | State::Stopping { then: Then::Start, .. } => Phase::Starting,
            State::Backoff { reason, .. } => Phase::Backoff(reason.clone()),
            State::Failed { reason } => Phase::Failed(reason.clone()),
            State::Stopping {
                then: Then::Fail(reason),
                ..
            } => Phase::Backoff(reason.clone()),
            State::Stopping { .. } => Phase::Stopping,
            State::Stopped => Phase::Stopped,
        });
        phases.min_by_key(rank).unwrap_or(Phase::Stopped)
    }

    /// How it is at this moment.
    pub(super) fn snapshot(&self) -> Snapshot {
        let now = Instant::now();
        let retry = self.workers.iter().filter_map(|worker| match worker.lifecycle.state() {
            State::Backoff { until, .. } => Some(until.saturating_duration_since(now)),
            _ => None,
        });
        let process = |worker: &Worker| {
            worker.process.as_ref().map(|process| ProcessSnapshot {
                pid: process.pid(),
                uptime: now.saturating_duration_since(worker.spawned),
                in_flight: worker
                    .duties
                    .values()
                    .filter(|duty| matches!(duty, Duty::Call { .. }))
                    .count(),
            })
        };
        let restarts = match self.config.mode {
            Mode::Persistent => self.workers.iter().map(|worker| worker.restarts).sum(),
            Mode::Oneshot => 0,
        };
        Snapshot {
            phase: self.phase(),
            retry_in: retry.min(),
            processes: self.workers.iter().filter_map(process).collect(),
            restarts,
            succeeded: self.succeeded,
            failed: self.failed + self.refusals.counted(),
            pending: self.queue.len(),
            latency: self.latencies.percentiles(),
        }
    }
}
