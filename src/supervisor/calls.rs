//! Calls of a toolbox: taken in, handed to a process, answered, given up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::aside::{LARGE, aside};
use super::lifecycle::{Event, State};
use super::toolbox::Toolbox;
use super::worker::{Duty, Worker};
use crate::config::Mode;
use crate::json::Text;
use crate::protocol::answer::{self, Line};
use crate::protocol::request::Request;
use crate::tools::outcome::{Call, CallError, Outcome};
use crate::tools::tool::Tool;

/// A call that waits for a process.
#[derive(Debug)]
pub(super) struct Waiting {
    id: u64,
    call: Call,
    /// The tool and its checked arguments, once the toolbox is described.
    ready: Option<Prepared>,
    timeout: Duration,
}

#[derive(Debug)]
struct Prepared {
    tool: Arc<Tool>,
    kwargs: String,
}

impl Waiting {
    fn due(&self) -> Instant {
        self.call.arrived + self.timeout
    }

    pub(super) fn into_call(self) -> Call {
        self.call
    }
}

impl Toolbox {
    /// Takes a call in: refuses it at once where its end is certain, else lets it wait.
    pub(super) fn admit(&mut self, call: Call) {
        if let Some(why) = self.unavailable() {
            self.refuse(call, CallError::Unavailable(why));
            return;
        }
        let ready = match self.prepare(&call) {
            Ok(ready) => ready,
            Err(error) => return self.refuse(call, error),
        };
        if self.waiting.len() >= self.config.max_pending {
            let error = CallError::Overloaded(self.waiting.len());
            return self.refuse(call, error);
        }
        let timeout = ready
            .as_ref()
            .and_then(|ready| ready.tool.timeout)
            .unwrap_or(self.config.timeout);
        let id = self.fresh_id();
        self.deadlines.insert((call.arrived + timeout, id));
        self.waiting.push_back(Waiting {
            id,
            call,
            ready,
            timeout,
        });
        // At once, so that calls that can go do not count as waiting.
        self.send_waiting();
    }

    /// The tool and the arguments it gets; `None` while the tools are not known.
    fn prepare(&self, call: &Call) -> Result<Option<Prepared>, CallError> {
        let Some(known) = &self.known else { return Ok(None) };
        let tool = known
            .tools
            .get(&call.name)
            .ok_or_else(|| CallError::UnknownTool(call.name.clone()))?;
        let kwargs = call.kwargs.as_ref().map(Text::as_str);
        let is_long = kwargs.is_some_and(|kwargs| kwargs.len() >= LARGE);
        let kwargs = aside(is_long, || tool.prepare(kwargs))?;
        Ok(Some(Prepared {
            tool: Arc::clone(tool),
            kwargs,
        }))
    }

    /// Why no call can be served. A first failure is mended in a moment, and calls wait for it.
    fn unavailable(&self) -> Option<String> {
        if self.is_succeeding() {
            return None;
        }
        let now = Instant::now();
        let mut whys = self.workers.iter().map(|worker| {
            let brief = matches!(worker.lifecycle.state(), State::Backoff { .. }) && worker.lifecycle.attempt() <= 1;
            if brief && self.known.is_some() {
                None
            } else {
                worker.lifecycle.unavailable(now)
            }
        });
        let first = whys.next()??;
        whys.all(|why| why.is_some()).then_some(first)
    }

    /// Answers what waits where no process will come in time.
    pub(super) fn give_up_on_unserved(&mut self) {
        if self.waiting.is_empty() || self.is_stopping() {
            return;
        }
        if let Some(why) = self.unavailable() {
            for waiting in std::mem::take(&mut self.waiting) {
                self.deadlines.remove(&(waiting.due(), waiting.id));
                self.refuse(waiting.call, CallError::Unavailable(why.clone()));
            }
        }
    }

    fn refuse(&mut self, call: Call, error: CallError) {
        self.failed += 1;
        call.reply.send(Err(error));
    }

    /// Describes what is due, and hands waiting calls to free processes.
    pub(super) async fn dispatch(&mut self) {
        self.dispatch_describe().await;
        self.send_waiting();
        while !self.waiting.is_empty() && self.known.is_some() {
            // Run-once: the process of the call is started for it.
            let Some(index) = self.idle_worker() else { return };
            self.step(index, Event::Wake).await;
            let Some(waiting) = self.waiting.pop_front() else {
                return;
            };
            let has_process = self.workers.get(index).is_some_and(|worker| worker.process.is_some());
            if has_process {
                self.send_call(index, waiting);
                self.close_after_request(index);
            } else {
                self.deadlines.remove(&(waiting.due(), waiting.id));
                self.refuse(
                    waiting.call,
                    CallError::Unavailable("its process could not be started; the log says why".to_owned()),
                );
            }
        }
    }

