//! What is known of the host of one toolbox, and how it came to be known. Pure.
//!
//! The answer on a call topic is either the host's own or that of a toolhost that forwards the call to the other topic and
//! answers in the host's place, in just the same form. They are told apart by what went before: a forwarded call is heard
//! too, and has the context of the one that was asked.

use std::collections::VecDeque;

use super::super::carry::Way;
use super::super::sign::Sign;
use super::super::usage::Topic;
use super::{Answers, Mark, Said};

/// Seconds a call must have waited to count as unanswered.
pub(super) const PATIENCE: u64 = 10;
/// How many of them in a row show that a topic is not answered.
pub(super) const SEVERAL: u32 = 3;
/// Seconds for which a host must have been asked in vain to count as gone.
pub(super) const GONE: u64 = 90;
/// Seconds for which a call is remembered.
const KEPT: u64 = 600;
/// Calls remembered on one topic of one toolbox.
pub(super) const MOST_CALLS: usize = 256;
/// Toolhosts remembered that forward for one toolbox.
const MOST_FORWARDERS: usize = 8;

/// What definitions were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Signs {
    old: bool,
    new: bool,
}

impl Signs {
    fn has(self, sign: Sign) -> bool {
        match sign {
            Sign::Old => self.old,
            Sign::New => self.new,
        }
    }

    fn add(&mut self, sign: Sign) {
        match sign {
            Sign::Old => self.old = true,
            Sign::New => self.new = true,
        }
    }
}

/// A call that was heard.
#[derive(Debug)]
struct Asked {
    print: u64,
    since: u64,
    /// How many signs of life of the host had been seen.
    life: u64,
    by: By,
    state: State,
    /// Whether it is decided if it counts as unanswered.
    judged: bool,
}

/// Who made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Somebody who wants something of the toolbox.
    Caller,
    /// A toolhost that forwards it, or tries whether there is an answer: nobody forwards that.
    Toolhost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody has answered it.
    Waits,
    /// A toolhost has forwarded it, and will answer it.
    Forwarded,
    /// That one has answered it.
    Covered,
}

/// Whose answer it was.
enum Whose {
    /// The host's, so many seconds after the call.
    Own(u64),
    /// The host's, as far as one can see.
    Perhaps,
    Forwarder,
    /// To a call that was not heard.
    Unknown,
}

/// What is known of one call topic.
#[derive(Debug, Default)]
struct Seen {
    /// The host's own answer was heard.
    sure: bool,
    /// An answer was heard that is the host's unless somebody forwards.
    perhaps: bool,
    /// Calls in a row that were not answered.
    unanswered: u32,
    /// How many signs of life there had been before the last of them.
    counted: u64,
    calls: VecDeque<Asked>,
    /// A forwarded call had no room: the answer to it may look like the host's.
    lost: bool,
}

impl Seen {
    fn called(&mut self, print: u64, by: By, life: u64, now: u64) {
        if self.calls.len() >= MOST_CALLS {
            let dropped = self.calls.pop_front();
            self.lost |= dropped.is_some_and(|asked| asked.state == State::Forwarded);
        }
        self.calls.push_back(Asked {
            print,
            since: now,
            life,
            by,
            state: State::Waits,
            judged: false,
        });
    }

    fn find(&mut self, print: u64, state: State) -> Option<usize> {
        let is_it = |asked: &Asked| asked.print == print && asked.state == state;
        self.calls.iter().position(is_it)
    }

    /// Somebody forwarded the call; false where it was not heard.
    fn forwarded(&mut self, print: u64) -> bool {
        let found = self.find(print, State::Waits);
        if let Some(asked) = found.and_then(|index| self.calls.get_mut(index)) {
            asked.state = State::Forwarded;
        }
        found.is_some()
    }

    fn answered(&mut self, print: u64, now: u64) -> Whose {
        // Contexts may be alike; then the one that is to come from elsewhere is taken for it.
        let forwarded = self.find(print, State::Forwarded);
        if let Some(asked) = forwarded.and_then(|index| self.calls.get_mut(index)) {
            asked.state = State::Covered;
            return Whose::Forwarder;
        }
        let asked = self
            .find(print, State::Waits)
            .and_then(|index| self.calls.remove(index));
        match asked {
            Some(asked) if !self.lost => Whose::Own(now.saturating_sub(asked.since)),
            Some(_) => Whose::Perhaps,
            None if self.calls.iter().any(|asked| asked.state == State::Waits) => Whose::Perhaps,
            None => Whose::Unknown,
        }
    }

    /// The host answered. Whatever waits was asked of one that does.
    fn is_answered(&mut self, sure: bool) {
        self.sure |= sure;
        self.perhaps |= !sure;
        self.unanswered = 0;
        for asked in &mut self.calls {
            asked.judged = true;
        }
    }

