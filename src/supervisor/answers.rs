//! What a process says: its lines, and the answers among them.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::fault::contained;
use super::lifecycle::Event;
use super::toolbox::Toolbox;
use super::worker::Duty;
use crate::config::Mode;
use crate::json::Text;
use crate::process::Process;
use crate::process::aside::{LARGE, aside};
use crate::protocol::answer::{self, Line};
use crate::tools::outcome::{CallError, Outcome};
use crate::tools::tool::Tool;

/// How long a line that is too long may take to come to its end, before its process is replaced.
const LONG_LINE: Duration = Duration::from_secs(5);

impl Toolbox {
    /// A line of a process's stdout.
    pub(super) async fn line(&mut self, index: usize, line: &Bytes) {
        match aside(line.len() >= LARGE, || answer::parse(line)) {
            Line::Answer { id, outcome } => {
                let outcome = match outcome {
                    Ok(result) => Ok(Text::slice_of(line, result)),
                    Err(message) => Err(CallError::Raised(message)),
                };
                self.answered(index, id, outcome).await;
            }
            Line::Faulty { id: Some(id), why } => self.answered(index, id, Err(CallError::Protocol(why))).await,
            Line::NullId { error } => self.answer_without_id(index, error).await,
            Line::ToolsChanged => self.describing.want(index, Instant::now()),
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
        // Where it goes on, whatever the process answers next is lost in it: it gets no further call before its end.
        if let Some(worker) = self.workers.get_mut(index) {
            let goes_on = worker.process.as_ref().is_some_and(Process::is_amid_long_line);
            worker.long_line = goes_on.then(Instant::now);
        }
    }

    pub(super) fn line_ended(&mut self, index: usize) {
        if let Some(worker) = self.workers.get_mut(index) {
            worker.long_line = None;
        }
    }

    /// A process that does nothing but print is of no use any more.
    pub(super) async fn line_has_no_end(&mut self, index: usize) {
        self.line_ended(index);
        self.step(index, Event::Broken("printed a line without an end".to_owned()))
            .await;
    }

    /// When the first process is to be replaced whose line does not come to its end.
    pub(super) fn long_line_due(&self) -> Option<Instant> {
        let begun = self.workers.iter().filter_map(|worker| worker.long_line).min();
        begun.map(|begun| begun + LONG_LINE)
    }

    /// Replaces the processes that are amid a line that is too long, and do not go on with it.
    pub(super) async fn replace_amid_long_line(&mut self, now: Instant) {
        for index in 0..self.workers.len() {
            let begun = self.workers.get(index).and_then(|worker| worker.long_line);
            if begun.is_some_and(|begun| begun + LONG_LINE <= now) {
                self.line_has_no_end(index).await;
            }
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
        let Some(duty) = worker.duties.remove(&id) else {
            if let Some(suppressed) = worker.noise.admit(Instant::now()) {
                tracing::warn!(
                    toolbox = self.config.id,
                    suppressed,
                    id,
                    "answer to nobody's request dropped"
                );
            }
            return;
        };
        worker.answered = Instant::now();
        // To be asked what its tools are is no use of them.
        if !matches!(duty, Duty::Describe { .. }) {
            worker.used = worker.answered;
        }
        worker.noisy = None;
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
    pub(super) fn fit(&self, tool: &Tool, result: Text) -> Outcome {
        if result.len() > self.config.max_result {
            return Err(CallError::ResultTooLarge {
                bytes: Some(result.len()),
                limit: self.config.max_result,
            });
        }
        let check = || tool.check_output(result.as_str());
        aside(tool.is_heavy() || result.len() >= LARGE, || {
            contained(&self.config.id, "a result", check)
        })??;
        Ok(result)
    }
}
