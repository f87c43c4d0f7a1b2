//! Calls forwarded from one call topic to the other: decided by [`crate::migrate::carry`], done here.
//!
//! A forwarded Message is the asker's own, `forward`ed (OVOS-MSG-1 §5.1): its context goes along, with one key more that
//! tells our calls apart and keeps everybody from forwarding it again. The answer is not that Message's, but the
//! `response` to what the asker sent, from the context the asker sent; so nothing the host made of it gets through.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::{info, warn};

use super::{Asker, Bridge, MAX_FRAME, Outgoing, lock};
use crate::bus::mapping::Answer;
use crate::bus::message::{Message, forwarded_frame};
use crate::bus::service::PROBE;
use crate::bus::toolboxes::Toolboxes;
use crate::bus::topic::Topic;
use crate::config::MigrateConfig;
use crate::json::{self, Text};
use crate::migrate::carry::{Carried, Hold, News, Next, Way};
use crate::migrate::owner::{FORWARDED, sign};
use crate::tools::outcome::{CallError, Outcome};

mod flat;
mod mark;
mod status;

pub use status::CarriedStatus;

use mark::Mark;

/// The context key, beside [`PROBE`], that names what a toolhost forwards.
const FORWARDS: &str = "toolhost_forwards";
/// Calls held and on their way; one more is refused.
const MOST: usize = 1024;
/// How often hosts are asked at most: an answer that comes meanwhile is one to all who wait.
const ASK_PERIOD: u64 = 100;
/// Definitions kept of one toolbox, in bytes.
const LONGEST_TOOLS: usize = 4 << 20;

/// Everything about forwarding.
pub(super) struct Carrier {
    start: Instant,
    timeout: Duration,
    table: HashMap<String, Entry>,
    held: Vec<(Hold, Asked)>,
    pending: HashMap<u64, Pending>,
    next: u64,
    /// When hosts were last asked.
    asked: Option<u64>,
    /// Ended: nothing is forwarded any more.
    over: bool,
}

/// One toolbox that is forwarded.
struct Entry {
    carried: Carried,
    /// What its host offers, by name.
    tools: Vec<(String, Text)>,
}

/// What somebody asked of a forwarded toolbox.
struct Asked {
    toolbox_id: String,
    /// The payload for the host, on either topic.
    data: String,
    /// The name of the tool, for its flat answer and for a timeout.
    name: String,
    /// Whether it was asked by the flat name.
    flat: bool,
    context: Option<Text>,
    asker: Asker,
}

/// A call that is on its way.
struct Pending {
    asked: Asked,
    /// The topic it went out on.
    on: String,
    /// Ends the wait for its time.
    timer: tokio::task::AbortHandle,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.timer.abort();
    }
}

/// What is to be done once the lock is open.
enum Action {
    Send(String),
    Answer(Asked, Outcome),
}

impl Carrier {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            timeout: MigrateConfig::default().timeout,
            table: HashMap::new(),
            held: Vec::new(),
            pending: HashMap::new(),
            next: 0,
            asked: None,
            over: false,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// What is forwarded from now on; what is known of a toolbox that stays is kept.
    fn set(&mut self, config: &MigrateConfig) {
        let mut old = std::mem::take(&mut self.table);
        self.timeout = config.timeout;
        for carry in &config.carried {
            let known = old.remove(&carry.toolbox_id);
            let known = known.filter(|entry| entry.carried.way() == carry.way);
            let entry = known.unwrap_or_else(|| Entry {
                carried: Carried::new(carry.way),
                tools: Vec::new(),
            });
            self.table.insert(carry.toolbox_id.clone(), entry);
        }
        let table = &self.table;
        self.held.retain(|(_, asked)| table.contains_key(&asked.toolbox_id));
    }

