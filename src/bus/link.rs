//! What a bus looks like from the inside of toolhost, whether it is reached over a socket or lives
//! in this process: frames come in through a [`FrameHandler`], go out through a [`Sender`].
//!
//! A [`Transport`] is made first, so that its sender can be part of the handler it is then run with.

use std::future::Future;
use std::time::Instant;

use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::embedded::Attached;
use super::queue::Inlet;

/// A way to a bus, not yet running.
pub trait Transport: Send + Sized + 'static {
    /// Where frames are handed in. Works before [`run`](Self::run), and while the bus is away.
    fn sender(&self) -> Sender;

    /// How the link stands, for `status`.
    fn link(&self) -> watch::Receiver<Link>;

    /// Hands frames to `handler` until the stop token it was made with is cancelled; then what
    /// waits is flushed, for a bounded time, and the link closed in good order.
    fn run(self, handler: impl FrameHandler) -> impl Future<Output = ()> + Send;
}

/// What happens on a bus. Called on the task of the transport, so nothing here may block.
pub trait FrameHandler: Send + 'static {
    /// A text frame that someone else sent.
    fn frame(&mut self, frame: Utf8Bytes);

    /// A frame of our own, back from the bus: it has been relayed to everyone.
    fn echo(&mut self, _frame: Utf8Bytes) {}

    /// The bus is there, for the first time or again.
    fn connected(&mut self) {}

    /// The bus is gone. The transport tries on by itself.
    fn disconnected(&mut self, _why: &str) {}
}

/// How the link to the bus stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// There is no link; it is tried again for ever.
    Trying {
        /// Since when.
        since: Instant,
        /// Why the last attempt failed or the last link broke; nothing before the first attempt ended.
        error: Option<String>,
    },
    /// The link stands.
    Connected {
        /// Since when.
        since: Instant,
    },
    /// The transport has been stopped.
    Stopped,
}

impl Link {
    /// Whether frames reach the bus now.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected { .. })
    }
}

/// Sends frames to the bus. Cheap to clone, never blocks.
#[derive(Debug, Clone)]
pub struct Sender(Way);

#[derive(Debug, Clone)]
enum Way {
    Queue(Inlet),
    Hub(Attached),
}

impl Sender {
    /// A sender into the queue of a task, which is bounded in bytes.
    pub(super) fn queue(queue: Inlet) -> Self {
        Self(Way::Queue(queue))
    }

    /// A sender into the embedded bus of this process.
    pub(super) fn hub(attached: Attached) -> Self {
        Self(Way::Hub(attached))
    }

    /// Sends one Message, or holds it until the bus is back. After the end of the transport it is dropped.
    pub fn send(&self, frame: Utf8Bytes) {
        match &self.0 {
            Way::Queue(queue) => queue.send(frame),
            Way::Hub(attached) => attached.relay(frame),
        }
    }

    /// Whether so much is on its way that whoever can wait should.
    pub fn is_crowded(&self) -> bool {
        match &self.0 {
            Way::Queue(queue) => queue.is_crowded(),
            Way::Hub(attached) => attached.is_crowded(),
        }
    }
}
