//! Other toolhosts that forward for the same toolboxes: who they are, and which call of ours they have taken.

use std::collections::BTreeMap;

use serde_json::json as object;
use tracing::warn;

use super::mark::{Mark, same_call};
use super::{Asked, Carrier};
use crate::bus::bridge::{Bridge, Outgoing, lock};
use crate::bus::message::Message;
use crate::bus::service::PROBE;
use crate::bus::toolboxes::Toolboxes;
use crate::json;
use crate::migrate::carry::Way;

/// The context key, beside [`PROBE`], that names what a toolhost forwards.
const FORWARDS: &str = "toolhost_forwards";
/// The context key that says when it asked, in its own milliseconds: an answer is as old as its question.
const ASKED: &str = "toolhost_asked";

impl Carrier {
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

    fn ways(&self) -> BTreeMap<&String, Way> {
        let all = self.table.iter().filter(|_| !self.over);
        all.map(|(id, entry)| (id, entry.carried.way())).collect()
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// The members of the context of a discover of ours, as text: who asks, and what it forwards.
    pub(in crate::bus::bridge) fn announcement(&self) -> String {
        let carrier = lock(&self.0.carrier);
        let (instance, ways) = (&carrier.instance, carrier.ways());
        if ways.is_empty() {
            return object!({PROBE: instance}).to_string();
        }
        object!({PROBE: instance, FORWARDS: ways, ASKED: carrier.now()}).to_string()
    }

    /// When the discover of ours was sent that `message` answers; `None` where it answers somebody else's.
    pub(super) fn asked_at(&self, message: &Message<'_>) -> Option<u64> {
        let carrier = lock(&self.0.carrier);
        let ours = message.context.get(PROBE).and_then(json::string)? == carrier.instance;
        let asked = message.context.get(ASKED)?.get().parse().ok()?;
        (ours && asked <= carrier.now()).then_some(asked)
    }

    /// Another toolhost asks what there is, and tells what it forwards.
    pub(in crate::bus::bridge) fn other_announces(&self, by: &str, message: &Message<'_>) {
        let ways = message.context.get(FORWARDS).map_or("{}", |raw| raw.get());
        let ways: BTreeMap<String, Way> = serde_json::from_str(ways).unwrap_or_default();
        let ids: Vec<String> = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let shared = carrier.table.iter();
            let shared = shared.filter(|(id, entry)| ways.get(*id) == Some(&entry.carried.way()));
            let shared = shared.map(|(id, _)| id.clone()).collect();
            carrier.others.announced(by, ways, now);
            shared
        };
        for toolbox_id in &ids {
            self.name_other(toolbox_id, by);
        }
    }

    /// A call that `mark` says was forwarded, by another toolhost or by this one.
    pub(super) fn other_forwards(&self, mark: &Mark, message: &Message<'_>) {
        let way = mark.way();
        let shared = {
            let mut carrier = lock(&self.0.carrier);
            if mark.by == carrier.instance {
                return;
            }
            let by_lower = mark.by < carrier.instance;
            let now = carrier.now();
            carrier.others.forwarded(&mark.by, &mark.toolbox_id, way, now);
            carrier.leave_to(by_lower, |asked| {
                asked.way == Some(way) && asked.toolbox_id == mark.toolbox_id && same_call(asked, message)
            });
            let entry = carrier.table.get(&mark.toolbox_id);
            entry.is_some_and(|entry| entry.carried.way() == way)
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
            self.probe("ovos.persona.tools.discover");
        });
    }
}
