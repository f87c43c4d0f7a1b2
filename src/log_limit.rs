//! Bounds on log lines, where others could make toolhost write a thousand. Pure.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
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
/// Keys without a line that are told apart; of more, nobody knows how many there are.
const MAX_LEFT_OUT: usize = 16 * MAX_KEYS;

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
        // Whoever comes when all places are taken shares one.
        let key = if self.has_room(key, now) { key } else { "" };
        self.admit_known(key, now)
    }

    fn has_room(&mut self, key: &str, now: Instant) -> bool {
        if !self.seen.contains_key(key) && self.seen.len() >= MAX_KEYS {
            self.seen
                .retain(|_, seen| now.duration_since(seen.logged) < self.period);
        }
        self.seen.len() < MAX_KEYS || self.seen.contains_key(key)
    }

    fn admit_known(&mut self, key: &str, now: Instant) -> Option<u64> {
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

/// The same where each key has its line, or counts among those that have none.
#[derive(Debug)]
pub struct NamingLimit {
    named: KeyedLogLimit,
    left_out: LeftOut,
    /// Digests of the keys among these.
    unnamed: HashSet<u64>,
    digests: RandomState,
    telling: LogLimit,
}

/// Lines that were not written since that was told last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// How many keys have none.
    pub keys: usize,
    /// Whether there may be more.
    pub or_more: bool,
    /// How often something was to be said of them.
    pub times: u64,
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The line of this key; so many of the same were kept back since the last.
    Line(u64),
    /// That there are keys without a line.
    Others(LeftOut),
    /// Nothing.
    Nothing,
}

impl NamingLimit {
    /// One line a key in each `period`, and one of what was left out in each `telling`.
    pub fn new(period: Duration, telling: Duration) -> Self {
        Self {
            named: KeyedLogLimit::new(period),
            left_out: LeftOut::default(),
            unnamed: HashSet::new(),
            digests: RandomState::new(),
            telling: LogLimit::new(1, telling),
        }
    }

    /// What to write for `key` at `now`.
    pub fn admit(&mut self, key: &str, now: Instant) -> Naming {
        if self.named.has_room(key, now) {
            return match self.named.admit_known(key, now) {
                Some(suppressed) => Naming::Line(suppressed),
                // Nobody else may come who could tell of those.
                None if self.left_out.times > 0 => self.others(now),
                None => Naming::Nothing,
            };
        }
        self.left_out.times += 1;
        let digest = self.digests.hash_one(key);
        if self.unnamed.len() < MAX_LEFT_OUT {
            self.unnamed.insert(digest);
        } else if !self.unnamed.contains(&digest) {
            self.left_out.or_more = true;
        }
        self.left_out.keys = self.unnamed.len();
        self.others(now)
    }

    fn others(&mut self, now: Instant) -> Naming {
        if self.telling.admit(now).is_none() {
            return Naming::Nothing;
        }
        self.unnamed = HashSet::new();
        Naming::Others(std::mem::take(&mut self.left_out))
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
    #[test]
    fn whoever_is_not_named_is_counted_and_the_log_says_so_once_in_a_while() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut limit = NamingLimit::new(Duration::from_secs(3600), Duration::from_secs(60));
        for n in 0..MAX_KEYS {
            assert_eq!(limit.admit(&n.to_string(), at(0)), Naming::Line(0));
        }
        let others = |keys, or_more, times| Naming::Others(LeftOut { keys, or_more, times });
        // The key, when, what is written; keys beyond those 1,024 begin with x.
        let table = [
            ("x1", 1, others(1, false, 1)),
            ("x1", 2, Naming::Nothing),
            ("x2", 3, Naming::Nothing),
            ("x1", 4, Naming::Nothing),
            ("0", 5, Naming::Nothing),
            // Also a call of one who is named brings the count out.
            ("0", 61, others(2, false, 3)),
            ("0", 200, Naming::Nothing),
            ("x3", 200, others(1, false, 1)),
            // A line of one who is named counts what was kept back of the same.
            ("0", 3600, Naming::Line(3)),
            // After the period there is room again.
            ("x4", 3600, Naming::Line(0)),
        ];
        for (key, second, expected) in table {
            assert_eq!(limit.admit(key, at(second)), expected, "{key} at {second}");
        }
    }

    #[test]
    fn a_flood_of_keys_without_a_line_stays_bounded_and_its_count_honest() {
        let start = Instant::now();
        let mut limit = NamingLimit::new(Duration::from_secs(3600), Duration::from_secs(60));
        let total = MAX_KEYS + MAX_LEFT_OUT + 1000;
        let lines = (0..total)
            .filter(|n| limit.admit(&n.to_string(), start) != Naming::Nothing)
            .count();
        assert_eq!(lines, MAX_KEYS + 1, "each named one, and once that there are others");
        assert_eq!(limit.unnamed.len(), MAX_LEFT_OUT);
        let told = limit.admit("last", start + Duration::from_secs(60));
        let expected = LeftOut {
            keys: MAX_LEFT_OUT,
            or_more: true,
            times: MAX_LEFT_OUT as u64 + 1000,
        };
        assert_eq!(told, Naming::Others(expected));
        assert_eq!(limit.unnamed.len(), 0);
    }
}
