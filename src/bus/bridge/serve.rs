//! A request for this host: from the Message to its answer.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::{error, info};

use super::{Answers, Asker, Bridge, Inner, MAX_DISCOVERS, Outgoing, lock};
use crate::bus::batch::{Arrival, Turn};
use crate::bus::mapping::{Answer, Name, Request, echo, map};
use crate::bus::mark::{asker, is_probe};
use crate::bus::message::Message;
use crate::bus::status::count;
use crate::bus::toolboxes::Toolboxes;
use crate::bus::topic::Topic;
use crate::config::PredecessorTopics;
use crate::json::Text;
use crate::migrate::carry::PROBE_TOOL;
use crate::tools::outcome::{Call, CallError, ReplyTo};

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// Answers a request, or is silent where that is the answer.
    pub(super) fn serve(&self, message: &Message<'_>, frame: &Utf8Bytes) {
        let whole: &Bytes = frame.as_ref();
        // Read again: of a repeated `type` the look saw the first, the parser the last.
        let topic = Topic::of(&message.topic);
        let Some(request) = map(topic, &message.data) else {
            return;
        };
        let probe = probe(topic, message);
        if let Some(asker) = &probe
            && asker == lock(&self.0.service).instance()
        {
            return;
        }
        if topic.is_service_request() && !self.serves_flat_names(probe.as_deref()) {
            return;
        }
        match request {
            Request::Call {
                toolbox_id,
                name,
                kwargs,
            } => {
                if matches!(topic, Topic::Predecessor(_)) && is_probe(message) {
                    self.answer_probe(&toolbox_id, message);
                } else if !self.0.toolboxes.hosts(&toolbox_id) {
                    if self.carries_for(&toolbox_id) {
                        self.carry(topic, &toolbox_id, message, frame);
                    }
                } else if self.admits(topic, &toolbox_id, message) {
                    self.call(message, whole, toolbox_id.into_owned(), name, kwargs);
                }
            }
            Request::Invoke { name, args } => {
                if !self.carry_flat(message, frame, &name, args) {
                    self.invoke(message, whole, name, args);
                }
            }
            Request::Discover => {
                if let Some(other) = &probe {
                    self.other_announces(other, message);
                }
                self.discover(message);
            }
            Request::Reload => self.reload(message),
            Request::List => {
                let (tools, error) = (&self.0.list_all(), None);
                self.answer(message, &Answer::Tools { tools, error });
            }
            Request::Get(name) => {
                let definition = name.and_then(|name| self.0.get_any(&name));
                self.answer(message, &Answer::Get(&definition));
            }
            Request::IsAlive => self.answer(message, &Answer::Status(true)),
            Request::IsReady => self.answer(message, &Answer::Status(self.0.toolboxes.is_ready())),
        }
    }

    /// A toolhost asks whether this host answers the predecessor topic of a toolbox.
    fn answer_probe(&self, toolbox_id: &str, message: &Message<'_>) {
        let toolboxes = &self.0.toolboxes;
        if toolboxes.hosts(toolbox_id) && toolboxes.predecessor_topics(toolbox_id) != PredecessorTopics::Ignore {
            let outcome = &Err(CallError::UnknownTool(PROBE_TOOL.to_owned()));
            self.answer(message, &Answer::Call { toolbox_id, outcome });
        }
    }

    /// Whether this host answers a request on `ovos.tools.*`, `probe` being the toolhost it comes from.
    fn serves_flat_names(&self, probe: Option<&str>) -> bool {
        let step = match probe {
            Some(other) => lock(&self.0.service).probe_overheard(other, Instant::now()),
            None => lock(&self.0.service).request(Instant::now()),
        };
        self.follow(step);
        step.answer
    }

    pub(super) fn answer(&self, message: &Message<'_>, answer: &Answer<'_>) {
        count(&self.0.counters.handled);
        self.0.answers.send(&Asker::of(message), answer);
    }

    /// A call to one toolbox of this host (OVOS-TOOLS-1 §4.2, §6).
    fn call(&self, message: &Message<'_>, whole: &Bytes, toolbox_id: String, name: Name, kwargs: Option<&str>) {
        let (answers, asker) = self.way_back(message);
        let bytes = whole.len() + asker.bytes();
        let owner = toolbox_id.clone();
        let reply = ReplyTo::new(move |outcome| {
            let (toolbox_id, outcome) = (&owner, &outcome);
            answers.send(&asker, &Answer::Call { toolbox_id, outcome });
        })
        .of_request(bytes);
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
        let bytes = whole.len() + asker.bytes();
        let asked = echo(&name).to_owned();
        let reply = ReplyTo::new(move |outcome| {
            let (name, outcome) = (&asked, &outcome);
            answers.send(&asker, &Answer::Invoke { name, outcome });
        })
        .of_request(bytes);
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
        let asker = Asker::of(message);
        let bytes = asker.bytes();
        match self.0.discovers.arrive(asker, bytes) {
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
        let asker = Asker::of(message);
        let bytes = asker.bytes();
        match self.0.reloads.arrive(asker, bytes) {
            Arrival::Start(turn) => drop(self.0.runtime.spawn(reload(Arc::clone(&self.0), turn))),
            Arrival::Waits => {}
            Arrival::Refused => self.hourly("reload refused", |suppressed| {
                error!(suppressed, "too many reload requests wait for one to end: not answered");
            }),
        }
    }
}

