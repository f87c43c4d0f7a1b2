//! Who is on the bus, and how a frame gets to all of them.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, futures::OwnedNotified, mpsc, watch};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;

use super::carrier::{Verdict, judge};
use crate::bus::link::{FrameHandler, Link, Sender, Transport};
use crate::bus::queue::weight;

/// What ovos-messagebus says to a new client, byte for byte.
const GREETING: &str = r#"{"type": "connected", "data": {}, "context": {"session": {"session_id": "default"}}}"#;

/// The bus itself, where it speaks.
const BUS: MemberId = MemberId(0);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemberId(u64);

/// A frame on its way to a member.
#[derive(Debug, Clone)]
pub(super) struct Relayed {
    from: MemberId,
    pub(super) frame: Utf8Bytes,
}

/// Everyone on the bus.
#[derive(Debug, Clone)]
pub struct Hub(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max_backlog: usize,
    max_message: usize,
    members: Mutex<Members>,
    /// Bytes queued for this process, which is never dropped: where they are too many, sockets are not read.
    inside: Arc<AtomicUsize>,
    /// Told when they are few again.
    eased: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Members {
    last_id: u64,
    closed: bool,
    list: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    id: MemberId,
    name: String,
    queue: mpsc::UnboundedSender<Relayed>,
    backlog: Arc<AtomicUsize>,
    /// Cancelled when the member is dropped for not reading; none for this process, which always reads.
    dropped: Option<CancellationToken>,
}

/// A member's own end.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) id: MemberId,
    pub(super) queue: mpsc::UnboundedReceiver<Relayed>,
    pub(super) backlog: Arc<AtomicUsize>,
    hub: Hub,
}

impl Seat {
    /// A frame was taken out of its queue.
    pub(super) fn took(&self, relayed: &Relayed) {
        let weight = weight(&relayed.frame);
        let before = self.backlog.fetch_sub(weight, Ordering::Relaxed);
        let few = self.hub.0.max_backlog / 4;
        if before > few && before - weight <= few {
            self.hub.0.eased.notify_waiters();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub
            .with_members(|members| members.list.retain(|member| member.id != self.id));
        // What is left in it must not count for ever.
        while let Ok(relayed) = self.queue.try_recv() {
            self.took(&relayed);
        }
    }
}

impl Hub {
    /// A bus without a socket, with so many bytes at most waiting for a member, and in a Message.
    pub fn new(max_backlog: usize, max_message: usize) -> Self {
        Self(Arc::new(Shared {
            max_backlog,
            max_message,
            members: Mutex::default(),
            inside: Arc::default(),
            eased: Arc::default(),
        }))
    }

    /// Attaches this process, as a client without a socket. It is on the bus from now on.
    pub fn attach(&self, stop: CancellationToken) -> Attachment {
        let seat = self.join("this process".to_owned(), None);
        let link = watch::Sender::new(Link::Connected { since: Instant::now() });
        Attachment { seat, link, stop }
    }

    /// A new member, greeted.
    pub(super) fn join(&self, name: String, dropped: Option<CancellationToken>) -> Seat {
        let (queue, receiver) = mpsc::unbounded_channel();
        let backlog = match dropped {
            Some(_) => Arc::default(),
            None => Arc::clone(&self.0.inside),
        };
        let id = self.with_members(|members| {
            members.last_id += 1;
            let id = MemberId(members.last_id);
            let member = Member {
                id,
                name,
                queue,
                backlog: backlog.clone(),
                dropped,
            };
            if !members.closed {
                member.take(&Relayed {
                    from: BUS,
                    frame: Utf8Bytes::from_static(GREETING),
                });
                members.list.push(member);
            }
            id
        });
        Seat {
            id,
            queue: receiver,
            backlog,
            hub: self.clone(),
        }
    }

    /// Puts a frame of member `from` into everyone's queue, its own included.
    pub(super) fn relay(&self, from: MemberId, frame: Utf8Bytes) {
        match judge(frame.as_str()) {
            Verdict::Relay => self.broadcast(from, frame),
            Verdict::NoObject => {
                tracing::warn!(member = from.0, "frame dropped, a Message is a JSON object");
            }
            Verdict::Reject(rejection) => {
                tracing::warn!(
                    member = from.0,
                    "Message dropped, its session carrier is malformed (OVOS-SESSION-1 §2.5)"
                );
                self.broadcast(BUS, Utf8Bytes::from(rejection));
            }
        }
    }

