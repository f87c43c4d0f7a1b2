//! Whether a call on one of the two call topics is forwarded to the other. Pure: the time is handed in, in milliseconds.
//!
//! A tool must run once. A call that is forwarded to a host that answers the topic itself runs twice, so no call is
//! forwarded on old knowledge: one that comes is held until the host has answered a discover, which it does at once, and
//! is let go where that answer shows a host that has learned the topic. Only knowledge of the last [`FRESH`] is used
//! as it is: no host is replaced within that time. A host that answers no discover is believed to be what the owner says.
//!
//! That a host answers the predecessor as well as the replacement no discover shows. So on the way `to_static` the first
//! call is held for [`GRACE`], in which the host may answer it itself; one that never did is believed from then on.
//!
//! Of several toolhosts that forward for one toolbox the one with the lowest instance id does: each tells, with every
//! discover of its own, who it is and what it forwards, and the others hold a call until that one has moved.

use serde::{Deserialize, Serialize};

use super::owner::Sign;

/// How long an answer to discover is taken for the truth.
pub const FRESH: u64 = 250;
/// How long a call waits for an answer to discover, of a host that has given one before.
pub const KNOWN: u64 = 2_000;
/// The same of a host that never has.
pub const UNKNOWN: u64 = 500;
/// How long a host may take to answer a call itself, as long as it is not known not to.
pub const GRACE: u64 = 1_000;
/// How often the host of a toolbox that is no longer forwarded is asked whether it still answers itself.
pub const ASK_AGAIN: u64 = 10_000;
/// How long another toolhost is remembered.
const REMEMBERED: u64 = 60_000;
/// How long another toolhost may take to move.
const OTHER_MOVES: u64 = 1_000;

/// From where to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A call on the replacement goes to the predecessor topic.
    ToPredecessor,
    /// A call on the predecessor topic goes to the replacement.
    ToStatic,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is forwarded.
    Forward,
    /// The host, or another toolhost, answers it.
    Leave,
    /// Not decided yet.
    Hold(Hold),
}

/// A call that waits for what decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    wait: Wait,
    since: u64,
    /// When it is decided in any case.
    pub until: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// For an answer to discover.
    Host,
    /// For the host to answer by itself.
    Grace,
    /// For another toolhost.
    Other,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// The host answers the topic itself.
    Learned,
    /// It does not any more.
    Forgot,
}

/// One toolbox that is forwarded.
#[derive(Debug, Clone)]
pub struct Carried {
    way: Way,
    /// What the last answer to discover showed that showed something, and when the last one came.
    sign: Option<Sign>,
    heard: Option<u64>,
    /// When the host was last seen to answer the askers' topic itself.
    itself: Option<u64>,
    /// Whether a call was forwarded and answered while the host was silent on the askers' topic.
    proven: bool,
    /// When a toolhost with a lower id was last heard to forward for it.
    other: Option<u64>,
    /// Calls forwarded.
    pub forwarded: u64,
}

impl Carried {
    /// Nothing is known of the host yet.
    pub fn new(way: Way) -> Self {
        Self {
            way,
            sign: None,
            heard: None,
            itself: None,
            proven: false,
            other: None,
            forwarded: 0,
        }
    }

    /// From where to where.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Whether the host answers the askers' topic itself.
    pub fn learned(&self) -> bool {
        let shown = match self.way {
            Way::ToPredecessor => Sign::New,
            Way::ToStatic => Sign::Old,
        };
        self.itself.is_some() || self.sign == Some(shown)
    }

    /// The way to the host for a call by a flat name, which no host of the old topics answers itself.
    pub fn flat_way(&self) -> Way {
        match (self.sign, self.way) {
            (Some(Sign::Old), _) => Way::ToPredecessor,
            (Some(Sign::New), _) => Way::ToStatic,
            (None, way) => way,
        }
    }

    /// A call came on the askers' topic.
    pub fn call(&self, now: u64) -> Next {
        let hold = |wait, time| {
            Next::Hold(Hold {
                wait,
                since: now,
                until: now + time,
            })
        };
        if within(self.other, REMEMBERED, now) {
            return hold(Wait::Other, OTHER_MOVES);
        }
        let patience = if self.heard.is_some() { KNOWN } else { UNKNOWN };
        if self.learned() {
            let lately = within(self.heard.max(self.itself), ASK_AGAIN, now);
            return if lately {
                Next::Leave
            } else {
                hold(Wait::Host, patience)
            };
        }
        if self.way == Way::ToStatic && !self.proven {
            return hold(Wait::Grace, GRACE);
        }
        if within(self.heard, FRESH, now) {
            return Next::Forward;
        }
        hold(Wait::Host, patience)
    }

    /// A call by a flat name came.
    pub fn flat_call(&self, now: u64) -> Next {
        if within(self.heard, FRESH, now) {
            return Next::Forward;
        }
        Next::Hold(Hold {
            wait: Wait::Host,
            since: now,
            until: now + KNOWN,
        })
    }

    /// Whether a held call is forwarded; `None` while that is not decided.
    pub fn settled(&self, hold: &Hold, now: u64) -> Option<bool> {
        let since = |event: Option<u64>| event.is_some_and(|event| event >= hold.since);
        let over = now >= hold.until;
        if since(self.other) || since(self.itself) {
            return Some(false);
        }
        match hold.wait {
            Wait::Other => over.then_some(true),
            Wait::Host => (since(self.heard) || over).then(|| !self.learned()),
            Wait::Grace if since(self.heard) && self.learned() => Some(false),
            Wait::Grace => over.then_some(true),
        }
    }

    /// Whether a held call by a flat name can go: it is never left to others.
    pub fn flat_settled(&self, hold: &Hold, now: u64) -> bool {
        now >= hold.until || self.heard.is_some_and(|heard| heard >= hold.since)
    }

    /// The host answered a discover.
    pub fn discovered(&mut self, sign: Option<Sign>, now: u64) -> Option<News> {
        let before = self.learned();
        self.heard = Some(now);
        if sign.is_some() && sign != self.sign {
            // Another host than before.
            self.proven = false;
            self.itself = None;
        }
        if sign == Some(Sign::Old) && self.way == Way::ToPredecessor {
            self.itself = None;
        }
        self.sign = sign.or(self.sign);
        self.news(before)
    }

    /// The host answered a call on the askers' topic by itself.
    pub fn answered_itself(&mut self, now: u64) -> Option<News> {
        // It may have been another toolhost that forwards.
        if within(self.other, REMEMBERED, now) {
            return None;
        }
        let before = self.learned();
        self.itself = Some(now);
        self.proven = false;
        self.news(before)
    }

    /// A forwarded call was answered.
    pub fn carried(&mut self) {
        self.proven = true;
    }

    /// A toolhost with a lower id forwards for it.
    pub fn other_heard(&mut self, now: u64) {
        self.other = Some(now);
    }

    fn news(&self, before: bool) -> Option<News> {
        match (before, self.learned()) {
            (false, true) => Some(News::Learned),
            (true, false) => Some(News::Forgot),
            _ => None,
        }
    }
}

fn within(event: Option<u64>, time: u64, now: u64) -> bool {
    event.is_some_and(|event| now.saturating_sub(event) < time)
}

#[cfg(test)]
#[path = "carry_tests.rs"]
mod tests;
