//! What the log hears of the link: each trouble once, then at widening intervals, then its end.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::outbox::Reason;
use crate::json::Members;

/// How long the log is quiet about what it has just been told; it grows up to the second.
const QUIET: Duration = Duration::from_secs(5);
const QUIET_CAP: Duration = Duration::from_secs(600);
/// A link that stood so long ends the trouble before it.
const STEADY: Duration = Duration::from_secs(10);
/// Topics named in one line.
const TOPICS: usize = 5;

/// Lets through the first of a kind, then one after each interval, each twice the one before.
#[derive(Debug)]
struct Quiet {
    until: Option<Instant>,
    interval: Duration,
}

impl Quiet {
    fn new() -> Self {
        Self {
            until: None,
            interval: QUIET,
        }
    }

    fn lets_through(&mut self, now: Instant) -> bool {
        if self.until.is_some_and(|until| now < until) {
            return false;
        }
        self.until = Some(now + self.interval);
        self.interval = (self.interval * 2).min(QUIET_CAP);
        true
    }
}

/// The log of one client.
#[derive(Debug)]
pub(super) struct Report {
    address: String,
    trouble: Quiet,
    last_error: String,
    attempts: u32,
    since: Instant,
    connected: Option<Instant>,
    binary: Quiet,
    given_up: Quiet,
    given_up_reason: &'static str,
    given_up_count: usize,
    given_up_bytes: usize,
    topics: BTreeSet<String>,
}

impl Report {
    pub(super) fn new(address: String) -> Self {
        Self {
            address,
            trouble: Quiet::new(),
            last_error: String::new(),
            attempts: 0,
            since: Instant::now(),
            connected: None,
            binary: Quiet::new(),
            given_up: Quiet::new(),
            given_up_reason: "",
            given_up_count: 0,
            given_up_bytes: 0,
            topics: BTreeSet::new(),
        }
    }

    pub(super) fn connected(&mut self) {
        let now = Instant::now();
        let away = now.saturating_duration_since(self.since);
        tracing::info!(bus = %self.address, failed_attempts = self.attempts, ?away, "connected to the bus");
        self.attempts = 0;
        self.connected = Some(now);
        self.say_given_up();
    }

    pub(super) fn not_reached(&mut self, error: &str) {
        self.attempts += 1;
        // Another cause than before is news.
        if self.last_error != error {
            self.last_error = error.to_owned();
            self.trouble = Quiet::new();
        }
        if self.trouble.lets_through(Instant::now()) {
            tracing::warn!(bus = %self.address, error, attempts = self.attempts, "the bus cannot be reached, trying on");
        }
    }

    pub(super) fn link_lost(&mut self, why: &str, sent_again: usize, waiting: usize) {
        let now = Instant::now();
        if self
            .connected
            .take()
            .is_some_and(|since| now.saturating_duration_since(since) >= STEADY)
        {
            self.trouble = Quiet::new();
        }
        self.since = now;
        self.last_error.clear();
        if self.trouble.lets_through(now) {
            tracing::warn!(bus = %self.address, why, sent_again, waiting, "the link to the bus is lost, trying again");
        } else {
            tracing::debug!(bus = %self.address, why, sent_again, waiting, "the link to the bus is lost again");
        }
    }

    pub(super) fn stopped(&mut self, unsent: usize) {
        self.say_given_up();
        match unsent {
            0 => tracing::debug!(bus = %self.address, "the link to the bus is stopped"),
            _ => {
                tracing::warn!(bus = %self.address, unsent, "the link to the bus is stopped, some frames were not sent")
            }
        }
    }

    pub(super) fn binary(&mut self, bytes: usize) {
        if self.binary.lets_through(Instant::now()) {
            tracing::warn!(bus = %self.address, bytes, "binary frame dropped, Messages are text");
        }
    }

    /// Frames that were given up: how many, and of which topics. Never their content.
    pub(super) fn given_up(&mut self, frames: Vec<(Utf8Bytes, Reason)>) {
        let Some((_, reason)) = frames.last() else { return };
        self.given_up_reason = match reason {
            Reason::TooOld => "they waited too long for the bus",
            Reason::TooMany => "too many wait for the bus",
            Reason::Uncertain => {
                "the link broke after they were handed over; the bus may have relayed them, so they are not sent again"
            }
        };
        self.given_up_count += frames.len();
        for (frame, _) in &frames {
            self.given_up_bytes += frame.len();
            if self.topics.len() < TOPICS {
                self.topics.insert(topic(frame));
            }
        }
        if self.given_up.lets_through(Instant::now()) {
            self.say_given_up();
        }
    }

    /// Frames that found no room on their way here.
    pub(super) fn refused(&mut self, frames: usize) {
        if frames == 0 {
            return;
        }
        self.given_up_reason = "they came faster than they could be taken";
        self.given_up_count += frames;
        if self.given_up.lets_through(Instant::now()) {
            self.say_given_up();
        }
    }

    fn say_given_up(&mut self) {
        if self.given_up_count > 0 {
            tracing::warn!(
                bus = %self.address,
                reason = self.given_up_reason,
                frames = std::mem::take(&mut self.given_up_count),
                bytes = std::mem::take(&mut self.given_up_bytes),
                topics = ?std::mem::take(&mut self.topics),
                "frames given up"
            );
        }
    }
}

fn topic(frame: &Utf8Bytes) -> String {
    let members = Members::parse(frame.as_str()).unwrap_or_default();
    let topic = members.get("type").map_or("?", |topic| topic.get().trim_matches('"'));
    topic.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_told_at_widening_intervals() {
        let start = Instant::now();
        let mut quiet = Quiet::new();
        let told: Vec<u64> = (0..100)
            .filter(|second| quiet.lets_through(start + Duration::from_secs(*second)))
            .collect();
        assert_eq!(told, [0, 5, 15, 35, 75]);
    }

    #[test]
    fn a_frame_is_named_by_its_topic_only() {
        assert_eq!(topic(&r#"{"type":"a.b","data":{"secret":1}}"#.into()), "a.b");
        assert_eq!(topic(&"no json".into()), "?");
    }
}
