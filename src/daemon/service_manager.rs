//! What a service manager is told: that the host is up, reloads or stops, in words how it is, and that it is not stuck.
//!
//! It is systemd's notification protocol: a datagram to the socket that `NOTIFY_SOCKET` names. Without the variable nothing
//! is sent and no timer runs. Toolboxes cannot speak for the host: their environment is made anew and names no such socket.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use nix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

use super::Host;
use crate::registry::{Registry, Reloads};
use crate::supervisor::status::{Brief, Phase};

/// How long a manager that takes no datagram is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The least time between two lines on how the host is: a toolbox that comes and goes must not keep the manager busy.
const STATUS_PAUSE: Duration = Duration::from_secs(1);

/// How many toolboxes that are down a status line names.
const NAMED: usize = 5;

/// The service manager of this process, if there is one.
#[derive(Debug, Default)]
pub(super) struct ServiceManager {
    socket: Option<SocketAddr>,
    /// The longest it waits for a sign of life.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// The one that started this process, as the environment tells it.
    pub(super) fn of_this_process() -> Self {
        Self::of(|name| std::env::var_os(name), std::process::id())
    }

    fn of(environment: impl Fn(&str) -> Option<OsString>, pid: u32) -> Self {
        let Some(socket) = environment("NOTIFY_SOCKET").and_then(|name| address(&name)) else {
            return Self::default();
        };
        let number = |name| environment(name)?.to_str()?.parse::<u64>().ok();
        // The variables of a wrapper that was asked, and that started this program, are not meant for it.
        let meant = environment("WATCHDOG_PID").is_none() || number("WATCHDOG_PID") == Some(pid.into());
        let watchdog = number("WATCHDOG_USEC").filter(|asked| meant && *asked > 0);
        Self {
            socket: Some(socket),
            watchdog: watchdog.map(Duration::from_micros),
        }
    }

    /// Sends `said`, lines of `NAME=value`. That it cannot be sent is no reason not to work.
    pub(super) async fn tell(&self, said: &str) {
        let Some(socket) = &self.socket else { return };
        // Its queue may be full while a machine starts, and READY=1 must not be lost to that.
        match tokio::time::timeout(PATIENCE, send(socket, said)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the service manager was not told"),
            Err(_) => tracing::debug!("the service manager was not told, it takes nothing"),
        }
    }

    /// Gives signs of life for as long as the host can; never ends.
    ///
    /// It is polled by the thread that hears the signals, and each time waits until the threads that serve calls have done
    /// `work`, a little of what every call needs: a host of which one of these is stuck falls silent.
    pub(super) async fn signs_of_life(&self, work: impl Fn() + Send + Sync + 'static) -> Infallible {
        let Some(longest) = self.watchdog else {
            return std::future::pending().await;
        };
        let work = Arc::new(work);
        // As systemd advises: half of what it waits for.
        let mut due = tokio::time::interval((longest / 2).max(Duration::from_millis(1)));
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            due.tick().await;
            let work = Arc::clone(&work);
            if tokio::spawn(async move { work() }).await.is_ok() {
                self.tell("WATCHDOG=1").await;
            }
        }
    }

    /// Tells how the host is, from when it has come up; never ends.
    pub(super) async fn keep_informed(&self, host: &Host) -> Infallible {
        if self.socket.is_none() {
            return std::future::pending().await;
        }
        let mut reloads = host.registry.reloads();
        super::settled(&host.registry, super::SETTLING).await;
        reloads.mark_unchanged();
        let (mut said, mut is_news) = (String::new(), true);
        loop {
            // Marked as seen before it is looked at, so that no change is missed.
            let mut link = host.bus.link.clone();
            link.mark_unchanged();
            let briefs = briefs_of(&host.registry);
            let status = status(host);
            if is_news {
                self.tell(&format!("READY=1\nSTATUS={status}")).await;
            } else if status != said {
                self.tell(&format!("STATUS={status}")).await;
            }
            said = status;
            is_news = tokio::select! {
                Ok(()) = reloads.changed() => {
                    self.see_it_reload(&mut reloads).await;
                    // What is new has been asked what it offers, and shows it in a moment.
                    super::settled(&host.registry, super::SETTLING).await;
                    true
                }
                () = changed(&mut link, briefs) => {
                    tokio::time::sleep(STATUS_PAUSE).await;
                    false
                }
            };
        }
    }

    /// Tells that the host reloads, and waits for the end of it.
    async fn see_it_reload(&self, reloads: &mut watch::Receiver<Reloads>) {
        // Also of one that is over by now: whoever asked for it waits to hear of it.
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_usec()))
            .await;
        // It fails where the registry is gone, and the host with it.
        _ = reloads.wait_for(|now| now.ended == now.begun).await.is_ok();
    }
}

