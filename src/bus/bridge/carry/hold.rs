//! Calls that wait until it is known whether their host answers them by itself, and the questions to the hosts.

use std::sync::Arc;
use std::time::Duration;

use super::texts::ProbeCall;
use super::{Asked, Carrier, Entry, STOPPED};
use crate::bus::bridge::{Bridge, Outgoing, lock};
use crate::bus::message::frame;
use crate::bus::toolboxes::Toolboxes;
use crate::migrate::carry::{Fate, Hold, News, Next, Way};
use crate::tools::outcome::CallError;
use crate::topics;

/// How often hosts are asked at most: an answer that comes meanwhile is one to all who wait.
const ASK_PERIOD: u64 = 100;
/// How often it is looked whether the time of a held call has come. What is heard settles calls without it.
const LOOK: Duration = Duration::from_millis(20);
/// How often it is looked whether a host may be probed.
const LOOK_FOR_QUIET: Duration = Duration::from_millis(500);

/// Longer than between two looks at what is held, unless this process was stopped, or its computer asleep.
const STANDSTILL: u64 = 500;

/// A call that is not decided about yet.
pub(super) struct Held {
    pub(super) hold: Hold,
    pub(super) asked: Asked,
}

/// What the held calls to one toolbox came to.
#[derive(Default)]
struct Settled {
    go: Vec<Asked>,
    news: Option<News>,
}

/// What a look at everything that waits came to.
#[derive(Default)]
struct Look {
    go: Vec<Asked>,
    news: Vec<(String, Way, News)>,
    questions: Option<Questions>,
    /// When to look again; `None` where nothing waits any more.
    again: Option<Duration>,
}

/// What goes out to the hosts: a discover, and before it a probe to those of these toolboxes.
struct Questions {
    probed: Vec<String>,
}

impl Carrier {
    /// Where this process stood still, what others did meanwhile is not read yet, and the time of what is held is over: it
    /// is decided about as if it came now, after another question.
    fn notice_standstill(&mut self, now: u64) {
        let stood_still = now.saturating_sub(self.looked) > STANDSTILL && !self.held.is_empty();
        self.looked = now;
        if !stood_still {
            return;
        }
        for entry in self.table.values_mut() {
            entry.carried.stood_still();
        }
        for held in &mut self.held {
            let Some(way) = held.asked.way else { continue };
            let turn = self.others.turn(&self.instance, &held.asked.toolbox_id, way);
            let entry = self.table.get(&held.asked.toolbox_id);
            if let Some(Next::Hold(hold)) = entry.map(|entry| entry.carried.call(now, turn)) {
                held.hold = hold;
            }
        }
    }

    /// Decides about the held calls to `toolbox_id`, as far as that is possible now.
    fn settle(&mut self, toolbox_id: &str, now: u64) -> Settled {
        self.notice_standstill(now);
        let Some(entry) = self.table.get_mut(toolbox_id) else {
            return Settled::default();
        };
        let carried = &mut entry.carried;
        let turn = self.others.turn(&self.instance, toolbox_id, carried.way());
        let mut settled = Settled::default();
        let (mut took_over, mut unanswered) = (None, false);
        let mut stay = Vec::new();
        for mut held in std::mem::take(&mut self.held) {
            let fate = match held.asked.way {
                _ if held.asked.toolbox_id != toolbox_id => Fate::Wait,
                None if carried.flat_settled(&held.hold, now) => Fate::Forward,
                None => Fate::Wait,
                Some(_) => carried.settled(&mut held.hold, now, turn),
            };
            match fate {
                Fate::Wait => stay.push(held),
                Fate::Leave => {}
                Fate::Unanswered => unanswered = true,
                Fate::Forward => {
                    if turn > 0 && held.asked.way.is_some() {
                        took_over.get_or_insert(held.hold.since());
                    }
                    settled.go.push(held.asked);
                }
            }
        }
        if unanswered {
            settled.news = carried.left_unanswered();
        }
        self.held = stay;
        if let Some(since) = took_over {
            self.others.lower_gone(&self.instance, toolbox_id, since);
        }
        settled
    }

    fn look(&mut self) -> Look {
        let now = self.now();
        self.notice_standstill(now);
        let mut look = Look::default();
        for (id, entry) in &mut self.table {
            let way = entry.carried.way();
            let news = entry.carried.passed(now);
            look.news.extend(news.map(|news| (id.clone(), way, news)));
        }
        let mut ids: Vec<String> = self.held.iter().map(|held| held.asked.toolbox_id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let mut settled = self.settle(&id, now);
            look.go.append(&mut settled.go);
            let way = self.table.get(&id).map(|entry| entry.carried.way());
            look.news
                .extend(way.zip(settled.news).map(|(way, news)| (id, way, news)));
        }
        look.questions = self.questions(now);
        look.again = self.look_again();
        self.looked_after = look.again.is_some();
        look
    }

