//! Toolboxes that have no process of their own: each call runs a command, and its end is the answer.

use std::time::Instant;

use super::fault::contained;
use super::lifecycle::Event;
use super::queue::Ready;
use super::toolbox::Toolbox;
use super::worker::Duty;
use crate::adapter::{Adapter, Job};
use crate::process::aside::{LARGE, aside};
use crate::process::exit::Exit;
use crate::process::spawn::{SpawnError, spawn};
use crate::tools::outcome::CallError;

impl Toolbox {
    /// The start of such a toolbox: its tools are read, and every slot rests until a call comes.
    pub(super) fn start_of_commands(&mut self) -> Event {
        match self.read_commands() {
            Ok(()) => {
                for worker in &mut self.workers {
                    worker.lifecycle.step(Event::Rest, Instant::now(), 0.0);
                }
                Event::Rest
            }
            Err(why) => {
                tracing::error!(toolbox = self.config.id, why, "its tools cannot be read");
                Event::SpawnFailed(why)
            }
        }
    }

    /// Reads its tools again. Where they cannot be read any more they stay as they were.
    pub(super) fn describe_commands(&mut self) {
        if let Err(why) = self.read_commands() {
            tracing::warn!(
                toolbox = self.config.id,
                why,
                "its tools cannot be read again, they stay as they were"
            );
        }
    }

    pub(super) fn read_commands(&mut self) -> Result<(), String> {
        let Adapter::Runs(commands) = &mut self.adapter else {
            return Ok(());
        };
        // Reads files, and whatever they hold.
        let described = aside(true, || contained(&self.config.id, "its tools", || commands.describe()));
        self.learn(described??)
    }

    /// Starts a command for each waiting call that there is a slot for.
    pub(super) async fn run_commands(&mut self) {
        while self.queue.has_ready() {
            let Some(index) = self.idle_worker() else { return };
            let Some(ready) = self.queue.pop() else { return };
            self.run_command(index, ready).await;
        }
    }

    async fn run_command(&mut self, index: usize, ready: Ready) {
        let job = match self.job(&ready) {
            Ok(job) => job,
            Err(error) => return self.refuse_popped(ready, error),
        };
        let process = match spawn(&job.program, &self.surroundings.guard).await {
            Ok(process) => process,
            Err(error) => {
                tracing::warn!(toolbox = self.config.id, tool = ready.tool.name, error = %error, "command could not be started");
                let error = not_started(&ready.tool.name, &error);
                return self.refuse_popped(ready, error);
            }
        };
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        tracing::debug!(
            toolbox = self.config.id,
            tool = ready.tool.name,
            pid = process.pid(),
            "command started"
        );
        worker.lifecycle.step(Event::Wake, Instant::now(), 0.0);
        worker.adopt(process);
        worker.reading = Some(job.reading);
        if let Some(process) = &mut worker.process {
            process.close_stdin();
        }
        let duty = Duty::Call {
            tool: ready.tool,
            reply: ready.call.reply,
            arrived: ready.call.arrived,
            timeout: ready.timeout,
        };
        worker.duties.insert(ready.id, duty);
    }

    fn job(&self, ready: &Ready) -> Result<Job, CallError> {
        match &self.adapter {
            Adapter::Runs(commands) => {
                let job = || commands.job(&ready.tool.own_name, &ready.kwargs);
                let job = aside(ready.kwargs.len() >= LARGE, || {
                    contained(&self.config.id, "a command line", job)
                })?;
                job.map_err(|refusal| refusal.into_error(&ready.tool.name))
            }
            Adapter::Speaks(_) => Err(CallError::UnknownTool(ready.tool.name.clone())),
        }
    }

    fn refuse_popped(&mut self, ready: Ready, error: CallError) {
        self.deadlines.remove(&(ready.due(), ready.id));
        self.refuse(ready.call, error);
    }

    /// More was printed than a result may have: the rest is of no use, and the command has to go.
    pub(super) async fn output_too_long(&mut self, index: usize) {
        let limit = self.config.max_result;
        self.settle(index, |_| Err(CallError::ResultTooLarge { bytes: None, limit }));
        self.step(index, Event::Broken("printed too much".to_owned())).await;
    }

    /// The end of a command is the answer of its call. Whether the process that ended was one.
    pub(super) async fn command_ended(&mut self, index: usize, exit: &Exit) -> bool {
        let Some(worker) = self.workers.get_mut(index) else {
            return false;
        };
        let Some(reading) = worker.reading.take() else {
            return false;
        };
        let stdout = worker.process.take().map(|mut process| process.take_output());
        let stdout = stdout.unwrap_or_default();
        let last_lines = worker.tail.text();
        let cut_off = self.cut_off(index).filter(|_| !reading.accepts(exit));
        let toolbox = self.config.id.clone();
        // By value: the file a result came by is gone before the answer is out.
        self.settle(index, move |_| match cut_off {
            Some(error) => Err(error),
            None => {
                // A result that came by file is of unknown size.
                let is_long = stdout.len() >= LARGE || reading.channel.is_some();
                let outcome = || reading.outcome(exit, &stdout, &last_lines);
                aside(is_long, || contained(&toolbox, "what a command printed", outcome))?
            }
        });
        let ended = Event::Exited {
            reason: exit.to_string(),
            success: exit.is_success(),
        };
        self.step(index, ended).await;
        true
    }

    /// Answers the call a slot runs a command for, unless its time was up before.
    fn settle(&mut self, index: usize, outcome: impl FnOnce(&Self) -> crate::tools::outcome::Outcome) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        for (id, duty) in std::mem::take(&mut worker.duties) {
            self.deadlines.remove(&(duty.due(), id));
            if let Duty::Call {
                tool, reply, arrived, ..
            } = duty
            {
                let outcome = outcome(self).and_then(|result| self.fit(&tool, result));
                self.record(arrived, outcome.is_ok());
                return reply.send(outcome);
            }
        }
    }
}

/// Why a command could not be started, for its caller.
fn not_started(tool: &str, error: &SpawnError) -> CallError {
    match error {
        SpawnError::TooLong => CallError::InvalidArguments {
            name: tool.to_owned(),
            faults: format!("arguments: {error}"),
        },
        error => CallError::Command(error.to_string()),
    }
}
