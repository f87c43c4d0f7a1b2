//! A panic in a toolbox's task: contained, told, and mended as a crash of the toolbox is.
//!
//! What the panic may have left half done is thrown away: the processes, which are killed, the queue, what was in hand.
//! What stays is whole after every statement: the mailbox, whose calls wait, the configuration, the tools as last
//! described, what the owner asked. The failure is counted by the restart policy, so that a toolbox whose
//! task falls again and again is given up like one whose program does.
//!
//! What only looks at values and is most of our code, and of that of others, by which a call goes (schemas, patterns,
//! templates, annotations), is contained by itself: a panic there costs the one call.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;

use super::describing::Describing;
use super::lifecycle::Event;
use super::queue::Queue;
use super::toolbox::Toolbox;
use super::worker::{Duty, Worker};
use crate::adapter::Adapter;
use crate::config::Mode;
use crate::tools::outcome::{Call, CallError, FAULT, ReplyTo};

/// A task that falls at once each time must not keep a processor busy with it.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs a toolbox until it is stopped, through panics; gives back the calls no process was asked.
pub(super) async fn keep(mut toolbox: Toolbox) -> Vec<Call> {
    while AssertUnwindSafe(toolbox.run()).catch_unwind().await.is_err() {
        toolbox.fall();
        tokio::time::sleep(PAUSE).await;
    }
    toolbox.leftovers()
}

/// A panic that [`contained`] has told the log of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contained;

impl From<Contained> for CallError {
    fn from(_: Contained) -> Self {
        Self::of_our_own()
    }
}

impl From<Contained> for String {
    fn from(_: Contained) -> Self {
        FAULT.to_owned()
    }
}

/// Does `work` that only looks at values; its panic costs what it was about, named by `what`, and nothing else.
pub(super) fn contained<T>(toolbox: &str, what: &str, work: impl FnOnce() -> T) -> Result<T, Contained> {
    // Whatever it was at work on is not used again.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        tracing::error!(toolbox, what, "a fault of toolhost itself; the toolbox goes on");
        Contained
    })
}

impl Toolbox {
    /// Tidies up after a panic: every call is answered, every process is gone, and a start is due if one is wanted.
    fn fall(&mut self) {
        tracing::error!(
            toolbox = self.config.id,
            "a fault of toolhost itself ended its task; its processes are killed"
        );
        let now = Instant::now();
        let mut replies = Vec::new();
        for (index, slot) in self.workers.iter_mut().enumerate() {
            let mut fallen = std::mem::replace(slot, Worker::new(&self.config, now));
            let duties = std::mem::take(&mut fallen.duties);
            replies.extend(duties.into_values().filter_map(reply_of));
            slot.restarts = fallen.restarts;
            slot.comes_from_rest = fallen.comes_from_rest;
            // Where none is wanted, or not yet, none is started; of run-once processes one is enough to describe itself.
            let wanted = !self.stopping && !self.held && self.predecessor.is_none();
            if wanted && (self.config.mode == Mode::Persistent || index == 0) {
                fallen
                    .lifecycle
                    .step(Event::Fell(FAULT.to_owned()), now, fastrand::f64());
                std::mem::swap(&mut slot.lifecycle, &mut fallen.lifecycle);
            }
        }
        replies.extend(self.queue.drain().map(|(call, _)| call.reply));
        self.queue = Queue::default();
        self.deadlines = BTreeSet::new();
        // Whoever waits for a describe is told that it is down, by being dropped.
        self.describing = Describing::default();
        self.adapter = Adapter::of(&self.config);
        self.failed += replies.len() as u64;
        for reply in replies {
            // An answer that panics keeps no other from its own.
            let answered = catch_unwind(AssertUnwindSafe(|| reply.send(Err(CallError::of_our_own()))));
            answered.unwrap_or_default();
        }
        self.only_to_describe = self.is_lazy();
        self.end_orders(&Err(FAULT.to_owned()));
    }
}

fn reply_of(duty: Duty) -> Option<ReplyTo> {
    match duty {
        Duty::Call { reply, .. } => Some(reply),
        Duty::Describe { .. } | Duty::Abandoned { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_over_values_is_an_error_of_its_own() {
        let falls = || panic!("a schema that nobody can read");
        let outcome: Result<(), _> = contained("a", "its arguments", falls);
        assert_eq!(outcome, Err(Contained));
        assert_eq!(contained("a", "its arguments", || 1), Ok(1));
        assert_eq!(CallError::from(Contained), CallError::of_our_own());
    }
}