/// The instance id of the toolhost a probe comes from.
///
/// On the two topics of probes only: whoever derives a call from an answer to a probe carries the key along.
fn probe<'a>(topic: Topic<'_>, message: &Message<'a>) -> Option<Cow<'a, str>> {
    asker(message).filter(|_| matches!(topic, Topic::Discover | Topic::List))
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

/// How long answers to many wait for the bus to take those before them.
const PATIENCE: Duration = Duration::from_millis(100);

/// Answers to many askers at once, which together may be more than is on its way to the bus at any time.
#[derive(Default)]
struct Pace {
    /// The bus took nothing for so long: a member of it may never take anything, and the others are not to wait for it.
    gave_up: bool,
}

impl Pace {
    /// Lets the bus take what is on its way before there is more.
    async fn keep<O: Outgoing>(&mut self, answers: &Answers<O>) {
        let start = Instant::now();
        while answers.outgoing.is_crowded() && !self.gave_up {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.gave_up = start.elapsed() > PATIENCE;
        }
    }
}

/// One refresh a batch, each listing to everyone in it (OVOS-TOOLS-1 §4.1).
async fn discover<T: Toolboxes, O: Outgoing>(inner: Arc<Inner<T, O>>, turn: Turn<Asker>) {
    let mut turn = Some(turn);
    while let Some(current) = turn {
        // Never more than one a toolbox.
        let (tell, mut told) = mpsc::unbounded_channel();
        let listed = inner.toolboxes.discover(move |listing| _ = tell.send(listing));
        let answered = async {
            let mut pace = Pace::default();
            while let Some(listing) = told.recv().await {
                for asker in current.batch().iter() {
                    pace.keep(&inner.answers).await;
                    inner.answers.send(asker, &Answer::Discover(&listing));
                }
            }
        };
        tokio::join!(listed, answered);
        turn = current.next();
    }
}

/// One reload a batch, its result to everyone in it (OVOS-TOOLS-1 §5).
async fn reload<T: Toolboxes, O: Outgoing>(inner: Arc<Inner<T, O>>, turn: Turn<Asker>) {
    let mut turn = Some(turn);
    while let Some(current) = turn {
        let refused = inner.toolboxes.reload().await.err();
        let tools = inner.list_all();
        let mut pace = Pace::default();
        for asker in current.batch().iter() {
            pace.keep(&inner.answers).await;
            let error = refused.as_deref();
            inner.answers.send(asker, &Answer::Tools { tools: &tools, error });
        }
        turn = current.next();
    }
}
