//! The accounts of a running host: entered on the task that reads the bus, kept in a file.
//!
//! Nothing is written, and nobody wakes, while nothing happens: the first entry after a writing wakes the keeper, which
//! waits for more and writes once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::usage::{Moment, Toolbox, Topic, Usage, Who};
use crate::state_folder::StateFolder;

/// How long entries are collected before they are written: a memory card has only so many writes.
const PERIOD: Duration = Duration::from_secs(60);

/// The accounts of this host.
#[derive(Debug)]
pub struct Ledger {
    start: Instant,
    file: Option<(StateFolder, String)>,
    entries: Mutex<Entries>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    usage: Usage,
    /// Whether there is something that the file does not have.
    unwritten: bool,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new(None, Usage::default())
    }
}

impl Ledger {
    fn new(file: Option<(StateFolder, String)>, usage: Usage) -> Self {
        Self {
            start: Instant::now(),
            file,
            entries: Mutex::new(Entries {
                usage,
                unwritten: false,
            }),
            wake: Notify::new(),
        }
    }

    /// Goes on with what the file `name` holds, and keeps it there. One that cannot be read costs the counts, not the host.
    pub fn open(folder: StateFolder, name: String) -> Self {
        let kept = folder.read(&name).map_err(|error| error.to_string());
        let usage = match kept.map(|text| text.map(|text| Usage::restored(&text))) {
            Ok(Some(Ok(usage))) => usage,
            Ok(None) => Usage::default(),
            Ok(Some(Err(why))) | Err(why) => {
                let path = folder.path(&name);
                let aside = path.with_extension("bad");
                let kept = std::fs::rename(&path, &aside).is_ok().then_some(aside);
                tracing::warn!(file = %path.display(), why, ?kept, "the counts of calls cannot be read: counting begins anew");
                Usage::default()
            }
        };
        Self::new(Some((folder, name)), usage)
    }

    /// Counts one call; `keys` writes the context keys of a caller that is new.
    pub fn count<'k, I: Iterator<Item = &'k str>>(
        &self,
        toolbox_id: &str,
        topic: Topic,
        who: &Who<'_>,
        keys: impl FnOnce() -> I,
    ) {
        let now = self.now();
        self.enter(|usage| usage.count(toolbox_id, topic, who, keys, now));
    }

    /// The toolboxes that are there from now on are these.
    pub fn present<'i>(&self, ids: impl IntoIterator<Item = &'i str>) {
        let now = self.now();
        self.enter(|usage| usage.present(ids, now));
    }

    /// The bus is there, or gone.
    pub fn connected(&self, connected: bool) {
        let now = self.now();
        self.enter(|usage| usage.connected(connected, now));
    }

    /// What there is to tell of the toolboxes that are there.
    pub fn told(&self) -> Vec<(String, Toolbox)> {
        self.lock().usage.told(self.now())
    }

    /// The same for the report that somebody waits on with a quiet period: the time counted so far is worth a writing.
    pub fn reported(&self) -> Vec<(String, Toolbox)> {
        let now = self.now();
        self.enter(|usage| usage.told(now))
    }

    /// Writes what is entered, at most once in a while, until `stop`; then once more.
    pub async fn keep(&self, stop: CancellationToken) {
        while stop.run_until_cancelled(self.next_writing()).await.is_some() {
            self.write();
        }
        self.write();
    }

    async fn next_writing(&self) {
        self.wake.notified().await;
        tokio::time::sleep(PERIOD).await;
    }

    fn enter<T>(&self, entry: impl FnOnce(&mut Usage) -> T) -> T {
        let mut entries = self.lock();
        let told = entry(&mut entries.usage);
        if !std::mem::replace(&mut entries.unwritten, true) {
            self.wake.notify_one();
        }
        told
    }

    fn write(&self) {
        let Some((folder, name)) = &self.file else { return };
        let text = {
            let mut entries = self.lock();
            if !std::mem::take(&mut entries.unwritten) {
                return;
            }
            entries.usage.kept(self.now())
        };
        if let Err(error) = folder.write(name, &text) {
            tracing::warn!(file = %folder.path(name).display(), %error, "the counts of calls cannot be kept: a restart forgets them");
        }
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

    /// The accounts are whole after every entry, whatever panicked elsewhere.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
