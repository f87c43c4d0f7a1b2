//! Describing: what the tools of a toolbox are, and keeping it true.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Patience;
use super::fault::contained;
use super::lifecycle::{Event, State};
use super::status::Phase;
use super::toolbox::Toolbox;
use super::worker::{Duty, Waiter};
use crate::adapter::Adapter;
use crate::config::Mode;
use crate::json::Text;
use crate::process::aside::aside;
use crate::protocol::describe::{Capabilities, Description};
use crate::protocol::request::Request;
use crate::tools::outcome::Outcome;
use crate::tools::tool::ToolSet;

/// How long a discover waits for a toolbox that is busy with a call before it is told the last
/// known tools: under the three seconds after which the bus's usual caller gives up.
const BUSY: Duration = Duration::from_secs(2);

/// The least time between two describes that a toolbox causes by `tools_changed`: one that says so
/// with each describe would be described for ever.
const CHANGES: Duration = Duration::from_millis(250);

/// A toolbox's own account of itself.
#[derive(Debug)]
pub(super) struct Known {
    /// The describe answer: an equal one changes nothing.
    raw: Text,
    pub(super) tools: Arc<ToolSet>,
    pub(super) capabilities: Capabilities,
}

/// Who waits for a describe that was not sent yet.
#[derive(Debug, Default)]
pub(super) struct Describing {
    wanted: bool,
    /// When a change of the tools is to be described, and when the last one was.
    changed: Option<Instant>,
    followed: Option<Instant>,
    /// The process that said so: a sibling may not know of it.
    witness: Option<usize>,
    waiting: Vec<(Instant, Waiter)>,
}

impl Known {
    /// The describe answer.
    pub(super) fn raw(&self) -> &Text {
        &self.raw
    }
}

impl Describing {
    /// The tools changed: describe anew, for nobody in particular.
    pub(super) fn want(&mut self, witness: usize, now: Instant) {
        let soonest = self.followed.map_or(now, |last| now.max(last + CHANGES));
        self.changed.get_or_insert(soonest);
        self.witness = Some(witness);
    }

    /// When the first of those waiting has waited long enough, or a change is to be described.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waiting.iter().map(|(due, _)| *due).chain(self.changed).min()
    }

    /// Lets a change that is due be described once a process is free for it.
    fn follow_change(&mut self, now: Instant) {
        if self.changed.is_some_and(|due| due <= now) {
            self.changed = None;
            self.followed = Some(now);
            self.wanted = true;
        }
    }

    /// Tells those who waited long enough what is known.
    pub(super) fn expire(&mut self, now: Instant, published: Option<&Arc<ToolSet>>) {
        let (due, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(due, _)| *due <= now);
        self.waiting = waiting;
        let due: Vec<(Instant, Waiter)> = due;
        tell(due.into_iter().map(|(_, waiter)| waiter), published);
    }

    fn take(&mut self) -> Vec<Waiter> {
        self.wanted = false;
        self.changed = None;
        std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|(_, waiter)| waiter)
            .collect()
    }
}

/// Tells `waiters`; `None`: the toolbox is down. One that waits no longer misses nothing.
fn tell(waiters: impl IntoIterator<Item = Waiter>, published: Option<&Arc<ToolSet>>) {
    for waiter in waiters {
        let _gone = waiter.send(published.cloned());
    }
}

impl Toolbox {
    /// What is published of it: its tools as last described, or what stood in its place before it was.
    pub(super) fn published(&self) -> Option<&Arc<ToolSet>> {
        let known = self.known.as_ref().map(|known| &known.tools);
        known.or(self.published_before.as_ref())
    }

    /// Somebody wants the tools as they are now.
    pub(super) fn describe_for(&mut self, waiter: Waiter, patience: Patience) {
        let something_will_do = self.known.is_some() || (patience == Patience::Short && self.published().is_some());
        let patience = match self.phase() {
            Phase::Backoff(_) | Phase::Failed(_) | Phase::Stopping | Phase::Stopped => return tell([waiter], None),
            Phase::Asleep => return tell([waiter], self.published()),
            // Until it is sent; once sent, a describe has all its time.
            _ if matches!(self.adapter, Adapter::Runs(_)) => {
                self.describe_commands();
                return tell([waiter], self.published());
            }
            Phase::Ready | Phase::Starting if something_will_do => self.config.describe_timeout.min(BUSY),
            Phase::Ready | Phase::Starting => self.config.describe_timeout,
        };
        self.describing.wanted = true;
        self.describing.waiting.push((Instant::now() + patience, waiter));
    }

    /// Sends the describe that is wanted, once a process is free for it; one at a time.
    pub(super) async fn dispatch_describe(&mut self) {
        self.describing.follow_change(Instant::now());
        if !self.describing.wanted || self.known.is_none() || self.describe_in_flight() {
            return;
        }
        let index = match self.config.mode {
            Mode::Persistent => self.free_witness(),
            Mode::Oneshot => self.idle_worker(),
        };
        let Some(index) = index else { return };
        self.describing.witness = None;
        let waiters = self.describing.take();
        if self.config.mode == Mode::Oneshot {
            self.step(index, Event::Wake).await;
            if self.workers.get(index).is_none_or(|worker| worker.process.is_none()) {
                return tell(waiters, None);
            }
        }
        self.send_describe(index, waiters);
    }

    /// The process that knows of a change, once it is free; any free one where none is named or it is gone.
    fn free_witness(&self) -> Option<usize> {
        let alive = |index: &usize| {
            self.workers
                .get(*index)
                .is_some_and(|worker| matches!(worker.lifecycle.state(), State::Ready { .. }))
        };
        match self.describing.witness.filter(alive) {
            Some(index) => self.is_free(index).then_some(index),
            None => self.free_worker(),
        }
    }

