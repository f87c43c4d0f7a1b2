//! Whether a quiet period has passed: nobody called on a predecessor topic, and somebody was there to see it. Pure.

use serde::{Deserialize, Serialize};

use super::usage::Toolbox;

/// What a running host tells of the migration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Its time of day, in seconds since 1970.
    pub now: u64,
    /// Why the counts are not kept over a restart, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// The toolboxes it hosts or forwards.
    pub toolboxes: Vec<Counted>,
}

/// One toolbox of a [`Report`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Its toolbox_id.
    pub toolbox_id: String,
    /// What becomes of calls on its predecessor topic: `answer`, `warn`, `ignore`, or the way they are forwarded.
    pub predecessor_topics: String,
    /// Of one that is forwarded: whether its host has been heard since this toolhost is on the bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_heard: Option<bool>,
    /// Its calls.
    #[serde(flatten)]
    pub usage: Toolbox,
}

/// How a toolbox stands to a quiet period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nobody has used the predecessor for so long.
    Quiet,
    /// Somebody has.
    Used,
    /// Nobody has, but it has not been counted for so long.
    TooEarly,
    /// It is to be forwarded, and no host of it was heard: a wrong toolbox_id would be quiet for ever.
    NoHost,
}

/// How `counted` stands to a quiet period of `seconds`.
pub fn verdict(counted: &Counted, seconds: u64, now: u64) -> Verdict {
    let toolbox = &counted.usage;
    let recently = |last: u64| now.saturating_sub(last) < seconds;
    if counted.host_heard == Some(false) {
        Verdict::NoHost
    } else if toolbox.quiet_seconds >= seconds {
        Verdict::Quiet
    } else if toolbox.calls.last_predecessor.is_some_and(recently) {
        Verdict::Used
    } else {
        Verdict::TooEarly
    }
}

/// Whether every toolbox is quiet; a host that counts none has shown nothing.
pub fn all_quiet(report: &Report, seconds: u64) -> bool {
    let quiet = |counted: &Counted| verdict(counted, seconds, report.now) == Verdict::Quiet;
    !report.toolboxes.is_empty() && report.toolboxes.iter().all(quiet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::usage::{Moment, Topic, Usage, Who};

    #[test]
    fn quiet_is_what_was_counted_and_not_what_the_clock_says() {
        // Called at, on the bus until, asked at (a steady second is one of the day here); the verdict for 100 seconds.
        let table = [
            (None, 1000, 100, Verdict::Quiet),
            (None, 1000, 99, Verdict::TooEarly),
            (None, 50, 1000, Verdict::TooEarly),
            (Some(10), 1000, 110, Verdict::Quiet),
            (Some(10), 1000, 109, Verdict::Used),
            (Some(10), 60, 1000, Verdict::TooEarly),
        ];
        for (called, until, asked, expected) in table {
            let at = |second| Moment {
                wall: second,
                steady: second,
            };
            let mut usage = Usage::default();
            usage.connected(true, at(0));
            usage.present(["wn"], at(0));
            if let Some(called) = called {
                usage.count("wn", Topic::Predecessor, &Who::default(), std::iter::empty, at(called));
            }
            if until < asked {
                usage.connected(false, at(until));
            }
            let mut counted = Counted {
                toolbox_id: "wn".to_owned(),
                predecessor_topics: "to_predecessor".to_owned(),
                host_heard: Some(true),
                usage: usage.told(at(asked)).remove(0).1,
            };
            let case = (called, until, asked);
            assert_eq!(verdict(&counted, 100, asked), expected, "{case:?}");
            counted.host_heard = Some(false);
            assert_eq!(verdict(&counted, 100, asked), Verdict::NoHost, "{case:?}");
            let report = |counted: &Counted| Report {
                now: asked,
                not_kept: None,
                toolboxes: vec![counted.clone()],
            };
            assert!(!all_quiet(&report(&counted), 0), "{case:?}");
            counted.host_heard = None;
            assert!(all_quiet(&report(&counted), 0), "{case:?}");
        }
        assert!(!all_quiet(&Report::default(), 0), "nothing is shown by nothing");
    }
}
