//! Whether a call on one of the two call topics is forwarded to the other. Pure: the time is handed in, in milliseconds.
//!
//! A tool must run once. A call that is forwarded to a host that answers the topic itself runs twice, and one that is
//! not forwarded to a host that does not is never answered. So nothing is decided on old knowledge: a call that comes is
//! held until its host was asked and has answered, which it does at once. What a host has shown is as old as the question,
//! and used for calls of the next [`FRESH`]: no host is replaced within that time. Not as old as the answer, which may have
//! lain in the socket of a toolhost that stood still. A host that answers no discover is believed to be what the owner says.
//!
//! What a host is asked depends on the way:
//!
//! - `to_predecessor`: its answer to discover shows whether it knows the replacement (see [`Sign`]).
//! - `to_static`: whether it still answers the predecessor no discover shows. So beside it goes a *probe*, a call on the
//!   predecessor topic for a tool that no toolbox has, [`PROBE_TOOL`]: a host that answers the topic answers the probe, and
//!   no tool runs. One that answers discover and not the probe is silent there.
//!
//! A host that has learned the askers' topic is not asked because of each call: it gets [`ANSWERS_WITHIN`] to answer by
//! itself, and is asked only after that. So a call is not lost either when a host is set back to an older version.
//!
//! Of several toolhosts that forward for one toolbox the one with the lowest instance id does. The others decide as it
//! does, hold the call for [`OTHER_MOVES`] longer, and forget it when they hear that it was forwarded or answered.

use serde::{Deserialize, Serialize};

use super::owner::Sign;

/// How long what a host has shown is taken for the truth, from the question on.
pub const FRESH: u64 = 250;
/// How long a call waits for an answer to discover, of a host that has given one before.
pub const KNOWN: u64 = 2_000;
/// The same of a host that never has.
pub const UNKNOWN: u64 = 500;
/// The same of a host that may answer the predecessor itself: one that is silent now may be busy with this very call.
pub const BUSY: u64 = 10_000;
/// How long after its answer to discover a host may take to answer the probe that was sent with it.
pub const FIRST_MARGIN: u64 = 500;
/// The same of a host that was silent before.
pub const MARGIN: u64 = 50;
/// How long a host that has learned the topic may take to answer a call until it is asked whether it still does.
pub const ANSWERS_WITHIN: u64 = 1_000;
/// How much longer the others hold a call than the toolhost with the lowest instance id.
pub const OTHER_MOVES: u64 = 1_000;

/// The tool that a probe asks for. No toolbox has it.
pub const PROBE_TOOL: &str = "toolhost_probe";

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
    /// Not decided yet.
    Hold(Hold),
}

/// A call that waits for what decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    since: u64,
    /// No answer to an older question decides.
    from: u64,
    /// When the hosts are to be asked because of it.
    pub ask: u64,
    /// When it is decided by what is known then.
    until: u64,
    /// Since when it would be forwarded, were there not another toolhost.
    ready: Option<u64>,
}

/// What becomes of a held call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Not decided yet.
    Wait,
    /// It is forwarded.
    Forward,
    /// The host answers it.
    Leave,
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
    /// What the last answer to discover showed that showed something.
    sign: Option<Sign>,
    /// When the last discover of ours was sent that the host has answered.
    shown: Option<u64>,
    /// When the host was last seen to answer the askers' topic itself.
    itself: Option<u64>,
    /// When the last probe was sent that the host has left unanswered.
    silent: Option<u64>,
    /// The probe it has not answered yet.
    probe: Option<Probe>,
    /// Calls forwarded.
    pub forwarded: u64,
}

/// A probe without an answer.
#[derive(Debug, Clone, Copy)]
struct Probe {
    sent: u64,
    /// When the discover that was sent with it was answered.
    passed: Option<u64>,
}

