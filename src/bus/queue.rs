//! The way of a frame into the task that writes to the bus: never blocks, and holds no more than a number of bytes.
//!
//! The task empties it at each turn, into an outbox that has bounds of its own. So it is full only where answers come
//! faster than that task gets its turn, and then the newest are given up and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// What a frame takes beside its text: millions of small ones are no small thing either.
const OVERHEAD: usize = 128;

/// What `frame` counts for in a queue that is bounded in bytes.
pub(super) fn weight(frame: &Utf8Bytes) -> usize {
    frame.len() + OVERHEAD
}

/// A queue of at most `limit` bytes.
pub(super) fn bounded(limit: usize) -> (Inlet, Outlet) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let level = Arc::new(Level {
        limit,
        bytes: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
    });
    let inlet = Inlet {
        sender,
        level: Arc::clone(&level),
    };
    (inlet, Outlet { receiver, level })
}

#[derive(Debug)]
struct Level {
    limit: usize,
    bytes: AtomicUsize,
    refused: AtomicUsize,
}

/// Where frames go in. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Inlet {
    sender: mpsc::UnboundedSender<Utf8Bytes>,
    level: Arc<Level>,
}

impl Inlet {
    /// Puts a frame in, if there is room; one that is larger than the whole queue goes in alone.
    pub(super) fn send(&self, frame: Utf8Bytes) {
        let weight = weight(&frame);
        let before = self.level.bytes.fetch_add(weight, Ordering::Relaxed);
        if before > 0 && before + weight > self.level.limit {
            self.level.bytes.fetch_sub(weight, Ordering::Relaxed);
            self.level.refused.fetch_add(1, Ordering::Relaxed);
        } else if self.sender.send(frame).is_err() {
            tracing::debug!("frame dropped, the link to the bus has been stopped");
        }
    }

    /// Whether whoever can wait should let it empty itself first.
    pub(super) fn is_crowded(&self) -> bool {
        self.level.bytes.load(Ordering::Relaxed) > self.level.limit / 4
    }
}

/// Where they come out.
#[derive(Debug)]
pub(super) struct Outlet {
    receiver: mpsc::UnboundedReceiver<Utf8Bytes>,
    level: Arc<Level>,
}

impl Outlet {
    /// The next frame; `None` once every inlet is gone.
    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<Utf8Bytes>> {
        self.receiver
            .poll_recv(cx)
            .map(|frame| frame.inspect(|frame| self.level.took(frame)))
    }

    /// The same, awaited.
    pub(super) async fn recv(&mut self) -> Option<Utf8Bytes> {
        let frame = self.receiver.recv().await?;
        self.level.took(&frame);
        Some(frame)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }

    /// How many frames found no room since the last time.
    pub(super) fn take_refused(&self) -> usize {
        self.level.refused.swap(0, Ordering::Relaxed)
    }
}

impl Level {
    fn took(&self, frame: &Utf8Bytes) {
        self.bytes.fetch_sub(weight(frame), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_has_no_room_is_counted_and_what_is_taken_makes_room() {
        let (inlet, mut outlet) = bounded(4 * (OVERHEAD + 1));
        for _ in 0..6 {
            inlet.send("x".into());
        }
        assert!(inlet.is_crowded());
        assert_eq!(outlet.take_refused(), 2);
        assert_eq!(outlet.recv().await.as_deref(), Some("x"));
        inlet.send("y".into());
        assert_eq!(outlet.take_refused(), 0);
        for expected in ["x", "x", "x", "y"] {
            assert_eq!(outlet.recv().await.as_deref(), Some(expected));
        }
        assert!(outlet.is_empty() && !inlet.is_crowded());
        let large = "z".repeat(10 * OVERHEAD);
        inlet.send(large.as_str().into());
        inlet.send("behind it".into());
        assert_eq!(outlet.recv().await.as_deref(), Some(large.as_str()));
        assert_eq!(outlet.take_refused(), 1);
        drop(inlet);
        assert_eq!(outlet.recv().await, None);
    }
}