    /// The held calls to `toolbox_id` that need wait no longer.
    fn settle(&mut self, toolbox_id: &str, now: u64) -> Vec<Asked> {
        let Some(entry) = self.table.get(toolbox_id) else {
            return Vec::new();
        };
        let mut go = Vec::new();
        let mut stay = Vec::new();
        for (hold, asked) in std::mem::take(&mut self.held) {
            let carried = &entry.carried;
            if asked.toolbox_id != toolbox_id {
                stay.push((hold, asked));
            } else if asked.flat {
                match carried.flat_settled(&hold, now) {
                    true => go.push(asked),
                    false => stay.push((hold, asked)),
                }
            } else {
                match carried.settled(&hold, now) {
                    Some(true) => go.push(asked),
                    Some(false) => {}
                    None => stay.push((hold, asked)),
                }
            }
        }
        self.held = stay;
        go
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Forwards what `config` says from now on; their hosts are asked when the bus is there.
    pub fn forward_by(&self, config: &MigrateConfig) {
        lock(&self.0.carrier).set(config);
        self.0.carries.store(!config.carried.is_empty(), Ordering::Relaxed);
    }

    /// The configuration was read again.
    pub fn set_migrate(&self, config: &MigrateConfig) {
        self.forward_by(config);
        if !config.carried.is_empty() {
            self.ask_hosts();
        }
    }

    /// Answers every forwarded call that still waits, and forwards none any more.
    pub fn stop_forwarding(&self) {
        let (held, pending) = {
            let mut carrier = lock(&self.0.carrier);
            carrier.over = true;
            (std::mem::take(&mut carrier.held), std::mem::take(&mut carrier.pending))
        };
        drop(held);
        for (_, pending) in pending {
            let why = CallError::Unavailable("the toolhost that forwarded the call was stopped".to_owned());
            self.answer_forwarded(&pending.asked, Err(why));
        }
    }

    /// Whether anything is forwarded: without it a host pays nothing for all this.
    pub(super) fn carries(&self) -> bool {
        self.0.carries.load(Ordering::Relaxed)
    }

    /// Whether calls to this toolbox are forwarded, or would be.
    pub(super) fn carries_for(&self, toolbox_id: &str) -> bool {
        self.carries() && lock(&self.0.carrier).table.contains_key(toolbox_id)
    }

    /// The members of the context of a discover of ours, as text: who asks, and what it forwards.
    pub(super) fn announcement(&self) -> String {
        let instance = lock(&self.0.service).instance().to_owned();
        let carrier = lock(&self.0.carrier);
        let ways: BTreeMap<&String, Way> = carrier
            .table
            .iter()
            .map(|(id, entry)| (id, entry.carried.way()))
            .collect();
        if ways.is_empty() {
            return json!({PROBE: instance}).to_string();
        }
        json!({PROBE: instance, FORWARDS: ways}).to_string()
    }

    /// A call, on either topic, to a toolbox that is forwarded.
    pub(super) fn carry(&self, topic: Topic<'_>, toolbox_id: &str, message: &Message<'_>, whole: &Utf8Bytes) {
        if let Some(mark) = Mark::of(message)
            && mark.is_on(&message.topic, toolbox_id)
        {
            return self.other_forwards(&mark.by, [(toolbox_id, mark.way())].into_iter());
        }
        let predecessor = matches!(topic, Topic::Predecessor(_));
        self.count_foreign_call(predecessor, toolbox_id, message);
        let way = if predecessor { Way::ToStatic } else { Way::ToPredecessor };
        let asked = || Asked {
            toolbox_id: toolbox_id.to_owned(),
            data: mark::payload(&message.data, toolbox_id),
            name: message
                .data
                .get("name")
                .and_then(json::string)
                .unwrap_or_default()
                .into_owned(),
            flat: false,
            context: message.context_text.map(|text| Text::slice_of(whole.as_ref(), text)),
            asker: Asker::of(message),
        };
        let (now, next) = {
            let carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let entry = carrier.table.get(toolbox_id).filter(|entry| entry.carried.way() == way);
            let Some(entry) = entry else { return };
            (now, entry.carried.call(now))
        };
        match next {
            Next::Leave => {}
            Next::Forward => self.forward([asked()]),
            Next::Hold(hold) => self.hold(hold, asked(), now),
        }
    }

    /// Keeps a call until it is decided about.
    fn hold(&self, hold: Hold, asked: Asked, now: u64) {
        let toolbox_id = asked.toolbox_id.clone();
        let refused = {
            let mut carrier = lock(&self.0.carrier);
            if carrier.held.len() + carrier.pending.len() >= MOST {
                Some(asked)
            } else {
                carrier.held.push((hold, asked));
                None
            }
        };
        if let Some(asked) = refused {
            return self.answer_forwarded(&asked, Err(CallError::Overloaded(MOST)));
        }
        let bridge = self.clone();
        let time = Duration::from_millis(hold.until.saturating_sub(now) + 1);
        self.0.runtime.spawn(async move {
            tokio::time::sleep(time).await;
            bridge.settle(&toolbox_id);
        });
        self.ask_hosts();
    }

    /// Asks every host what it has, unless it was done just now.
    fn ask_hosts(&self) {
        {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            if carrier
                .asked
                .is_some_and(|asked| now.saturating_sub(asked) < ASK_PERIOD)
            {
                return;
            }
            carrier.asked = Some(now);
        }
        self.probe("ovos.persona.tools.discover");
    }

    /// Lets those held calls to `toolbox_id` go that need wait no longer.
    fn settle(&self, toolbox_id: &str) {
        let go = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            carrier.settle(toolbox_id, now)
        };
        self.forward(go);
    }

