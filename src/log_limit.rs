//! Bounds on log lines, where others could make toolhost write a thousand. Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Lets `burst` lines of one kind through in each `period`, and counts the others.
#[derive(Debug)]
pub struct LogLimit {
    burst: u32,
    period: Duration,
    window: Option<Instant>,
    written: u32,
    suppressed: u64,
}

impl LogLimit {
    /// At most `burst` lines a `period`.
    pub const fn new(burst: u32, period: Duration) -> Self {
        Self {
            burst,
            period,
            window: None,
            written: 0,
            suppressed: 0,
        }
    }

    /// Whether a line may be written at `now`: how many were left out since the last one, or `None`.
    pub fn admit(&mut self, now: Instant) -> Option<u64> {
        if self
            .window
            .is_none_or(|start| now.saturating_duration_since(start) >= self.period)
        {
            self.window = Some(now);
            self.written = 0;
        }
        if self.written >= self.burst {
            self.suppressed += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.suppressed))
    }

    /// How many were left out since the last line, where none will follow that could tell.
    pub fn left_out(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.suppressed)).filter(|count| *count > 0)
    }
}

/// Keys remembered at once: what a stranger chooses must not fill the memory.
const MAX_KEYS: usize = 1024;

/// Lets one line a key through in each period.
#[derive(Debug)]
pub struct KeyedLogLimit {
    period: Duration,
    seen: HashMap<String, Seen>,
}

#[derive(Debug)]
struct Seen {
    logged: Instant,
    suppressed: u64,
}

impl KeyedLogLimit {
    /// One line a key in each `period`.
    pub fn new(period: Duration) -> Self {
        Self {
            period,
            seen: HashMap::new(),
        }
    }

    /// Whether to log now, and then how many of the same were kept back since the last line.
    pub fn admit(&mut self, key: &str, now: Instant) -> Option<u64> {
        if !self.seen.contains_key(key) && self.seen.len() >= MAX_KEYS {
            self.seen
                .retain(|_, seen| now.duration_since(seen.logged) < self.period);
        }
        // Whoever comes when all places are taken shares one.
        let full = self.seen.len() >= MAX_KEYS && !self.seen.contains_key(key);
        let key = if full { "" } else { key };
        match self.seen.get_mut(key) {
            Some(seen) if now.duration_since(seen.logged) < self.period => {
                seen.suppressed += 1;
                None
            }
            Some(seen) => {
                seen.logged = now;
                Some(std::mem::take(&mut seen.suppressed))
            }
            None => {
                let first = Seen {
                    logged: now,
                    suppressed: 0,
                };
                self.seen.insert(key.to_owned(), first);
                Some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_burst_and_a_count() {
        let start = Instant::now();
        let mut limit = LogLimit::new(2, Duration::from_secs(1));
        assert_eq!(
            [0, 1, 2, 3].map(|ms| limit.admit(start + Duration::from_millis(ms))),
            [Some(0), Some(0), None, None]
        );
        assert_eq!(limit.admit(start + Duration::from_millis(1001)), Some(2));
    }

    #[test]
    fn what_was_left_out_at_the_end_can_still_be_counted() {
        let start = Instant::now();
        let mut limit = LogLimit::new(1, Duration::from_secs(1));
        assert_eq!([limit.admit(start), limit.left_out()], [Some(0), None]);
        assert_eq!([limit.admit(start), limit.admit(start)], [None, None]);
        assert_eq!([limit.left_out(), limit.left_out()], [Some(2), None]);
    }

    #[test]
    fn one_line_a_period_carries_the_count_of_the_others() {
        let start = Instant::now();
        let mut limit = KeyedLogLimit::new(Duration::from_secs(10));
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(limit.admit("a", at(0)), Some(0));
        assert_eq!(limit.admit("a", at(1)), None);
        assert_eq!(limit.admit("a", at(9)), None);
        assert_eq!(limit.admit("b", at(9)), Some(0));
        assert_eq!(limit.admit("a", at(10)), Some(2));
        assert_eq!(limit.admit("a", at(20)), Some(0));
    }

    #[test]
    fn a_flood_of_keys_stays_bounded_and_old_keys_make_room() {
        let start = Instant::now();
        let mut limit = KeyedLogLimit::new(Duration::from_secs(10));
        let lines = (0..5000)
            .filter(|n| limit.admit(&n.to_string(), start).is_some())
            .count();
        assert_eq!(lines, MAX_KEYS + 1);
        assert!(limit.seen.len() <= MAX_KEYS + 1);
        assert_eq!(limit.admit("new", start + Duration::from_secs(11)), Some(0));
        assert_eq!(limit.seen.len(), 1);
    }
}
