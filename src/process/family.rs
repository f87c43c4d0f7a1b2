//! A process and all that descends from it: what is to be gone when the process is.

use std::ffi::OsString;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid};

use super::guard::Guard;
use super::orphans::Orphans;

/// One of them, from before it is started until nothing of it is left. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct Family {
    guard: Guard,
    number: Option<u64>,
    /// Its first process, whose group all belong to that have not left it. None before it is born.
    leader: Option<Pid>,
    is_over: bool,
}

impl Family {
    /// A process is about to be started.
    pub(super) fn expect(guard: &Guard) -> Self {
        Self {
            number: guard.orphans().map(Orphans::expect),
            guard: guard.clone(),
            leader: None,
            is_over: false,
        }
    }

    /// What it has to carry in its environment: a variable and its value.
    pub(super) fn mark(&self) -> Option<(&'static str, OsString)> {
        let (orphans, number) = self.known()?;
        Some((super::mark::VARIABLE, orphans.mark().value(number)))
    }

    /// It was started, as the leader of a group of its own.
    pub(super) fn born(&mut self, leader: Pid) {
        self.leader = Some(leader);
        if let Some((orphans, number)) = self.known() {
            orphans.born(number, leader);
        }
        self.guard.watch(leader);
    }

    /// Signals the whole group, and its first process where that has left it: nobody else could end it.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(leader) = self.leader else { return };
        // Until it is waited for, its number is its own.
        if !self.is_over && getpgid(Some(leader)).is_ok_and(|group| group != leader) {
            let _gone = kill(leader, signal);
        }
        // ESRCH: the group is gone already, which is what any signal here is after.
        let _gone = killpg(leader, signal);
    }

    /// The process was waited for: what is left of the family has to go. Whether none is.
    pub(super) fn end(&mut self) -> bool {
        self.leader_gone();
        // First those that lost their parent, while their environment can still be read.
        let is_gone = self.is_gone();
        self.signal(Signal::SIGKILL);
        if let Some(leader) = self.leader {
            self.guard.forget(leader);
        }
        is_gone
    }

    /// Looks again, and kills what it finds.
    pub(super) fn is_gone(&self) -> bool {
        self.guard.sweep();
        self.known().is_none_or(|(orphans, number)| !orphans.has_left(number))
    }

    /// Who knows of it, and as which number; nobody where this process has no guard.
    fn known(&self) -> Option<(&Orphans, u64)> {
        Some((self.guard.orphans()?, self.number?))
    }

    fn leader_gone(&mut self) {
        self.is_over = true;
        if let (Some((orphans, number)), Some(leader)) = (self.known(), self.leader) {
            orphans.ended(number, leader);
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let Some(leader) = self.leader else {
            if let Some((orphans, number)) = self.known() {
                orphans.unborn(number);
            }
            return;
        };
        // A task that panics or is dropped leaves nothing running: what is lost now is ended by the next sweep.
        self.signal(Signal::SIGKILL);
        self.guard.forget(leader);
        self.leader_gone();
    }
}
