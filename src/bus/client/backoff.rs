//! How long to wait before the next attempt to reach the bus. Pure: time and chance are passed in.

use std::time::Duration;

/// The first wait: a bus that only dropped this one connection is there already.
const FIRST: Duration = Duration::from_millis(50);
/// The longest wait, so that a bus that comes back after hours is found within seconds.
const CAP: Duration = Duration::from_secs(5);
/// The longest wait after a link that stood: whatever cut it, the bus was there a moment ago.
const CAP_AFTER_LINK: Duration = Duration::from_millis(400);
/// A link that stood so long starts the count anew.
const STEADY: Duration = Duration::from_secs(5);

/// Doubling waits with a cap.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next: FIRST }
    }

    /// The next wait. `chance` in `0..1` spreads it by a quarter either way, so that the clients of
    /// a restarted bus do not all come at once.
    pub(super) fn next(&mut self, chance: f64) -> Duration {
        let wait = self.next.mul_f64(0.75 + chance / 2.0);
        self.next = (self.next * 2).min(CAP);
        wait
    }

    /// A link stood for `lived`. One that breaks at once, again and again, is still slowed down.
    pub(super) fn link_stood(&mut self, lived: Duration) {
        self.next = if lived >= STEADY {
            FIRST
        } else {
            self.next.min(CAP_AFTER_LINK)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap() {
        let mut backoff = Backoff::new();
        let waits: Vec<_> = (0..9).map(|_| backoff.next(0.5).as_millis()).collect();
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }

    #[test]
    fn chance_spreads_by_a_quarter() {
        assert_eq!(Backoff::new().next(0.0), FIRST.mul_f64(0.75));
        assert_eq!(Backoff::new().next(1.0), FIRST.mul_f64(1.25));
    }

    #[test]
    fn a_link_that_stood_is_tried_again_soon() {
        for (lived, expected) in [(0, 400), (4_999, 400), (5_000, 50)] {
            let mut backoff = Backoff::new();
            for _ in 0..8 {
                backoff.next(0.5);
            }
            backoff.link_stood(Duration::from_millis(lived));
            assert_eq!(backoff.next(0.5).as_millis(), expected, "after {lived} ms");
        }
    }
}
