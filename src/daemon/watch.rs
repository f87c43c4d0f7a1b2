//! `watch: true`: a changed file is read again, as SIGHUP would have it.
//!
//! The kernel tells of changes in a folder (inotify), so nothing is polled. What it tells is a hint and no more: whether
//! there is a reason to read the configuration again is decided by what the files hold. So a folder is watched rather than a
//! file, since editors put a new file in the place of the old one, and every folder in which a symbolic link on the way
//! to the file lies, since some swap the link. Nothing is lost between two looks: each begins by comparing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd, RawFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::panic::AssertUnwindSafe;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use nix::libc::O_NONBLOCK;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::Source;
use crate::process::aside::aside;
use crate::registry::Registry;

/// How long it must have been quiet after a change: an editor does several things to save a file.
const QUIET: Duration = Duration::from_millis(200);

/// How long a change waits for quiet at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// More than any file of a configuration holds; the rest of a longer one makes no difference to what is said about it.
const LONGEST: u64 = 5 << 20;

/// As many links may follow one another as the kernel allows.
const LINKS: usize = 40;

/// What a folder is watched for: that something of it was written, came or went, and that it went itself.
const CHANGES: AddWatchFlags = AddWatchFlags::IN_CLOSE_WRITE
    .union(AddWatchFlags::IN_CREATE)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVE)
    .union(AddWatchFlags::IN_ATTRIB)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF)
    .union(AddWatchFlags::IN_ONLYDIR);

/// Reloads when a file of the configuration changes, as long as the configuration asks for it.
pub(super) async fn follow(registry: Arc<Registry>, stop: CancellationToken) {
    let following = AssertUnwindSafe(follow_on(registry, &stop));
    tokio::select! {
        () = stop.cancelled() => {}
        ended = following.catch_unwind() => {
            if ended.is_err() {
                tracing::error!("a fault of toolhost itself; changed files are not noticed any more, `toolhost reload` reads them");
            }
        }
    }
}

async fn follow_on(registry: Arc<Registry>, stop: &CancellationToken) {
    let mut watched = registry.watched();
    let mut seen = Seen::default();
    while !stop.is_cancelled() {
        let sources = watched.borrow_and_update().clone();
        tokio::select! {
            told = watched.changed() => match told {
                // Whoever had it read again has just read it.
                Ok(()) => seen = Seen::default(),
                Err(_) => return,
            },
            path = changed(&sources, &mut seen) => {
                tracing::info!(file = %path.display(), "changed, reading the configuration again");
                let registry = Arc::clone(&registry);
                // A task of its own: where the host stops meanwhile, what a reload has begun is not left half done. Why
                // one is refused it logs itself.
                let reload = tokio::spawn(async move { registry.reload_telling().await.is_ok() });
                reload.await.unwrap_or_default();
            }
        }
    }
}

/// Waits until one of `sources` holds something new; which.
async fn changed(sources: &[Source], seen: &mut Seen) -> PathBuf {
    loop {
        let eyes = match Eyes::open(sources) {
            Ok(Some(eyes)) => eyes,
            Ok(None) => return std::future::pending().await,
            Err(error) => {
                tracing::error!(%error, "changed files will not be noticed; `toolhost reload` reads them");
                return std::future::pending().await;
            }
        };
        if let Some(path) = seen.news(sources) {
            return path;
        }
        if let Err(error) = eyes.change().await {
            tracing::error!(%error, "changed files are not noticed any more; `toolhost reload` reads them");
            return std::future::pending().await;
        }
    }
}

/// What the files were last seen to hold, where that is not what was read.
#[derive(Default)]
struct Seen {
    digests: HashMap<PathBuf, u64>,
    gone: HashSet<PathBuf>,
}