    /// Sends calls on to their hosts.
    fn forward(&self, calls: impl IntoIterator<Item = Asked>) {
        let instance = lock(&self.0.service).instance().to_owned();
        for asked in calls {
            let action = self.set_off(asked, &instance);
            match action {
                Action::Send(frame) => self.0.answers.outgoing.send(frame.into()),
                Action::Answer(asked, outcome) => self.answer_forwarded(&asked, outcome),
            }
        }
    }

    fn set_off(&self, asked: Asked, instance: &str) -> Action {
        let mut carrier = lock(&self.0.carrier);
        if carrier.held.len() + carrier.pending.len() >= MOST {
            return Action::Answer(asked, Err(CallError::Overloaded(MOST)));
        }
        let (call, timeout, over) = (carrier.next, carrier.timeout, carrier.over);
        let Some(entry) = carrier.table.get_mut(&asked.toolbox_id).filter(|_| !over) else {
            let why = "its calls are no longer forwarded".to_owned();
            return Action::Answer(asked, Err(CallError::Unavailable(why)));
        };
        let way = match asked.flat {
            true => entry.carried.flat_way(),
            false => entry.carried.way(),
        };
        let on = match way {
            Way::ToPredecessor => format!("ovos.persona.tools.{}.call", asked.toolbox_id),
            Way::ToStatic => "ovos.persona.tools.call".to_owned(),
        };
        let mark = mark::text(instance, call, &on, &asked.toolbox_id);
        let context = asked.context.as_ref().map_or("{}", Text::as_str);
        let frame = forwarded_frame(&on, &asked.data, context, (FORWARDED, &mark));
        if frame.len() > MAX_FRAME {
            let error = CallError::ResultTooLarge {
                bytes: Some(frame.len()),
                limit: MAX_FRAME,
            };
            return Action::Answer(asked, Err(error));
        }
        entry.carried.forwarded += 1;
        carrier.next += 1;
        let bridge = self.clone();
        let timer = self.0.runtime.spawn(async move {
            tokio::time::sleep(timeout).await;
            bridge.time_is_over(call, timeout);
        });
        let timer = timer.abort_handle();
        carrier.pending.insert(call, Pending { asked, on, timer });
        Action::Send(frame)
    }

    fn time_is_over(&self, call: u64, timeout: Duration) {
        let pending = lock(&self.0.carrier).pending.remove(&call);
        if let Some(pending) = pending {
            let error = CallError::Timeout {
                name: pending.asked.name.clone(),
                timeout,
                hint: "; the host it was forwarded to was silent",
            };
            self.answer_forwarded(&pending.asked, Err(error));
        }
    }

    fn answer_forwarded(&self, asked: &Asked, outcome: Outcome) {
        let answer = if asked.flat {
            Answer::Invoke {
                name: &asked.name,
                outcome: &outcome,
            }
        } else {
            Answer::Call {
                toolbox_id: &asked.toolbox_id,
                outcome: &outcome,
            }
        };
        self.0.answers.send(&asked.asker, &answer);
    }

