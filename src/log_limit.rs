//! A bound on log lines of one kind: a burst, then one line a period with the count of those left out. Pure.

use std::time::{Duration, Instant};

/// Lets `burst` lines through in each `period`.
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
}
