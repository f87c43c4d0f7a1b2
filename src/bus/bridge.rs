//! The bridge: a frame comes in, the toolboxes are asked, answers go out.
//!
//! [`Bridge::handle`] runs on the task that reads the bus. It never waits, never copies a payload
//! and never ends that task: it settles what is not for this host by a look at the topic, reads the
//! rest once, and hands it over. What takes time (discover, reload) gets a task of its own.
//!
//! Beside answers it emits two Messages on each connect, both marked with [`PROBE`] and this
//! process's instance id: an `ovos.tools.list` where `tool_service` is `auto` (see [`service`](super::service)),
//! and an `ovos.persona.tools.discover`, whose answers show a toolbox_id that another host
//! claims too (OVOS-TOOLS-1 §3: two toolboxes on one bus must not share one).

mod watch;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::{error, info};

use super::batch::{Arrival, Batches, Turn};
use super::log_limit::LogLimit;
use super::mapping::{Answer, Name, Request, echo, map};
use super::message::{Message, frame};
use super::service::{PROBE, Service};
use super::status::{BridgeStatus, Conflicts, Counters, ServiceStatus, count};
use super::toolboxes::Toolboxes;
use super::topic::{Peek, Topic, peek};
use crate::config::ToolService;
use crate::json::{self, Text};
use crate::tools::outcome::{Call, ReplyTo};

/// Refreshes of all toolboxes at once; discover requests beyond it share the next one.
const MAX_DISCOVERS: usize = 16;
/// How often a kind of malformed Message is logged.
const MALFORMED_PERIOD: Duration = Duration::from_secs(10);
/// How often a caller of a predecessor topic, or a shared name, is logged.
const HOUR: Duration = Duration::from_secs(3600);

/// Where frames go. Must not block.
pub trait Outgoing: Clone + Send + Sync + 'static {
    /// Puts one frame on its way to the bus.
    fn send(&self, frame: Utf8Bytes);
}

impl<F: Fn(Utf8Bytes) + Clone + Send + Sync + 'static> Outgoing for F {
    fn send(&self, frame: Utf8Bytes) {
        self(frame);
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
    malformed_log: Mutex<LogLimit>,
    hourly_log: Mutex<LogLimit>,
}

/// The way out. Apart from the toolboxes, so that a call they hold does not hold them.
struct Answers<O> {
    outgoing: O,
    sent: AtomicU64,
}