    fn look_again(&self) -> Option<Duration> {
        let any = |is_it: fn(&Entry) -> bool| self.table.values().any(is_it);
        if self.over {
            None
        } else if !self.held.is_empty() || any(|entry| entry.carried.is_probed()) {
            Some(LOOK)
        } else {
            any(|entry| entry.carried.wants_probe()).then_some(LOOK_FOR_QUIET)
        }
    }

    /// What the hosts are to be asked now.
    fn questions(&mut self, now: u64) -> Option<Questions> {
        let lately = |asked: u64| now.saturating_sub(asked) < ASK_PERIOD;
        if self.asked.is_some_and(lately) {
            return None;
        }
        let mut probed = Vec::new();
        for (id, entry) in &mut self.table {
            if entry.carried.wants_probe() && entry.carried.may_be_probed(now) {
                entry.carried.probed(now);
                probed.push(id.clone());
            }
        }
        let table = &self.table;
        let is_due = |held: &Held| {
            let entry = table.get(&held.asked.toolbox_id);
            let asked = entry.and_then(|entry| entry.asked);
            held.hold.ask <= now && asked.is_none_or(|asked| asked < held.hold.ask)
        };
        if probed.is_empty() && !self.held.iter().any(is_due) {
            return None;
        }
        self.asked = Some(now);
        for held in &self.held {
            if let Some(entry) = self.table.get_mut(&held.asked.toolbox_id) {
                entry.asked = Some(now);
            }
        }
        Some(Questions { probed })
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Keeps a call until it is decided about.
    pub(super) fn hold(&self, hold: Hold, asked: Asked) {
        let questions = {
            let mut carrier = lock(&self.0.carrier);
            let stopped = || CallError::Unavailable(STOPPED.to_owned());
            let refusal = carrier.over.then(stopped);
            if let Some(error) = refusal.or_else(|| carrier.is_full(asked.weight.bytes)) {
                // Of several that are full the one with the lowest id refuses.
                let answered = match carrier.over {
                    true => carrier.is_answered_by_others(&asked),
                    false => carrier.is_answered_by_lower(&asked),
                };
                drop(carrier);
                if !answered {
                    self.answer_forwarded(&asked, Err(error));
                }
                return;
            }
            let now = carrier.now();
            carrier.notice_standstill(now);
            carrier.held.push(Held { hold, asked });
            carrier.questions(now)
        };
        self.ask(questions);
        self.look_after();
    }

    /// Sees to it that what waits is looked at again and again, until nothing does.
    pub(super) fn look_after(&self) {
        let wake = {
            let mut carrier = lock(&self.0.carrier);
            if carrier.looked_after || carrier.look_again().is_none() {
                return carrier.wake.notify_one();
            }
            carrier.looked_after = true;
            Arc::clone(&carrier.wake)
        };
        let bridge = self.clone();
        self.0.runtime.spawn(async move {
            while let Some(time) = bridge.look() {
                _ = tokio::time::timeout(time, wake.notified()).await;
            }
        });
    }

    /// Does what can be done about what waits; when to look again.
    fn look(&self) -> Option<Duration> {
        let look = lock(&self.0.carrier).look();
        for (toolbox_id, way, news) in look.news {
            self.tell(&toolbox_id, way, Some(news));
        }
        self.forward(look.go);
        self.ask(look.questions);
        look.again
    }

    /// The probes go first: who has answered the discover has had the time to answer them.
    fn ask(&self, questions: Option<Questions>) {
        let Some(Questions { probed }) = questions else { return };
        let context = self.announcement();
        for toolbox_id in &probed {
            let call = frame(&topics::predecessor(toolbox_id), &ProbeCall { toolbox_id }, &context);
            self.0.answers.outgoing.send(call.into());
        }
        self.probe(topics::DISCOVER);
    }

    /// Decides about the held calls to `toolbox_id`, as far as that is possible now.
    pub(super) fn settle(&self, toolbox_id: &str) {
        let (settled, way) = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let way = carrier.table.get(toolbox_id).map(|entry| entry.carried.way());
            (carrier.settle(toolbox_id, now), way)
        };
        if let Some(way) = way {
            self.tell(toolbox_id, way, settled.news);
        }
        self.forward(settled.go);
    }
}
