//! What is on its way to the bus, and what becomes of it when the link breaks. Pure: no IO, no clock.
//!
//! A frame is in one of four places:
//!
//! 1. *waiting*: not given to the link yet, or the bus is away. Bounded in number, bytes and age;
//!    the oldest go first, since their callers gave up first.
//! 2. *writing*: encoded into the link's buffer. The end of each frame in the byte stream is known,
//!    and so is how many bytes the socket took.
//! 3. *handed over*: the socket took its last byte.
//! 4. *gone*: its echo came back. The OVOS bus relays every frame to all, the sender included, in
//!    order; so a frame that was echoed was relayed, and those handed over before it were, or were
//!    dropped by the bus on purpose.
//!
//! A caller must never get an answer twice, and should get it once. So when the link breaks:
//!
//! - Waiting frames wait on.
//! - A frame not completely written goes back to the front: a WebSocket peer cannot have seen it.
//! - A frame handed over and not echoed depends on who ended the link.
//!   *The bus did* (it closed, or its process died): what it had relayed it had also sent to us,
//!   and that was read to the last byte before the end was seen. Without an echo it was not
//!   relayed, so it is sent again after the reconnect; all but the first, which the bus may have been
//!   relaying when it died, with some clients served and others not. (The first is also the one
//!   the bus may have ended the link over. Sent again, it would end every link to come.)
//!   This holds for a bus that echoes: one that has done so for this client, and has not stopped
//!   doing so.
//!   *It was reset amid what the bus said*: the bus died while frames of ours lay unread, and then its kernel drops
//!   what it held back. With Nagle's algorithm it holds frames back once one is out that we have not
//!   acknowledged. So echoes may be missing that others got, and nothing handed over is sent again. Where the
//!   bus had said nothing since we last acknowledged, it held nothing back either: that is the case above.
//!   *We did* (no pong, a frame we must refuse): the bus may be stopped or busy, and relay later
//!   what its socket holds. So nothing handed over is sent again.
//!
//! So a bus that is killed doubles no answer. It costs one at most where this process could keep up with what the bus said, and
//! else those the bus had not relayed; the log counts them. What remains: over TLS the bytes counted are those the TLS layer
//! took, so a frame may count as handed over while its last record is still ours.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Bounds on what waits for the bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxLimits {
    /// Frames.
    pub frames: usize,
    /// Bytes of them.
    pub bytes: usize,
    /// Time one may wait; its caller has given up long before.
    pub age: Duration,
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self {
            frames: 10_000,
            bytes: 64 << 20,
            age: Duration::from_secs(60),
        }
    }
}

/// A bus that has not echoed a frame for so long, nor any before on this link, is none that echoes.
const UNPROVEN_AGE: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Entry {
    frame: Utf8Bytes,
    since: Instant,
}

/// Why a frame was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    TooOld,
    TooMany,
    /// Handed over, perhaps never relayed.
    Uncertain,
}

/// Who ended the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedBy {
    /// All it had said was read.
    Bus,
    /// Some of what it had said may be lost.
    Reset,
    Us,
}

