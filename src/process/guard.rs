//! What outlives the host for a moment: a process that ends the children of a host that was killed.
//!
//! A host ended by SIGKILL cannot tidy up, closing pipes reaches only children that read, and a
//! parent-death signal reaches only direct ones and follows the thread that spawned them. So the
//! host forks a guard before it has threads. The guard holds one end of a pipe on which it is told
//! every process group there is. When the other end closes it kills what is left of them, what they
//! are parents of, and whatever carries the host's mark.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::prctl::{set_child_subreaper, set_name};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, fork, pipe2, setsid, write};

use super::mark::Mark;
use super::orphans::Orphans;
use super::table::{self, Entry};

/// How long the end of all processes may take when a host ends, before it is left to the guard.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the guard looks for what is left, and the time between: one that forks while it is killed leaves another.
const ROUNDS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(10);

/// The guard of this process, once it has one.
static GUARD: OnceLock<Guard> = OnceLock::new();

/// What this process knows of all that runs below it, and its line to the guard. A clone is the same; the default one
/// knows nothing and speaks to nobody.
#[derive(Debug, Clone, Default)]
pub struct Guard(Option<Arc<Watch>>);

#[derive(Debug)]
struct Watch {
    mouth: OwnedFd,
    /// What the guard has not taken yet, of each group the latest: whether it is there.
    untold: Mutex<BTreeMap<i32, bool>>,
    orphans: Orphans,
}

impl Guard {
    /// Forks the guard of this process, which [`Guard::of_this_process`] gives out from then on, and makes this process
    /// the one that orphans below it come back to.
    ///
    /// Must be called while the process has one thread, since the guard goes on with whatever
    /// locks the others held.
    ///
    /// # Errors
    /// The system's, where it has no further process or descriptor.
    pub fn start() -> nix::Result<()> {
        let mark = Mark::of_this_process();
        set_child_subreaper(true)?;
        let (ears, mouth) = pipe2(OFlag::O_CLOEXEC)?;
        // SAFETY: the caller promises that no other thread exists, so the child may allocate.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => {
                let watch = Watch::new(mouth, Orphans::new(mark, child))?;
                // A second one would watch over the same groups: the first stays.
                GUARD.get_or_init(|| Self(Some(Arc::new(watch))));
                Ok(())
            }
            ForkResult::Child => {
                drop(mouth);
                stand_guard(ears, &mark);
                std::process::exit(0);
            }
        }
    }

    /// The guard that was started, or none: then a host that is killed leaves its children to
    /// the end of their stdin.
    pub fn of_this_process() -> Self {
        GUARD.get().cloned().unwrap_or_default()
    }

    /// Ends whatever still runs below this process: for its end, when nothing is started or waited for any more.
    pub fn end_all(&self) {
        let Some(watch) = &self.0 else { return };
        if watch.orphans.end_all(PATIENCE) {
            let _told = watch.say(&format!("{ALL_WELL}\n"));
            watch.orphans.see_off_the_guard();
        }
    }

    /// Reaps orphans that have ended and kills those whose process has. Whether all that can be done is done.
    pub fn sweep(&self) -> bool {
        let Some(watch) = &self.0 else { return true };
        let found = watch.orphans.sweep();
        // Without a mark to find them by, the guard has to know their numbers.
        found.unmarked.iter().for_each(|pid| self.watch(Pid::from_raw(*pid)));
        found.reaped.iter().for_each(|pid| self.forget(Pid::from_raw(*pid)));
        !found.is_unsure
    }

    /// What is known of the processes below this one, where it is known.
    pub(super) fn orphans(&self) -> Option<&Orphans> {
        self.0.as_ref().map(|watch| &watch.orphans)
    }

    /// From now on the process of that number and its group are killed when the host dies.
    pub(super) fn watch(&self, group: Pid) {
        self.tell(group, true);
    }

    /// `group` is gone; its number may be somebody else's soon.
    pub(super) fn forget(&self, group: Pid) {
        self.tell(group, false);
    }

    fn tell(&self, group: Pid, is_there: bool) {
        if let Some(watch) = &self.0 {
            watch.tell(group, is_there);
        }
    }
}

impl Watch {
    fn new(mouth: OwnedFd, orphans: Orphans) -> nix::Result<Self> {
        fcntl(&mouth, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self {
            mouth,
            untold: Mutex::default(),
            orphans,
        })
    }

    /// Never waits: somebody may have stopped the guard. What it does not take now it is told with what comes next, since
    /// a group it knows for too long may have become somebody else's.
    fn tell(&self, group: Pid, is_there: bool) {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        untold.insert(group.as_raw(), is_there);
        while let Some(next) = untold.first_entry() {
            let sign = if *next.get() { '+' } else { '-' };
            if self.say(&format!("{sign}{}\n", next.key())) == Err(Errno::EAGAIN) {
                return;
            }
            // Without the guard (somebody killed it) the host goes on as if it had none.
            next.remove();
        }
    }

