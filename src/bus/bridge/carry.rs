//! Calls forwarded from one call topic to the other: decided by [`crate::migrate::carry`], done here.
//!
//! A forwarded Message is the asker's own, `forward`ed (OVOS-MSG-1 §5.1): its context goes along, with one key more that
//! tells our calls apart and keeps everybody from forwarding it again. The answer is not that Message's, but the
//! `response` to what the asker sent, from the context the asker sent; so nothing the host made of it gets through.

use std::collections::{HashMap, VecDeque};
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::warn;

use super::{Asker, Bridge, MAX_FRAME, Outgoing, lock};
use crate::bus::mapping::Answer;
use crate::bus::mark::{self, FORWARDED, Mark};
use crate::bus::message::{Message, forwarded_frame};
use crate::bus::status::count;
use crate::bus::toolboxes::Toolboxes;
use crate::bus::topic::Topic;
use crate::config::MigrateConfig;
use crate::json::{self, Text};
use crate::migrate::carry::{Carried, Next, Way};
use crate::migrate::others::Others;
use crate::tools::outcome::{CallError, Outcome};
use crate::topics;

mod flat;
mod hear;
mod hold;
mod others;
mod status;
mod texts;

use hold::Held;
use others::OthersAnswer;

/// Calls held and on their way; one more is refused.
const MOST: usize = 1024;
/// Bytes of them; one that is larger by itself is taken where there is no other.
const MOST_BYTES: usize = 64 << 20;

/// Everything about forwarding.
pub(super) struct Carrier {
    /// The id of this toolhost, as on the bus.
    instance: String,
    start: Instant,
    timeout: Duration,
    table: HashMap<String, Entry>,
    others: Others,
    /// Answers that other toolhosts make of what they have forwarded, as they will be: not the hosts' own.
    others_answers: VecDeque<OthersAnswer>,
    digests: RandomState,
    /// Digests of calls that came where there are others.
    seen: VecDeque<u64>,
    /// Bytes of all calls that are held or on their way.
    bytes: Arc<AtomicUsize>,
    /// In the order they came.
    held: Vec<Held>,
    pending: HashMap<u64, Pending>,
    next: u64,
    /// When hosts were last asked.
    asked: Option<u64>,
    /// When what is held was last looked at.
    looked: u64,
    /// Whether a task looks after what waits, and what wakes it.
    looked_after: bool,
    wake: Arc<Notify>,
    /// Ended: nothing is forwarded any more.
    over: bool,
}

/// One toolbox that is forwarded.
struct Entry {
    carried: Carried,
    /// What its host offers, by name.
    tools: Vec<(String, Text)>,
    /// When its host was last asked because of a call.
    asked: Option<u64>,
}

/// What somebody asked of a forwarded toolbox.
struct Asked {
    toolbox_id: String,
    /// From where to where it goes; `None` for a call by a flat name, which goes where the host listens.
    way: Option<Way>,
    /// The payload for the host, on either topic.
    data: String,
    /// The name of the tool, for its flat answer and for a timeout.
    name: String,
    context: Option<Text>,
    asker: Asker,
    weight: Weight,
}

