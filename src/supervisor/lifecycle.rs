//! The states of one process of a toolbox and what moves it between them. Pure: [`Lifecycle::step`]
//! takes an event and the time, and says what to do.
//!
//! | state | Start | Wake | SpawnFailed | Described | Rest | Broken | Exited | Tick | Stop |
//! |---|---|---|---|---|---|---|---|---|---|
//! | Stopped | spawn → Starting | – | – | – | → Idle | – | – | – | – |
//! | Idle | spawn → Starting | spawn → Starting, run-once: spawn → Ready | – | – | – | – | – | – | → Stopped |
//! | Starting | – | – | *fail* | → Ready | → Idle | kill → Stopping, then *fail* | *fail* | – | close stdin → Stopping |
//! | Ready | – | – | *fail*, run-once: → Idle | – | – | kill → Stopping, then *fail*, run-once: then Idle | *fail*, run-once: → Idle | – | close stdin → Stopping |
//! | Stopping | start when gone | start when gone, if it was to rest; run-once: – | – | – | rest when gone, if it was to stay down | – | what `then` says | when due: next rung | stay down when gone; off Drain: close stdin |
//! | Backoff | spawn → Starting | – | – | – | – | – | – | when due: spawn → Starting | → Stopped |
//! | Failed | spawn → Starting | – | – | – | – | – | – | – | → Stopped |
//!
//! What its owner asks, and what becomes of it when the task that holds it falls:
//!
//! | state | Dismiss | Renew | Drained | Fell |
//! |---|---|---|---|---|
//! | Stopped | – | spawn → Starting | – | *fail* |
//! | Idle | → Stopped | spawn → Starting | – | *fail* |
//! | Starting | → Stopping on Drain, then Stop | → Stopping on Drain, then Start | – | *fail* |
//! | Ready | → Stopping on Drain, then Stop | → Stopping on Drain, then Start | – | *fail* |
//! | Stopping | stay down when gone; on Drain: sooner | start when gone; on Drain: sooner | off Drain: close stdin | *fail* |
//! | Backoff | → Stopped | spawn → Starting | – | *fail* |
//! | Failed | → Stopped | spawn → Starting | – | – |
//!
//! *fail* asks the [`RestartPolicy`]: → Backoff, or → Failed where it says to leave it or gives up.
//! `–` changes nothing. Start and Renew forgive the failures there were.
//!
//! Two events move nothing but a process that is Ready: → Stopping, with its stdin closed, then Idle. *Served* is the answer
//! of a run-once process, and moves only such; *Unused* is that nobody has called for long, and moves only others. What
//! rests in Idle is neither down nor failed: its end was wanted, and its next request starts it. The tests go through
//! every cell, and Stopping once for each rung it may stand on and each thing that may follow.

use std::time::{Duration, Instant};

use super::restart::{RestartPolicy, Verdict};
use crate::config::{Mode, Restart};

/// Where a process is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No process, and none is wanted.
    Stopped,
    /// No process, by intention; the next request starts one.
    Idle,
    /// Started, and not yet described.
    Starting,
    /// Answers calls.
    Ready {
        /// Since when.
        since: Instant,
    },
    /// On the ladder: calls in hand, stdin closed, then SIGTERM, then SIGKILL.
    Stopping {
        /// The rung it stands on.
        rung: Rung,
        /// When the next one is due.
        until: Instant,
        /// What follows its end.
        then: Then,
    },
    /// Waiting to be started again.
    Backoff {
        /// When.
        until: Instant,
        /// Why it ended.
        reason: String,
    },
    /// Down until somebody asks.
    Failed {
        /// Why.
        reason: String,
    },
}

/// The rungs of the ladder down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// It gets no further call, and finishes those it has.
    Drain,
    /// stdin is closed.
    Eof,
    /// SIGTERM was sent to the group.
    Term,
    /// SIGKILL was sent to the group.
    Kill,
}

/// How long a process has that its owner asks to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// For the calls it has in hand.
    pub calls: Duration,
    /// On each rung below.
    pub rung: Duration,
}

/// What follows the end of a process that is being stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// It stays down.
    Stop,
    /// It starts at once.
    Start,
    /// It rests until the next request.
    Idle,
    /// It counts as failed, for this reason.
    Fail(String),
}

