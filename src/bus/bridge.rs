//! The bridge: a frame comes in, the toolboxes are asked, answers go out.
//!
//! [`Bridge::handle`] runs on the task that reads the bus. It never waits, never copies a payload
//! and never ends that task: it settles what is not for this host by a look at the topic, reads the
//! rest once, and hands it over. What takes time (discover, reload) gets a task of its own.
//!
//! Beside answers it emits two Messages on each connect, both marked with [`PROBE`](super::mark::PROBE) and this
//! process's instance id: an `ovos.tools.list` where `tool_service` is `auto` (see [`service`](super::service)),
//! and an `ovos.persona.tools.discover`, whose answers show a toolbox_id that another host
//! claims too (OVOS-TOOLS-1 §3: two toolboxes on one bus must not share one).

mod carry;
mod notice;
mod serve;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::error;

use super::batch::Batches;
use super::link::Sender;
use super::mapping::Answer;
use super::message::{Message, frame};
use super::service::Service;
use super::status::{BridgeStatus, Conflicts, Counters, ServiceStatus, count};
use super::toolboxes::Toolboxes;
use super::topic::{Peek, Topic, peek};
use crate::config::ToolService;
use crate::log_limit::{KeyedLogLimit, LogLimit, NamingLimit};
use crate::migrate::ledger::Ledger;
use crate::tools::outcome::CallError;
use crate::topics;
use carry::Carrier;

/// Refreshes of all toolboxes at once; discover requests beyond it share the next one.
const MAX_DISCOVERS: usize = 16;
/// Bytes a frame may have. The OVOS bus resets a connection that sends more than its 25 MB, and
/// with it every call in flight.
const MAX_FRAME: usize = 24_000_000;
/// How often it is logged in the time of [`MALFORMED_PERIOD`] that hosts of forwarded toolboxes have learned or forgotten.
const MAX_TURNS: u32 = 20;
/// How often a kind of malformed Message is logged.
const MALFORMED_PERIOD: Duration = Duration::from_secs(10);
/// How often a caller of a predecessor topic, or a shared name, is logged.
const HOUR: Duration = Duration::from_secs(3600);
/// How often the log says that there are more callers of predecessor topics than it names.
const LEFT_OUT_PERIOD: Duration = Duration::from_secs(600);

/// Where frames go. Must not block.
pub trait Outgoing: Clone + Send + Sync + 'static {
    /// Puts one frame on its way to the bus.
    fn send(&self, frame: Utf8Bytes);

    /// Whether so much is on its way that whoever can wait should.
    fn is_crowded(&self) -> bool {
        false
    }
}

impl<F: Fn(Utf8Bytes) + Clone + Send + Sync + 'static> Outgoing for F {
    fn send(&self, frame: Utf8Bytes) {
        self(frame);
    }
}

impl Outgoing for Sender {
    fn send(&self, frame: Utf8Bytes) {
        Self::send(self, frame);
    }

    fn is_crowded(&self) -> bool {
        Self::is_crowded(self)
    }
}

/// One host on one bus. Clones are the same host.
pub struct Bridge<T, O>(Arc<Inner<T, O>>);

impl<T, O> Clone for Bridge<T, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Inner<T, O> {
    toolboxes: Arc<T>,
    answers: Arc<Answers<O>>,
    runtime: Handle,
    discovers: Arc<Batches<Asker>>,
    reloads: Arc<Batches<Asker>>,
    service: Mutex<Service>,
    conflicts: Mutex<Conflicts>,
    counters: Counters,
    ledger: Arc<Ledger>,
    carrier: Mutex<Carrier>,
    /// Whether the carrier has anything to do: a host without it must pay nothing.
    carries: AtomicBool,
    malformed_log: Mutex<KeyedLogLimit>,
    hourly_log: Mutex<KeyedLogLimit>,
    turns_log: Mutex<LogLimit>,
    /// Apart, because strangers choose its keys: they must not crowd out the others.
    callers_log: Mutex<NamingLimit>,
}

/// The way out. Apart from the toolboxes, so that a call they hold does not hold them.
struct Answers<O> {
    outgoing: O,
    sent: AtomicU64,
}

impl<O: Outgoing> Answers<O> {
    fn send(&self, asker: &Asker, answer: &Answer<'_>) {
        let mut frame = frame(&asker.topic, answer, &asker.context);
        if frame.len() > MAX_FRAME {
            let error = CallError::ResultTooLarge {
                bytes: Some(frame.len()),
                limit: MAX_FRAME,
            };
            frame = answer.refused(error, |answer| self::frame(&asker.topic, answer, &asker.context));
        }
        // Now it is the caller's own context: one answer is a smaller loss than the connection.
        if frame.len() > MAX_FRAME {
            error!(topic = %asker.topic, bytes = frame.len(), limit = MAX_FRAME, "answer too large for the bus: not sent");
            return;
        }
        count(&self.sent);
        self.outgoing.send(frame.into());
    }
}

