//! Requests that share one piece of work: a few run side by side, the rest wait for the next turn.
//!
//! A waiter never joins work that began before it came, because what it asks for is the state *after*
//! its request (OVOS-TOOLS-1 §4.1: refresh before answering).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Waiters at once, and bytes they and those being served keep in memory; more are turned away, so that a flood cannot
/// fill it.
const MAX_WAITING: usize = 4096;
const MAX_BYTES: usize = 64 << 20;

/// The queue in front of one kind of work.
#[derive(Debug)]
pub(super) struct Batches<W> {
    most: usize,
    queue: Mutex<Queue<W>>,
}

#[derive(Debug)]
struct Queue<W> {
    running: usize,
    waiting: Vec<W>,
    waiting_bytes: usize,
    running_bytes: usize,
}

impl<W> Queue<W> {
    /// Those that wait become those that are served.
    fn take_batch(&mut self) -> (Arc<Vec<W>>, usize) {
        let bytes = std::mem::take(&mut self.waiting_bytes);
        self.running_bytes += bytes;
        (Arc::new(std::mem::take(&mut self.waiting)), bytes)
    }

    fn is_full_for(&self, bytes: usize) -> bool {
        let held = self.waiting_bytes + self.running_bytes;
        // A lone one is served whatever its size.
        held > 0 && held + bytes > MAX_BYTES
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Arrival<W> {
    /// Do the work now, for this batch.
    Start(Turn<W>),
    /// It is in the next batch of a running turn.
    Waits,
    /// Too many wait.
    Refused,
}

impl<W> Batches<W> {
    /// At most `most` turns at once.
    pub(super) fn new(most: usize) -> Arc<Self> {
        let queue = Queue {
            running: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            running_bytes: 0,
        };
        Arc::new(Self {
            most,
            queue: Mutex::new(queue),
        })
    }

    /// Takes in one request, which keeps so many bytes in memory.
    pub(super) fn arrive(self: &Arc<Self>, waiter: W, bytes: usize) -> Arrival<W> {
        let mut queue = self.lock();
        let crowd = queue.running >= self.most && queue.waiting.len() >= MAX_WAITING;
        if crowd || queue.is_full_for(bytes) {
            return Arrival::Refused;
        }
        queue.waiting.push(waiter);
        queue.waiting_bytes += bytes;
        if queue.running >= self.most {
            return Arrival::Waits;
        }
        queue.running += 1;
        let (batch, bytes) = queue.take_batch();
        Arrival::Start(Turn {
            batches: Arc::clone(self),
            batch,
            bytes,
            over: false,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Queue<W>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to work, held by one task.
///
/// A task that ends early gives it back: whoever waited is served with the next request.
#[derive(Debug)]
pub(super) struct Turn<W> {
    batches: Arc<Batches<W>>,
    batch: Arc<Vec<W>>,
    bytes: usize,
    over: bool,
}

impl<W> Turn<W> {
    /// Those the work at hand is for.
    pub(super) fn batch(&self) -> &Arc<Vec<W>> {
        &self.batch
    }

    /// Goes on to those who came meanwhile; `None` when nobody did, and the turn is over.
    pub(super) fn next(mut self) -> Option<Self> {
        let mut queue = self.batches.lock();
        queue.running_bytes -= std::mem::take(&mut self.bytes);
        if queue.waiting.is_empty() {
            queue.running -= 1;
            drop(queue);
            self.over = true;
            return None;
        }
        let (batch, bytes) = queue.take_batch();
        drop(queue);
        (self.batch, self.bytes) = (batch, bytes);
        Some(self)
    }
}

impl<W> Drop for Turn<W> {
    fn drop(&mut self) {
        if !self.over {
            let mut queue = self.batches.lock();
            queue.running -= 1;
            queue.running_bytes -= self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(batches: &Arc<Batches<u32>>, waiter: u32) -> Turn<u32> {
        match batches.arrive(waiter, 1) {
            Arrival::Start(turn) => turn,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn who_comes_during_the_work_is_in_the_next_batch() {
        let batches = Batches::new(1);
        let turn = start(&batches, 1);
        assert_eq!(**turn.batch(), [1]);
        assert!(matches!(batches.arrive(2, 1), Arrival::Waits));
        assert!(matches!(batches.arrive(3, 1), Arrival::Waits));
        let turn = turn.next().unwrap();
        assert_eq!(**turn.batch(), [2, 3]);
        assert!(turn.next().is_none());
        assert_eq!(**start(&batches, 4).batch(), [4]);
    }

    #[test]
    fn a_turn_that_ends_early_leaves_nobody_behind() {
        let batches = Batches::new(1);
        let turn = start(&batches, 1);
        assert!(matches!(batches.arrive(2, 1), Arrival::Waits));
        drop(turn);
        assert_eq!(**start(&batches, 3).batch(), [2, 3]);
    }

    #[test]
    fn turns_and_waiters_are_bounded() {
        let batches = Batches::new(2);
        let turns = [start(&batches, 1), start(&batches, 2)];
        for waiter in 0..MAX_WAITING {
            assert!(matches!(batches.arrive(waiter as u32, 1), Arrival::Waits));
        }
        assert!(matches!(batches.arrive(0, 1), Arrival::Refused));
        let [turn, _other] = turns;
        assert_eq!(turn.next().unwrap().batch().len(), MAX_WAITING);
    }

    #[test]
    fn few_waiters_may_be_too_many_bytes() {
        let batches = Batches::new(1);
        let Arrival::Start(turn) = batches.arrive(1, 2 * MAX_BYTES) else {
            panic!("a lone one is served")
        };
        assert!(matches!(batches.arrive(2, 1), Arrival::Refused));
        assert!(turn.next().is_none());
        let turn = start(&batches, 3);
        assert!(matches!(batches.arrive(4, MAX_BYTES - 1), Arrival::Waits));
        assert!(matches!(batches.arrive(5, 1), Arrival::Refused));
        // Who is served now has the room of who was served before.
        let turn = turn.next().unwrap();
        assert!(matches!(batches.arrive(6, 1), Arrival::Waits));
        drop(turn);
        assert_eq!(**start(&batches, 7).batch(), [6, 7]);
    }
}