/// What happens to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It is wanted: at the start of the host, or because somebody asked.
    Start,
    /// A request needs a process.
    Wake,
    /// It could not be started.
    SpawnFailed(String),
    /// Its describe answer was good.
    Described,
    /// Its tools are known, and no process is needed before the next request.
    Rest,
    /// It answered its one request (run-once), and has no more to do.
    Served,
    /// Nobody has called it for long; it has this long on each rung of the ladder.
    Unused(Duration),
    /// It lives, and cannot be used: it must go.
    Broken(String),
    /// It ended.
    Exited {
        /// The end in words.
        reason: String,
        /// Whether with status 0.
        success: bool,
    },
    /// Time passed.
    Tick,
    /// It is no longer wanted; it has this long on each rung of the ladder.
    Stop(Duration),
    /// Its owner wants it down, once it has finished what it has.
    Dismiss(Grace),
    /// Its owner wants a new process in its place, once it has finished what it has.
    Renew(Grace),
    /// It has finished the calls it had.
    Drained,
    /// The task that held it fell, for this reason, and the process with it.
    Fell(String),
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// Start a process.
    Spawn,
    /// Close its stdin.
    CloseStdin,
    /// SIGTERM to its group.
    Terminate,
    /// SIGKILL to its group.
    Kill,
}

/// How long a process that must go has until the next signal, where nobody said.
const RUNG: Duration = Duration::from_secs(1);

/// One process's state with its restart policy.
#[derive(Debug)]
pub struct Lifecycle {
    state: State,
    restarts: RestartPolicy,
    mode: Mode,
    rung_time: Duration,
    /// When the present process came up: outlasts its `Ready`, to tell how long it was healthy.
    ready_since: Option<Instant>,
}