    /// A line is so short that the pipe takes all of it or nothing.
    fn say(&self, line: &str) -> nix::Result<usize> {
        write(self.mouth.as_fd(), line.as_bytes())
    }
}

/// The last line of a host that leaves nothing.
const ALL_WELL: &str = ".";

/// Listens until the host is gone, then kills what it left.
fn stand_guard(ears: OwnedFd, mark: &Mark) {
    // Out of the terminal's and the service manager's reach: Ctrl-C and SIGTERM are for the host.
    let _already_leader = setsid();
    let _unmasked = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&SigSet::all()), None);
    let _unnamed = set_name(c"toolhost-guard");
    // Whoever reads the host's stdout waits for every copy of it to close.
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _kept = dup2_stdin(&null)
            .and_then(|()| dup2_stdout(&null))
            .and_then(|()| dup2_stderr(&null));
    }
    let mut groups = BTreeSet::new();
    for line in BufReader::new(std::fs::File::from(ears)).lines().map_while(Result::ok) {
        if line == ALL_WELL {
            return;
        }
        note(&mut groups, &line);
    }
    end_what_is_left(&groups, mark);
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

fn end_what_is_left(groups: &BTreeSet<i32>, mark: &Mark) {
    let is_marked = |entry: &Entry| mark.number(&table::environment(entry.pid)).is_some();
    // All at once, while it shows who is whose parent.
    let all: Vec<_> = table::all().collect();
    family(&all, groups, is_marked).into_iter().for_each(end);
    for _ in 0..ROUNDS {
        std::thread::sleep(BETWEEN);
        // Then each in the moment it is seen: one that forks and ends, again and again, is somebody else a moment later.
        let left = table::all().filter(|entry| is_alive(entry) && (is_of(groups, entry) || is_marked(entry)));
        if left.inspect(|entry| end(entry.pid)).count() == 0 {
            return;
        }
    }
}

fn end(pid: i32) {
    let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
}

/// Whether it is there to be killed, and neither this process nor the first.
fn is_alive(entry: &Entry) -> bool {
    !entry.is_over && entry.pid > 1 && entry.pid.unsigned_abs() != std::process::id()
}

fn is_of(groups: &BTreeSet<i32>, entry: &Entry) -> bool {
    groups.contains(&entry.group) || groups.contains(&entry.pid)
}

/// Who of `all` is alive and of one of `groups`, or marked, or a descendant of those.
fn family(all: &[Entry], groups: &BTreeSet<i32>, is_marked: impl Fn(&Entry) -> bool) -> BTreeSet<i32> {
    let alive = || all.iter().filter(|entry| is_alive(entry));
    let mut found: BTreeSet<i32> = alive()
        .filter(|entry| is_of(groups, entry) || is_marked(entry))
        .map(|entry| entry.pid)
        .collect();
    loop {
        let before = found.len();
        let children = alive().filter(|entry| found.contains(&entry.parent));
        let children: Vec<i32> = children.map(|entry| entry.pid).collect();
        found.extend(children);
        if found.len() == before {
            return found;
        }
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

    #[test]
    fn whoever_descends_from_a_group_is_left_as_well() {
        let entry = |pid, parent, group, is_over| Entry {
            pid,
            parent,
            group,
            is_over,
        };
        let all = [
            entry(20, 1, 20, false),
            entry(21, 20, 20, false),
            // Left the group, and so did its own child.
            entry(22, 21, 22, false),
            entry(23, 22, 23, false),
            // Dead already.
            entry(24, 20, 20, true),
            // Lost its parent, and carries a mark or was told by its number.
            entry(25, 1, 25, false),
            entry(26, 1, 26, false),
            // Somebody else's.
            entry(27, 1, 27, false),
            entry(1, 0, 1, false),
        ];
        let groups = BTreeSet::from([20, 26]);
        let left = family(&all, &groups, |entry| entry.pid == 25);
        assert_eq!(left.into_iter().collect::<Vec<_>>(), [20, 21, 22, 23, 25, 26]);
    }

    #[test]
    fn a_guard_that_somebody_stopped_holds_nobody_up_and_is_told_the_rest_later() {
        let (ears, mouth) = pipe2(OFlag::O_CLOEXEC).unwrap();
        let orphans = Orphans::new(Mark::of_this_process(), Pid::this());
        let watch = Watch::new(mouth, orphans).unwrap();
        // More than any pipe holds.
        for group in 2..100_000 {
            watch.tell(Pid::from_raw(group), true);
            watch.tell(Pid::from_raw(group), false);
        }
        let reader = std::thread::spawn(move || {
            let mut groups = BTreeSet::new();
            for line in BufReader::new(std::fs::File::from(ears)).lines().map_while(Result::ok) {
                note(&mut groups, &line);
            }
            groups
        });
        while !watch.untold.lock().unwrap().is_empty() {
            watch.tell(Pid::from_raw(7), true);
        }
        drop(watch);
        assert_eq!(reader.join().unwrap(), BTreeSet::from([7]));
    }
}
