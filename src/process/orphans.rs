//! The processes that toolboxes lose: they come back to this one, which ends and reaps them.
//!
//! This process is a *subreaper*: whoever loses its parent below it becomes its child, whatever session or group it is in.
//! So what a process leaves behind is found among our own children, without a look at the rest of the system, and told
//! from what other processes left by its [`Mark`].
//!
//! Reaping must not take the exit status of a child that somebody waits for. So nothing here waits for just any child: only
//! for one that is known not to be our own, at a moment when none is being born.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::mark::Mark;
use super::table;

/// Between two looks at what does not end at once.
const AGAIN: Duration = Duration::from_millis(1);

/// How often the guard is looked at when it has nothing more to do.
const FAREWELLS: u32 = 50;

/// What is known of the children of this process.
#[derive(Debug)]
pub(super) struct Orphans {
    mark: Mark,
    guard: Pid,
    /// Children from before there was a toolbox, the guard among them: never ended here.
    foreign: HashSet<i32>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// Started here; who did waits for them.
    own: HashSet<i32>,
    /// The numbers of those, from before they are started.
    living: HashSet<u64>,
    /// How many are being started at this moment.
    births: usize,
    /// Children that were not started here, and the number of the process they descend from, where they carry one.
    adopted: HashMap<i32, Option<u64>>,
}

/// What a look at the orphans has found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Children that carry no mark and were not known before: nothing but their number tells them.
    pub(super) unmarked: Vec<i32>,
    /// Children of that kind that are gone.
    pub(super) reaped: Vec<i32>,
    /// Whether one may be left that has ended and was not reaped, since something was just being started.
    pub(super) is_unsure: bool,
}

impl Orphans {
    /// Knows the present children as none of any toolbox.
    pub(super) fn new(mark: Mark, guard: Pid) -> Self {
        let mut foreign: HashSet<i32> = table::children().into_iter().collect();
        foreign.insert(guard.as_raw());
        Self {
            mark,
            guard,
            foreign,
            state: Mutex::default(),
        }
    }

    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// A process is about to be started; its number.
    pub(super) fn expect(&self) -> u64 {
        let mut state = self.lock();
        state.last += 1;
        state.births += 1;
        let number = state.last;
        state.living.insert(number);
        number
    }

    /// It was started.
    pub(super) fn born(&self, number: u64, pid: Pid) {
        let mut state = self.lock();
        state.births -= 1;
        state.own.insert(pid.as_raw());
        // Seen between its birth and this moment, or an orphan of the same id long gone.
        state.adopted.remove(&pid.as_raw());
        debug_assert!(state.living.contains(&number));
    }

    /// It could not be started.
    pub(super) fn unborn(&self, number: u64) {
        let mut state = self.lock();
        state.births -= 1;
        state.living.remove(&number);
    }

    /// It has ended: what descends from it has no right to live any more.
    pub(super) fn ended(&self, number: u64, pid: Pid) {
        let mut state = self.lock();
        state.own.remove(&pid.as_raw());
        state.living.remove(&number);
    }

    /// Whether a child is known that descends from that process.
    pub(super) fn has_left(&self, number: u64) -> bool {
        self.lock().adopted.values().any(|owner| *owner == Some(number))
    }

    /// Kills orphans of processes that have ended, and reaps the dead. Some microseconds where there are none.
    pub(super) fn sweep(&self) -> Found {
        let mut state = self.lock();
        // Read while nothing can begin to be born.
        let all = table::adopted();
        let State {
            own,
            living,
            adopted,
            births,
            ..
        } = &mut *state;
        let mut found = Found::default();
        for pid in all.iter().copied().filter(|pid| !own.contains(pid)) {
            let owner = adopted.get(&pid).copied().flatten().or_else(|| self.owner(pid));
            let is_left = owner.is_some_and(|number| !living.contains(&number));
            if is_left {
                end(pid);
            }
            // Until it is known as our own, one just born cannot be told from an orphan.
            let may_reap = *births == 0 || is_left || self.foreign.contains(&pid);
            found.is_unsure |= !may_reap;
            if may_reap && reap(pid) {
                if adopted.remove(&pid) == Some(None) {
                    found.reaped.push(pid);
                }
            } else if adopted.insert(pid, owner).is_none() && owner.is_none() && self.is_ours(pid) {
                found.unmarked.push(pid);
            }
        }
        adopted.retain(|pid, _| all.contains(pid));
        found
    }

    /// The process that a child descends from. Looked up again until it is known: it may be about to become a program.
    fn owner(&self, pid: i32) -> Option<u64> {
        if self.foreign.contains(&pid) {
            return None;
        }
        self.mark.number(&table::environment(pid))
    }

    /// Whether a child that nothing is known of comes from a toolbox. What was here before us may lose children to us too.
    fn is_ours(&self, pid: i32) -> bool {
        self.foreign.len() == 1 && !self.foreign.contains(&pid)
    }

    /// Kills and reaps every child, when no toolbox is to run any more. Whether none is left.
    pub(super) fn end_all(&self, patience: Duration) -> bool {
        let start = Instant::now();
        while !self.end_round() {
            if start.elapsed() > patience {
                return false;
            }
            std::thread::sleep(AGAIN);
        }
        true
    }

    fn end_round(&self) -> bool {
        let mut none_left = true;
        for pid in table::children() {
            if self.is_ours(pid) || self.is_known(pid) || self.owner(pid).is_some() {
                end(pid);
                none_left &= reap(pid);
            }
        }
        none_left
    }

    fn is_known(&self, pid: i32) -> bool {
        let state = self.lock();
        state.own.contains(&pid) || state.adopted.get(&pid).copied().flatten().is_some()
    }

    /// Reaps the guard, which was told to go: not every process 1 would. One that somebody has stopped is ended: it would
    /// stay for ever, and what it knows of numbers grows old.
    pub(super) fn see_off_the_guard(&self) {
        for look in 0..2 * FAREWELLS {
            if reap(self.guard.as_raw()) {
                return;
            }
            if look == FAREWELLS {
                // Its number is its own until it is reaped.
                let _gone = kill(self.guard, Signal::SIGKILL);
            }
            std::thread::sleep(AGAIN);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is whole before the lock is let go.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Kills a child of ours, and its group where it leads one. Its number is its own until it is reaped.
fn end(pid: i32) {
    let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
    // It may be over, and others of its group not. ESRCH: it leads none.
    let _none = killpg(Pid::from_raw(pid), Signal::SIGKILL);
}

/// Whether a child was dead and is now gone, or gone already.
fn reap(pid: i32) -> bool {
    !matches!(
        waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG)),
        Ok(WaitStatus::StillAlive) | Err(nix::Error::EINTR)
    )
}