impl Lifecycle {
    /// Stopped.
    pub fn new(mode: Mode, restart: Restart) -> Self {
        Self {
            state: State::Stopped,
            restarts: RestartPolicy::new(restart),
            mode,
            rung_time: RUNG,
            ready_since: None,
        }
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Failures in a row.
    pub fn attempt(&self) -> u32 {
        self.restarts.attempt()
    }

    /// When [`Event::Tick`] is due.
    pub fn due(&self) -> Option<Instant> {
        match self.state {
            State::Stopping { until, .. } | State::Backoff { until, .. } => Some(until),
            _ => None,
        }
    }

    /// One step of the table above.
    pub fn step(&mut self, event: Event, now: Instant, jitter: f64) -> Action {
        let renews = matches!(event, Event::Renew(_));
        match (&mut self.state, event) {
            (
                State::Stopped | State::Idle | State::Backoff { .. } | State::Failed { .. },
                Event::Start | Event::Renew(_),
            ) => {
                self.restarts.forgive();
                self.spawn()
            }
            (State::Stopping { then, .. }, Event::Start) => {
                self.restarts.forgive();
                *then = Then::Start;
                Action::None
            }
            (State::Starting | State::Ready { .. }, Event::Dismiss(grace)) => self.drain(grace, Then::Stop, now),
            (State::Starting | State::Ready { .. }, Event::Renew(grace)) => {
                self.restarts.forgive();
                self.drain(grace, Then::Start, now)
            }
            (State::Stopping { rung, until, then }, Event::Dismiss(grace) | Event::Renew(grace)) => {
                // Asked again, with less patience.
                if *rung == Rung::Drain {
                    *until = (*until).min(now + grace.calls);
                }
                *then = if renews { Then::Start } else { Then::Stop };
                if renews {
                    self.restarts.forgive();
                }
                Action::None
            }
            (State::Backoff { until, .. }, Event::Tick) if *until <= now => self.spawn(),
            (State::Idle, Event::Wake) if self.mode == Mode::Persistent => self.spawn(),
            (State::Stopping { then, .. }, Event::Wake) if self.mode == Mode::Persistent && *then == Then::Idle => {
                *then = Then::Start;
                Action::None
            }
            (State::Idle, Event::Wake) => {
                self.state = State::Ready { since: now };
                Action::Spawn
            }
            (State::Starting, Event::Described) => {
                self.state = State::Ready { since: now };
                self.ready_since = Some(now);
                Action::None
            }
            (State::Stopped | State::Starting, Event::Rest) => {
                self.state = State::Idle;
                Action::None
            }
            (State::Ready { .. }, Event::SpawnFailed(_) | Event::Exited { .. }) if self.mode == Mode::Oneshot => {
                self.state = State::Idle;
                Action::None
            }
            (State::Starting | State::Ready { .. }, Event::SpawnFailed(reason)) => {
                self.fail(reason, false, now, jitter)
            }
            (State::Starting | State::Ready { .. }, Event::Exited { reason, success }) => {
                self.fail(reason, success, now, jitter)
            }
            (State::Starting | State::Ready { .. }, Event::Broken(reason)) => {
                let served = matches!(self.state, State::Ready { .. });
                let then = if self.mode == Mode::Oneshot && served {
                    Then::Idle
                } else {
                    Then::Fail(reason)
                };
                self.descend(Rung::Kill, RUNG, then, now);
                Action::Kill
            }
            (State::Ready { .. }, Event::Served) if self.mode == Mode::Oneshot => self.close(RUNG, Then::Idle, now),
            (State::Ready { .. }, Event::Unused(rung_time)) if self.mode == Mode::Persistent => {
                self.close(rung_time, Then::Idle, now)
            }
            (State::Starting | State::Ready { .. }, Event::Stop(rung_time)) => self.close(rung_time, Then::Stop, now),
            (State::Stopping { rung, until, then }, Event::Stop(rung_time)) => {
                *then = Then::Stop;
                if *rung != Rung::Drain {
                    return Action::None;
                }
                self.rung_time = rung_time;
                (*rung, *until) = (Rung::Eof, now + rung_time);
                Action::CloseStdin
            }
            (State::Stopping { rung, until, .. }, Event::Drained) if *rung == Rung::Drain => {
                (*rung, *until) = (Rung::Eof, now + self.rung_time);
                Action::CloseStdin
            }
            (State::Stopping { then, .. }, Event::Rest) if *then == Then::Stop => {
                *then = Then::Idle;
                Action::None
            }
            (State::Failed { .. }, Event::Fell(_)) => Action::None,
            (_, Event::Fell(reason)) => self.fail(reason, false, now, jitter),
            (State::Stopping { rung, until, .. }, Event::Tick) if *until <= now => {
                let (next, action) = match rung {
                    Rung::Drain => (Rung::Eof, Action::CloseStdin),
                    Rung::Eof => (Rung::Term, Action::Terminate),
                    Rung::Term | Rung::Kill => (Rung::Kill, Action::Kill),
                };
                *rung = next;
                *until = now + self.rung_time;
                action
            }
            (State::Stopping { then, .. }, Event::Exited { .. }) => match std::mem::replace(then, Then::Stop) {
                Then::Stop => {
                    self.state = State::Stopped;
                    Action::None
                }
                Then::Start => self.spawn(),
                Then::Idle => {
                    self.state = State::Idle;
                    Action::None
                }
                Then::Fail(reason) => self.fail(reason, false, now, jitter),
            },
            (State::Idle | State::Backoff { .. } | State::Failed { .. }, Event::Stop(_) | Event::Dismiss(_)) => {
                self.state = State::Stopped;
                Action::None
            }
            _ => Action::None,
        }
    }

    /// Lets it finish what it has.
    fn drain(&mut self, grace: Grace, then: Then, now: Instant) -> Action {
        self.rung_time = grace.rung;
        self.state = State::Stopping {
            rung: Rung::Drain,
            until: now + grace.calls,
            then,
        };
        Action::None
    }

    /// Begins at the rung where stdin is closed.
    fn close(&mut self, rung_time: Duration, then: Then, now: Instant) -> Action {
        self.descend(Rung::Eof, rung_time, then, now);
        Action::CloseStdin
    }

    /// Sets it on `rung` of the ladder, with `rung_time` there and on each rung below.
    fn descend(&mut self, rung: Rung, rung_time: Duration, then: Then, now: Instant) {
        self.rung_time = rung_time;
        self.state = State::Stopping {
            rung,
            until: now + rung_time,
            then,
        };
    }

    fn spawn(&mut self) -> Action {
        self.state = State::Starting;
        self.ready_since = None;
        Action::Spawn
    }

    fn fail(&mut self, reason: String, success: bool, now: Instant, jitter: f64) -> Action {
        let healthy = self
            .ready_since
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        self.state = match self.restarts.ended(success, healthy, now, jitter) {
            Verdict::After(wait) => State::Backoff {
                until: now + wait,
                reason,
            },
            Verdict::Leave => State::Failed { reason },
            Verdict::GiveUp(failures) => State::Failed {
                reason: format!("{reason} (given up after {failures} failures)"),
            },
        };
        Action::None
    }

    /// Why no call can be served, and when that may change; `None` where one can, now or soon.
    pub fn unavailable(&self, now: Instant) -> Option<String> {
        match &self.state {
            State::Stopped | State::Stopping { then: Then::Stop, .. } => Some("stopped".to_owned()),
            State::Backoff { until, reason } => {
                let wait = Duration::from_millis(
                    u64::try_from(until.saturating_duration_since(now).as_millis()).unwrap_or(u64::MAX),
                );
                Some(format!("{reason}; tried again in {}", humantime::format_duration(wait)))
            }
            State::Failed { reason } => Some(format!("{reason}; not tried again before `toolhost start` or a reload")),
            State::Idle | State::Starting | State::Ready { .. } | State::Stopping { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