/// The address that `NOTIFY_SOCKET` names: a path, or a name that is no path behind an `@`.
fn address(name: &OsString) -> Option<SocketAddr> {
    match name.as_bytes() {
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest).ok(),
        [b'/', ..] => SocketAddr::from_pathname(name).ok(),
        // Between machines there are others, which a host of this machine's toolboxes is not started by.
        _ => None,
    }
}

async fn send(socket: &SocketAddr, said: &str) -> io::Result<()> {
    let ours = UnixDatagram::unbound()?;
    ours.set_nonblocking(true)?;
    ours.connect_addr(socket)?;
    let ours = tokio::net::UnixDatagram::from_std(ours)?;
    ours.send(said.as_bytes()).await.map(drop)
}

/// The clock by which a manager tells whether a reload began after it was asked for.
fn monotonic_usec() -> i128 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
    now.map_or(0, |now| i128::try_from(now.as_micros()).unwrap_or(0))
}

/// What is known of each toolbox, each marked as seen.
fn briefs_of(registry: &Registry) -> Vec<watch::Receiver<Brief>> {
    let mut briefs: Vec<_> = registry.toolboxes().iter().map(|toolbox| toolbox.brief()).collect();
    briefs.iter_mut().for_each(watch::Receiver::mark_unchanged);
    briefs
}

