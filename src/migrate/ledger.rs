//! The accounts of a running host: entered on the task that reads the bus, kept in a file.
//!
//! Nothing is written, and nobody wakes, while nothing happens, but once an hour for the time that was counted. The first
//! entry after a writing wakes the keeper, which waits for more and writes once. Two kinds of entry do not wait: the first call
//! on a predecessor topic, and one on a topic that the file says is quiet. So a host that is killed forgets calls of a minute that the file knows to
//! be busy, and up to an hour of quiet, but never that a quiet was broken.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::usage::{Moment, Toolbox, Topic, Usage, Who};
use crate::log_limit::LogLimit;
use crate::state_folder::{Held, StateFolder};

/// When entries are written: a memory card has only so many writes.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How long entries are collected.
    period: Duration,
    /// How long after a writing none follows, however urgent.
    rest: Duration,
    /// How long time is counted, where there are no entries, before that is written.
    idle: Duration,
}

const PACE: Pace = Pace {
    period: Duration::from_secs(60),
    rest: Duration::from_secs(1),
    idle: Duration::from_secs(3600),
};

/// How often a failure is told.
const TELLING: Duration = Duration::from_secs(3600);

/// The accounts of this host.
#[derive(Debug)]
pub struct Ledger {
    start: Instant,
    file: Option<Kept>,
    pace: Pace,
    entries: Mutex<Entries>,
    /// There is something to write.
    wake: Notify,
    /// It must not wait.
    hurry: Notify,
}

/// Where the accounts are kept.
#[derive(Debug)]
struct Kept {
    folder: StateFolder,
    name: String,
    /// Nobody else writes there, where the file system can say so.
    _held: Option<Held>,
}

#[derive(Debug)]
struct Entries {
    usage: Usage,
    /// Whether there is something that the file does not have.
    unwritten: bool,
    /// Whether the file tells of a quiet that is over.
    misleading: bool,
    /// Why the file could not be written, until it could.
    fault: Option<String>,
    telling: LogLimit,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new(None, Usage::default())
    }
}

impl Ledger {
    fn new(file: Option<Kept>, usage: Usage) -> Self {
        Self {
            start: Instant::now(),
            file,
            pace: PACE,
            entries: Mutex::new(Entries {
                usage,
                unwritten: false,
                misleading: false,
                fault: None,
                telling: LogLimit::new(1, TELLING),
            }),
            wake: Notify::new(),
            hurry: Notify::new(),
        }
    }

    /// Goes on with what the file `name` holds, and keeps it there. One that cannot be read costs the counts, not the host.
    pub fn open(folder: StateFolder, name: String) -> Self {
        let held = match folder.hold(&format!("{name}.lock")) {
            Ok(Some(held)) => Some(held),
            Ok(None) => return Self::beside_another(&folder, &name),
            // Not every file system has locks, and not every folder can be written; the latter is told below.
            Err(_) => None,
        };
        let read = folder.read(&name).map_err(|error| error.to_string());
        let restored = match read.map(|text| text.map(|text| Usage::restored(&text))) {
            Ok(Some(Ok(usage))) => Some(usage),
            Ok(None) => None,
            Ok(Some(Err(why))) | Err(why) => {
                set_aside(&folder, &name, &why);
                None
            }
        };
        let kept = Kept {
            folder,
            name,
            _held: held,
        };
        match restored {
            Some(usage) => Self::resumed(kept, usage),
            None => Self::new(Some(kept), Usage::default()),
        }
    }

    /// Goes on with `usage`. Where the file cannot be written now, the host before could perhaps not write it either.
    fn resumed(kept: Kept, mut usage: Usage) -> Self {
        let written = kept.folder.write_through(&kept.name, &usage.text());
        if let Err(error) = &written {
            let file = kept.folder.path(&kept.name);
            tracing::warn!(file = %file.display(), %error, "the counts of calls cannot be kept: no quiet of before this start counts");
            usage.doubt();
        }
        let ledger = Self::new(Some(kept), usage);
        ledger.lock().fault = written.err().map(|error| ledger.words(&error));
        ledger
    }

    /// Counts without a file, since another host has it.
    fn beside_another(folder: &StateFolder, name: &str) -> Self {
        let file = folder.path(name);
        tracing::warn!(file = %file.display(), "another toolhost with this configuration keeps its counts of calls there: those of this one are not kept");
        Self::without_file(format!(
            "another toolhost with this configuration has the file {}",
            file.display()
        ))
    }

    /// Counts for this run only; `why` is told with the counts.
    pub fn without_file(why: impl Into<String>) -> Self {
        let ledger = Self::default();
        ledger.lock().fault = Some(why.into());
        ledger
    }

    /// Counts one call; `keys` writes the context keys of a caller that is new.
    pub fn count<'k, I: Iterator<Item = &'k str>>(
        &self,
        toolbox_id: &str,
        topic: Topic,
        who: &Who<'_>,
        keys: impl FnOnce() -> I,
    ) {
        let now = self.soon();
        let must_hurry = self.enter(|entries| {
            let is_news = entries.usage.count(toolbox_id, topic, who, keys, now);
            entries.misleading |= is_news;
            is_news
        });
        if must_hurry {
            self.hurry.notify_one();
        }
    }

