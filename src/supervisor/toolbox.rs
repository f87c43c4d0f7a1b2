//! The task of one toolbox: its state and the loop that moves it.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::describing::{Describing, Known};
use super::kept::Kept;
use super::lifecycle::{Action, Event, State, Then};
use super::orders::Open;
use super::queue::Queue;
use super::refusals::Refusals;
use super::status::{Brief, Latencies};
use super::worker::{Duty, Waiter, Worker, lossy, poll_workers};
use super::{Control, Predecessor, Surroundings, stderr};
use crate::adapter::Adapter;
use crate::config::{AT_ONCE, Mode, ToolboxConfig};
use crate::process::ProcessEvent;
use crate::process::aside::{LARGE, aside};
use crate::process::exit::Exit;
use crate::process::spawn::spawn;
use crate::tools::outcome::{Call, CallError};
use crate::tools::tool::ToolSet;

/// Calls taken from the mailbox at once.
const BATCH: usize = 256;

/// What comes in.
pub(super) struct Mail {
    pub(super) calls: mpsc::Receiver<Call>,
    pub(super) control: mpsc::UnboundedReceiver<Control>,
}

/// A toolbox, alive in its task.
pub(super) struct Toolbox {
    pub(super) config: ToolboxConfig,
    pub(super) adapter: Adapter,
    pub(super) surroundings: Surroundings,
    mail: mpsc::Receiver<Call>,
    control: mpsc::UnboundedReceiver<Control>,
    pub(super) brief: watch::Sender<Brief>,
    pub(super) workers: Vec<Worker>,
    pub(super) queue: Queue,
    /// When a request id is due: its call's deadline, then the end of its grace.
    pub(super) deadlines: BTreeSet<(Instant, u64)>,
    pub(super) next_id: u64,
    pub(super) describing: Describing,
    /// What the tools are, once described.
    pub(super) known: Option<Known>,
    /// What the toolbox published whose place this one takes; until it is known what this one's are.
    pub(super) published_before: Option<Arc<ToolSet>>,
    /// One request line on its way out; kept for its room.
    pub(super) line: Vec<u8>,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) refusals: Refusals,
    pub(super) latencies: Latencies,
    /// The toolbox this one takes the place of, until that has ended: the two never overlap.
    pub(super) predecessor: Option<JoinHandle<Vec<Call>>>,
    /// Calls that came, or that a predecessor left, after this one was told to stop: for the next.
    inherited: Vec<Call>,
    /// Whether the task is to end once its processes have.
    pub(super) stopping: bool,
    /// Whether its owner stopped it: it stays down until its owner starts it.
    pub(super) held: bool,
    /// What its owner asked for and waits for.
    pub(super) orders: Vec<Open>,
    /// Where its tools are kept for the next run, if it is lazy.
    pub(super) kept: Option<Kept>,
    /// Whether what is known of its tools is from before its present processes, or from an earlier run.
    pub(super) list_is_old: bool,
    /// Whether its tools as they were kept are good enough to begin with: its owner has not just changed it.
    pub(super) trusts_kept: bool,
    /// Whether it was started for no more than to tell its tools.
    pub(super) only_to_describe: bool,
    /// Whether its first start is still to come.
    fresh: bool,
    turn: usize,
}

/// Whatever wakes a toolbox.
enum Wake {
    Control(Option<Control>),
    Mail,
    Process(usize, ProcessEvent),
    Time,
    /// The predecessor ended and left these calls.
    Inherited(Vec<Call>),
}

impl Toolbox {
    pub(super) fn new(
        mut config: ToolboxConfig,
        surroundings: Surroundings,
        mail: Mail,
        brief: watch::Sender<Brief>,
        refusals: Refusals,
        after: Option<Predecessor>,
    ) -> Self {
        let now = Instant::now();
        let (after, published_before) = after.map(|after| (after.task, after.published)).unzip();
        let adapter = Adapter::of(&config);
        let kept = surroundings.state.clone().map(|folder| Kept::new(folder, &config.id));
        if matches!(adapter, Adapter::Runs(_)) {
            // Whatever it says: there is a process a call.
            config.mode = Mode::Oneshot;
            if !config.processes_given {
                config.processes = AT_ONCE;
            }
        }
        Self {
            adapter,
            workers: (0..config.processes).map(|_| Worker::new(&config, now)).collect(),
            config,
            surroundings,
            mail: mail.calls,
            control: mail.control,
            brief,
            refusals,
            queue: Queue::default(),
            inherited: Vec::new(),
            deadlines: BTreeSet::new(),
            next_id: 0,
            describing: Describing::default(),
            known: None,
            published_before: published_before.flatten(),
            line: Vec::new(),
            succeeded: 0,
            failed: 0,
            latencies: Latencies::default(),
            kept,
            list_is_old: false,
            trusts_kept: after.is_none(),
            only_to_describe: false,
            predecessor: after,
            stopping: false,
            held: false,
            orders: Vec::new(),
            fresh: true,
            turn: 0,
        }
    }

