//! Other toolhosts that forward for the same toolboxes: who they are, and which call of ours they have taken.

use std::collections::BTreeMap;

use serde_json::json as object;
use tracing::warn;

use super::texts::{same_call, same_payload};
use super::{Asked, Carrier};
use crate::bus::bridge::{Bridge, Inner, Outgoing, lock};
use crate::bus::mark::{ANSWERS, ASKED, FORWARDS, LONGEST_INSTANCE, Mark, PROBE, TURN, asker, digest, rest_digest};
use crate::bus::message::Message;
use crate::bus::toolboxes::Toolboxes;
use crate::config::PredecessorTopics;
use crate::migrate::carry::Way;
use crate::topics;

/// Answers of other toolhosts that are remembered: one has no more calls on their way.
const MOST_ANSWERS: usize = super::MOST;
/// How long at least, in milliseconds: one that was killed gives none.
const LONGEST_ANSWER: u64 = 120_000;

/// An answer that another toolhost makes of what it has forwarded.
pub(super) struct OthersAnswer {
    toolbox_id: String,
    way: Way,
    /// Of its context.
    digest: u64,
    heard: u64,
}

impl Carrier {
    /// Whether an answer on the askers' topic is another toolhost's; each is one once.
    pub(super) fn is_others_answer(&mut self, toolbox_id: &str, way: Way, context: &str) -> bool {
        // It is taken to have the same patience as this one.
        let patience = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let oldest = self.now().saturating_sub(LONGEST_ANSWER.max(patience));
        while self.others_answers.front().is_some_and(|answer| answer.heard < oldest) {
            self.others_answers.pop_front();
        }
        if self.others_answers.is_empty() {
            return false;
        }
        let digest = digest(context, &self.digests);
        let place = self
            .others_answers
            .iter()
            .position(|answer| answer.digest == digest && answer.toolbox_id == toolbox_id && answer.way == way);
        place.and_then(|place| self.others_answers.remove(place)).is_some()
    }

    /// The toolhost `by` has forwarded a call: it answers it, and not we. Of a call that is on its way from both the
    /// answer is that of the lower id.
    fn leave_to(&mut self, by_lower: bool, is_it: impl Fn(&Asked) -> bool) {
        if let Some(place) = self.held.iter().position(|held| is_it(&held.asked)) {
            self.held.remove(place);
        } else if by_lower {
            let found = self.pending.iter().filter(|(_, pending)| is_it(&pending.asked));
            let found = found.map(|(call, _)| *call).min();
            found.and_then(|call| self.pending.remove(&call));
        }
    }

    /// Remembers a call, where another toolhost may forward it and answer.
    pub(super) fn see(&mut self, toolbox_id: &str, way: Way, message: &Message<'_>) {
        if self.others.any(toolbox_id, way) {
            let digest = message.context_text.and_then(|text| rest_digest(text, &self.digests));
            self.seen.extend(digest);
            if self.seen.len() > MOST_ANSWERS {
                self.seen.pop_front();
            }
        }
    }

    /// Whether the call that an answer of this `context` answers has come here, as far as that matters.
    pub(super) fn has_seen(&self, toolbox_id: &str, way: Way, context: &str) -> bool {
        let seen = |digest| self.seen.contains(&digest);
        !self.others.any(toolbox_id, way) || rest_digest(context, &self.digests).is_none_or(seen)
    }

    /// The tool of a call of ours calls its own toolbox with the context it was called with. Our own Message, which may
    /// come back without being known for an echo, is no such call.
    fn calls_inside(&mut self, call: u64, message: &Message<'_>) {
        if let Some(pending) = self.pending.get_mut(&call)
            && !same_payload(&pending.asked, message)
        {
            pending.inner += 1;
        }
    }

    fn ways(&self) -> BTreeMap<&String, Way> {
        let all = self.table.iter().filter(|_| !self.over);
        all.map(|(id, entry)| (id, entry.carried.way())).collect()
    }
}