/// What an answer needs of its request: OVOS-MSG-1 §5.3, the `response` derivation.
#[derive(Debug)]
struct Asker {
    topic: String,
    context: String,
}

impl Asker {
    fn of(message: &Message<'_>) -> Self {
        Self {
            topic: format!("{}.response", message.topic),
            context: message.reply_context(),
        }
    }

    /// Bytes it keeps in memory.
    fn bytes(&self) -> usize {
        self.topic.len() + self.context.len()
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Publishes `toolboxes` through `outgoing`; calls are counted in `ledger`, tasks run on `runtime`.
    pub fn new(
        toolboxes: Arc<T>,
        outgoing: O,
        tool_service: ToolService,
        ledger: Arc<Ledger>,
        runtime: Handle,
    ) -> Self {
        let instance = format!("{:032x}", fastrand::u128(..));
        Self(Arc::new(Inner {
            toolboxes,
            answers: Arc::new(Answers {
                outgoing,
                sent: AtomicU64::new(0),
            }),
            runtime,
            discovers: Batches::new(MAX_DISCOVERS),
            reloads: Batches::new(1),
            carrier: Mutex::new(Carrier::new(instance.clone())),
            service: Mutex::new(Service::new(instance, tool_service)),
            conflicts: Mutex::default(),
            counters: Counters::default(),
            ledger,
            carries: AtomicBool::new(false),
            malformed_log: Mutex::new(KeyedLogLimit::new(MALFORMED_PERIOD)),
            hourly_log: Mutex::new(KeyedLogLimit::new(HOUR)),
            turns_log: Mutex::new(LogLimit::new(MAX_TURNS, MALFORMED_PERIOD)),
            callers_log: Mutex::new(NamingLimit::new(HOUR, LEFT_OUT_PERIOD)),
        }))
    }

    /// The connection to the bus stands, for the first time or again; comes before its first frame.
    pub fn connected(&self) {
        self.0.ledger.connected(true);
        let step = lock(&self.0.service).connected(Instant::now());
        self.follow(step);
        self.probe(topics::DISCOVER);
    }

    /// The connection to the bus is gone.
    pub fn disconnected(&self) {
        self.0.ledger.connected(false);
    }

    /// The configuration was read again.
    pub fn set_tool_service(&self, mode: ToolService) {
        let step = lock(&self.0.service).set_mode(mode, Instant::now());
        self.follow(step);
    }

    /// A frame came in; `own` where it is the bus's echo of one that went out from here.
    pub fn handle(&self, frame: Utf8Bytes, own: bool) {
        if own {
            return;
        }
        let topic = match peek(&frame) {
            Peek::Topic(topic) => topic,
            Peek::Malformed => return self.drop_malformed(Message::parse(&frame).err()),
        };
        match Topic::of(&topic) {
            Topic::Foreign => {}
            // Told from the topic alone, before a payload for another host is read.
            Topic::Predecessor(id) if !self.0.toolboxes.hosts(id) && !self.carries_for(id) => {}
            topic @ (Topic::CallAnswer | Topic::PredecessorAnswer(_)) => self.overhear_call_answer(topic, &frame),
            topic @ (Topic::DiscoverAnswer | Topic::ServiceAnswer) => self.overhear(topic, &frame),
            _ => match Message::parse(&frame) {
                Ok(message) => self.serve(&message, &frame),
                Err(malformed) => self.drop_malformed(Some(malformed)),
            },
        }
    }

    /// As it stands now.
    pub fn status(&self) -> BridgeStatus {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (instance, tool_service) = {
            let service = lock(&self.0.service);
            let part = match (service.mode(), service.silent()) {
                (ToolService::No, _) => ServiceStatus::Off,
                (_, None) => ServiceStatus::Serving,
                (_, Some(other)) => ServiceStatus::Silent(other),
            };
            (service.instance().to_owned(), part)
        };
        let conflicts = lock(&self.0.conflicts).all();
        BridgeStatus {
            instance,
            tool_service,
            conflicts,
            handled: load(&self.0.counters.handled),
            malformed: load(&self.0.counters.malformed),
            answers: load(&self.0.answers.sent),
        }
    }
}

/// A panic elsewhere must not take the bus with it: what these locks guard is whole after every statement.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
