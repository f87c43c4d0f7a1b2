//! Whether a call on one of the two call topics is forwarded to the other. Pure: the time is handed in, in milliseconds.
//!
//! A tool must run once. A call that is forwarded to a host that answers the topic itself runs twice, and one that is
//! not forwarded to a host that does not is never answered. So nothing is decided on old knowledge: a call that comes is
//! held until its host was asked and has answered, which it does at once. What a host has shown is as old as the question,
//! and used for calls of the next [`FRESH`]: no host is replaced within that time. Not as old as the answer, which may have
//! lain in the socket of a toolhost that stood still. A host that answers no discover is believed to be what the owner says.
//!
//! What is asked depends on the way:
//!
//! - `to_predecessor`: its answer to discover shows whether a host knows the replacement (see [`Sign`]).
//! - `to_static`: whether it still answers the predecessor no discover shows. A toolhost tells it. Any other host shows it
//!   when it answers a call by itself, for which it gets [`GRACE`], or by a *probe*: a call on the predecessor topic for a
//!   tool that no toolbox has, [`PROBE_TOOL`]. A host that answers the topic answers that, no tool runs, and one that answers
//!   the discover after it and not the probe is silent there. But callers take the first answer on their topic for their
//!   own. So it is sent only while nobody waits, and again only where the host has not heard it. Where somebody always waits,
//!   a host that answers [`SHOWN_BY`] calls only once they are forwarded is silent.
//!
//! A host that has learned the askers' topic gets [`ANSWERS_WITHIN`] to answer a call, and is asked after that whether it
//! still does: so a call is not lost when a host is set back to an older version.
//!
//! What becomes of a call, by what is known of its host (the *askers' topic* is the one that calls are forwarded from):
//!
//! | known | the call is |
//! |---|---|
//! | it answers the askers' topic, by its sign | left to it; after [`ANSWERS_WITHIN`] it is asked again |
//! | the same, by an answer or its word | the same; on the way `to_static` it has [`WAITED_FOR`], then nothing is known |
//! | it does not (or is any other host, on the way `to_predecessor`) | forwarded, once it is asked |
//! | nothing, on the way `to_static` | left to it for [`GRACE`], then forwarded |
//!
//! Of several toolhosts that forward for one toolbox the one with the lowest instance id does. The others decide as it
//! does, hold the call for [`OTHER_MOVES`] longer, each one turn after the one before it, and forget it when they hear
//! that it was forwarded or answered.

use serde::{Deserialize, Serialize};

use super::sign::Sign;

/// How long what a host has shown is taken for the truth, from the question on.
pub const FRESH: u64 = 250;
/// How long a call waits for an answer to discover, of a host that has given one before.
pub const KNOWN: u64 = 2_000;
/// The same of a host that never has.
pub const UNKNOWN: u64 = 500;
/// How long a host may take to answer a call on the predecessor itself, as long as it is not known whether it does.
pub const GRACE: u64 = 1_000;
/// How long after its answer to discover a host may take to answer the probe that was sent before it.
pub const MARGIN: u64 = 500;
/// How long a toolbox is listened to before its host gets a probe.
pub const LISTEN: u64 = 3_000;
/// How long a call on the predecessor that nobody answers counts as one that somebody waits for: as long as a call may take
/// where nobody has said otherwise.
pub const WAITED_FOR: u64 = 30_000;
/// Probes of one host that neither it nor anything of it answers.
const MOST_PROBES: u32 = 5;
/// Calls in a row that a host answers only once they are forwarded, until it counts as silent on the predecessor.
pub const SHOWN_BY: u32 = 5;
/// How long a host that has learned the topic may take to answer a call until it is asked whether it still does.
pub const ANSWERS_WITHIN: u64 = 1_000;
/// How much longer than the toolhost with the next lower instance id another holds a call. The times above tell two that do
/// not know the same of a host apart by multiples of 500: a turn as long as one of them would have both forward at once.
pub const OTHER_MOVES: u64 = 1_200;

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

impl Way {
    /// As the configuration and each report spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToPredecessor => "to_predecessor",
            Self::ToStatic => "to_static",
        }
    }
}

/// A toolbox of another host whose calls are forwarded from one call topic to the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// Its toolbox_id.
    pub toolbox_id: String,
    /// From where to where.
    pub way: Way,
    /// Whether its host has learned to answer by itself, so that nothing is forwarded.
    pub learned: bool,
    /// Whether its host has been heard at all since this toolhost is on the bus.
    pub heard: bool,
    /// How many tools its host offers, as far as that is known.
    pub tools: usize,
    /// Calls forwarded since the start.
    pub forwarded: u64,
    /// Calls that wait for a decision or for their answer.
    pub waiting: usize,
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