impl Carried {
    /// Nothing is known of the host yet.
    pub fn new(way: Way) -> Self {
        Self {
            way,
            sign: None,
            shown: None,
            itself: None,
            silent: None,
            probe: None,
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

    /// A call came on the askers' topic; `lower`: another toolhost, with a lower id, forwards for the toolbox too.
    pub fn call(&self, now: u64, lower: bool) -> Next {
        let learned = self.learned();
        let fresh = match self.way {
            Way::ToPredecessor => within(self.shown, FRESH, now),
            Way::ToStatic => within(self.silent, FRESH, now),
        };
        let certain = fresh && !learned;
        if certain && !lower {
            return Next::Forward;
        }
        let patience = match (self.shown, self.way) {
            (Some(_), Way::ToStatic) if self.silent.is_none() => BUSY,
            (Some(_), _) => KNOWN,
            (None, Way::ToStatic) => UNKNOWN + FIRST_MARGIN,
            (None, Way::ToPredecessor) => UNKNOWN,
        };
        let ask = if learned { now + ANSWERS_WITHIN } else { now };
        let from = if learned { ask } else { first_fresh(now) };
        Next::Hold(Hold {
            since: now,
            from,
            ask,
            until: ask + patience,
            ready: certain.then_some(now),
        })
    }

    /// A call by a flat name came.
    pub fn flat_call(&self, now: u64) -> Next {
        if within(self.shown, FRESH, now) {
            return Next::Forward;
        }
        Next::Hold(Hold {
            since: now,
            from: first_fresh(now),
            ask: now,
            until: now + KNOWN,
            ready: None,
        })
    }

    /// What becomes of a held call; `lower` as for [`call`](Self::call).
    pub fn settled(&self, hold: &mut Hold, now: u64, lower: bool) -> Fate {
        match self.host_says(hold, now) {
            Fate::Wait if hold.ready.is_none() => Fate::Wait,
            Fate::Leave => Fate::Leave,
            _ => {
                let ready = *hold.ready.get_or_insert(now);
                let others_turn = lower && now < ready + OTHER_MOVES;
                if others_turn { Fate::Wait } else { Fate::Forward }
            }
        }
    }

    /// What the host has shown since the call came.
    fn host_says(&self, hold: &Hold, now: u64) -> Fate {
        let since = |event: Option<u64>, from| event.is_some_and(|event| event >= from);
        let by_what_is_known = if self.learned() { Fate::Leave } else { Fate::Forward };
        let shown = since(self.shown, hold.from);
        if since(self.itself, hold.since) {
            return Fate::Leave;
        }
        match self.way {
            Way::ToPredecessor if shown => by_what_is_known,
            Way::ToStatic if shown && self.sign == Some(Sign::Old) => Fate::Leave,
            Way::ToStatic if since(self.silent, hold.from) => Fate::Forward,
            _ if now >= hold.until => by_what_is_known,
            _ => Fate::Wait,
        }
    }

    /// Whether a held call by a flat name can go: it is never left to others.
    pub fn flat_settled(&self, hold: &Hold, now: u64) -> bool {
        now >= hold.until || self.shown.is_some_and(|shown| shown >= hold.from)
    }

    /// Whether the host has passed over a probe, and may still answer it.
    pub fn is_probed(&self) -> bool {
        self.probe.is_some_and(|probe| probe.passed.is_some())
    }

    /// A discover was sent, and on the way `to_static` a probe before it.
    pub fn asked(&mut self, now: u64) {
        if self.way == Way::ToStatic && !self.is_probed() {
            self.probe = Some(Probe {
                sent: now,
                passed: None,
            });
        }
    }

    /// The host answered a discover, at `now`: one of ours that was sent at `asked`, or somebody else's.
    pub fn discovered(&mut self, sign: Option<Sign>, asked: Option<u64>, now: u64) -> Option<News> {
        let before = self.learned();
        self.shown = self.shown.max(asked);
        let was = self.sign;
        if sign.is_some() && was.is_some() && sign != was {
            // Another host than before.
            self.silent = None;
            self.itself = None;
        }
        if sign == Some(Sign::Old) && self.way == Way::ToPredecessor {
            self.itself = None;
        }
        self.sign = sign.or(was);
        if let Some(probe) = &mut self.probe
            && asked.is_some_and(|asked| asked >= probe.sent)
        {
            probe.passed.get_or_insert(now);
        }
        self.news(before)
    }

    /// The host answered a call on the askers' topic by itself, or a probe.
    pub fn answered_itself(&mut self, now: u64) -> Option<News> {
        let before = self.learned();
        self.itself = Some(now);
        self.silent = None;
        self.probe = None;
        self.news(before)
    }

    /// Time has passed: a probe that is still without an answer shows silence.
    pub fn passed(&mut self, now: u64) -> Option<News> {
        let margin = if self.silent.is_some() { MARGIN } else { FIRST_MARGIN };
        let probe = self.probe?;
        if now < probe.passed? + margin {
            return None;
        }
        let before = self.learned();
        self.probe = None;
        self.silent = Some(probe.sent);
        self.itself = None;
        self.news(before)
    }

    fn news(&self, before: bool) -> Option<News> {
        match (before, self.learned()) {
            (false, true) => Some(News::Learned),
            (true, false) => Some(News::Forgot),
            _ => None,
        }
    }
}

/// The first moment from which on a question is new enough for a call that comes now.
fn first_fresh(now: u64) -> u64 {
    (now + 1).saturating_sub(FRESH)
}

fn within(event: Option<u64>, time: u64, now: u64) -> bool {
    event.is_some_and(|event| now.saturating_sub(event) < time)
}

#[cfg(test)]
#[path = "carry_tests.rs"]
mod tests;
