//! Toolboxes that rest: not started before the first call (`start: lazy`), stopped when nobody calls (`idle_timeout`).
//!
//! What rests has no process, and is up all the same: its tools are published, and the next call starts it. That call, and
//! all that come meanwhile, wait unchecked, within their own time: the list they were called by may be old. A process that
//! starts describes itself before anything else, and they are checked by what it says then.
//!
//! A lazy toolbox whose tools are not known yet is started once to tell them, and rests again. They are kept in the
//! state folder from then on.

use std::time::{Duration, Instant};

use super::kept::digest;
use super::lifecycle::{Event, State, Then};
use super::toolbox::Toolbox;
use super::worker::Worker;
use crate::adapter::Adapter;
use crate::config::Mode;
use crate::process::aside::aside;

/// How long a process that is no longer needed has on each rung of the ladder: it may have something to save.
const RUNG: Duration = Duration::from_secs(3);

impl Worker {
    /// Whether its next request starts it, now or when its process has gone.
    pub(super) fn rests(&self) -> bool {
        matches!(
            self.lifecycle.state(),
            State::Idle | State::Stopping { then: Then::Idle, .. }
        )
    }

    /// Whether a process of it comes up without being asked again.
    fn is_coming(&self) -> bool {
        matches!(
            self.lifecycle.state(),
            State::Starting | State::Stopping { then: Then::Start, .. }
        )
    }
}

impl Toolbox {
    /// Whether its first process waits for a call. What has none is started once a call anyway.
    pub(super) fn is_lazy(&self) -> bool {
        self.config.is_lazy() && matches!(self.adapter, Adapter::Speaks(_))
    }

    /// The first start: with its tools as they were kept, a lazy toolbox rests at once.
    pub(super) async fn begin(&mut self) {
        if self.is_lazy() && self.trusts_kept && self.take_kept() {
            self.list_is_old = true;
            return self.rest_stopped();
        }
        self.only_to_describe = self.is_lazy();
        self.start_all().await;
    }

    /// Takes over what was kept of its tools, if anything was that can be used.
    fn take_kept(&mut self) -> bool {
        let read = self
            .kept
            .as_mut()
            .and_then(|kept| aside(true, || kept.read(&self.config)));
        let Some(raw) = read else { return false };
        let learned = self.take_over(raw, "asleep, with its tools as last described");
        if let Err(why) = &learned {
            tracing::warn!(toolbox = self.config.id, why, "kept tools ignored");
        }
        learned.is_ok()
    }

    /// Of a process that is started now, for what it says of itself to be kept with.
    pub(super) fn digest_to_keep(&self) -> Option<String> {
        let keeps = self.is_lazy() && self.kept.is_some();
        keeps.then(|| aside(true, || digest(&self.config)))
    }

    /// Keeps what the process of a slot says of itself for the next run.
    pub(super) fn keep_tools(&mut self, index: usize) {
        let digest = self.workers.get(index).and_then(|worker| worker.digest.clone());
        if let (Some(kept), Some(known), Some(digest)) = (&mut self.kept, &self.known, digest) {
            aside(true, || kept.write(digest, known.raw()));
        }
    }

    /// Lets the slots rest that nothing was started in, or where it is being stopped.
    pub(super) fn rest_stopped(&mut self) {
        for worker in &mut self.workers {
            let stopped = matches!(
                worker.lifecycle.state(),
                State::Stopped | State::Stopping { then: Then::Stop, .. }
            );
            if stopped {
                worker.lifecycle.step(Event::Rest, Instant::now(), 0.0);
            }
        }
    }

    /// Whether it has no process and none on its way, and the next call starts one.
    pub(super) fn is_asleep(&self) -> bool {
        let asleep = |worker: &Worker| worker.rests() && (self.config.mode == Mode::Persistent || self.list_is_old);
        self.workers.iter().all(asleep)
    }

    /// Whether a call that comes now has to wait until it has described itself.
    pub(super) fn must_describe_first(&mut self) -> bool {
        self.list_is_old |= self.known.is_none() || self.is_asleep();
        self.list_is_old
    }

    /// Starts what rests for the calls that wait.
    pub(super) async fn wake(&mut self) {
        if self.queue.is_empty() || self.is_stopping() || self.is_succeeding() {
            return;
        }
        self.only_to_describe = false;
        let concurrent = self.known.as_ref().is_some_and(|known| known.capabilities.concurrent);
        let wanted = if concurrent || self.config.mode == Mode::Oneshot {
            1
        } else {
            self.queue.len()
        };
        let coming = self.workers.iter().filter(|worker| worker.is_coming()).count();
        for _ in coming..wanted {
            let Some(index) = self.next_to_wake() else { return };
            // Of run-once processes one describes first, which a request of its own does not.
            let event = match self.config.mode {
                Mode::Persistent => Event::Wake,
                Mode::Oneshot => Event::Start,
            };
            tracing::debug!(toolbox = self.config.id, "woken by a call");
            self.step(index, event).await;
        }
    }

    /// What rests already comes before what is on its way there.
    fn next_to_wake(&self) -> Option<usize> {
        let resting = self.workers.iter().position(Worker::rests);
        self.idle_worker().or(resting)
    }

    /// Whether a process is up to be described and for nothing else, so that it can rest again.
    pub(super) fn is_done_describing(&self) -> bool {
        self.only_to_describe && self.config.mode == Mode::Persistent && self.queue.is_empty() && !self.has_mail()
    }

    /// When the first process is due that nobody calls.
    pub(super) fn rest_due(&self) -> Option<Instant> {
        self.workers.iter().filter_map(|worker| self.unused_at(worker)).min()
    }

    /// When a process can go that has nothing to do; `None` while it has, or where it is to stay.
    fn unused_at(&self, worker: &Worker) -> Option<Instant> {
        let timeout = self.config.idle_timeout?;
        let is_up = self.config.mode == Mode::Persistent && matches!(worker.lifecycle.state(), State::Ready { .. });
        (is_up && worker.duties.is_empty() && self.queue.is_empty()).then(|| worker.used + timeout)
    }

    /// Lets go of the processes that nobody has called for long.
    pub(super) async fn rest_unused(&mut self, now: Instant) {
        for index in 0..self.workers.len() {
            let unused = self.workers.get(index).and_then(|worker| self.unused_at(worker));
            // A call on its way in is as good as one in hand.
            if unused.is_some_and(|due| due <= now) && !self.has_mail() {
                tracing::info!(
                    toolbox = self.config.id,
                    "nobody called, its process is stopped until somebody does"
                );
                self.rest(index).await;
            }
        }
    }

    /// Stops the process of a slot until it is needed.
    pub(super) async fn rest(&mut self, index: usize) {
        if let Some(worker) = self.workers.get_mut(index) {
            worker.comes_from_rest = true;
        }
        self.dismiss(index, Event::Unused(RUNG)).await;
    }
}