    /// Whether a process that is up describes itself. One that starts does so for itself alone.
    fn describe_in_flight(&self) -> bool {
        self.workers
            .iter()
            .filter(|worker| *worker.lifecycle.state() != State::Starting)
            .flat_map(|worker| worker.duties.values())
            .any(|duty| matches!(duty, Duty::Describe { .. }))
    }

    /// Asks a process to describe itself.
    pub(super) fn send_describe(&mut self, index: usize, waiters: Vec<Waiter>) {
        let id = self.fresh_id();
        self.line.clear();
        let request = Request::Describe {
            id,
            toolbox_id: &self.config.id,
            config: self.config.config.as_str(),
        };
        request.write(&mut self.line);
        let due = Instant::now() + self.config.describe_timeout;
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        worker.send(&self.line);
        worker.duties.insert(id, Duty::Describe { waiters, due });
        self.deadlines.insert((due, id));
        self.close_after_request(index);
    }

    /// A describe was answered.
    pub(super) async fn described(&mut self, index: usize, outcome: Outcome, waiters: Vec<Waiter>) {
        let learned = outcome
            .map_err(|error| error.to_string())
            .and_then(|raw| self.learn_anew(index, raw));
        let starting = self
            .workers
            .get(index)
            .is_some_and(|worker| *worker.lifecycle.state() == State::Starting);
        match learned {
            Ok(()) if starting => {
                if let Some(worker) = self.workers.get_mut(index) {
                    worker.used = Instant::now();
                }
                self.step(index, Event::Described).await;
                if self.config.mode == Mode::Oneshot || self.is_lazy() {
                    self.rest_stopped();
                }
                // A process just started is as fresh as it gets.
                let all = self.describing.take();
                // Before whoever waits goes on: a list of tools made then has these.
                self.publish_brief();
                tell(waiters.into_iter().chain(all), self.published());
                if self.is_done_describing() {
                    tracing::info!(
                        toolbox = self.config.id,
                        "lazy, its process is stopped until somebody calls"
                    );
                    self.rest(index).await;
                }
            }
            Ok(()) => {
                self.publish_brief();
                tell(waiters, self.published());
            }
            Err(why) if starting => {
                tell(waiters, None);
                self.step(index, Event::Broken(format!("its describe answer is refused: {why}")))
                    .await;
            }
            Err(why) => {
                tracing::warn!(
                    toolbox = self.config.id,
                    why,
                    "describe answer refused, the tools stay as they were"
                );
                tell(waiters, self.published());
            }
        }
    }

    /// Takes over what a process says now, and keeps it where it is to be kept.
    fn learn_anew(&mut self, index: usize, raw: Text) -> Result<(), String> {
        self.learn(raw)?;
        self.keep_tools(index);
        Ok(())
    }

    /// Takes over a describe answer of now, or says what is wrong with it.
    pub(super) fn learn(&mut self, raw: Text) -> Result<(), String> {
        self.take_over(raw, "described")
    }

    /// Takes over a describe answer; `how` it came, for the log.
    pub(super) fn take_over(&mut self, raw: Text, how: &str) -> Result<(), String> {
        if self.known.as_ref().is_some_and(|known| known.raw == raw) {
            // Those who waited because nobody knew.
            if std::mem::take(&mut self.list_is_old) {
                self.check_waiting();
            }
            return Ok(());
        }
        let config = &self.config;
        let publish = || -> Result<_, String> {
            let description = Description::parse(raw.as_str())?;
            let tools = ToolSet::publish(&config.id, &description, &config.publish, config.coerce)?;
            Ok((description, tools))
        };
        // Compiling a schema may take any time, whatever its length.
        let (description, tools) = aside(true, || contained(&config.id, "its tools", publish))??;
        for warning in description.warnings.iter().chain(tools.warnings()) {
            tracing::warn!(toolbox = self.config.id, warning, "describe");
        }
        tracing::info!(
            toolbox = self.config.id,
            tools = tools.len(),
            how,
            "its tools are known"
        );
        self.known = Some(Known {
            raw,
            tools: Arc::new(tools),
            capabilities: description.capabilities,
        });
        self.published_before = None;
        self.list_is_old = false;
        self.check_waiting();
        // Whoever is told of these tools next finds them in every list.
        self.publish_brief();
        Ok(())
    }

    /// A describe was not answered in time.
    pub(super) async fn describe_expired(&mut self, index: usize, waiters: Vec<Waiter>) {
        let starting = self
            .workers
            .get(index)
            .is_some_and(|worker| *worker.lifecycle.state() == State::Starting);
        if !starting {
            return tell(waiters, self.published());
        }
        tell(waiters, None);
        let hint = self
            .workers
            .get(index)
            .and_then(|worker| worker.noisy)
            .unwrap_or_default();
        let within = humantime::format_duration(self.config.describe_timeout);
        self.step(
            index,
            Event::Broken(format!("did not answer describe within {within}{hint}")),
        )
        .await;
    }

    /// Tells those who waited for a process that ended: what is known, where others of it serve on.
    pub(super) fn describe_ended(&mut self, waiters: Vec<Waiter>) {
        let serves = matches!(self.phase(), Phase::Ready | Phase::Asleep);
        tell(waiters, self.published().filter(|_| serves));
    }

    /// Nobody waits for a toolbox that is down.
    pub(super) fn settle_describes(&mut self) {
        if matches!(
            self.phase(),
            Phase::Backoff(_) | Phase::Failed(_) | Phase::Stopped | Phase::Stopping
        ) {
            tell(self.describing.take(), None);
        }
        if self.is_asleep() {
            tell(self.describing.take(), self.published());
        }
    }
}
