//! What the owner of a host asks of one toolbox: to stop it, to start it, to start it anew.
//!
//! An order is *open* until the toolbox stands as asked, or cannot. A later order for the opposite ends it.

use std::time::Instant;

use tokio::sync::oneshot;

use super::lifecycle::{Event, Grace, Rung, State, Then};
use super::toolbox::Toolbox;
use crate::adapter::Adapter;
use crate::config::Mode;
use crate::tools::outcome::CallError;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Be down until started.
    Stop,
    /// Be up; failures are forgiven.
    Start,
    /// Be up with new processes, or with tools read anew.
    Restart,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It is down.
    Stopped,
    /// It was down by an earlier order.
    WasStopped,
    /// It is up.
    Started,
    /// It was up already.
    WasRunning,
    /// It is up with new processes.
    Restarted,
    /// It has no process; its tools were read anew.
    ReadAgain,
}

/// How an order ended; in words why it was not carried out.
pub type OrderEnd = Result<Done, String>;

/// An order that is not carried out yet.
#[derive(Debug)]
pub(super) struct Open {
    done: Done,
    answer: oneshot::Sender<OrderEnd>,
}

impl Open {
    /// Tells whoever still waits.
    fn end(self, end: OrderEnd) {
        let _gone = self.answer.send(end);
    }
}

impl Toolbox {
    /// Begins to carry out an order.
    pub(super) async fn order(&mut self, order: Order, grace: Grace, answer: oneshot::Sender<OrderEnd>) {
        if self.is_stopping() {
            return Open {
                done: Done::Stopped,
                answer,
            }
            .end(Err(going().to_owned()));
        }
        tracing::info!(toolbox = self.config.id, ?order, "asked by its owner");
        if self.held != (order == Order::Stop) {
            let meanwhile = if self.held { "started" } else { "stopped" };
            self.end_orders(&Err(format!("{meanwhile} by a later command")));
        }
        let begun = match order {
            Order::Stop => Ok(self.begin_stop(grace).await),
            Order::Start => Ok(self.begin_start().await),
            Order::Restart => self.begin_restart(grace).await,
        };
        match begun {
            Ok(done) => self.orders.push(Open { done, answer }),
            Err(why) => Open {
                done: Done::ReadAgain,
                answer,
            }
            .end(Err(why)),
        }
    }

    async fn begin_stop(&mut self, grace: Grace) -> Done {
        let done = if std::mem::replace(&mut self.held, true) {
            Done::WasStopped
        } else {
            Done::Stopped
        };
        for index in 0..self.workers.len() {
            self.dismiss(index, Event::Dismiss(grace)).await;
        }
        done
    }

    async fn begin_start(&mut self) -> Done {
        let done = if self.is_all_up() {
            Done::WasRunning
        } else {
            Done::Started
        };
        self.held = false;
        // What its owner asks for stays up.
        self.only_to_describe = false;
        if done == Done::Started && !self.is_succeeding() {
            self.start_all().await;
        }
        done
    }

    async fn begin_restart(&mut self, grace: Grace) -> OrderEnd {
        let was_up = !self.held && self.serves();
        self.held = false;
        self.only_to_describe = false;
        if self.is_succeeding() {
            // It starts anew by itself, once it can.
            return Ok(Done::Restarted);
        }
        match (&self.adapter, self.config.mode) {
            (Adapter::Runs(_), _) if was_up => {
                return self
                    .read_commands()
                    .map(|()| Done::ReadAgain)
                    .map_err(|why| format!("its tools cannot be read, they stay as they were: {why}"));
            }
            // One process describes; the next request starts a new one anyway.
            (_, Mode::Oneshot) => {
                let index = self.idle_worker().unwrap_or_default();
                self.dismiss(index, Event::Renew(grace)).await;
            }
            (_, Mode::Persistent) => {
                for index in self.awake() {
                    self.dismiss(index, Event::Renew(grace)).await;
                }
            }
        }
        Ok(if was_up { Done::Restarted } else { Done::Started })
    }

    /// Lets the process of a slot go, if it has one.
    pub(super) async fn dismiss(&mut self, index: usize, event: Event) {
        if let Some(worker) = self.workers.get_mut(index) {
            worker.dismissed = worker.process.is_some();
        }
        self.step(index, event).await;
    }

