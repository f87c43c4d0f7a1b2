//! What the hosts of forwarded toolboxes say: answers to forwarded calls, to calls they take by themselves, to discover.

use std::time::Instant;

use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::{info, warn};

use super::{Asked, Carrier, Pending, flat, texts};
use crate::bus::bridge::{Bridge, Outgoing, lock};
use crate::bus::mark::{Mark, PROBE, same_context};
use crate::bus::message::Message;
use crate::bus::toolboxes::Toolboxes;
use crate::bus::topic::Topic;
use crate::json;
use crate::migrate::carry::{News, Way};
use crate::migrate::sign::sign;
use crate::topics;

/// Definitions kept of one toolbox, in bytes.
const LONGEST_TOOLS: usize = 4 << 20;

impl Carrier {
    /// Gives up the oldest call that `is_it`: on its way, or else held; whether there was one.
    fn give_up_answered(&mut self, is_it: impl Fn(&Asked) -> bool) -> bool {
        let found = self.pending.iter().filter(|(_, pending)| is_it(&pending.asked));
        if let Some(call) = found.map(|(call, _)| *call).min() {
            self.pending.remove(&call).is_some()
        } else if let Some(place) = self.held.iter().position(|held| is_it(&held.asked)) {
            self.held.remove(place);
            true
        } else {
            false
        }
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Somebody answered a call on `topic`: one of ours, or one that the host answers by itself.
    pub(in crate::bus::bridge) fn overhear_call_answer(&self, topic: Topic<'_>, frame: &Utf8Bytes) {
        if !self.carries() {
            return;
        }
        if let Topic::PredecessorAnswer(toolbox_id) = topic
            && !self.listens_for(toolbox_id)
        {
            return;
        }
        let message = match Message::parse(frame) {
            Ok(message) => message,
            Err(malformed) => return self.drop_malformed(Some(malformed)),
        };
        if let Topic::PredecessorAnswer(toolbox_id) = topic
            && message.context.get(PROBE).is_none()
        {
            self.old_answer(toolbox_id);
        }
        // One that a tool carried on in a call of its own says nothing of the answer to that.
        if let Some(mark) = Mark::of(&message).filter(|mark| mark.is_on_answer(&message)) {
            if mark.by == lock(&self.0.carrier).instance {
                self.take_answer(&mark, &message, frame);
            }
            return;
        }
        let (toolbox_id, way) = match topic {
            Topic::PredecessorAnswer(toolbox_id) => (toolbox_id.to_owned(), Way::ToStatic),
            _ => match message.data.get("toolbox_id").and_then(json::string) {
                Some(toolbox_id) => (toolbox_id.into_owned(), Way::ToPredecessor),
                None => return,
            },
        };
        self.host_answers_itself(&toolbox_id, way, &message);
    }

    /// Somebody was answered on the predecessor topic of a toolbox.
    pub(super) fn old_answer(&self, toolbox_id: &str) {
        if let Some(entry) = lock(&self.0.carrier).table.get_mut(toolbox_id) {
            entry.carried.old_answer();
        }
    }

    /// The answer to a call we forwarded.
    fn take_answer(&self, mark: &Mark, message: &Message<'_>, frame: &Utf8Bytes) {
        let pending = {
            let mut carrier = lock(&self.0.carrier);
            let expected = carrier.pending.get(&mark.call);
            let is_its = expected.is_some_and(|pending| mark.is_on(&pending.on, &pending.asked.toolbox_id));
            if !is_its {
                return;
            }
            if carrier
                .pending
                .get_mut(&mark.call)
                .is_some_and(Pending::is_for_an_inner_call)
            {
                return;
            }
            let pending = carrier.pending.remove(&mark.call);
            if let Some(entry) = carrier.table.get_mut(&mark.toolbox_id)
                && mark.way() == entry.carried.way()
            {
                entry.carried.answered_forwarded();
            }
            pending
        };
        if let Some(pending) = pending {
            self.answer_forwarded(&pending.asked, texts::outcome(&message.data, frame.as_ref()));
        }
    }

    /// An answer on the askers' topic that no toolhost marked: the host's own, or what another toolhost made of one.
    fn host_answers_itself(&self, toolbox_id: &str, way: Way, message: &Message<'_>) {
        let to_a_probe = message.context.get(PROBE).is_some();
        let news = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let context = message.context_text.unwrap_or("{}");
            if carrier.is_others_answer(toolbox_id, way, context) {
                return;
            }
            let entry = carrier.table.get(toolbox_id);
            if entry.is_none_or(|entry| entry.carried.way() != way) {
                return;
            }
            let is_known = !to_a_probe
                && carrier.give_up_answered(|asked| {
                    asked.way == Some(way)
                        && asked.toolbox_id == toolbox_id
                        && asked.asker.topic == message.topic
                        && same_context(&asked.asker.context, context)
                });
            // To a call that came before this toolhost: what another made of one it had forwarded then, as likely as not.
            let is_known = is_known || to_a_probe || carrier.has_seen(toolbox_id, way, context);
            if !is_known {
                return;
            }
            let entry = carrier.table.get_mut(toolbox_id);
            entry.and_then(|entry| entry.carried.answered_itself(now))
        };
        self.tell(toolbox_id, way, news);
        self.settle(toolbox_id);
    }

    /// A host answered discover for a toolbox that is forwarded.
    pub(in crate::bus::bridge) fn host_discovered(&self, toolbox_id: &str, message: &Message<'_>) {
        let tools = message.data.get("tools");
        let asked = self.asked_at(message);
        let told = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            carrier.table.get_mut(toolbox_id).map(|entry| {
                if let Some(tools) = tools.filter(|tools| tools.get().len() <= LONGEST_TOOLS) {
                    entry.tools = flat::definitions(tools, toolbox_id);
                }
                let news = entry.carried.discovered(tools.and_then(sign), asked, now);
                (entry.carried.way(), news)
            })
        };
        if let Some((way, news)) = told {
            self.tell(toolbox_id, way, news);
            self.settle(toolbox_id);
            self.look_after();
        }
    }

    pub(super) fn tell(&self, toolbox_id: &str, way: Way, news: Option<News>) {
        let topic = match way {
            Way::ToPredecessor => topics::CALL.to_owned(),
            Way::ToStatic => topics::predecessor(toolbox_id),
        };
        let Some(news) = news else { return };
        // Anybody on the bus can say what makes it turn.
        let admitted = lock(&self.0.turns_log).admit(Instant::now());
        let Some(suppressed) = admitted else { return };
        match news {
            News::Learned => info!(
                toolbox_id,
                topic,
                suppressed,
                hint = self.what_to_do(toolbox_id, way),
                "the host of a forwarded toolbox answers this topic itself: its calls are no longer forwarded"
            ),
            News::Forgot => warn!(
                toolbox_id,
                topic,
                suppressed,
                "the host of a toolbox no longer answers this topic itself: its calls are forwarded again"
            ),
        }
    }

    /// About a toolbox that need not be forwarded, in words for its owner.
    fn what_to_do(&self, toolbox_id: &str, way: Way) -> &'static str {
        let carrier = lock(&self.0.carrier);
        let is_old = carrier
            .table
            .get(toolbox_id)
            .is_some_and(|entry| entry.carried.is_old());
        match way {
            Way::ToStatic if is_old => {
                "it knows the predecessor topic only: for callers of the replacement it belongs under `to_predecessor`"
            }
            _ => "leave it in `migrate:` until `toolhost migrate report` is quiet: that counts its callers",
        }
    }
}