    /// Runs until stopped. After a panic it is run again, see [`keep`](super::fault::keep).
    pub(super) async fn run(&mut self) {
        if std::mem::take(&mut self.fresh) && self.predecessor.is_none() {
            self.begin().await;
        }
        // Where no process is needed, and after a panic, nothing further happens that would tell.
        self.publish_brief();
        let mut timer = Box::pin(tokio::time::sleep(Duration::ZERO));
        let mut inbox = Vec::with_capacity(BATCH);
        while !(self.stopping && self.is_at_rest()) {
            let wake = self.next_wake(&mut inbox, timer.as_mut()).await;
            self.handle(wake, &mut inbox).await;
            self.let_go_of_idle().await;
            self.dispatch().await;
            self.publish_brief();
            self.settle_orders();
            // A read may bring thousands of lines, which no further read interrupts: the others get their turn here.
            tokio::task::coop::consume_budget().await;
        }
    }

    /// Whether no process is left, neither of it nor of the toolbox whose place it takes.
    fn is_at_rest(&self) -> bool {
        self.predecessor.is_none() && self.workers.iter().all(|worker| worker.process.is_none())
    }

    /// The only place this task waits.
    async fn next_wake(&mut self, inbox: &mut Vec<Call>, mut timer: Pin<&mut Sleep>) -> Wake {
        let due = self.due().map(tokio::time::Instant::from_std);
        // One armed too early is left so: a wake too many costs less than arming it for each call.
        if let Some(due) = due.filter(|due| *due < timer.deadline() || timer.is_elapsed()) {
            timer.as_mut().reset(due);
        }
        self.turn = self.turn.wrapping_add(1);
        let (workers, first, predecessor) = (&mut self.workers, self.turn, &mut self.predecessor);
        // Unbiased: a flood on one side must not starve the others.
        tokio::select! {
            control = self.control.recv(), if !(self.stopping && self.control.is_closed()) => Wake::Control(control),
            _ = self.mail.recv_many(inbox, BATCH), if !self.stopping => Wake::Mail,
            (index, event) = poll_fn(|cx| poll_workers(workers, first, cx)) => Wake::Process(index, event),
            () = timer.as_mut(), if due.is_some() => Wake::Time,
            calls = ended(predecessor), if predecessor.is_some() => Wake::Inherited(calls),
        }
    }