    /// The host lives; what has waited longer than `patience` does not wait for a host that is away. Whether there was a
    /// call of a caller among them that nobody forwarded either.
    fn judge(&mut self, patience: u64, now: u64) -> bool {
        let mut left = false;
        for asked in &mut self.calls {
            if asked.judged || asked.since + patience > now {
                continue;
            }
            asked.judged = true;
            // Calls with no sign of life between them may all have met a host that was away.
            if asked.life > self.counted {
                self.counted = asked.life;
                self.unanswered = self.unanswered.saturating_add(1);
            }
            left |= asked.state == State::Waits && asked.by == By::Caller;
        }
        let done = |asked: &Asked| asked.judged && asked.state == State::Covered;
        self.calls.retain(|asked| asked.since + KEPT > now && !done(asked));
        self.lost &= self.calls.iter().any(|asked| asked.state == State::Forwarded);
        left
    }

    fn is_ignored(&self) -> bool {
        self.unanswered >= SEVERAL
    }

    /// When the next call has waited for `patience`, where that would say something new.
    fn due(&self, patience: u64, now: u64) -> Option<u64> {
        if self.sure || self.is_ignored() {
            return None;
        }
        let waiting = self.calls.iter().filter(|asked| !asked.judged);
        let times = waiting.map(|asked| asked.since + patience);
        times.filter(|time| *time > now).min()
    }
}

/// A toolhost that forwards.
#[derive(Debug)]
struct Forwarder {
    by: u64,
    way: Way,
    /// Whether it does that with the calls on this topic: calls by a flat name go either way.
    proven: bool,
}

/// The ways in which the calls of a toolbox are forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Forwarded {
    to_predecessor: bool,
    to_static: bool,
}

impl Forwarded {
    pub(super) fn ways(self) -> Vec<Way> {
        let to_predecessor = self.to_predecessor.then_some(Way::ToPredecessor);
        let to_static = self.to_static.then_some(Way::ToStatic);
        to_predecessor.into_iter().chain(to_static).collect()
    }
}

/// What is known of one host.
#[derive(Debug, Default)]
pub(super) struct Host {
    signs: Signs,
    /// The last discover that was answered, and what that showed so far.
    discover: (Option<u64>, Signs),
    old: Seen,
    new: Seen,
    /// Signs of life.
    lives: u64,
    /// When it was first asked since the last one.
    asked: Option<u64>,
    /// Seconds it took for its slowest answer.
    slowest: u64,
    forwarders: Vec<Forwarder>,
}

impl Host {
    pub(super) fn answers(&self) -> Answers {
        let answered = |seen: &Seen, way| !seen.is_ignored() && (seen.sure || seen.perhaps && !self.may_forward(way));
        let old = self.signs.old || answered(&self.old, Way::ToStatic);
        let new = self.signs.new || answered(&self.new, Way::ToPredecessor);
        match (old, new) {
            (true, true) => Answers::Both,
            (true, false) if self.signs.old || self.new.is_ignored() => Answers::OldOnly,
            (true, false) => Answers::Old,
            (false, true) if self.old.is_ignored() => Answers::NewOnly,
            (false, true) => Answers::New,
            (false, false) => Answers::Nothing,
        }
    }

    /// How its calls are forwarded.
    pub(super) fn forwarded(&self) -> Forwarded {
        let forwards = |way| self.forwarders.iter().any(|one| one.way == way && one.proven);
        Forwarded {
            to_predecessor: forwards(Way::ToPredecessor),
            to_static: forwards(Way::ToStatic),
        }
    }

    fn may_forward(&self, way: Way) -> bool {
        self.forwarders.iter().any(|one| one.way == way)
    }

    pub(super) fn forwards(&self, by: u64) -> bool {
        self.forwarders.iter().any(|one| one.by == by)
    }

    pub(super) fn discovered(&mut self, sign: Option<Sign>, print: u64, now: u64) {
        if self.discover.0 != Some(print) {
            let whole = self.discover.1;
            if whole != Signs::default() && whole != self.signs {
                // There were two hosts, and one has gone.
                self.replaced(whole);
            }
            self.discover = (Some(print), Signs::default());
        }
        if let Some(sign) = sign {
            let first = self.discover.1 == Signs::default();
            self.discover.1.add(sign);
            if !self.signs.has(sign) {
                if first && self.signs != Signs::default() {
                    self.replaced(Signs::default());
                }
                self.signs.add(sign);
            }
        }
        self.shows_life(now);
    }

