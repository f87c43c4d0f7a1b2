//! What is past its time: calls, describes, and processes that stay busy with what was given up.

use std::time::{Duration, Instant};

use super::lifecycle::Event;
use super::toolbox::Toolbox;
use super::worker::Duty;
use crate::config::Mode;
use crate::protocol::request::Request;
use crate::tools::outcome::CallError;

/// How long a process may stay busy with a call that was given up, before it is replaced.
const GRACE: Duration = Duration::from_secs(1);

impl Toolbox {
    /// Gives up what is due: calls, describes, and processes that stay busy with what was given up.
    pub(super) async fn expire(&mut self, now: Instant) {
        while let Some((at, id)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            match self.holder_of(id) {
                Some(index) => self.expire_duty(index, id, now).await,
                None => self.expire_waiting(id),
            }
        }
    }

    fn holder_of(&self, id: u64) -> Option<usize> {
        self.workers.iter().position(|worker| worker.duties.contains_key(&id))
    }

    /// A call whose time ran out in the queue is answered, and never sent later.
    fn expire_waiting(&mut self, id: u64) {
        let Some((call, timeout)) = self.queue.remove(id) else {
            return;
        };
        self.record(call.arrived, false);
        call.reply.send(Err(CallError::Timeout {
            name: call.name,
            timeout,
            hint: "",
        }));
    }

    async fn expire_duty(&mut self, index: usize, id: u64, now: Instant) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        let Some(duty) = worker.duties.remove(&id) else { return };
        let hint = worker.noisy.unwrap_or_default();
        match duty {
            Duty::Call {
                tool,
                reply,
                arrived,
                timeout,
            } => {
                self.record(arrived, false);
                reply.send(Err(CallError::Timeout {
                    name: tool.name.clone(),
                    timeout,
                    hint,
                }));
                if self.config.mode == Mode::Oneshot {
                    // It was started for this call alone.
                    return self.step(index, Event::Broken("past its time".to_owned())).await;
                }
                self.abandon(index, id, now, now);
                self.cancel(index, id);
            }
            Duty::Describe { waiters, .. } => {
                self.abandon(index, id, now, now);
                self.describe_expired(index, waiters).await;
            }
            Duty::Abandoned { since, .. } => self.still_busy(index, id, since, now).await,
        }
    }

    /// A request was given up a while ago and is still not answered.
    ///
    /// A process that has answered another one since is not stuck as a whole. One with other calls
    /// in it may be about to answer them: it is looked at again, until they had their time too.
    async fn still_busy(&mut self, index: usize, id: u64, since: Instant, now: Instant) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        if worker.answered > since {
            return;
        }
        let others = worker
            .duties
            .values()
            .any(|duty| !matches!(duty, Duty::Abandoned { .. }));
        if others && now.saturating_duration_since(since) < self.config.timeout {
            return self.abandon(index, id, since, now);
        }
        let hint = worker.noisy.unwrap_or_default();
        self.step(
            index,
            Event::Broken(format!("still busy with a call whose time was over{hint}")),
        )
        .await;
    }

    /// Keeps the id of a request given up: its late answer is nobody's.
    fn abandon(&mut self, index: usize, id: u64, since: Instant, now: Instant) {
        let duty = Duty::Abandoned {
            since,
            due: now + GRACE,
        };
        self.deadlines.insert((duty.due(), id));
        if let Some(worker) = self.workers.get_mut(index) {
            worker.duties.insert(id, duty);
        }
    }

    /// Tells a toolbox that announced `cancel` that nobody waits any longer.
    fn cancel(&mut self, index: usize, id: u64) {
        if !self.known.as_ref().is_some_and(|known| known.capabilities.cancel) {
            return;
        }
        self.line.clear();
        Request::Cancel { target: id }.write(&mut self.line);
        if let Some(worker) = self.workers.get_mut(index) {
            worker.send(&self.line);
        }
    }
}
