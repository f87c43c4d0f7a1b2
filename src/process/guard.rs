//! What outlives the host for a moment: a process that ends the children of a host that was killed.
//!
//! A host ended by SIGKILL cannot tidy up, closing pipes reaches only children that read, and a
//! parent-death signal reaches only direct ones and follows the thread that spawned them. So the
//! host forks a guard before it has threads. The guard holds one end of a pipe on which it is told
//! every process group there is, and kills what is left of them when the other end closes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use nix::fcntl::OFlag;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, sigprocmask};
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, fork, pipe2, setsid, write};

/// The host's end of the guard. A clone speaks to the same guard.
#[derive(Debug, Clone, Default)]
pub struct Guard(Option<Arc<OwnedFd>>);

impl Guard {
    /// Forks the guard.
    ///
    /// Must be called while the process has one thread, since the guard goes on with whatever
    /// locks the others held.
    ///
    /// # Errors
    /// The system's, where it has no further process or descriptor.
    pub fn start() -> nix::Result<Self> {
        let (ears, mouth) = pipe2(OFlag::O_CLOEXEC)?;
        // SAFETY: the caller promises that no other thread exists, so the child may allocate.
        match unsafe { fork() }? {
            ForkResult::Parent { .. } => Ok(Self(Some(Arc::new(mouth)))),
            ForkResult::Child => {
                drop(mouth);
                stand_guard(ears);
                std::process::exit(0);
            }
        }
    }

    /// No guard: a host that is killed leaves its children to the end of their stdin.
    pub fn none() -> Self {
        Self(None)
    }

    /// From now on `group` is killed when the host dies.
    pub(super) fn watch(&self, group: Pid) {
        self.tell('+', group);
    }

    /// `group` is gone; its number may be somebody else's soon.
    pub(super) fn forget(&self, group: Pid) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: Pid) {
        let Some(mouth) = &self.0 else { return };
        // A few bytes to a reader that does nothing else: the pipe is never full. Without the
        // guard (somebody killed it) the host goes on as if it had none.
        let _told = write(mouth.as_fd(), format!("{sign}{group}\n").as_bytes());
    }
}

/// Listens until the host is gone, then kills what it left.
fn stand_guard(ears: OwnedFd) {
    // Out of the terminal's and the service manager's reach: Ctrl-C and SIGTERM are for the host.
    let _already_leader = setsid();
    let _unmasked = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&SigSet::all()), None);
    let _unnamed = nix::sys::prctl::set_name(c"toolhost-guard");
    // Whoever reads the host's stdout waits for every copy of it to close.
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _kept = dup2_stdin(&null)
            .and_then(|()| dup2_stdout(&null))
            .and_then(|()| dup2_stderr(&null));
    }
    let mut groups = BTreeSet::new();
    for line in BufReader::new(std::fs::File::from(ears)).lines().map_while(Result::ok) {
        note(&mut groups, &line);
    }
    for group in groups {
        let _gone = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

fn note(groups: &mut BTreeSet<i32>, line: &str) {
    let Some((sign, number)) = line.split_at_checked(1) else {
        return;
    };
    match (sign, number.parse()) {
        // 0 and 1 would be the guard's own group and everybody's.
        ("+", Ok(group)) if group > 1 => _ = groups.insert(group),
        ("-", Ok(group)) => _ = groups.remove(&group),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_knows_who_is_left() {
        let mut groups = BTreeSet::new();
        for line in ["+12", "+13", "-12", "+0", "+1", "", "é", "+x", "+14"] {
            note(&mut groups, line);
        }
        assert_eq!(groups.into_iter().collect::<Vec<_>>(), [13, 14]);
    }
}