impl<O: Outgoing> Answers<O> {
    fn send(&self, asker: &Asker, answer: &Answer<'_>) {
        count(&self.sent);
        self.outgoing.send(frame(&asker.topic, answer, &asker.context).into());
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
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Publishes `toolboxes` through `outgoing`; tasks run on `runtime`.
    pub fn new(toolboxes: Arc<T>, outgoing: O, tool_service: ToolService, runtime: Handle) -> Self {
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
            service: Mutex::new(Service::new(instance, tool_service)),
            conflicts: Mutex::default(),
            counters: Counters::default(),
            malformed_log: Mutex::new(LogLimit::new(MALFORMED_PERIOD)),
            hourly_log: Mutex::new(LogLimit::new(HOUR)),
        }))
    }

    /// The connection to the bus stands, for the first time or again; comes before its first frame.
    pub fn connected(&self) {
        let step = lock(&self.0.service).connected(Instant::now());
        self.follow(step);
        self.probe("ovos.persona.tools.discover");
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
            Topic::Predecessor(toolbox_id) if !self.0.toolboxes.hosts(toolbox_id) => {}
            topic @ (Topic::DiscoverAnswer | Topic::ServiceAnswer) => self.overhear(topic, &frame),
            _ => match Message::parse(&frame) {
                Ok(message) => self.serve(&message, frame.as_ref()),
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
            predecessor_calls: load(&self.0.counters.predecessor_calls),
        }
    }

    /// Answers a request, or is silent where that is the answer.
    fn serve(&self, message: &Message<'_>, whole: &Bytes) {
        // Read again: of a repeated `type` the look saw the first, the parser the last.
        let topic = Topic::of(&message.topic);
        let Some(request) = map(topic, &message.data) else {
            return;
        };
        let probe = message.context.get(PROBE).and_then(json::string);
        if probe
            .as_deref()
            .is_some_and(|id| id == lock(&self.0.service).instance())
        {
            return;
        }
        if topic.is_service_request() {
            let step = match probe {
                Some(other) => lock(&self.0.service).probe_overheard(&other, Instant::now()),
                None => lock(&self.0.service).request(Instant::now()),
            };
            self.follow(step);
            if !step.answer {
                return;
            }
        }
        match request {
            Request::Call {
                toolbox_id,
                name,
                kwargs,
            } => {
                if self.0.toolboxes.hosts(&toolbox_id) && self.admits(topic, message) {
                    self.call(message, whole, toolbox_id.into_owned(), name, kwargs);
                }
            }
            Request::Invoke { name, args } => self.invoke(message, whole, name, args),
            Request::Discover => self.discover(message),
            Request::Reload => self.reload(message),
            Request::List => {
                let tools = self.0.toolboxes.list();
                self.answer(
                    message,
                    &Answer::Tools {
                        tools: &tools,
                        error: None,
                    },
                );
            }
            Request::Get(name) => {
                let definition = name.and_then(|name| self.0.toolboxes.get(&name));
                self.answer(message, &Answer::Get(&definition));
            }
            Request::IsAlive => self.answer(message, &Answer::Status(true)),
            Request::IsReady => self.answer(message, &Answer::Status(self.0.toolboxes.is_ready())),
        }
    }

    fn answer(&self, message: &Message<'_>, answer: &Answer<'_>) {
        count(&self.0.counters.handled);
        self.0.answers.send(&Asker::of(message), answer);
    }

    /// A call to one toolbox of this host (OVOS-TOOLS-1 §4.2, §6).
    fn call(&self, message: &Message<'_>, whole: &Bytes, toolbox_id: String, name: Name, kwargs: Option<&str>) {
        let (answers, asker) = self.way_back(message);
        let owner = toolbox_id.clone();
        let reply = ReplyTo::new(move |outcome| {
            let (toolbox_id, outcome) = (&owner, &outcome);
            answers.send(&asker, &Answer::Call { toolbox_id, outcome });
        });
        match name {
            Ok(name) => self
                .0
                .toolboxes
                .call(&toolbox_id, call(message, whole, name, kwargs, reply)),
            Err(error) => reply.send(Err(error)),
        }
    }

    /// A call by the flat name (OVOS-TOOLS-1 §5).
    fn invoke(&self, message: &Message<'_>, whole: &Bytes, name: Name, args: Option<&str>) {
        let (answers, asker) = self.way_back(message);
        let asked = echo(&name).to_owned();
        let reply = ReplyTo::new(move |outcome| {
            let (name, outcome) = (&asked, &outcome);
            answers.send(&asker, &Answer::Invoke { name, outcome });
        });
        match name {
            Ok(name) => self.0.toolboxes.invoke(call(message, whole, name, args, reply)),
            Err(error) => reply.send(Err(error)),
        }
    }

    fn way_back(&self, message: &Message<'_>) -> (Arc<Answers<O>>, Asker) {
        count(&self.0.counters.handled);
        (Arc::clone(&self.0.answers), Asker::of(message))
    }

    fn discover(&self, message: &Message<'_>) {
        count(&self.0.counters.handled);
        match self.0.discovers.arrive(Asker::of(message)) {
            Arrival::Start(turn) => drop(self.0.runtime.spawn(discover(Arc::clone(&self.0), turn))),
            Arrival::Waits => self.hourly("discover", |suppressed| {
                info!(
                    running = MAX_DISCOVERS,
                    suppressed, "many discover requests at once: they share the next refresh"
                );
            }),
            Arrival::Refused => self.hourly("discover refused", |suppressed| {
                error!(
                    suppressed,
                    "too many discover requests wait for a refresh: not answered"
                );
            }),
        }
    }

    fn reload(&self, message: &Message<'_>) {
        count(&self.0.counters.handled);
        match self.0.reloads.arrive(Asker::of(message)) {
            Arrival::Start(turn) => drop(self.0.runtime.spawn(reload(Arc::clone(&self.0), turn))),
            Arrival::Waits => {}
            Arrival::Refused => self.hourly("reload refused", |suppressed| {
                error!(suppressed, "too many reload requests wait for one to end: not answered");
            }),
        }
    }
}

/// One call on its way to a toolbox; the payload stays where it arrived.
fn call(message: &Message<'_>, whole: &Bytes, name: String, kwargs: Option<&str>, reply: ReplyTo) -> Call {
    Call {
        name,
        kwargs: kwargs.map(|raw| Text::slice_of(whole, raw)),
        context: message.context_text.map(|raw| Text::slice_of(whole, raw)),
        arrived: Instant::now(),
        reply,
    }
}

/// One refresh a batch, each listing to everyone in it (OVOS-TOOLS-1 §4.1).
async fn discover<T: Toolboxes, O: Outgoing>(inner: Arc<Inner<T, O>>, turn: Turn<Asker>) {
    let mut turn = Some(turn);
    while let Some(current) = turn {
        let (answers, askers) = (Arc::clone(&inner.answers), Arc::clone(current.batch()));
        let listed = inner.toolboxes.discover(move |listing| {
            for asker in askers.iter() {
                answers.send(asker, &Answer::Discover(&listing));
            }
        });
        listed.await;
        turn = current.next();
    }
}

/// One reload a batch, its result to everyone in it (OVOS-TOOLS-1 §5).
async fn reload<T: Toolboxes, O: Outgoing>(inner: Arc<Inner<T, O>>, turn: Turn<Asker>) {
    let mut turn = Some(turn);
    while let Some(current) = turn {
        let refused = inner.toolboxes.reload().await.err();
        let tools = inner.toolboxes.list();
        for asker in current.batch().iter() {
            let error = refused.as_deref();
            inner.answers.send(asker, &Answer::Tools { tools: &tools, error });
        }
        turn = current.next();
    }
}

/// A panic elsewhere must not take the bus with it: what these locks guard is whole after every statement.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