/// Bytes of a call, counted as long as it is kept.
struct Weight {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Weight {
    fn new(bytes: usize, all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(bytes, Ordering::Relaxed);
        let all = Arc::clone(all);
        Self { bytes, all }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Asked {
    fn context(&self) -> &str {
        self.context.as_ref().map_or("{}", Text::as_str)
    }
}

/// A call that is on its way.
struct Pending {
    asked: Asked,
    /// The topic it went out on.
    on: String,
    /// Calls of the tool itself to its own toolbox, with the context it was called with, that are not answered yet.
    inner: u32,
    /// Ends the wait for its time.
    timer: tokio::task::AbortHandle,
}

impl Pending {
    /// Whether an answer is not yet the one to this call: its tool waits for those to the calls it makes.
    fn is_for_an_inner_call(&mut self) -> bool {
        let is_inner = self.inner > 0;
        self.inner = self.inner.saturating_sub(1);
        is_inner
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.timer.abort();
    }
}

/// What is to be done once the lock is open.
enum Action {
    Send(String),
    Answer(Box<Asked>, Outcome),
}

impl Carrier {
    pub(super) fn new(instance: String) -> Self {
        Self {
            instance,
            start: Instant::now(),
            timeout: MigrateConfig::default().timeout,
            table: HashMap::new(),
            others: Others::default(),
            others_answers: VecDeque::new(),
            digests: RandomState::new(),
            seen: VecDeque::new(),
            bytes: Arc::default(),
            held: Vec::new(),
            pending: HashMap::new(),
            next: 0,
            asked: None,
            looked: 0,
            looked_after: false,
            wake: Arc::default(),
            over: false,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// What a call more is told, `bytes` being its own, which are counted already.
    fn is_full(&self, bytes: usize) -> Option<CallError> {
        if self.held.len() + self.pending.len() >= MOST {
            return Some(CallError::Overloaded(MOST));
        }
        let others = self.bytes.load(Ordering::Relaxed).saturating_sub(bytes);
        (others > 0 && others + bytes > MOST_BYTES).then_some(CallError::OverloadedBytes {
            bytes: others,
            limit: MOST_BYTES,
        })
    }

    /// What is forwarded from now on; what is known of a toolbox that stays is kept. The held calls that are forwarded no
    /// more and that nobody else answers.
    fn set(&mut self, config: &MigrateConfig) -> Vec<Asked> {
        self.timeout = config.timeout;
        let goes_on = |asked: &Asked| {
            let carries = |id: &str, way| config.carried.iter().any(|c| c.toolbox_id == id && c.way == way);
            match asked.way {
                Some(way) => carries(&asked.toolbox_id, way),
                None => config.carried.iter().any(|c| c.toolbox_id == asked.toolbox_id),
            }
        };
        let (stay, end) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| goes_on(&held.asked));
        self.held = stay;
        let unanswered = self.unanswered(end);
        let now = self.now();
        let mut old = std::mem::take(&mut self.table);
        for carry in &config.carried {
            let known = old.remove(&carry.toolbox_id);
            let known = known.filter(|entry| entry.carried.way() == carry.way);
            let entry = known.unwrap_or_else(|| Entry {
                carried: Carried::new(carry.way, now),
                tools: Vec::new(),
                asked: None,
            });
            self.table.insert(carry.toolbox_id.clone(), entry);
        }
        unanswered
    }

    /// Of held calls that are not to be forwarded any more those that nobody answers: neither their host nor another toolhost.
    fn unanswered(&self, held: Vec<Held>) -> Vec<Asked> {
        let asked = held.into_iter().map(|held| held.asked);
        asked.filter(|asked| !self.is_answered_by_others(asked)).collect()
    }

    fn is_answered_by_others(&self, asked: &Asked) -> bool {
        let Some(way) = asked.way else { return false };
        self.is_left_to_host(asked) || self.others.any(&asked.toolbox_id, way)
    }

    fn is_answered_by_lower(&self, asked: &Asked) -> bool {
        let Some(way) = asked.way else { return false };
        self.is_left_to_host(asked) || self.others.turn(&self.instance, &asked.toolbox_id, way) > 0
    }

    fn is_left_to_host(&self, asked: &Asked) -> bool {
        let host = self.table.get(&asked.toolbox_id);
        host.is_some_and(|entry| entry.carried.learned())
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Forwards what `config` says from now on; their hosts are asked when the bus is there.
    pub fn forward_by(&self, config: &MigrateConfig) {
        let (unanswered, has_pending) = {
            let mut carrier = lock(&self.0.carrier);
            (carrier.set(config), !carrier.pending.is_empty())
        };
        // The answers to calls that are on their way are still to come.
        let carries = !config.carried.is_empty() || has_pending;
        self.0.carries.store(carries, Ordering::Relaxed);
        for asked in unanswered {
            self.refuse(&asked, "its calls are no longer forwarded");
        }
    }

    /// The configuration was read again.
    pub fn set_migrate(&self, config: &MigrateConfig) {
        let before = self.carries();
        self.forward_by(config);
        if before || !config.carried.is_empty() || self.has_to_tell() {
            // It asks the hosts, and tells the other toolhosts what is forwarded and answered here now.
            self.probe(topics::DISCOVER);
        }
    }

    /// Answers every forwarded call that still waits, forwards none any more, and tells the other toolhosts so.
    pub fn stop_forwarding(&self) {
        let (held, pending) = {
            let mut carrier = lock(&self.0.carrier);
            carrier.over = true;
            let held = std::mem::take(&mut carrier.held);
            (carrier.unanswered(held), std::mem::take(&mut carrier.pending))
        };
        for asked in held.iter().chain(pending.values().map(|pending| &pending.asked)) {
            self.refuse(asked, STOPPED);
        }
        if self.carries() {
            self.probe(topics::DISCOVER);
        }
    }

    fn refuse(&self, asked: &Asked, why: &str) {
        self.answer_forwarded(asked, Err(CallError::Unavailable(why.to_owned())));
    }

    /// Whether anything is forwarded: without it a host pays nothing for all this.
    pub(super) fn carries(&self) -> bool {
        self.0.carries.load(Ordering::Relaxed)
    }

    /// Whether calls to this toolbox are forwarded, or would be.
    pub(super) fn carries_for(&self, toolbox_id: &str) -> bool {
        self.carries() && lock(&self.0.carrier).table.contains_key(toolbox_id)
    }

    /// Whether answers on the predecessor topic of this toolbox mean anything here.
    fn listens_for(&self, toolbox_id: &str) -> bool {
        let carrier = lock(&self.0.carrier);
        let mut pending = carrier.pending.values();
        carrier.table.contains_key(toolbox_id) || pending.any(|pending| pending.asked.toolbox_id == toolbox_id)
    }

    /// A call, on either topic, to a toolbox that is forwarded.
    pub(super) fn carry(&self, topic: Topic<'_>, toolbox_id: &str, message: &Message<'_>, whole: &Utf8Bytes) {
        if let Some(mark) = Mark::of(message)
            && mark.is_on(&message.topic, toolbox_id)
        {
            return self.other_forwards(&mark, message);
        }
        let predecessor = matches!(topic, Topic::Predecessor(_));
        self.count_foreign_call(predecessor, toolbox_id, message);
        let way = if predecessor { Way::ToStatic } else { Way::ToPredecessor };
        let asked = |all: &Arc<AtomicUsize>| Asked {
            weight: Weight::new(whole.len(), all),
            toolbox_id: toolbox_id.to_owned(),
            way: Some(way),
            data: texts::payload(&message.data, toolbox_id),
            name: message
                .data
                .get("name")
                .and_then(json::string)
                .unwrap_or_default()
                .into_owned(),
            context: message.context_text.map(|text| Text::slice_of(whole.as_ref(), text)),
            asker: Asker::of(message),
        };
        let (next, asked) = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let turn = carrier.others.turn(&carrier.instance, toolbox_id, way);
            carrier.see(toolbox_id, way, message);
            let entry = carrier.table.get_mut(toolbox_id);
            let Some(entry) = entry.filter(|entry| entry.carried.way() == way) else {
                return;
            };
            if predecessor {
                entry.carried.old_call(now);
            }
            let next = entry.carried.call(now, turn);
            (next, asked(&carrier.bytes))
        };
        count(&self.0.counters.handled);
        match next {
            Next::Forward => self.forward([asked]),
            Next::Hold(hold) => self.hold(hold, asked),
        }
    }

    /// Sends calls on to their hosts.
    fn forward(&self, calls: impl IntoIterator<Item = Asked>) {
        for asked in calls {
            let action = self.set_off(asked);
            match action {
                Action::Send(frame) => self.0.answers.outgoing.send(frame.into()),
                Action::Answer(asked, outcome) => self.answer_forwarded(&asked, outcome),
            }
        }
    }

    fn set_off(&self, asked: Asked) -> Action {
        let mut carrier = lock(&self.0.carrier);
        if let Some(full) = carrier.is_full(asked.weight.bytes) {
            return Action::Answer(Box::new(asked), Err(full));
        }
        let (call, timeout, over) = (carrier.next, carrier.timeout, carrier.over);
        let carrier = &mut *carrier;
        let Some(entry) = carrier.table.get_mut(&asked.toolbox_id).filter(|_| !over) else {
            let why = if over {
                STOPPED
            } else {
                "its calls are no longer forwarded"
            };
            return Action::Answer(Box::new(asked), Err(CallError::Unavailable(why.to_owned())));
        };
        let on = match asked.way.unwrap_or_else(|| entry.carried.flat_way()) {
            Way::ToPredecessor => topics::predecessor(&asked.toolbox_id),
            Way::ToStatic => topics::CALL.to_owned(),
        };
        let mark = mark::text(&carrier.instance, call, &on, &asked.toolbox_id);
        let frame = forwarded_frame(&on, &asked.data, asked.context(), (FORWARDED, &mark));
        if frame.len() > MAX_FRAME {
            let error = CallError::ResultTooLarge {
                bytes: Some(frame.len()),
                limit: MAX_FRAME,
            };
            return Action::Answer(Box::new(asked), Err(error));
        }
        entry.carried.forwarded += 1;
        carrier.next += 1;
        let bridge = self.clone();
        let timer = self.0.runtime.spawn(async move {
            tokio::time::sleep(timeout).await;
            bridge.time_is_over(call, timeout);
        });
        let timer = timer.abort_handle();
        let inner = 0;
        carrier.pending.insert(
            call,
            Pending {
                asked,
                on,
                inner,
                timer,
            },
        );
        Action::Send(frame)
    }

    fn time_is_over(&self, call: u64, timeout: Duration) {
        let (pending, is_heard) = {
            let mut carrier = lock(&self.0.carrier);
            let Some(pending) = carrier.pending.remove(&call) else {
                return;
            };
            let entry = carrier.table.get(&pending.asked.toolbox_id);
            let is_heard = entry.is_none_or(|entry| entry.carried.is_heard());
            (pending, is_heard)
        };
        let toolbox_id = &pending.asked.toolbox_id;
        if !is_heard {
            self.hourly(&format!("no host {toolbox_id}"), |suppressed| {
                warn!(
                    toolbox_id,
                    suppressed,
                    hint = "is the id under `migrate:` right, and its host running?",
                    "a forwarded call was not answered: no host of its toolbox was ever heard on this bus"
                );
            });
        }
        let error = CallError::Timeout {
            name: pending.asked.name.clone(),
            timeout,
            hint: match is_heard {
                true => "; the host it was forwarded to was silent",
                false => "; no host of its toolbox was heard on this bus",
            },
        };
        self.answer_forwarded(&pending.asked, Err(error));
    }

    fn answer_forwarded(&self, asked: &Asked, outcome: Outcome) {
        if asked.way == Some(Way::ToStatic) {
            self.old_answer(&asked.toolbox_id);
        }
        let answer = match asked.way {
            None => Answer::Invoke {
                name: &asked.name,
                outcome: &outcome,
            },
            Some(_) => Answer::Call {
                toolbox_id: &asked.toolbox_id,
                outcome: &outcome,
            },
        };
        self.0.answers.send(&asked.asker, &answer);
    }
}

/// Why calls that wait are not forwarded any more at the end.
const STOPPED: &str = "the toolhost that forwarded the call was stopped";