    /// The toolboxes that are there from now on are these.
    pub fn present<'i>(&self, ids: impl IntoIterator<Item = &'i str>) {
        let now = self.now();
        self.enter(|entries| entries.usage.present(ids, now));
    }

    /// The bus is there, or gone.
    pub fn connected(&self, connected: bool) {
        let now = if connected { self.soon() } else { self.now() };
        self.enter(|entries| entries.usage.connected(connected, now));
    }

    /// What there is to tell of the toolboxes that are there.
    pub fn told(&self) -> Vec<(String, Toolbox)> {
        self.lock().usage.told(self.now())
    }

    /// The same for the report that somebody waits on with a quiet period: the time counted so far is worth a writing.
    pub fn reported(&self) -> Vec<(String, Toolbox)> {
        let now = self.now();
        self.enter(|entries| entries.usage.told(now))
    }

    /// Why the counts are not kept over a restart, where they are not.
    pub fn fault(&self) -> Option<String> {
        self.lock().fault.clone()
    }

    /// Writes what is entered, at most once in a while, until `stop`; then once more.
    pub async fn keep(self: Arc<Self>, stop: CancellationToken) {
        while stop.run_until_cancelled(self.next_writing()).await.is_some() {
            let is_written = self.write_aside(false).await;
            // What failed fails again at once, most likely.
            let rest = if is_written { self.pace.rest } else { self.pace.period };
            stop.run_until_cancelled(sleep(rest)).await;
        }
        self.write_aside(true).await;
    }

    async fn next_writing(&self) {
        loop {
            if timeout(self.pace.idle, self.wake.notified()).await.is_ok() {
                // Either way it is time.
                _ = timeout(self.pace.period, self.hurry.notified()).await;
                return;
            }
            let mut entries = self.lock();
            if entries.usage.is_counting() {
                entries.unwritten = true;
                return;
            }
        }
    }

    /// Writes on a thread that may wait for a disk; whether that went well.
    async fn write_aside(self: &Arc<Self>, at_last: bool) -> bool {
        let ledger = Arc::clone(self);
        // A panic in there was reported where it happened.
        tokio::task::spawn_blocking(move || ledger.write(at_last))
            .await
            .unwrap_or(false)
    }

    fn enter<T>(&self, entry: impl FnOnce(&mut Entries) -> T) -> T {
        let mut entries = self.lock();
        let told = entry(&mut entries);
        if !std::mem::replace(&mut entries.unwritten, true) {
            self.wake.notify_one();
        }
        told
    }

    fn write(&self, at_last: bool) -> bool {
        let Some(kept) = &self.file else { return true };
        let (copy, was_misleading) = {
            let mut entries = self.lock();
            // At last, the time that was counted is reason enough.
            if !std::mem::take(&mut entries.unwritten) && !at_last {
                return true;
            }
            let now = self.now();
            let copy = match at_last {
                true => entries.usage.kept_at_last(now),
                false => entries.usage.kept_meanwhile(now),
            };
            (copy, std::mem::take(&mut entries.misleading))
        };
        let written = kept.folder.write_through(&kept.name, &copy.text());
        let mut entries = self.lock();
        match written {
            Ok(()) => {
                if entries.fault.take().is_some() {
                    tracing::info!("the counts of calls are kept again");
                }
                true
            }
            Err(error) => {
                entries.usage.file_is_old();
                entries.misleading |= was_misleading;
                let stale = entries.misleading && kept.take_out_of_the_way();
                entries.misleading &= !stale;
                entries.fault = Some(self.words(&error));
                if !std::mem::replace(&mut entries.unwritten, true) {
                    self.wake.notify_one();
                }
                if entries.telling.admit(Instant::now()).is_some() {
                    let file = kept.folder.path(&kept.name);
                    tracing::warn!(file = %file.display(), %error, "the counts of calls cannot be kept: a restart forgets them");
                }
                false
            }
        }
    }

    fn words(&self, error: &std::io::Error) -> String {
        let path = self.file.as_ref().map(|kept| kept.folder.path(&kept.name));
        format!("cannot write {}: {error}", path.unwrap_or_default().display())
    }

    /// What the clock on the wall shows, in seconds since 1970: told with calls, and nothing waits for it.
    pub fn time_of_day(&self) -> u64 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        wall.unwrap_or_default().as_secs()
    }

    fn now(&self) -> Moment {
        Moment {
            wall: self.time_of_day(),
            steady: self.start.elapsed().as_secs(),
        }
    }

    /// The next full second, for what begins a quiet: none counts for longer than it was.
    fn soon(&self) -> Moment {
        let now = self.now();
        Moment {
            steady: now.steady + 1,
            ..now
        }
    }

    /// The accounts are whole after every entry, whatever panicked elsewhere.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Takes the file away that tells of a quiet which is over, where it can be no better: even a full disk allows that.
    /// Whether it is gone.
    fn take_out_of_the_way(&self) -> bool {
        let path = self.folder.path(&self.name);
        std::fs::rename(&path, path.with_extension("stale")).is_ok()
    }
}

fn set_aside(folder: &StateFolder, name: &str, why: &str) {
    let path = folder.path(name);
    let aside = path.with_extension("bad");
    let kept = std::fs::rename(&path, &aside).is_ok().then_some(aside);
    tracing::warn!(file = %path.display(), why, ?kept, "the counts of calls cannot be read: counting begins anew");
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
