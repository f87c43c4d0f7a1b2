//! Who called, who was answered, and when. Pure.

use std::time::{Duration, Instant};

/// Whom a request is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Healthy,
    Moody,
    /// The tool service itself: a reload.
    Service,
}

struct Entry {
    to: To,
    sent: Instant,
    /// From the request to its first answer.
    took: Option<Duration>,
    answers: u32,
    is_error: bool,
    /// Whether the bus was killed between request and answer: it may never have arrived.
    amid: bool,
}

/// Every request of a storm, by its number.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: Vec<Entry>,
    /// How many are owed an answer.
    open: usize,
}

/// What came of the requests.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) sent: usize,
    pub(crate) results: usize,
    pub(crate) errors: usize,
    pub(crate) doubled: Vec<usize>,
    /// Without an answer, though the bus was there all the time.
    pub(crate) lost: Vec<usize>,
    /// Without an answer, and perhaps never received: the bus was killed meanwhile.
    pub(crate) gone_with_the_bus: usize,
    /// Calls of healthy toolboxes that got an error.
    pub(crate) healthy_errors: Vec<usize>,
    /// Answers of healthy toolboxes.
    pub(crate) healthy_answered: u64,
}

impl Ledger {
    /// Notes a request; its number.
    pub(crate) fn send(&mut self, to: To) -> usize {
        self.entries.push(Entry {
            to,
            sent: Instant::now(),
            took: None,
            answers: 0,
            is_error: false,
            amid: false,
        });
        self.open += 1;
        self.entries.len() - 1
    }

    pub(crate) fn answer(&mut self, number: usize, is_error: bool) {
        let entry = self.entries.get_mut(number).expect("an answer to a request of ours");
        entry.answers += 1;
        if entry.answers == 1 && !entry.amid {
            self.open -= 1;
        }
        entry.is_error |= is_error;
        entry.took.get_or_insert(entry.sent.elapsed());
    }

    /// The bus was killed: what has no answer may never get one.
    pub(crate) fn bus_killed(&mut self) {
        for entry in &mut self.entries {
            entry.amid |= entry.answers == 0;
        }
        self.open = 0;
    }

    pub(crate) fn sent(&self) -> usize {
        self.entries.len()
    }

    /// How many requests must have an answer and have none yet.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    pub(crate) fn sums(&self) -> Sums {
        let mut sums = Sums {
            sent: self.entries.len(),
            ..Sums::default()
        };
        for (number, entry) in self.entries.iter().enumerate() {
            match entry.answers {
                0 if entry.amid => sums.gone_with_the_bus += 1,
                0 => sums.lost.push(number),
                _ if entry.is_error => sums.errors += 1,
                _ => sums.results += 1,
            }
            if entry.answers > 1 {
                sums.doubled.push(number);
            }
            if entry.to == To::Healthy && entry.answers > 0 {
                sums.healthy_answered += 1;
                if entry.is_error {
                    sums.healthy_errors.push(number);
                }
            }
        }
        sums
    }

    /// Median and 99th percentile of what healthy toolboxes took, the bus being there, for the requests from `first` on.
    pub(crate) fn healthy_latency(&self, requests: std::ops::Range<usize>) -> (Duration, Duration) {
        let entries = self.entries.get(requests).expect("requests there were");
        let healthy = entries.iter().filter(|entry| entry.to == To::Healthy && !entry.amid);
        let mut times: Vec<Duration> = healthy.filter_map(|entry| entry.took).collect();
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        (at(50), at(99))
    }
}