impl<T: Toolboxes, O: Outgoing> Inner<T, O> {
    /// Of the toolboxes hosted here that others forward `to_static`: whether their predecessor topic is answered.
    fn answers_predecessor(&self, carrier: &Carrier) -> BTreeMap<String, bool> {
        let ids = carrier.others.toolboxes(Way::ToStatic);
        let hosted = ids.filter(|id| self.toolboxes.hosts(id));
        let answers = |id: &str| self.toolboxes.predecessor_topics(id) != PredecessorTopics::Ignore;
        hosted.map(|id| (id.to_owned(), answers(id))).collect()
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// The members of the context of a discover of ours, as text: who asks, and what it forwards.
    pub(in crate::bus::bridge) fn announcement(&self) -> String {
        let carrier = lock(&self.0.carrier);
        let mut context = object!({PROBE: carrier.instance});
        let (ways, answers) = (carrier.ways(), self.0.answers_predecessor(&carrier));
        if !ways.is_empty() {
            context[FORWARDS] = object!(ways);
            context[TURN] = carrier.others.latest_turn(&carrier.instance).into();
            context[ASKED] = carrier.now().into();
        }
        if !answers.is_empty() {
            context[ANSWERS] = object!(answers);
        }
        context.to_string()
    }

    /// Whether others forward what is hosted here, and have to know what is answered.
    pub(super) fn has_to_tell(&self) -> bool {
        !self.0.answers_predecessor(&lock(&self.0.carrier)).is_empty()
    }

    /// When the discover of ours was sent that `message` answers; `None` where it answers somebody else's.
    pub(super) fn asked_at(&self, message: &Message<'_>) -> Option<u64> {
        let carrier = lock(&self.0.carrier);
        let ours = asker(message)? == carrier.instance;
        let asked = message.context.get(ASKED)?.get().parse().ok()?;
        (ours && asked <= carrier.now()).then_some(asked)
    }

    /// Another toolhost asks what there is, and tells what it forwards and answers.
    pub(in crate::bus::bridge) fn other_announces(&self, by: &str, message: &Message<'_>) {
        if by.len() > LONGEST_INSTANCE {
            return;
        }
        let text = |key: &str| message.context.get(key).map_or("{}", |raw| raw.get());
        let ways: BTreeMap<String, Way> = serde_json::from_str(text(FORWARDS)).unwrap_or_default();
        let answers: BTreeMap<String, bool> = serde_json::from_str(text(ANSWERS)).unwrap_or_default();
        let turn = serde_json::from_str(text(TURN)).unwrap_or_default();
        let (shared, is_news, later) = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let before = carrier.others.latest_turn(&carrier.instance);
            let shared = carrier.table.iter();
            let shared = shared.filter(|(id, entry)| ways.get(*id) == Some(&entry.carried.way()));
            let shared: Vec<String> = shared.map(|(id, _)| id.clone()).collect();
            let is_news = carrier.others.announced(by, ways, turn, now);
            let later = carrier.others.latest_turn(&carrier.instance) > before;
            (shared, is_news, later && !carrier.table.is_empty())
        };
        for toolbox_id in &shared {
            self.name_other(toolbox_id, by);
        }
        if later || is_news && self.has_to_tell() {
            self.probe(topics::DISCOVER);
        }
        for (toolbox_id, answers) in &answers {
            self.host_says(toolbox_id, *answers);
        }
    }

    /// A toolhost says whether it answers the predecessor topic of a toolbox it hosts.
    fn host_says(&self, toolbox_id: &str, answers: bool) {
        let news = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let entry = carrier.table.get_mut(toolbox_id);
            let Some(entry) = entry.filter(|entry| entry.carried.way() == Way::ToStatic) else {
                return;
            };
            match answers {
                true => entry.carried.answered_itself(now),
                false => entry.carried.says_it_is_silent(),
            }
        };
        self.tell(toolbox_id, Way::ToStatic, news);
        self.settle(toolbox_id);
    }

    /// A call that `mark` says was forwarded, by another toolhost or by this one.
    pub(super) fn other_forwards(&self, mark: &Mark, message: &Message<'_>) {
        let way = mark.way();
        let shared = {
            let mut carrier = lock(&self.0.carrier);
            if mark.by == carrier.instance {
                return carrier.calls_inside(mark.call, message);
            }
            let by_lower = mark.by < carrier.instance;
            let now = carrier.now();
            carrier.others.forwarded(&mark.by, &mark.toolbox_id, way, now);
            carrier.leave_to(by_lower, |asked| {
                asked.way == Some(way) && asked.toolbox_id == mark.toolbox_id && same_call(asked, message)
            });
            let entry = carrier.table.get(&mark.toolbox_id);
            let shared = entry.is_some_and(|entry| entry.carried.way() == way);
            if shared {
                let answer = OthersAnswer {
                    toolbox_id: mark.toolbox_id.clone(),
                    way,
                    digest: digest(&message.reply_context(), &carrier.digests),
                    heard: now,
                };
                carrier.others_answers.push_back(answer);
                if carrier.others_answers.len() > MOST_ANSWERS {
                    carrier.others_answers.pop_front();
                }
            }
            shared
        };
        if shared {
            self.name_other(&mark.toolbox_id, &mark.by);
        }
    }

    fn name_other(&self, toolbox_id: &str, by: &str) {
        let ours = lock(&self.0.carrier).instance.as_str() < by;
        self.hourly(&format!("forwards {toolbox_id} {by}"), |_| {
            warn!(
                toolbox_id,
                other = by,
                forwards_here = ours,
                "another toolhost forwards the same toolbox: only one of them does"
            );
            // It may not know of us yet.
            self.probe(topics::DISCOVER);
        });
    }
}