impl Hold {
    /// When the call came.
    pub fn since(&self) -> u64 {
        self.since
    }
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
    /// The host was to answer it, and did not.
    Unanswered,
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
    known: Known,
    /// Since when it is listened to; when the last call on the predecessor came, and how many are not answered yet.
    start: u64,
    last_call: u64,
    open: u32,
    /// Calls forwarded.
    pub forwarded: u64,
}

/// What is known, beside its sign, of whether the host answers the askers' topic itself.
#[derive(Debug, Clone, Copy)]
enum Known {
    /// Nothing. On the way `to_static` it is tried to find out.
    Nothing(Search),
    /// It does, as it was last seen or heard to say at this time.
    Itself(u64),
    /// It does not: only on the way `to_static`.
    Silent,
}

impl Known {
    const NOTHING: Self = Self::Nothing(Search {
        probe: None,
        probes: 0,
        only_forwarded: 0,
    });
}

/// How it is tried to find out whether the host answers the predecessor.
#[derive(Debug, Clone, Copy)]
struct Search {
    probe: Option<Probe>,
    /// Probes sent.
    probes: u32,
    /// Forwarded calls it has answered in a row, and not a single one by itself.
    only_forwarded: u32,
}

/// A probe without an answer.
#[derive(Debug, Clone, Copy)]
struct Probe {
    sent: u64,
    /// When the discover that was sent after it was answered.
    passed: Option<u64>,
}