    fn due(&self) -> Option<Instant> {
        let lives = self.workers.iter().filter_map(|worker| worker.lifecycle.due()).min();
        let calls = self.deadlines.first().map(|(at, _)| *at);
        [
            lives,
            calls,
            self.describing.due(),
            self.rest_due(),
            self.long_line_due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    async fn handle(&mut self, wake: Wake, inbox: &mut Vec<Call>) {
        match wake {
            Wake::Control(Some(control)) => self.obey(control).await,
            // Nobody can ask anything any more.
            Wake::Control(None) => self.stop(Duration::from_secs(1)).await,
            Wake::Mail => {
                // Orders first, so that no call is served that came after one to stop. What only asks comes after the calls.
                let mut asked = Vec::new();
                while let Ok(control) = self.control.try_recv() {
                    match control {
                        Control::Describe(..) | Control::Snapshot(_) => asked.push(control),
                        order => self.obey(order).await,
                    }
                }
                if self.stopping {
                    self.inherited.append(inbox);
                } else {
                    // One by one they may be short, and together hold up the other tasks.
                    let is_long = inbox.iter().map(Call::bytes).sum::<usize>() >= LARGE;
                    aside(is_long, || inbox.drain(..).for_each(|call| self.admit(call)));
                }
                for question in asked {
                    self.obey(question).await;
                }
            }
            Wake::Process(index, event) => self.process_event(index, event).await,
            Wake::Time => self.time_passed().await,
            Wake::Inherited(calls) => {
                self.predecessor = None;
                if self.stopping {
                    self.inherited.splice(0..0, calls);
                } else {
                    if !self.held {
                        self.begin().await;
                    }
                    self.inherit(calls);
                }
            }
        }
    }

    async fn obey(&mut self, control: Control) {
        match control {
            Control::Describe(waiter, patience) => self.describe_for(waiter, patience),
            Control::Snapshot(answer) => _ = answer.send(self.snapshot()),
            Control::Order(order, grace, answer) => self.order(order, grace, answer).await,
            Control::Start if self.is_succeeding() || self.held => {}
            Control::Start => self.start_down().await,
            Control::Stop(rung) => self.stop(rung).await,
        }
    }

    /// Starts what is to run from the start, whatever rests.
    pub(super) async fn start_all(&mut self) {
        self.start_those(|_| true).await;
    }

    /// Starts what is down and should not be. What rests is not down.
    async fn start_down(&mut self) {
        self.start_those(|worker| !worker.rests()).await;
    }

    async fn start_those(&mut self, meant: impl Fn(&Worker) -> bool) {
        // A reload may ask while the host stops; what is stopping stays so.
        if self.stopping {
            return;
        }
        let starters = self.starters();
        for index in 0..self.workers.len() {
            let wanted = self.workers.get(index).is_some_and(|worker| {
                let failed = matches!(worker.lifecycle.state(), State::Backoff { .. } | State::Failed { .. });
                failed || (index < starters && meant(worker))
            });
            if wanted {
                self.step(index, Event::Start).await;
            }
        }
    }

    /// How many processes are started at once. A run-once toolbox needs one to be described, as a lazy one does; the
    /// others wait for a request.
    pub(super) fn starters(&self) -> usize {
        if self.config.mode == Mode::Oneshot || self.is_lazy() {
            1
        } else {
            self.workers.len()
        }
    }

    async fn stop(&mut self, rung: Duration) {
        self.stopping = true;
        self.mail.close();
        for index in 0..self.workers.len() {
            self.step(index, Event::Stop(rung)).await;
        }
    }

    /// Whether calls are on their way in.
    pub(super) fn has_mail(&self) -> bool {
        !self.mail.is_empty()
    }

    /// Whether it still waits for the toolbox whose place it takes.
    pub(super) fn is_succeeding(&self) -> bool {
        self.predecessor.is_some()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Calls that were never sent: whoever takes this toolbox's place may serve them.
    pub(super) fn leftovers(mut self) -> Vec<Call> {
        let mut calls = self.inherited;
        calls.extend(self.queue.drain().map(|(call, _)| call));
        while let Ok(call) = self.mail.try_recv() {
            calls.push(call);
        }
        calls
    }

    async fn time_passed(&mut self) {
        let now = Instant::now();
        for index in 0..self.workers.len() {
            self.step(index, Event::Tick).await;
        }
        self.expire(now).await;
        self.replace_amid_long_line(now).await;
        self.rest_unused(now).await;
        let published = self.published().cloned();
        self.describing.expire(now, published.as_ref());
    }

    /// One step in the life of a process, and what it asks for.
    pub(super) async fn step(&mut self, index: usize, event: Event) {
        let mut event = Some(event);
        while let Some(next) = event.take() {
            let Some(worker) = self.workers.get_mut(index) else {
                return;
            };
            let before = std::mem::discriminant(worker.lifecycle.state());
            let action = worker.lifecycle.step(next, Instant::now(), fastrand::f64());
            if before != std::mem::discriminant(worker.lifecycle.state()) {
                log_state(&self.config.id, worker.lifecycle.state());
            }
            if action == Action::Spawn {
                event = self.spawn(index).await;
            } else {
                worker.perform(action);
            }
        }
        self.give_up_on_unserved();
        self.settle_describes();
    }

    /// Starts the process of a slot and asks it to describe itself. What has happened by then, if anything has.
    async fn spawn(&mut self, index: usize) -> Option<Event> {
        let program = match &self.adapter {
            // A script is read for it, from a disk that may be slow.
            Adapter::Speaks(speaker) => aside(true, || speaker.program()),
            Adapter::Runs(_) => return Some(self.start_of_commands()),
        };
        // Of the program as it is started: it may be changed while it runs.
        let digest = self.digest_to_keep();
        let started = match program {
            Ok(program) => spawn(&program, &self.surroundings.guard)
                .await
                .map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        let worker = self.workers.get_mut(index)?;
        match started {
            Ok(process) => {
                tracing::info!(toolbox = self.config.id, pid = process.pid(), "process started");
                worker.adopt(process);
                worker.digest = digest;
                if *worker.lifecycle.state() == State::Starting {
                    self.send_describe(index, Vec::new());
                }
                None
            }
            Err(error) => {
                tracing::error!(toolbox = self.config.id, error, "process could not be started");
                Some(Event::SpawnFailed(error))
            }
        }
    }

    async fn process_event(&mut self, index: usize, event: ProcessEvent) {
        match event {
            ProcessEvent::Line(line) => self.line(index, &line).await,
            ProcessEvent::LineTooLong { head } => self.line_too_long(index, &head).await,
            ProcessEvent::LineEndless => self.line_has_no_end(index).await,
            ProcessEvent::LineEnded => self.line_ended(index),
            ProcessEvent::OutputTooLong => self.output_too_long(index).await,
            ProcessEvent::Stderr(line) => self.stderr(index, &lossy(&line)),
            ProcessEvent::PipeClosed(pipe) => {
                let stopping = self
                    .workers
                    .get(index)
                    .is_some_and(|w| matches!(w.lifecycle.state(), State::Stopping { .. }));
                if !stopping && self.config.mode == Mode::Persistent {
                    self.step(index, Event::Broken(format!("closed its {pipe} and lives on")))
                        .await;
                }
            }
            ProcessEvent::Exited(exit) => self.exited(index, &exit).await,
        }
    }

    fn stderr(&mut self, index: usize, line: &str) {
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        worker.tail.push(line);
        let line = line.trim_end();
        let level = worker.levels.next(line);
        // What is not logged anyway keeps no other line out of the log.
        if !stderr::is_logged(level) {
            return;
        }
        if let Some(suppressed) = worker.stderr.admit(Instant::now()) {
            stderr::log(level, &self.config.id, suppressed, line);
        }
    }

    async fn exited(&mut self, index: usize, exit: &Exit) {
        if self.command_ended(index, exit).await {
            return;
        }
        let Some(worker) = self.workers.get_mut(index) else {
            return;
        };
        worker.process = None;
        if let Some(suppressed) = worker.stderr.left_out() {
            // No line follows that could tell.
            tracing::info!(
                toolbox = self.config.id,
                suppressed,
                "more lines on its stderr were left out"
            );
        }
        let replaced = match worker.lifecycle.state() {
            // Why it was killed says more than that it was.
            State::Stopping {
                then: Then::Fail(why), ..
            } => Some(why.clone()),
            _ => None,
        };
        let reason = worker.last_words(&replaced.unwrap_or_else(|| exit.to_string()));
        let duties = std::mem::take(&mut worker.duties);
        let idle = duties.is_empty();
        let asked_to_go = worker.dismissed || self.stopping;
        let cut_off = self.cut_off(index);
        let mut waiters = Vec::new();
        for (id, duty) in duties {
            let error = cut_off.clone().unwrap_or_else(|| CallError::Crashed(reason.clone()));
            waiters.extend(self.end_duty(id, duty, error));
        }
        if !(idle && (self.config.mode == Mode::Oneshot || asked_to_go)) {
            tracing::warn!(toolbox = self.config.id, reason, "process ended");
        }
        self.step(
            index,
            Event::Exited {
                reason,
                success: exit.is_success(),
            },
        )
        .await;
        self.describe_ended(waiters);
    }

    /// Answers for a process that ended; gives back who waited for it to describe itself.
    fn end_duty(&mut self, id: u64, duty: Duty, error: CallError) -> Vec<Waiter> {
        self.deadlines.remove(&(duty.due(), id));
        match duty {
            Duty::Call { reply, arrived, .. } => {
                self.record(arrived, false);
                reply.send(Err(error));
            }
            Duty::Describe { waiters, .. } => return waiters,
            Duty::Abandoned { .. } => {}
        }
        Vec::new()
    }
}

/// Waits for the end of `predecessor`; one that panicked left no calls.
async fn ended(predecessor: &mut Option<JoinHandle<Vec<Call>>>) -> Vec<Call> {
    match predecessor {
        Some(task) => task.await.unwrap_or_default(),
        None => std::future::pending().await,
    }
}

fn log_state(toolbox: &str, state: &State) {
    match state {
        State::Ready { .. } => tracing::debug!(toolbox, "ready"),
        State::Backoff { until, reason } => {
            let wait = until.saturating_duration_since(Instant::now());
            tracing::warn!(
                toolbox,
                reason,
                wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "down, will be started again"
            );
        }
        State::Failed { reason } => tracing::error!(
            toolbox,
            reason,
            "down until asked: mend it, then `toolhost start`, `toolhost reload` or SIGHUP"
        ),
        state => tracing::debug!(toolbox, ?state, "state"),
    }
}