    fn send_waiting(&mut self) {
        if self.config.mode == Mode::Oneshot || self.known.is_none() {
            return;
        }
        while !self.waiting.is_empty() {
            let Some(index) = self.free_worker() else { return };
            let Some(waiting) = self.waiting.pop_front() else {
                return;
            };
            self.send_call(index, waiting);
        }
    }

    /// The free process with the least to do.
    pub(super) fn free_worker(&self) -> Option<usize> {
        let concurrent = self.known.as_ref().is_some_and(|known| known.capabilities.concurrent);
        let free = |worker: &Worker| worker.is_free(self.config.mode, concurrent, self.config.max_pending.max(1));
        let candidates = self.workers.iter().enumerate().filter(|(_, worker)| free(worker));
        candidates
            .min_by_key(|(_, worker)| worker.duties.len())
            .map(|(index, _)| index)
    }

    pub(super) fn idle_worker(&self) -> Option<usize> {
        self.workers
            .iter()
            .position(|worker| *worker.lifecycle.state() == State::Idle)
    }

    /// A run-once process gets one line and the end of its input.
    pub(super) fn close_after_request(&mut self, index: usize) {
        if self.config.mode == Mode::Oneshot
            && let Some(process) = self.workers.get_mut(index).and_then(|worker| worker.process.as_mut())
        {
            process.close_stdin();
        }
    }

    fn send_call(&mut self, index: usize, waiting: Waiting) {
        let due = waiting.due();
        let Waiting {
            id,
            mut call,
            ready,
            timeout,
        } = waiting;
        // One that came before the first describe is checked now.
        let prepared = match ready.map_or_else(|| self.prepare(&call), |ready| Ok(Some(ready))) {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return,
            Err(error) => {
                self.deadlines.remove(&(due, id));
                return self.refuse(call, error);
            }
        };
        let context = call
            .context
            .take()
            .filter(|_| self.known.as_ref().is_some_and(|known| known.capabilities.context));
        self.line.clear();
        let request = Request::Call {
            id,
            name: &prepared.tool.own_name,
            kwargs: &prepared.kwargs,
            context: context.as_ref().map(Text::as_str),
        };
        request.write(&mut self.line);
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        worker.send(&self.line);
        let duty = Duty::Call {
            tool: prepared.tool,
            reply: call.reply,
            arrived: call.arrived,
            timeout,
        };
        worker.duties.insert(id, duty);
    }

    /// A line of a process's stdout.
    pub(super) async fn line(&mut self, index: usize, line: &Bytes) {
        match answer::parse(line) {
            Line::Answer { id, outcome } => {
                let outcome = match outcome {
                    Ok(result) => Ok(Text::slice_of(line, result)),
                    Err(message) => Err(CallError::Raised(message)),
                };
                self.answered(index, id, outcome).await;
            }
            Line::Faulty { id: Some(id), why } => self.answered(index, id, Err(CallError::Protocol(why))).await,
            Line::NullId { error } => self.answer_without_id(index, error).await,
            Line::ToolsChanged => self.describing.want(Instant::now()),
            Line::Progress { call } => tracing::debug!(toolbox = self.config.id, call, "progress"),
            Line::Blank => {}
            Line::Faulty { id: None, why } => self.noise(index, line, &why),
            Line::Noise(noise) => {
                if let Some(worker) = self.workers.get_mut(index) {
                    worker.noisy = noise.framing().or(worker.noisy);
                }
                self.noise(index, line, &noise);
            }
        }
    }

