//! When a process that ended is started again. Pure: the time is handed in.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::config::{Restart, RestartWhen};

/// What to do about an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Start again after this long.
    After(Duration),
    /// Leave it down: the policy asks for no restart.
    Leave,
    /// Leave it down: it failed too often; the number of failures.
    GiveUp(usize),
}

/// Counts failures and spaces restarts (OTP's intensity, with a backoff).
#[derive(Debug)]
pub struct RestartPolicy {
    policy: Restart,
    failures: VecDeque<Instant>,
    attempt: u32,
}

impl RestartPolicy {
    /// Nothing has failed yet.
    pub fn new(policy: Restart) -> Self {
        Self {
            policy,
            failures: VecDeque::new(),
            attempt: 0,
        }
    }

    /// Failures in a row without sustained health between them.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Somebody asked for a start: the past is forgiven.
    pub fn forgive(&mut self) {
        self.failures.clear();
        self.attempt = 0;
    }

    /// A process ended unasked, after it had been up for `healthy` (zero: it never came up).
    ///
    /// The backoff starts anew only after it was up for as long as the longest wait: a process
    /// that dies two seconds after each start keeps waiting longer. `jitter`, from 0 to 1, spreads
    /// the wait over its upper fifth, so that toolboxes that fell together do not rise together.
    pub fn ended(&mut self, success: bool, healthy: Duration, now: Instant, jitter: f64) -> Verdict {
        match self.policy.when {
            RestartWhen::Never => return Verdict::Leave,
            RestartWhen::OnFailure if success => return Verdict::Leave,
            RestartWhen::Always | RestartWhen::OnFailure => {}
        }
        if healthy >= self.policy.max_backoff {
            self.attempt = 0;
        }
        self.attempt += 1;
        self.failures.push_back(now);
        while self
            .failures
            .front()
            .is_some_and(|first| now.duration_since(*first) > self.policy.within)
        {
            self.failures.pop_front();
        }
        if self.failures.len() >= self.policy.give_up_after as usize {
            return Verdict::GiveUp(self.failures.len());
        }
        Verdict::After(self.wait().mul_f64(0.8 + 0.2 * jitter.clamp(0.0, 1.0)))
    }

    fn wait(&self) -> Duration {
        let doublings = 2u32.saturating_pow(self.attempt.saturating_sub(1));
        self.policy
            .backoff
            .saturating_mul(doublings)
            .min(self.policy.max_backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(when: RestartWhen, give_up_after: u32) -> RestartPolicy {
        RestartPolicy::new(Restart {
            when,
            give_up_after,
            ..Restart::default()
        })
    }

    #[test]
    fn waits_double_up_to_the_cap_and_start_anew_after_sustained_health() {
        let mut policy = policy(RestartWhen::Always, 100);
        let now = Instant::now();
        let mut after = |healthy: u64| match policy.ended(false, Duration::from_secs(healthy), now, 1.0) {
            Verdict::After(wait) => wait.as_millis(),
            other => panic!("{other:?}"),
        };
        // Two seconds of life between deaths are no health.
        assert_eq!([0, 2, 2, 0].map(&mut after), [200, 400, 800, 1600]);
        assert_eq!((0..5).map(|_| after(0)).last(), Some(30_000));
        assert_eq!(after(31), 200);
    }

    #[test]
    fn it_gives_up_after_so_many_failures_within_the_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut policy = policy(RestartWhen::Always, 3);
        let mut ended = |seconds| policy.ended(false, Duration::ZERO, at(seconds), 1.0);
        assert!(matches!(ended(0), Verdict::After(_)));
        assert!(matches!(ended(1), Verdict::After(_)));
        // The first two are out of the window by now.
        assert!(matches!(ended(400), Verdict::After(_)));
        assert!(matches!(ended(401), Verdict::After(_)));
        assert_eq!(ended(402), Verdict::GiveUp(3));
        policy.forgive();
        assert!(matches!(
            policy.ended(false, Duration::ZERO, at(403), 1.0),
            Verdict::After(_)
        ));
    }

    #[test]
    fn the_policy_says_which_ends_are_mended() {
        let now = Instant::now();
        for (when, success, restarts) in [
            (RestartWhen::Always, true, true),
            (RestartWhen::Always, false, true),
            (RestartWhen::OnFailure, true, false),
            (RestartWhen::OnFailure, false, true),
            (RestartWhen::Never, true, false),
            (RestartWhen::Never, false, false),
        ] {
            let verdict = policy(when, 10).ended(success, Duration::ZERO, now, 0.5);
            assert_eq!(matches!(verdict, Verdict::After(_)), restarts, "{when:?} {success}");
        }
    }
}
