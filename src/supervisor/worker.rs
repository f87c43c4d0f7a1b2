//! One process slot of a toolbox: the process, its life, and what it owes.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use nix::sys::signal::Signal;
use tokio::sync::oneshot;

use super::lifecycle::{Action, Lifecycle, Rung, State};
use super::stderr::Levels;
use super::tail::Tail;
use crate::adapter::Reading;
use crate::config::{Mode, ToolboxConfig};
use crate::log_limit::LogLimit;
use crate::process::{Process, ProcessEvent};
use crate::tools::outcome::ReplyTo;
use crate::tools::tool::{Tool, ToolSet};

/// Bytes a process may have left unread before it is handed no further call.
const BACKLOG: usize = 1024 * 1024;

/// Lines of noise or stderr logged a second, for each process.
const LOGGED: u32 = 20;

/// Whoever waits for a describe.
pub(super) type Waiter = oneshot::Sender<Option<Arc<ToolSet>>>;

/// What a process owes an answer for, by request id.
#[derive(Debug)]
pub(super) enum Duty {
    /// A call.
    Call {
        /// The tool called.
        tool: Arc<Tool>,
        /// Where the answer goes.
        reply: ReplyTo,
        /// When it arrived.
        arrived: Instant,
        /// The time it has.
        timeout: Duration,
    },
    /// A describe; the first of a process has nobody waiting.
    Describe {
        /// Who waits for it.
        waiters: Vec<Waiter>,
        /// When it is given up.
        due: Instant,
    },
    /// A request nobody waits for any longer.
    Abandoned {
        /// When it was given up.
        since: Instant,
        /// When it is looked at again.
        due: Instant,
    },
}

impl Duty {
    /// When something is to be done about it.
    pub(super) fn due(&self) -> Instant {
        match self {
            Self::Call { arrived, timeout, .. } => *arrived + *timeout,
            Self::Describe { due, .. } | Self::Abandoned { due, .. } => *due,
        }
    }
}

/// A slot.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) lifecycle: Lifecycle,
    pub(super) process: Option<Process>,
    /// How the end of the command it runs is read, where it runs one.
    pub(super) reading: Option<Reading>,
    pub(super) duties: HashMap<u64, Duty>,
    pub(super) tail: Tail,
    pub(super) levels: Levels,
    /// When the process was started, and when it last answered.
    pub(super) spawned: Instant,
    pub(super) answered: Instant,
    /// When it last came up, got a call, or was done with one.
    pub(super) used: Instant,
    /// How often a process took the place of one that had not gone to rest.
    pub(super) restarts: u64,
    /// Whether the next process takes nobody's place: it is the first, or the one before went to rest.
    pub(super) comes_from_rest: bool,
    pub(super) noise: LogLimit,
    pub(super) stderr: LogLimit,
    /// Of what it was started with, where its tools are kept.
    pub(super) digest: Option<String>,
    /// Since when it is amid a line that is too long.
    pub(super) long_line: Option<Instant>,
    /// The last line of stdout that was noise: a hint at what a silent call means.
    pub(super) noisy: Option<&'static str>,
    /// Whether its owner wants the present process gone.
    pub(super) dismissed: bool,
}

impl Worker {
    pub(super) fn new(config: &ToolboxConfig, now: Instant) -> Self {
        let second = Duration::from_secs(1);
        Self {
            lifecycle: Lifecycle::new(config.mode, config.restart),
            process: None,
            reading: None,
            duties: HashMap::new(),
            tail: Tail::default(),
            levels: Levels::default(),
            spawned: now,
            answered: now,
            used: now,
            restarts: 0,
            comes_from_rest: true,
            noise: LogLimit::new(LOGGED, second),
            stderr: LogLimit::new(LOGGED, second),
            digest: None,
            noisy: None,
            long_line: None,
            dismissed: false,
        }
    }

    /// Whether it can be handed another request.
    pub(super) fn is_free(&self, mode: Mode, concurrent: bool, most: usize) -> bool {
        match (self.lifecycle.state(), &self.process) {
            (State::Ready { .. }, Some(process))
                if mode == Mode::Persistent && !process.has_exited() && !process.is_amid_long_line() =>
            {
                self.duties.is_empty() || (concurrent && self.duties.len() < most && process.unsent() < BACKLOG)
            }
            _ => false,
        }
    }

    /// Takes over a process just started.
    pub(super) fn adopt(&mut self, process: Process) {
        self.tail = Tail::default();
        self.levels = Levels::default();
        self.noisy = None;
        self.long_line = None;
        self.dismissed = false;
        self.process = Some(process);
        self.spawned = Instant::now();
        self.answered = self.spawned;
        if !std::mem::take(&mut self.comes_from_rest) {
            self.restarts += 1;
        }
    }

    /// Writes one request line.
    pub(super) fn send(&mut self, line: &[u8]) {
        if let Some(process) = &mut self.process {
            process.send(line);
        }
    }

    /// Whether calls wait for its answer.
    pub(super) fn has_calls(&self) -> bool {
        self.duties.values().any(|duty| matches!(duty, Duty::Call { .. }))
    }

    /// Whether its owner's patience with its calls is over.
    pub(super) fn is_cut_off(&self) -> bool {
        let draining = matches!(self.lifecycle.state(), State::Stopping { rung: Rung::Drain, .. });
        self.dismissed && !draining
    }

    /// Carries out what the lifecycle asks, apart from starting a process.
    pub(super) fn perform(&mut self, action: Action) {
        let Some(process) = &mut self.process else { return };
        match action {
            Action::None | Action::Spawn => {}
            Action::CloseStdin => process.close_stdin(),
            Action::Terminate => process.signal(Signal::SIGTERM),
            Action::Kill => process.signal(Signal::SIGKILL),
        }
    }

    /// The end of the process in words: `exit status 1: last line of stderr`.
    pub(super) fn last_words(&self, end: &str) -> String {
        match self.tail.telling() {
            Some(line) => format!("{end}: {line}"),
            None => end.to_owned(),
        }
    }
}

/// The next event of any process. `first` turns with each call, so that none is starved.
pub(super) fn poll_workers(workers: &mut [Worker], first: usize, cx: &mut Context<'_>) -> Poll<(usize, ProcessEvent)> {
    let count = workers.len();
    for step in 0..count {
        let index = (first + step) % count;
        let Some(process) = workers.get_mut(index).and_then(|worker| worker.process.as_mut()) else {
            continue;
        };
        if let Poll::Ready(event) = process.poll_event(cx) {
            return Poll::Ready((index, event));
        }
    }
    Poll::Pending
}

/// `bytes` as text for the log.
pub(super) fn lossy(bytes: &Bytes) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