    /// Somebody answered a call on `topic`: one of ours, or one that the host answers by itself.
    pub(super) fn overhear_call_answer(&self, topic: Topic<'_>, frame: &Utf8Bytes) {
        if !self.carries() {
            return;
        }
        if let Topic::PredecessorAnswer(toolbox_id) = topic
            && !self.carries_for(toolbox_id)
        {
            return;
        }
        let message = match Message::parse(frame) {
            Ok(message) => message,
            Err(malformed) => return self.drop_malformed(Some(malformed)),
        };
        if let Some(mark) = Mark::of(&message) {
            if mark.by == lock(&self.0.service).instance() {
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

    /// The answer to a call we forwarded.
    fn take_answer(&self, mark: &Mark, message: &Message<'_>, frame: &Utf8Bytes) {
        let pending = {
            let mut carrier = lock(&self.0.carrier);
            let expected = carrier.pending.get(&mark.call);
            // A tool may carry our key on in calls of its own: those have another topic.
            if expected.is_none_or(|pending| message.topic.strip_suffix(".response") != Some(&pending.on)) {
                return;
            }
            let pending = carrier.pending.remove(&mark.call);
            if let Some(pending) = &pending
                && !pending.asked.flat
                && let Some(entry) = carrier.table.get_mut(&pending.asked.toolbox_id)
            {
                entry.carried.carried();
            }
            pending
        };
        if let Some(pending) = pending {
            self.answer_forwarded(&pending.asked, mark::outcome(&message.data, frame.as_ref()));
        }
    }

    fn host_answers_itself(&self, toolbox_id: &str, way: Way, message: &Message<'_>) {
        let news = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let entry = carrier
                .table
                .get_mut(toolbox_id)
                .filter(|entry| entry.carried.way() == way);
            let Some(entry) = entry else { return };
            let news = entry.carried.answered_itself(now);
            forget_answered(&mut carrier, toolbox_id, message);
            news
        };
        self.tell(toolbox_id, way, news);
        self.settle(toolbox_id);
    }

    /// A host answered discover for a toolbox that is forwarded.
    pub(super) fn host_discovered(&self, toolbox_id: &str, message: &Message<'_>) {
        let tools = message.data.get("tools");
        let told = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            carrier.table.get_mut(toolbox_id).map(|entry| {
                if let Some(tools) = tools.filter(|tools| tools.get().len() <= LONGEST_TOOLS) {
                    entry.tools = flat::definitions(tools, toolbox_id);
                }
                (entry.carried.way(), entry.carried.discovered(tools.and_then(sign), now))
            })
        };
        if let Some((way, news)) = told {
            self.tell(toolbox_id, way, news);
            self.settle(toolbox_id);
        }
    }

    fn tell(&self, toolbox_id: &str, way: Way, news: Option<News>) {
        let topic = match way {
            Way::ToPredecessor => "ovos.persona.tools.call".to_owned(),
            Way::ToStatic => format!("ovos.persona.tools.{toolbox_id}.call"),
        };
        match news {
            Some(News::Learned) => info!(
                toolbox_id,
                topic,
                hint = "it can go from `migrate:` in the configuration",
                "the host of a forwarded toolbox answers this topic itself: its calls are no longer forwarded"
            ),
            Some(News::Forgot) => warn!(
                toolbox_id,
                topic, "the host of a toolbox no longer answers this topic itself: its calls are forwarded again"
            ),
            None => {}
        }
    }

    /// Another toolhost asks what there is, and tells what it forwards.
    pub(super) fn other_announces(&self, by: &str, message: &Message<'_>) {
        if !self.carries() {
            return;
        }
        let ways = message.context.get(FORWARDS).map_or("{}", |raw| raw.get());
        let ways: BTreeMap<String, Way> = serde_json::from_str(ways).unwrap_or_default();
        self.other_forwards(by, ways.iter().map(|(id, way)| (id.as_str(), *way)));
    }

    fn other_forwards<'i>(&self, by: &str, ways: impl Iterator<Item = (&'i str, Way)>) {
        let instance = lock(&self.0.service).instance().to_owned();
        if by == instance {
            return;
        }
        let shared: HashSet<String> = {
            let mut carrier = lock(&self.0.carrier);
            let now = carrier.now();
            let mut shared = HashSet::new();
            for (id, way) in ways {
                let entry = carrier.table.get_mut(id);
                if let Some(entry) = entry.filter(|entry| entry.carried.way() == way) {
                    shared.insert(id.to_owned());
                    if by < instance.as_str() {
                        entry.carried.other_heard(now);
                    }
                }
            }
            shared
        };
        for toolbox_id in &shared {
            let ours = by > instance.as_str();
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
            self.settle(toolbox_id);
        }
    }
}

/// Gives up the forwarded call that this answer, which the host gave by itself, is one to: the asker has it.
fn forget_answered(carrier: &mut Carrier, toolbox_id: &str, message: &Message<'_>) {
    let of = |text: &str| {
        let mut context: Value = serde_json::from_str(text).unwrap_or_default();
        // Shipped hosts write a default session in.
        context.as_object_mut().map(|context| context.remove("session"));
        context
    };
    let context = of(message.context_text.unwrap_or("{}"));
    let is_it = |pending: &Pending| {
        let asked = &pending.asked;
        !asked.flat
            && asked.toolbox_id == toolbox_id
            && asked.asker.topic == message.topic
            && of(&asked.asker.context) == context
    };
    let found = carrier.pending.iter().filter(|(_, pending)| is_it(pending));
    if let Some(call) = found.map(|(call, _)| *call).min() {
        carrier.pending.remove(&call);
    }
}