/// Waits until the link to the bus or one of the toolboxes changes.
async fn changed(link: &mut watch::Receiver<crate::bus::link::Link>, briefs: Vec<watch::Receiver<Brief>>) {
    let any = briefs.into_iter().map(|mut brief| async move { brief.changed().await });
    let mut any: FuturesUnordered<_> = any.collect();
    let toolbox = async {
        // One whose task has ended changes no more; a reload tells of that.
        while let Some(ended) = any.next().await {
            if ended.is_ok() {
                return;
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        Ok(()) = link.changed() => {}
        () = toolbox => {}
    }
}

/// How the host is, on one line.
fn status(host: &Host) -> String {
    let toolboxes = host.registry.toolboxes();
    // One that sleeps serves: its next call starts it.
    let is_up = |brief: &Brief| matches!(brief.phase, Phase::Ready | Phase::Asleep);
    let down: Vec<_> = toolboxes
        .iter()
        .filter(|toolbox| !is_up(&toolbox.brief().borrow()))
        .map(|toolbox| toolbox.config.id.as_str())
        .collect();
    let connected = host.bus.link.borrow().is_connected();
    let refused = host.registry.reloads().borrow().refused;
    in_words(toolboxes.len(), &down, connected, refused)
}

fn in_words(all: usize, down: &[&str], connected: bool, refused: bool) -> String {
    let mut words = match all {
        1 => format!("{} of 1 toolbox up", 1 - down.len()),
        _ => format!("{} of {all} toolboxes up", all - down.len()),
    };
    if !down.is_empty() {
        words.push_str(&format!(", not {}", down[..down.len().min(NAMED)].join(", ")));
        if down.len() > NAMED {
            words.push_str(&format!(" and {} more", down.len() - NAMED));
        }
    }
    if !connected {
        words.push_str("; the bus is not reached");
    }
    if refused {
        words.push_str("; the last reload was refused, the log says why");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    /// A manager's end, and the environment it gives; the name is no path where `hidden`.
    fn manager(hidden: bool) -> (UnixDatagram, String) {
        let unique = format!("toolhost-test-{}-{}", std::process::id(), fastrand::u64(..));
        let (socket, name) = if hidden {
            let address = SocketAddr::from_abstract_name(&unique).unwrap();
            (UnixDatagram::bind_addr(&address).unwrap(), format!("@{unique}"))
        } else {
            let path = std::env::temp_dir().join(unique);
            (UnixDatagram::bind(&path).unwrap(), path.display().to_string())
        };
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        (socket, name)
    }

    fn received(socket: &UnixDatagram) -> String {
        let mut room = [0; 4096];
        let length = socket.recv(&mut room).expect("a datagram in time");
        String::from_utf8(room[..length].to_vec()).unwrap()
    }

    /// The next datagram, while others go on.
    async fn next(socket: &UnixDatagram) -> String {
        let socket = socket.try_clone().unwrap();
        tokio::task::spawn_blocking(move || received(&socket)).await.unwrap()
    }

    fn told_of(socket: &str, more: &[(&str, &str)]) -> ServiceManager {
        let find = |name: &str| {
            more.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).into())
        };
        ServiceManager::of(
            |name| {
                if name == "NOTIFY_SOCKET" {
                    Some(socket.into())
                } else {
                    find(name)
                }
            },
            77,
        )
    }

    #[tokio::test]
    async fn a_manager_hears_what_it_is_told_on_either_kind_of_socket() {
        for hidden in [false, true] {
            let (socket, name) = manager(hidden);
            told_of(&name, &[]).tell("READY=1\nSTATUS=1 of 1 toolbox up").await;
            assert_eq!(received(&socket), "READY=1\nSTATUS=1 of 1 toolbox up");
            std::fs::remove_file(name).unwrap_or_default();
        }
    }

    #[tokio::test]
    async fn a_manager_that_is_not_there_or_takes_nothing_is_no_reason_to_stop() {
        told_of("/nonexistent/notify", &[]).tell("READY=1").await;
        told_of("vsock:2:1234", &[]).tell("READY=1").await;
        ServiceManager::default().tell("READY=1").await;
        let (socket, name) = manager(true);
        let manager = told_of(&name, &[]);
        let full = UnixDatagram::unbound().unwrap();
        full.set_nonblocking(true).unwrap();
        full.connect_addr(&address(&name.clone().into()).unwrap()).unwrap();
        while full.send(b"from somebody else").is_ok() {}
        manager.tell("READY=1").await;
        assert_eq!(received(&socket), "from somebody else");
    }

    #[test]
    fn the_watchdog_is_asked_for_by_its_variables() {
        let usec = ("WATCHDOG_USEC", "3000000");
        let three = Some(Duration::from_secs(3));
        let table: [(&[(&str, &str)], _); 6] = [
            (&[], None),
            (&[usec], three),
            (&[usec, ("WATCHDOG_PID", "77")], three),
            (&[usec, ("WATCHDOG_PID", "78")], None),
            (&[("WATCHDOG_USEC", "0")], None),
            (&[("WATCHDOG_USEC", "soon")], None),
        ];
        for (more, expected) in table {
            assert_eq!(told_of("/run/notify", more).watchdog, expected, "{more:?}");
        }
        assert_eq!(
            ServiceManager::of(|name| (name == usec.0).then(|| usec.1.into()), 77).watchdog,
            None
        );
    }

    /// Waits in milliseconds while `on`.
    async fn pause(mut on: impl FnMut() -> bool + Send + 'static) {
        let waiting = move || {
            while on() {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        tokio::task::spawn_blocking(waiting).await.unwrap();
    }

    /// How many datagrams wait.
    fn drain(socket: &UnixDatagram) -> usize {
        socket.set_nonblocking(true).unwrap();
        let mut room = [0; 64];
        let heard = std::iter::from_fn(|| socket.recv(&mut room).ok()).count();
        socket.set_nonblocking(false).unwrap();
        heard
    }

    #[test]
    fn a_host_whose_calls_are_stuck_gives_no_sign_of_life() {
        let (socket, name) = manager(true);
        let manager = told_of(&name, &[("WATCHDOG_USEC", "20000")]);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (stuck, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        runtime.block_on(async {
            let story = async {
                assert_eq!(next(&socket).await, "WATCHDOG=1");
                let (is_stuck, may_go_on) = (Arc::clone(&stuck), Arc::clone(&go_on));
                let task = tokio::spawn(async move {
                    is_stuck.store(true, Ordering::Release);
                    // Ends in any case: the runtime waits for it where the test fails.
                    let since = Instant::now();
                    while !may_go_on.load(Ordering::Acquire) && since.elapsed() < Duration::from_secs(20) {
                        std::thread::yield_now();
                    }
                });
                // Not by the clock of the runtime, which is stuck as well.
                pause(move || !stuck.load(Ordering::Acquire)).await;
                // One may have been asked for and answered before that.
                let rested = Instant::now();
                pause(move || rested.elapsed() < Duration::from_millis(50)).await;
                drain(&socket);
                let rested = Instant::now();
                pause(move || rested.elapsed() < Duration::from_millis(200)).await;
                assert_eq!(drain(&socket), 0, "ten times as long as it may be silent");
                go_on.store(true, Ordering::Release);
                task.await.unwrap();
                assert_eq!(next(&socket).await, "WATCHDOG=1");
            };
            tokio::select! {
                () = story => {}
                never = manager.signs_of_life(|| {}) => match never {},
            }
        });
    }

    #[tokio::test]
    async fn without_a_watchdog_there_is_no_timer() {
        let (socket, name) = manager(true);
        let manager = told_of(&name, &[]);
        let signs = manager.signs_of_life(|| {});
        let mut signs = std::pin::pin!(signs);
        assert!(futures_util::poll!(signs.as_mut()).is_pending());
        assert_eq!(drain(&socket), 0);
    }

    #[test]
    fn the_status_says_what_is_not_well() {
        let many = ["a", "b", "c", "d", "e", "f", "g"];
        let table = [
            (in_words(0, &[], true, false), "0 of 0 toolboxes up"),
            (in_words(1, &[], true, false), "1 of 1 toolbox up"),
            (in_words(3, &["wiki"], true, false), "2 of 3 toolboxes up, not wiki"),
            (
                in_words(7, &many, true, false),
                "0 of 7 toolboxes up, not a, b, c, d, e and 2 more",
            ),
            (
                in_words(2, &[], false, true),
                "2 of 2 toolboxes up; the bus is not reached; the last reload was refused, the log says why",
            ),
        ];
        for (said, expected) in table {
            assert_eq!(said, expected);
        }
    }
}
