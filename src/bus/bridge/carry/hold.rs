//! Calls that wait until it is known whether their host answers them by itself, and the questions to the hosts.

use std::time::Duration;

use super::mark::ProbeCall;
use super::{Asked, Carrier, Entry, MOST, STOPPED};
use crate::bus::bridge::{Bridge, Outgoing, lock};
use crate::bus::message::frame;
use crate::bus::toolboxes::Toolboxes;
use crate::migrate::carry::{Fate, Hold, News, Way};
use crate::tools::outcome::CallError;

/// How often hosts are asked at most: an answer that comes meanwhile is one to all who wait.
const ASK_PERIOD: u64 = 100;
/// How often it is looked whether the time of a held call has come. What is heard settles calls without it.
const LOOK: Duration = Duration::from_millis(20);

/// A call that is not decided about yet.
pub(super) struct Held {
    pub(super) hold: Hold,
    pub(super) asked: Asked,
}

/// What a look at the held calls came to.
#[derive(Default)]
struct Look {
    go: Vec<Asked>,
    news: Vec<(String, Way, News)>,
    /// The hosts are to be asked, and those on the way `to_static` get a probe.
    ask: Option<Vec<String>>,
    /// Nothing is held any more.
    done: bool,
}

impl Carrier {
    /// The held calls to `toolbox_id` that need wait no longer.
    fn settle(&mut self, toolbox_id: &str, now: u64) -> Vec<Asked> {
        let Some(entry) = self.table.get(toolbox_id) else {
            return Vec::new();
        };
        let (carried, way) = (&entry.carried, entry.carried.way());
        let lower = self.others.lower(&self.instance, toolbox_id, way);
        let mut go = Vec::new();
        let mut took_over = false;
        let mut stay = Vec::new();
        for mut held in std::mem::take(&mut self.held) {
            let fate = match held.asked.way {
                _ if held.asked.toolbox_id != toolbox_id => Fate::Wait,
                None if carried.flat_settled(&held.hold, now) => Fate::Forward,
                None => Fate::Wait,
                Some(_) => carried.settled(&mut held.hold, now, lower),
            };
            match fate {
                Fate::Wait => stay.push(held),
                Fate::Leave => {}
                Fate::Forward => {
                    took_over |= lower && held.asked.way.is_some();
                    go.push(held.asked);
                }
            }
        }
        self.held = stay;
        if took_over {
            self.others.lower_gone(&self.instance, toolbox_id);
        }
        go
    }

    fn look(&mut self) -> Look {
        let now = self.now();
        let mut look = Look::default();
        for (id, entry) in &mut self.table {
            let way = entry.carried.way();
            look.news
                .extend(entry.carried.passed(now).map(|news| (id.clone(), way, news)));
        }
        let mut ids: Vec<String> = self.held.iter().map(|held| held.asked.toolbox_id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            look.go.append(&mut self.settle(&id, now));
        }
        look.ask = self.ask(now);
        look.done = self.held.is_empty();
        self.looked_after &= !look.done;
        look
    }

    /// Whether the hosts are to be asked now because of a held call; the toolboxes whose hosts get a probe.
    fn ask(&mut self, now: u64) -> Option<Vec<String>> {
        let lately = |asked: u64| now.saturating_sub(asked) < ASK_PERIOD;
        if self.asked.is_some_and(lately) {
            return None;
        }
        let table = &self.table;
        let is_due = |held: &Held| {
            let entry = table.get(&held.asked.toolbox_id);
            let due = |entry: &Entry| {
                let asked = entry.asked.is_some_and(|asked| asked >= held.hold.ask);
                held.hold.ask <= now && !asked && !entry.carried.is_probed()
            };
            entry.is_some_and(due)
        };
        if !self.held.iter().any(is_due) {
            return None;
        }
        self.asked = Some(now);
        let mut probed = Vec::new();
        for held in &self.held {
            let id = &held.asked.toolbox_id;
            let entry = self.table.get_mut(id);
            let Some(entry) = entry.filter(|entry| entry.asked != Some(now) && !entry.carried.is_probed()) else {
                continue;
            };
            entry.asked = Some(now);
            entry.carried.asked(now);
            if entry.carried.way() == Way::ToStatic {
                probed.push(id.clone());
            }
        }
        Some(probed)
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Keeps a call until it is decided about.
    pub(super) fn hold(&self, hold: Hold, asked: Asked) {
        let ask = {
            let mut carrier = lock(&self.0.carrier);
            if carrier.is_full() || carrier.over {
                let error = match carrier.over {
                    true => CallError::Unavailable(STOPPED.to_owned()),
                    false => CallError::Overloaded(MOST),
                };
                let answered = carrier.is_answered_by_others(&asked);
                drop(carrier);
                if !answered {
                    self.answer_forwarded(&asked, Err(error));
                }
                return;
            }
            carrier.held.push(Held { hold, asked });
            if !std::mem::replace(&mut carrier.looked_after, true) {
                self.look_after();
            }
            let now = carrier.now();
            carrier.ask(now)
        };
        if let Some(probed) = ask {
            self.ask_hosts(&probed);
        }
    }

    /// Looks at what is held again and again, until nothing is.
    fn look_after(&self) {
        let bridge = self.clone();
        self.0.runtime.spawn(async move {
            while !bridge.look() {
                tokio::time::sleep(LOOK).await;
            }
        });
    }

    /// Looks after what is held: whether nothing is any more.
    fn look(&self) -> bool {
        let look = lock(&self.0.carrier).look();
        for (toolbox_id, way, news) in look.news {
            self.tell(&toolbox_id, way, Some(news));
        }
        self.forward(look.go);
        if let Some(probed) = look.ask {
            self.ask_hosts(&probed);
        }
        look.done
    }

    /// Asks every host what it has, and those of the toolboxes `probed` whether they answer their predecessor topic. The
    /// probes go first: who has answered the discover has had the time to answer them.
    fn ask_hosts(&self, probed: &[String]) {
        let context = self.announcement();
        for toolbox_id in probed {
            let topic = format!("ovos.persona.tools.{toolbox_id}.call");
            let call = frame(&topic, &ProbeCall { toolbox_id }, &context);
            self.0.answers.outgoing.send(call.into());
        }
        self.probe("ovos.persona.tools.discover");
    }

    /// Lets those held calls to `toolbox_id` go that need wait no longer.
    pub(super) fn settle(&self, toolbox_id: &str) {
        let go = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            carrier.settle(toolbox_id, now)
        };
        self.forward(go);
    }
}
