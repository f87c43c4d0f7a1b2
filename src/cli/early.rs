//! What comes before all else: the memory is closed to others, and signals are held back.
//!
//! A SIGHUP in the first moments, from a log rotation or an impatient unit file, would end the
//! program by default. So the signals are held back from the first line of `main` on, stay
//! pending, and are delivered once the handlers are there.

use std::marker::PhantomData;

use nix::sys::signal::{SigSet, Signal};

/// Signals held back from this thread, and from every thread it starts meanwhile, until dropped.
///
/// Threads started meanwhile never take these signals: they go to the one that let them through.
/// (Programs started meanwhile do: the standard library starts them with nothing held back.)
#[must_use = "dropping it lets the signals through"]
#[derive(Debug)]
pub struct Held {
    signals: SigSet,
    /// The mask belongs to a thread, so this stays on it.
    _thread: PhantomData<*const ()>,
}

/// Keeps what is in the memory of this process from core dumps, and from other processes of the same user.
///
/// The environment of toolboxes and the arguments of calls pass through it, and both have secrets. It holds for the guard,
/// which is a copy of this process, and for no program that is started: each has its own memory, and dumps as ever.
/// `RLIMIT_CORE` would be handed on to them.
pub fn close_memory() {
    // It cannot fail with these arguments.
    nix::sys::prctl::set_dumpable(false).unwrap_or_default();
}

/// Holds back what a host handles: SIGHUP, SIGINT, SIGTERM.
pub fn hold() -> Held {
    let signals: SigSet = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    // It cannot fail with these signals; if it did, they would come as they always come.
    signals.thread_block().unwrap_or_default();
    Held {
        signals,
        _thread: PhantomData,
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.signals.thread_unblock().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_held_back_until_the_guard_goes() {
        // On a thread of its own, whose mask is nobody else's.
        let thread = std::thread::spawn(|| {
            let blocked = || SigSet::thread_get_mask().unwrap().contains(Signal::SIGHUP);
            let held = hold();
            let while_held = blocked();
            drop(held);
            (while_held, blocked())
        });
        assert_eq!(thread.join().unwrap(), (true, false));
    }
}