/// A first-in-first-out queue that knows its bytes.
#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl Queue {
    fn push_back(&mut self, entry: Entry) {
        self.bytes += entry.frame.len();
        self.entries.push_back(entry);
    }

    fn push_front(&mut self, entry: Entry) {
        self.bytes += entry.frame.len();
        self.entries.push_front(entry);
    }

    fn pop_front(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.bytes -= entry.frame.len();
        Some(entry)
    }

    fn exceeds(&self, frames: usize, bytes: usize) -> bool {
        self.entries.len() > frames || self.bytes > bytes
    }

    fn front_is_older(&self, now: Instant, age: Duration) -> bool {
        self.entries
            .front()
            .is_some_and(|entry| now.saturating_duration_since(entry.since) > age)
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Outbox {
    limits: OutboxLimits,
    waiting: Queue,
    /// With the offset in the link's byte stream where each frame ends.
    writing: VecDeque<(Entry, u64)>,
    handed_over: Queue,
    /// How many handed-over frames have a given length: a foreign frame is told from an echo by one look here.
    lengths: HashMap<usize, usize>,
    /// Bytes encoded for this link so far.
    encoded: u64,
    /// Whether the bus is known to echo.
    echoes: bool,
    /// Whether it has echoed on this link.
    echoed_here: bool,
    /// When the first frame was given to this link.
    first_sent: Option<Instant>,
    given_up: Vec<(Utf8Bytes, Reason)>,
}

impl Outbox {
    pub(super) fn new(limits: OutboxLimits) -> Self {
        Self {
            limits,
            waiting: Queue::default(),
            writing: VecDeque::new(),
            handed_over: Queue::default(),
            lengths: HashMap::new(),
            encoded: 0,
            echoes: false,
            echoed_here: false,
            first_sent: None,
            given_up: Vec::new(),
        }
    }

    /// A frame that has to wait.
    pub(super) fn push(&mut self, frame: Utf8Bytes, now: Instant) {
        self.waiting.push_back(Entry { frame, since: now });
        self.enforce(now);
    }

    /// Gives up what is too old or too much.
    pub(super) fn enforce(&mut self, now: Instant) {
        while self.waiting.front_is_older(now, self.limits.age) {
            self.give_up_waiting(Reason::TooOld);
        }
        while self.waiting.exceeds(self.limits.frames, self.limits.bytes) {
            self.give_up_waiting(Reason::TooMany);
        }
        let mut age = self.limits.age;
        if self.is_unproven(now) {
            self.echoes = false;
            age = age.min(UNPROVEN_AGE);
        }
        // What is too old to be sent again needs no comparison either.
        while self.handed_over.front_is_older(now, age) {
            self.forget_handed_over();
        }
    }

    fn is_unproven(&self, now: Instant) -> bool {
        let sent_for = |first| now.saturating_duration_since(first) > UNPROVEN_AGE;
        !self.echoed_here && self.first_sent.is_some_and(sent_for)
    }

    fn give_up_waiting(&mut self, reason: Reason) {
        if let Some(entry) = self.waiting.pop_front() {
            self.given_up.push((entry.frame, reason));
        }
    }

    /// A new link stands, and has taken `written` bytes for its handshake.
    pub(super) fn link_up(&mut self, written: u64) {
        self.encoded = written;
        self.echoed_here = false;
        self.first_sent = None;
    }

    /// The next frame for the link, which must be encoded now.
    pub(super) fn next(&mut self, now: Instant) -> Option<Utf8Bytes> {
        self.enforce(now);
        let entry = self.waiting.pop_front()?;
        Some(self.encode(entry, now))
    }

    /// A frame that need not wait, which must be encoded now.
    pub(super) fn pass(&mut self, frame: Utf8Bytes, now: Instant) -> Utf8Bytes {
        self.encode(Entry { frame, since: now }, now)
    }

    fn encode(&mut self, entry: Entry, now: Instant) -> Utf8Bytes {
        self.first_sent.get_or_insert(now);
        let frame = entry.frame.clone();
        self.encoded += encoded_len(frame.len());
        self.writing.push_back((entry, self.encoded));
        frame
    }

    /// A control frame of `payload` bytes was encoded. Answers where it ends in the byte stream.
    pub(super) fn control(&mut self, payload: usize) -> u64 {
        self.encoded += encoded_len(payload);
        self.encoded
    }

    /// The socket has taken `written` bytes in all.
    pub(super) fn written(&mut self, written: u64) {
        while self.writing.front().is_some_and(|(_, end)| *end <= written) {
            let Some((entry, _)) = self.writing.pop_front() else {
                break;
            };
            *self.lengths.entry(entry.frame.len()).or_default() += 1;
            self.handed_over.push_back(entry);
        }
        while self.handed_over.exceeds(self.limits.frames, self.limits.bytes) {
            self.forget_handed_over();
        }
    }

    fn forget_handed_over(&mut self) -> Option<Entry> {
        let entry = self.handed_over.pop_front()?;
        let length = entry.frame.len();
        if let Some(count) = self.lengths.get_mut(&length) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&length);
            }
        }
        Some(entry)
    }

    /// Whether `frame` is one of ours come back. What was handed over before it is settled too.
    pub(super) fn is_echo(&mut self, frame: &Utf8Bytes) -> bool {
        if !self.lengths.contains_key(&frame.len()) {
            return false;
        }
        let same = |entry: &Entry| entry.frame.as_str() == frame.as_str();
        let Some(position) = self.handed_over.entries.iter().position(same) else {
            return false;
        };
        for _ in 0..=position {
            self.forget_handed_over();
        }
        self.echoes = true;
        self.echoed_here = true;
        true
    }

    /// The link broke; see the module for what becomes of each frame. Answers how many frames are sent again.
    pub(super) fn link_down(&mut self, ended_by: EndedBy, now: Instant) -> usize {
        while let Some((entry, _)) = self.writing.pop_back() {
            self.waiting.push_front(entry);
        }
        let again = ended_by == EndedBy::Bus && self.echoes;
        self.lengths.clear();
        let first = self.handed_over.entries.pop_front();
        self.given_up
            .extend(first.map(|entry| (entry.frame, Reason::Uncertain)));
        let mut sent_again = 0;
        while let Some(entry) = self.handed_over.entries.pop_back() {
            if again {
                sent_again += 1;
                self.waiting.push_front(entry);
            } else {
                self.given_up.push((entry.frame, Reason::Uncertain));
            }
        }
        self.handed_over.bytes = 0;
        self.enforce(now);
        sent_again
    }

    /// Whether everything given to the outbox has left for the socket.
    pub(super) fn is_flushed(&self) -> bool {
        self.waiting.entries.is_empty() && self.writing.is_empty()
    }

    /// Whether no frame is half written.
    pub(super) fn is_written(&self) -> bool {
        self.writing.is_empty()
    }

    /// How many frames have not left for the socket.
    pub(super) fn unsent(&self) -> usize {
        self.waiting.entries.len() + self.writing.len()
    }

    /// What was given up since the last time, for the log.
    pub(super) fn take_given_up(&mut self) -> Vec<(Utf8Bytes, Reason)> {
        std::mem::take(&mut self.given_up)
    }
}

/// Bytes a client's frame takes on the wire: header, mask, payload (RFC 6455 §5.2).
fn encoded_len(payload: usize) -> u64 {
    let header = match payload {
        0..126 => 2,
        126..65_536 => 4,
        _ => 10,
    };
    (header + 4 + payload) as u64
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