impl Carried {
    /// Nothing is known of the host yet.
    pub fn new(way: Way, now: u64) -> Self {
        Self {
            way,
            sign: None,
            shown: None,
            known: Known::NOTHING,
            start: now,
            last_call: now,
            open: 0,
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
        matches!(self.known, Known::Itself(_)) || self.sign == Some(shown)
    }

    /// Whether anything was ever heard of a host.
    pub fn is_heard(&self) -> bool {
        self.sign.is_some() || self.shown.is_some() || matches!(self.known, Known::Itself(_))
    }

    /// Whether the host knows nothing but the predecessor.
    pub fn is_old(&self) -> bool {
        self.sign == Some(Sign::Old)
    }

    /// The way to the host for a call by a flat name, which no host of the old topics answers itself.
    pub fn flat_way(&self) -> Way {
        match (self.sign, self.way) {
            (Some(Sign::Old), _) => Way::ToPredecessor,
            (Some(Sign::New), _) => Way::ToStatic,
            (None, way) => way,
        }
    }

    /// A call came on the askers' topic; `turn`: in whose turn it is forwarded (see [`Others`](super::others::Others::turn)).
    pub fn call(&self, now: u64, turn: usize) -> Next {
        let learned = self.learned();
        let certain = !learned && !self.is_unknown() && within(self.shown, FRESH, now);
        if certain && turn == 0 {
            return Next::Forward;
        }
        let ask = if learned { now + ANSWERS_WITHIN } else { now };
        let until = match self.way {
            Way::ToStatic if matches!(self.known, Known::Itself(_)) => now + WAITED_FOR,
            _ if self.shown.is_some() => ask + KNOWN,
            Way::ToStatic => ask + GRACE,
            Way::ToPredecessor => ask + UNKNOWN,
        };
        Next::Hold(Hold {
            since: now,
            from: if learned { ask } else { first_fresh(now) },
            ask,
            until,
            ready: certain.then_some(now),
        })
    }

    /// Whether it is not known if the host answers the askers' topic itself.
    fn is_unknown(&self) -> bool {
        self.way == Way::ToStatic && !self.learned() && matches!(self.known, Known::Nothing(_))
    }

    /// How it is tried to find that out.
    fn search(&mut self) -> Option<&mut Search> {
        let unknown = self.is_unknown();
        match &mut self.known {
            Known::Nothing(search) if unknown => Some(search),
            _ => None,
        }
    }

    fn probe(&self) -> Option<Probe> {
        match self.known {
            Known::Nothing(search) => search.probe,
            _ => None,
        }
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

    /// What becomes of a held call; `turn` as for [`call`](Self::call).
    pub fn settled(&self, hold: &mut Hold, now: u64, turn: usize) -> Fate {
        match self.host_says(hold, now) {
            Fate::Wait if hold.ready.is_none() => Fate::Wait,
            fate @ (Fate::Leave | Fate::Unanswered) => fate,
            // `Wait` too: it was decided before, and nothing new is known.
            Fate::Forward | Fate::Wait => {
                let ready = *hold.ready.get_or_insert(now);
                let turns = u64::try_from(turn).unwrap_or_default();
                let others_turn = now < ready + turns * OTHER_MOVES;
                if others_turn { Fate::Wait } else { Fate::Forward }
            }
        }
    }

    /// What the host has shown since the call came.
    fn host_says(&self, hold: &Hold, now: u64) -> Fate {
        let since = |event: Option<u64>, from| event.is_some_and(|event| event >= from);
        let by_what_is_known = if self.learned() { Fate::Leave } else { Fate::Forward };
        let shown = since(self.shown, hold.from);
        let over = now >= hold.until;
        match (self.way, self.known) {
            (_, Known::Itself(at)) if at >= hold.since => Fate::Leave,
            (Way::ToPredecessor, _) if shown || over => by_what_is_known,
            (Way::ToStatic, Known::Itself(_)) if over => Fate::Unanswered,
            (Way::ToStatic, Known::Itself(_)) => Fate::Wait,
            (Way::ToStatic, _) if over => by_what_is_known,
            (Way::ToStatic, _) if shown && self.is_unknown() && now < hold.since + GRACE => Fate::Wait,
            (Way::ToStatic, _) if shown => by_what_is_known,
            _ => Fate::Wait,
        }
    }

    /// Whether a held call by a flat name can go: it is never left to others.
    pub fn flat_settled(&self, hold: &Hold, now: u64) -> bool {
        now >= hold.until || self.shown.is_some_and(|shown| shown >= hold.from)
    }

    /// Somebody called on the predecessor.
    pub fn old_call(&mut self, now: u64) {
        if now.saturating_sub(self.last_call) >= WAITED_FOR {
            self.open = 0;
        }
        self.last_call = now;
        self.open = self.open.saturating_add(1);
    }

    /// Somebody was answered there.
    pub fn old_answer(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// Whether only a probe can show what the host answers; it is sent when it [may be](Self::may_be_probed).
    pub fn wants_probe(&self) -> bool {
        let tried = matches!(self.known, Known::Nothing(search) if search.probes >= MOST_PROBES);
        self.is_unknown() && self.sign == Some(Sign::New) && !tried
    }

    /// Whether nobody waits for an answer on the predecessor, and no other probe is under way.
    pub fn may_be_probed(&self, now: u64) -> bool {
        let nobody_waits = self.open == 0 || now.saturating_sub(self.last_call) >= WAITED_FOR;
        let lately = within(self.probe().map(|probe| probe.sent), LISTEN, now);
        nobody_waits && !lately && now.saturating_sub(self.start) >= LISTEN
    }

    /// A probe was sent, and a discover is sent after it.
    pub fn probed(&mut self, now: u64) {
        if let Some(search) = self.search() {
            search.probes += 1;
            search.probe = Some(Probe {
                sent: now,
                passed: None,
            });
        }
    }

    /// Whether the host has passed over a probe, and may still answer it.
    pub fn is_probed(&self) -> bool {
        self.probe().is_some_and(|probe| probe.passed.is_some())
    }

    /// The host answered a discover, at `now`: one of ours that was sent at `asked`, or somebody else's.
    pub fn discovered(&mut self, sign: Option<Sign>, asked: Option<u64>, now: u64) -> Option<News> {
        let before = self.learned();
        self.shown = self.shown.max(asked);
        let was = self.sign;
        if sign.is_some() && was.is_some() && sign != was {
            // Another host than before.
            self.known = Known::NOTHING;
        }
        if sign == Some(Sign::Old) && self.way == Way::ToPredecessor {
            self.known = Known::NOTHING;
        }
        self.sign = sign.or(was);
        if let Some(probe) = self.search().and_then(|search| search.probe.as_mut())
            && asked.is_some_and(|asked| asked >= probe.sent)
        {
            probe.passed.get_or_insert(now);
        }
        self.news(before)
    }

    /// The host answered a call on the askers' topic by itself, or a probe, or says that it does.
    pub fn answered_itself(&mut self, now: u64) -> Option<News> {
        self.is_known_now(Known::Itself(now))
    }

    /// The host answered a call that was forwarded to it, and that it has not answered by itself. Where somebody always
    /// waits, so that no probe can be sent, this is all that shows silence.
    pub fn answered_forwarded(&mut self) {
        if let Some(search) = self.search() {
            search.only_forwarded += 1;
            if search.only_forwarded >= SHOWN_BY {
                self.known = Known::Silent;
            }
        }
    }

    /// The host says that it does not answer the predecessor.
    pub fn says_it_is_silent(&mut self) -> Option<News> {
        self.is_known_now(Known::Silent)
    }

    /// The host did not answer a call that was left to it.
    pub fn left_unanswered(&mut self) -> Option<News> {
        self.is_known_now(Known::NOTHING)
    }

    /// Time has passed: a probe that is still without an answer shows silence.
    pub fn passed(&mut self, now: u64) -> Option<News> {
        let passed = self.probe()?.passed?;
        if now < passed + MARGIN {
            return None;
        }
        self.says_it_is_silent()
    }

    /// This process stood still: a probe may have been answered without being heard yet.
    pub fn stood_still(&mut self) {
        if let Some(search) = self.search() {
            search.probe = None;
        }
    }

    fn is_known_now(&mut self, known: Known) -> Option<News> {
        let before = self.learned();
        self.known = known;
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
