//! Calls of a toolbox: taken in, checked, and handed to a process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::fault::contained;
use super::lifecycle::{Event, State};
use super::queue::{Early, Ready};
use super::toolbox::Toolbox;
use super::worker::{Duty, Worker};
use crate::adapter::Adapter;
use crate::config::Mode;
use crate::json::Text;
use crate::process::aside::{LARGE, aside};
use crate::protocol::request::Request;
use crate::tools::outcome::{Call, CallError};
use crate::tools::tool::Tool;

impl Toolbox {
    /// Takes a call in: refuses it at once where its end is certain, else lets it wait.
    pub(super) fn admit(&mut self, call: Call) {
        if let Some(why) = self.unavailable() {
            return self.refuse(call, CallError::Unavailable(why));
        }
        // A run-once process that rests is a place for one call, which does not wait then.
        let resting = self
            .workers
            .iter()
            .filter(|worker| *worker.lifecycle.state() == State::Idle);
        if self.queue.len() >= self.config.max_pending + resting.count() {
            let error = CallError::Overloaded(self.queue.len());
            self.refusals.tell(&error);
            return self.refuse(call, error);
        }
        let id = self.fresh_id();
        if self.must_describe_first() {
            let tool = self.published().and_then(|tools| tools.get(&call.name));
            let timeout = tool.and_then(|tool| tool.timeout).unwrap_or(self.config.timeout);
            let early = Early { id, call, timeout };
            self.deadlines.insert((early.due(), id));
            return self.queue.push_early(early);
        }
        self.check(id, call);
        // At once, so that calls that can go do not count as waiting.
        self.send_waiting();
    }

    /// Lets a call wait if it names a tool and its arguments fit.
    fn check(&mut self, id: u64, mut call: Call) {
        let (tool, kwargs) = match self.prepare(&call) {
            Ok(prepared) => prepared,
            Err(error) => return self.refuse(call, error),
        };
        // What was checked is what is sent; the raw text, and a slice beside it, may hold a whole frame in memory.
        call.kwargs = None;
        call.context = call.context.take().map(|context| context.detached(call.reply.bytes()));
        let timeout = tool.timeout.unwrap_or(self.config.timeout);
        let ready = Ready {
            id,
            tool,
            kwargs,
            call,
            timeout,
        };
        self.deadlines.insert((ready.due(), id));
        self.queue.push(ready);
    }

    /// Checks what waits, by the tools as they are now: it came before they were known, or before they changed.
    pub(super) fn check_waiting(&mut self) {
        let waiting: Vec<_> = self.queue.drain().collect();
        for (call, deadline) in waiting {
            self.deadlines.remove(&deadline);
            let id = self.fresh_id();
            self.check(id, call);
        }
    }

    /// Takes over the calls of a predecessor: they came before those that wait here.
    pub(super) fn inherit(&mut self, calls: Vec<Call>) {
        let newer: VecDeque<Early> = self.queue.take_early();
        for early in &newer {
            self.deadlines.remove(&(early.due(), early.id));
        }
        calls
            .into_iter()
            .chain(newer.into_iter().map(|early| early.call))
            .for_each(|call| self.admit(call));
    }

    /// The tool and the arguments it gets.
    fn prepare(&self, call: &Call) -> Result<(Arc<Tool>, String), CallError> {
        let tool = self.known.as_ref().and_then(|known| known.tools.get(&call.name));
        let tool = tool.ok_or_else(|| CallError::UnknownTool(call.name.clone()))?;
        let kwargs = call.kwargs.as_ref().map(Text::as_str);
        let is_long = tool.is_heavy() || kwargs.is_some_and(|kwargs| kwargs.len() >= LARGE);
        let prepared = || contained(&self.config.id, "the arguments of a call", || tool.prepare(kwargs));
        let kwargs = aside(is_long, prepared)??;
        Ok((Arc::clone(tool), kwargs))
    }

    /// Why no call can be served. A first failure is mended in a moment, and calls wait for it.
    fn unavailable(&self) -> Option<String> {
        if self.held {
            return Some(self.held_words());
        }
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
        if self.queue.is_empty() || self.is_stopping() {
            return;
        }
        if let Some(why) = self.unavailable() {
            let calls: Vec<_> = self.queue.drain().collect();
            for (call, deadline) in calls {
                self.deadlines.remove(&deadline);
                self.refuse(call, CallError::Unavailable(why.clone()));
            }
        }
    }

    pub(super) fn refuse(&mut self, call: Call, error: CallError) {
        self.failed += 1;
        call.reply.send(Err(error));
    }

    /// Describes what is due, and hands waiting calls to free processes.
    pub(super) async fn dispatch(&mut self) {
        if matches!(self.adapter, Adapter::Runs(_)) {
            return self.run_commands().await;
        }
        self.dispatch_describe().await;
        self.send_waiting();
        if self.config.mode == Mode::Persistent || self.list_is_old {
            return self.wake().await;
        }
        while self.queue.has_ready() {
            // Run-once: the process of the call is started for it.
            let Some(index) = self.idle_worker() else { return };
            self.step(index, Event::Wake).await;
            let Some(ready) = self.queue.pop() else { return };
            if self.workers.get(index).is_some_and(|worker| worker.process.is_some()) {
                self.send_call(index, ready);
                self.close_after_request(index);
            } else {
                self.deadlines.remove(&(ready.due(), ready.id));
                let why = "its process could not be started; the log says why".to_owned();
                self.refuse(ready.call, CallError::Unavailable(why));
            }
        }
    }

    fn send_waiting(&mut self) {
        if self.config.mode == Mode::Oneshot {
            return;
        }
        while self.queue.has_ready() {
            let Some(index) = self.free_worker() else { return };
            let Some(ready) = self.queue.pop() else { return };
            self.send_call(index, ready);
        }
    }

    /// The free process with the least to do.
    pub(super) fn free_worker(&self) -> Option<usize> {
        let duties = |index: &usize| self.workers.get(*index).map_or(0, |worker| worker.duties.len());
        (0..self.workers.len())
            .filter(|index| self.is_free(*index))
            .min_by_key(duties)
    }

    /// Whether a process can be handed another request.
    pub(super) fn is_free(&self, index: usize) -> bool {
        let concurrent = self.known.as_ref().is_some_and(|known| known.capabilities.concurrent);
        let free = |worker: &Worker| worker.is_free(self.config.mode, concurrent, self.config.max_pending);
        self.workers.get(index).is_some_and(free)
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

    fn send_call(&mut self, index: usize, ready: Ready) {
        let wants_context = self.known.as_ref().is_some_and(|known| known.capabilities.context);
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        self.line.clear();
        let request = Request::Call {
            id: ready.id,
            name: &ready.tool.own_name,
            kwargs: &ready.kwargs,
            context: ready.call.context.as_ref().filter(|_| wants_context).map(Text::as_str),
        };
        request.write(&mut self.line);
        worker.send(&self.line);
        // The room of a long one is not kept.
        self.line.shrink_to(LARGE);
        let duty = Duty::Call {
            tool: ready.tool,
            reply: ready.call.reply,
            arrived: ready.call.arrived,
            timeout: ready.timeout,
        };
        worker.duties.insert(ready.id, duty);
        worker.used = Instant::now();
    }

    pub(super) fn record(&mut self, arrived: Instant, succeeded: bool) {
        if succeeded {
            self.succeeded += 1;
        } else {
            self.failed += 1;
        }
        self.latencies.record(arrived.elapsed());
    }

    pub(super) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