    fn broadcast(&self, from: MemberId, frame: Utf8Bytes) {
        let relayed = Relayed { from, frame };
        let limit = self.0.max_backlog;
        self.with_members(|members| {
            members.list.retain(|member| {
                let backlog = member.take(&relayed);
                let Some(dropped) = member.dropped.as_ref().filter(|_| backlog > limit) else { return true };
                tracing::warn!(client = %member.name, backlog, limit, "client of the embedded bus dropped, it does not read");
                dropped.cancel();
                false
            });
        });
    }

    /// Whether this process is behind: whoever reads a socket should wait for [`eased`](Self::eased).
    pub(super) fn is_pressed(&self) -> bool {
        // Well before a client that is as slow would be dropped.
        self.0.inside.load(Ordering::Relaxed) > self.0.max_backlog / 2
    }

    /// Ends once this process has caught up, if it was behind when this was made.
    pub(super) fn eased(&self) -> Pin<Box<OwnedNotified>> {
        Box::pin(Arc::clone(&self.0.eased).notified_owned())
    }

    /// The bus ends: no member gets anything more.
    pub(super) fn close(&self) {
        self.with_members(|members| {
            members.closed = true;
            members.list.clear();
        });
    }

    fn with_members<T>(&self, change: impl FnOnce(&mut Members) -> T) -> T {
        // Nothing that runs under the lock can leave the list half changed.
        change(&mut self.0.members.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Member {
    /// Queues a frame, and answers how many bytes are queued.
    fn take(&self, relayed: &Relayed) -> usize {
        let length = weight(&relayed.frame);
        // Counted first, so that the reader never takes off more than was put on. A closed queue belongs
        // to a member that is just leaving.
        let backlog = self.backlog.fetch_add(length, Ordering::Relaxed) + length;
        if self.queue.send(relayed.clone()).is_err() {
            self.backlog.fetch_sub(length, Ordering::Relaxed);
            tracing::trace!(client = %self.name, "frame for a member that has left");
        }
        backlog
    }
}

/// How this process sends to its own bus.
#[derive(Debug, Clone)]
pub(in crate::bus) struct Attached {
    hub: Hub,
    id: MemberId,
}

impl Attached {
    /// Whether some member is behind by a good part of what it may be.
    pub(in crate::bus) fn is_crowded(&self) -> bool {
        let much = self.hub.0.max_backlog / 4;
        let is_behind = |member: &Member| member.backlog.load(Ordering::Relaxed) > much;
        self.hub.with_members(|members| members.list.iter().any(is_behind))
    }

    pub(in crate::bus) fn relay(&self, frame: Utf8Bytes) {
        if frame.len() > self.hub.0.max_message {
            tracing::warn!(
                bytes = frame.len(),
                limit = self.hub.0.max_message,
                "frame dropped, too large for the bus"
            );
            return;
        }
        let stands = self
            .hub
            .with_members(|members| members.list.iter().any(|member| member.id == self.id));
        match stands {
            true => self.hub.relay(self.id, frame),
            false => tracing::debug!("frame dropped, the link to the bus has been stopped"),
        }
    }
}

/// This process on its own bus: the same to its caller as a client on a socket.
#[derive(Debug)]
pub struct Attachment {
    seat: Seat,
    link: watch::Sender<Link>,
    stop: CancellationToken,
}

impl Transport for Attachment {
    fn sender(&self) -> Sender {
        Sender::hub(Attached {
            hub: self.seat.hub.clone(),
            id: self.seat.id,
        })
    }

    fn link(&self) -> watch::Receiver<Link> {
        self.link.subscribe()
    }

    fn run(self, handler: impl FrameHandler) -> impl Future<Output = ()> + Send {
        self.attend(handler)
    }
}

/// Frames handed to the handler before other tasks get their turn.
const TURN: usize = 256;

impl Attachment {
    async fn attend(mut self, mut handler: impl FrameHandler) {
        handler.connected();
        let mut turn = Vec::with_capacity(TURN);
        loop {
            let count = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                count = self.seat.queue.recv_many(&mut turn, TURN) => count,
            };
            if count == 0 {
                let error = Some("the embedded bus has stopped".to_owned());
                self.link.send_replace(Link::Trying {
                    since: Instant::now(),
                    error,
                });
                break;
            }
            for relayed in turn.drain(..) {
                self.seat.took(&relayed);
                match relayed.from == self.seat.id {
                    true => handler.echo(relayed.frame),
                    false => handler.frame(relayed.frame),
                }
            }
        }
        handler.disconnected("stopped");
        self.stop.cancelled().await;
        self.link.send_replace(Link::Stopped);
    }
}