    /// Another host than before: what that one answered says nothing of it.
    fn replaced(&mut self, signs: Signs) {
        self.signs = signs;
        self.old = Seen::default();
        self.new = Seen::default();
        self.slowest = 0;
    }

    /// Somebody called; when a sign of life would tell something, if that call waits until then.
    pub(super) fn called(&mut self, topic: Topic, print: u64, by: By, now: u64) -> Option<u64> {
        let life = self.lives;
        self.seen(topic).called(print, by, life, now);
        self.due(now)
    }

    pub(super) fn forwarded_to(&mut self, topic: Topic, print: u64, mark: Mark, now: u64) {
        let (way, asked_on) = match topic {
            Topic::Predecessor => (Way::ToPredecessor, Topic::Replacement),
            Topic::Replacement => (Way::ToStatic, Topic::Predecessor),
        };
        let proven = self.seen(asked_on).forwarded(print);
        self.is_forwarded(mark.by, way, proven);
        let life = self.lives;
        self.seen(topic).called(marked(mark), By::Toolhost, life, now);
    }

    fn is_forwarded(&mut self, by: u64, way: Way, proven: bool) {
        let known = self.forwarders.iter_mut().find(|one| one.by == by && one.way == way);
        if let Some(one) = known {
            one.proven |= proven;
        } else if self.forwarders.len() < MOST_FORWARDERS {
            self.forwarders.push(Forwarder { by, way, proven });
        }
    }

    pub(super) fn announced(&mut self, by: u64, way: Option<Way>) {
        self.forwarders.retain(|one| one.by != by || Some(one.way) == way);
        if let Some(way) = way {
            self.is_forwarded(by, way, true);
        }
    }

    /// The answer to a forwarded call: only a host gives it.
    pub(super) fn answered_marked(&mut self, topic: Topic, mark: Mark, now: u64) {
        let whose = self.seen(topic).answered(marked(mark), now);
        if let Whose::Own(time) = whose {
            self.slowest = self.slowest.max(time);
        }
        self.seen(topic).is_answered(true);
        self.shows_life(now);
    }

    pub(super) fn answered(&mut self, topic: Topic, print: u64, said: Said, now: u64) {
        let way = match topic {
            Topic::Predecessor => Way::ToStatic,
            Topic::Replacement => Way::ToPredecessor,
        };
        let refused = said == Said::Error && self.may_forward(way);
        match self.seen(topic).answered(print, now) {
            Whose::Own(time) if !refused => {
                self.slowest = self.slowest.max(time);
                self.seen(topic).is_answered(true);
                self.shows_life(now);
            }
            Whose::Own(_) | Whose::Perhaps => self.seen(topic).is_answered(false),
            Whose::Forwarder | Whose::Unknown => {}
        }
    }

    fn shows_life(&mut self, now: u64) {
        self.lives += 1;
        self.asked = None;
        let patience = self.patience();
        for (topic, way) in [
            (Topic::Predecessor, Way::ToStatic),
            (Topic::Replacement, Way::ToPredecessor),
        ] {
            let seen = self.seen(topic);
            if seen.judge(patience, now) && seen.is_ignored() {
                // Whoever forwarded does so no more.
                self.forwarders.retain(|one| one.way != way);
            }
        }
    }

    fn patience(&self) -> u64 {
        PATIENCE.max(2 * self.slowest)
    }

    /// It was asked what it has; when it should be again.
    pub(super) fn asked(&mut self, now: u64) -> Option<u64> {
        let since = *self.asked.get_or_insert(now);
        if now.saturating_sub(since) >= GONE {
            self.replaced(Signs::default());
            self.discover = (None, Signs::default());
            // Its next sign of life is the first of another one.
            self.lives = 0;
        }
        self.due(now)
    }

    fn due(&self, now: u64) -> Option<u64> {
        // Of a host that was never seen, and of what the definitions say, no sign of life tells more.
        let (no_host, Signs { old, new }) = (self.lives == 0, self.signs);
        let due = |known: bool, seen: &Seen| (!known).then(|| seen.due(self.patience(), now)).flatten();
        let times = [due(no_host || old, &self.old), due(no_host || old || new, &self.new)];
        times.into_iter().flatten().min()
    }

    pub(super) fn gap(&mut self) {
        self.asked = None;
        for seen in [&mut self.old, &mut self.new] {
            seen.calls.clear();
            seen.lost = false;
        }
    }

    fn seen(&mut self, topic: Topic) -> &mut Seen {
        match topic {
            Topic::Predecessor => &mut self.old,
            Topic::Replacement => &mut self.new,
        }
    }
}

/// What a forwarded call and its answer have in common.
fn marked(mark: Mark) -> u64 {
    mark.by ^ mark.call.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