    fn noise(&mut self, index: usize, line: &[u8], what: &dyn std::fmt::Display) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        if let Some(suppressed) = worker.noise.admit(Instant::now()) {
            tracing::warn!(
                toolbox = self.config.id,
                suppressed,
                line = answer::sample(line),
                %what,
                "noise on stdout skipped"
            );
        }
    }

    pub(super) async fn line_too_long(&mut self, index: usize, head: &[u8]) {
        let why = format!("line longer than {} bytes", self.config.max_line);
        self.noise(index, head, &why);
        let only = self.only_duty(index);
        if let Some(id) = answer::id_in(head).or(only) {
            self.answered(index, id, Err(CallError::Protocol(why))).await;
        }
    }

    /// An error without an id is the only pending request's, where there is only one.
    async fn answer_without_id(&mut self, index: usize, error: String) {
        match self.only_duty(index) {
            Some(id) => self.answered(index, id, Err(CallError::Raised(error))).await,
            None => self.noise(
                index,
                error.as_bytes(),
                &"an error without an id, while not exactly one request is pending",
            ),
        }
    }

    fn only_duty(&self, index: usize) -> Option<u64> {
        let duties = &self.workers.get(index)?.duties;
        duties.keys().next().copied().filter(|_| duties.len() == 1)
    }

    async fn answered(&mut self, index: usize, id: u64, outcome: Outcome) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        worker.answered = Instant::now();
        let Some(duty) = worker.duties.remove(&id) else {
            if let Some(suppressed) = worker.noise.admit(worker.answered) {
                tracing::warn!(
                    toolbox = self.config.id,
                    suppressed,
                    id,
                    "answer to nobody's request dropped"
                );
            }
            return;
        };
        self.deadlines.remove(&(duty.due(), id));
        match duty {
            Duty::Call {
                tool, reply, arrived, ..
            } => {
                let outcome = outcome.and_then(|result| self.fit(&tool, result));
                self.record(arrived, outcome.is_ok());
                reply.send(outcome);
            }
            Duty::Describe { waiters, .. } => self.described(index, outcome, waiters).await,
            Duty::Abandoned { .. } => tracing::info!(toolbox = self.config.id, id, "late answer dropped"),
        }
        // One that lives on keeps nobody waiting for its place for long.
        if self.config.mode == Mode::Oneshot {
            self.step(index, Event::Served).await;
        }
    }

    /// Checks a result before it is answered.
    fn fit(&self, tool: &Tool, result: Text) -> Outcome {
        if result.len() > self.config.max_result {
            return Err(CallError::ResultTooLarge {
                bytes: result.len(),
                limit: self.config.max_result,
            });
        }
        aside(result.len() >= LARGE, || tool.check_output(result.as_str()))?;
        Ok(result)
    }

    pub(super) fn record(&mut self, arrived: Instant, succeeded: bool) {
        if succeeded {
            self.succeeded += 1;
        } else {
            self.failed += 1;
        }
        self.latencies.record(arrived.elapsed());
    }

    /// Gives up what is due: calls, describes, and processes that stay busy with what was given up.
    pub(super) async fn expire(&mut self, now: Instant) {
        while let Some((at, id)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            match self.holder_of(id) {
                Some(index) => self.expire_duty(index, id, now).await,
                None => self.expire_waiting(id),
            }
        }
    }

    fn holder_of(&self, id: u64) -> Option<usize> {
        self.workers.iter().position(|worker| worker.duties.contains_key(&id))
    }

    /// A call whose time ran out in the queue is answered, and never sent later.
    fn expire_waiting(&mut self, id: u64) {
        let place = self.waiting.iter().position(|waiting| waiting.id == id);
        let Some(waiting) = place.and_then(|place| self.waiting.remove(place)) else {
            return;
        };
        self.record(waiting.call.arrived, false);
        let error = CallError::Timeout {
            name: waiting.call.name,
            timeout: waiting.timeout,
            hint: "",
        };
        waiting.call.reply.send(Err(error));
    }

    async fn expire_duty(&mut self, index: usize, id: u64, now: Instant) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        let Some(duty) = worker.duties.remove(&id) else { return };
        let hint = worker.noisy.unwrap_or_default();
        match duty {
            Duty::Call {
                tool,
                reply,
                arrived,
                timeout,
            } => {
                self.record(arrived, false);
                reply.send(Err(CallError::Timeout {
                    name: tool.name.clone(),
                    timeout,
                    hint,
                }));
                if self.config.mode == Mode::Oneshot {
                    // It was started for this call alone.
                    return self.step(index, Event::Broken("past its time".to_owned())).await;
                }
                self.abandon(index, id, now);
                self.cancel(index, id);
            }
            Duty::Describe { waiters, .. } => {
                self.abandon(index, id, now);
                self.describe_expired(index, waiters).await;
            }
            Duty::Abandoned { since } => {
                // A concurrent process that answers others is not stuck as a whole.
                let working = worker
                    .duties
                    .values()
                    .any(|duty| !matches!(duty, Duty::Abandoned { .. }));
                if !(working && worker.answered > since) {
                    self.step(index, Event::Broken(format!("busy past the time of its call{hint}")))
                        .await;
                }
            }
        }
    }

    /// Keeps the id of a request given up: its late answer is nobody's.
    fn abandon(&mut self, index: usize, id: u64, now: Instant) {
        let duty = Duty::Abandoned { since: now };
        self.deadlines.insert((duty.due(), id));
        if let Some(worker) = self.workers.get_mut(index) {
            worker.duties.insert(id, duty);
        }
    }

    /// Tells a toolbox that announced `cancel` that nobody waits any longer.
    fn cancel(&mut self, index: usize, id: u64) {
        if !self.known.as_ref().is_some_and(|known| known.capabilities.cancel) {
            return;
        }
        self.line.clear();
        Request::Cancel { target: id }.write(&mut self.line);
        if let Some(worker) = self.workers.get_mut(index) {
            worker.send(&self.line);
        }
    }

    pub(super) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