    /// Takes the processes off the first rung that have finished what they had.
    pub(super) async fn let_go_of_idle(&mut self) {
        for index in 0..self.workers.len() {
            let drained = self.workers.get(index).is_some_and(|worker| {
                let drains = matches!(worker.lifecycle.state(), State::Stopping { rung: Rung::Drain, .. });
                drains && !worker.has_calls()
            });
            if drained {
                self.step(index, Event::Drained).await;
            }
        }
    }

    /// What a call gets that the process of a slot had when it was made to end; `None` where nobody made it.
    pub(super) fn cut_off(&self, index: usize) -> Option<CallError> {
        let why = if self.is_stopping() {
            "stopped while it worked on the call".to_owned()
        } else if !self.workers.get(index)?.is_cut_off() {
            return None;
        } else if self.held {
            self.held_words()
        } else {
            "restarted by its owner while it worked on the call".to_owned()
        };
        Some(CallError::Unavailable(why))
    }

    /// What callers are told while it is stopped.
    pub(super) fn held_words(&self) -> String {
        format!(
            "stopped by its owner; start it with `toolhost start {}`",
            self.config.id
        )
    }

    /// The slots whose processes are to be renewed: those that rest need it only where all do, and then one is enough.
    fn awake(&self) -> Vec<usize> {
        let starters = self.starters();
        let slots = self.workers.iter().enumerate();
        let awake = slots.filter(|(index, worker)| {
            let stopped = *worker.lifecycle.state() == State::Stopped;
            !worker.rests() && (!stopped || *index < starters)
        });
        let awake: Vec<usize> = awake.map(|(index, _)| index).collect();
        if awake.is_empty() { vec![0] } else { awake }
    }

    /// Whether any process, or none where it needs none, serves calls or will in a moment.
    fn serves(&self) -> bool {
        let serves = |state: &State| match state {
            State::Idle => self.config.mode == Mode::Oneshot,
            state => matches!(state, State::Starting | State::Ready { .. }),
        };
        self.workers.iter().any(|worker| serves(worker.lifecycle.state()))
    }

    /// Whether there is nothing to start.
    fn is_all_up(&self) -> bool {
        let down = |state: &State| match state {
            State::Stopped | State::Backoff { .. } | State::Failed { .. } => true,
            State::Stopping { then, .. } => matches!(then, Then::Stop | Then::Fail(_)),
            State::Idle | State::Starting | State::Ready { .. } => false,
        };
        !self.held && !self.is_asleep() && !self.workers.iter().any(|worker| down(worker.lifecycle.state()))
    }

    /// Ends the open orders once the toolbox stands as asked, or cannot.
    pub(super) fn settle_orders(&mut self) {
        if self.orders.is_empty() {
            return;
        }
        if self.is_stopping() {
            return self.end_orders(&Err(going().to_owned()));
        }
        if let Some(standing) = self.standing() {
            self.end_orders(&standing);
        }
    }

    /// Ends every open order, each with what it did or all with the same error.
    pub(super) fn end_orders(&mut self, standing: &Result<(), String>) {
        for open in std::mem::take(&mut self.orders) {
            let end = standing.clone().map(|()| open.done);
            open.end(end);
        }
    }

    /// Whether it stands as its owner asked; `None` while it is on its way.
    fn standing(&self) -> Option<Result<(), String>> {
        if self.is_succeeding() {
            return None;
        }
        if self.held {
            let stopped = |state: &State| *state == State::Stopped;
            return self
                .workers
                .iter()
                .all(|worker| stopped(worker.lifecycle.state()))
                .then_some(Ok(()));
        }
        let now = Instant::now();
        let mut standing = Ok(());
        for worker in &self.workers {
            match worker.lifecycle.state() {
                State::Starting
                | State::Stopping {
                    then: Then::Start | Then::Fail(_),
                    ..
                } => return None,
                State::Backoff { .. } | State::Failed { .. } if standing.is_ok() => {
                    standing = worker.lifecycle.unavailable(now).map_or(Ok(()), Err);
                }
                _ => {}
            }
        }
        Some(standing)
    }
}

/// Why an order comes too late.
fn going() -> &'static str {
    "it is being removed or replaced by a reload, or its host stops"
}