impl Seen {
    /// The first file that holds what it did not when it was last looked at. One that is gone holds nothing new.
    fn news(&mut self, sources: &[Source]) -> Option<PathBuf> {
        let mut news = None;
        for source in sources {
            let Some(digest) = aside(true, || digest(&source.path)) else {
                if self.gone.insert(source.path.clone()) {
                    tracing::warn!(file = %source.path.display(), "gone; what it said goes on");
                }
                continue;
            };
            self.gone.remove(&source.path);
            let before = self.digests.insert(source.path.clone(), digest);
            if before.unwrap_or(source.digest) != digest {
                news.get_or_insert_with(|| source.path.clone());
            }
        }
        news
    }
}

/// A digest of what `path` holds; `None` where it is not there. One that cannot be read holds that.
fn digest(path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    let opened = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path);
    match opened.and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => bytes = error.to_string().into_bytes(),
    }
    Some(Source::digest(&bytes))
}

/// Looks at the folders that decide what a path leads to.
struct Eyes {
    inotify: AsyncFd<Kernel>,
    /// The names that matter in each.
    names: HashMap<WatchDescriptor, (PathBuf, BTreeSet<OsString>)>,
}

/// As the runtime wants it.
struct Kernel(Inotify);

impl AsRawFd for Kernel {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Eyes {
    /// `None` where there is nothing to look at.
    fn open(sources: &[Source]) -> io::Result<Option<Self>> {
        if sources.is_empty() {
            return Ok(None);
        }
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        let mut places: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
        for source in sources {
            for (folder, name) in way_to(&source.path) {
                places.entry(folder).or_default().insert(name);
            }
        }
        let mut names = HashMap::new();
        for (folder, of_folder) in places {
            match inotify.add_watch(&folder, CHANGES) {
                Ok(watch) => _ = names.insert(watch, (folder, of_folder)),
                Err(error) => {
                    tracing::error!(folder = %folder.display(), %error, "cannot be watched; `toolhost reload` reads changed files");
                }
            }
        }
        // SAFETY: `Kernel` owns its descriptor, keeps it open for as long as it lives, and always names the same one.
        let inotify = unsafe { AsyncFd::register_with_interest(Kernel(inotify), Interest::READABLE) }?;
        Ok(Some(Self { inotify, names }))
    }

    /// Waits for a change that may matter, and then until it is quiet.
    async fn change(&self) -> io::Result<()> {
        while !self.events().await?.iter().any(|event| self.matters(event)) {}
        let latest = Instant::now() + PATIENCE;
        loop {
            let quiet = (Instant::now() + QUIET).min(latest);
            match tokio::time::timeout_at(quiet, self.events()).await {
                Ok(events) => _ = events?,
                Err(_) => return Ok(()),
            }
        }
    }

    async fn events(&self) -> io::Result<Vec<InotifyEvent>> {
        let read = |kernel: &Kernel| kernel.0.read_events().map_err(io::Error::from);
        self.inotify.async_io(Interest::READABLE, read).await
    }

    fn matters(&self, event: &InotifyEvent) -> bool {
        // The folder itself changed, or the kernel lost count.
        let Some(name) = &event.name else { return true };
        let Some((folder, names)) = self.names.get(&event.wd) else {
            return false;
        };
        names.contains(name) && !(event.mask.contains(AddWatchFlags::IN_CREATE) && is_being_written(&folder.join(name)))
    }
}

/// Whether it is a file somebody has just made: when that is done it is closed, and until then it may be empty.
fn is_being_written(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.nlink() == 1)
}

/// Where a change can make `path` lead to something else: each symbolic link on the way, and the file at its end or the
/// first part that is missing. As folders, which are none of them reached by a link, and names in them.
fn way_to(path: &Path) -> Vec<(PathBuf, OsString)> {
    let mut places = Vec::new();
    let mut here = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts(path);
    let mut links = 0;
    while let Some(name) = rest.pop() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        let target = std::fs::read_link(&next);
        match target {
            Ok(target) if links < LINKS => {
                links += 1;
                places.push((here.clone(), name));
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                rest.extend(parts(&target));
            }
            // No link. It must be there, and lead on, to be passed through.
            Err(_) if !rest.is_empty() && next.is_dir() => here = next,
            _ => {
                places.push((here, name));
                break;
            }
        }
    }
    places
}

/// The names in `path`, the last first.
fn parts(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}
