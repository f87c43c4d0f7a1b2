//! The composition root: the one room that sees both the bus and the supervisor, and joins them.

mod bus;
mod one_request;
mod orphans;
mod report;
mod service_manager;
mod usage;
mod verbs;
mod vital;
mod watch;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cli::args::{AskArgs, RunArgs};
use crate::cli::ask::Attached;
use crate::cli::early::Held;
use crate::cli::hosting::{Eventually, Hosting};
use crate::cli::output::Output;
use crate::config::{self, BusConfig, BusUrl, Config};
use crate::control::{self, socket::ControlSocket};
use crate::error::{Error, Exit};
use crate::migrate::ledger::Ledger;
use crate::process::guard::Guard;
use crate::registry::Registry;
use crate::state_folder::StateFolder;
use crate::supervisor::Surroundings;
use crate::supervisor::status::Phase;

use bus::{Joined, join_bus};
use one_request::host_for_one_request;
use service_manager::ServiceManager;

/// A toolbox's time on each rung of the ladder when the host stops: to the end of its input, then to SIGTERM.
const STOP_RUNG: Duration = Duration::from_secs(2);

/// How long the control socket is gone after a panic: one that comes at once each time must not keep a processor busy.
const CONTROL_PAUSE: Duration = Duration::from_secs(1);

/// How long a host counts as coming up: then the banner is shown and the service manager told, without slow toolboxes.
const SETTLING: Duration = Duration::from_secs(10);

/// This program, as the command line sees it.
#[derive(Debug)]
pub struct Daemon;

impl Hosting for Daemon {
    fn run<'a>(&'a self, args: &'a RunArgs, output: Output, held: Held) -> Eventually<'a, ()> {
        Box::pin(run(args, output, held))
    }

    fn join_bus(&self, args: &AskArgs, key: &str) -> Result<Attached, Error> {
        join_bus(args, key)
    }

    fn host_for_one_request<'a>(
        &'a self,
        config: &'a Path,
        only: Option<&'a str>,
        key: &'a str,
    ) -> Eventually<'a, Attached> {
        Box::pin(host_for_one_request(config, only, key))
    }
}

/// A host at work.
struct Host {
    config: Config,
    started: Instant,
    registry: Arc<Registry>,
    bus: Joined,
    /// Who calls on which topic.
    ledger: Arc<Ledger>,
}

/// `toolhost run`: hosts until a signal ends it.
///
/// # Errors
/// What keeps it from starting, or a required toolbox that cannot be started.
async fn run(args: &RunArgs, output: Output, held: Held) -> Result<(), Error> {
    let mut signals = Signals::listen()?;
    drop(held);
    let manager = Arc::new(ServiceManager::of_this_process());
    tokio::spawn(orphans::reap(Guard::of_this_process()));
    let host = come_up(args).await?;
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    let written = CancellationToken::new();
    let keeping = tokio::spawn(Arc::clone(&host.ledger).keep(written.clone()));
    serve_control(&host, args, &stop, &tasks);
    tasks.spawn(watch::follow(Arc::clone(&host.registry), stop.clone()));
    tasks.spawn(welcome(Arc::clone(&host), output, stop.clone()));
    let informed = inform(Arc::clone(&host), Arc::clone(&manager), stop.clone());
    let registry = Arc::clone(&host.registry);
    // Every call finds its toolbox there.
    let work = move || drop(registry.toolboxes());
    let ended = tokio::select! {
        ended = host.until_stopped(&mut signals) => ended,
        never = manager.signs_of_life(work) => match never {},
    };
    stop.cancel();
    // Nothing of how the host is may come behind the word that it stops.
    informed.await.unwrap_or_default();
    manager.tell("STOPPING=1\nSTATUS=stopping").await;
    tokio::select! {
        () = host.stop() => {}
        // Asked twice: what is left goes with this process.
        () = signals.stop() => tracing::warn!("asked again, stopping at once"),
    }
    tasks.close();
    tasks.wait().await;
    written.cancel();
    // A panic in there was reported where it happened.
    keeping.await.unwrap_or_default();
    ended
}

/// Starts the toolboxes and joins the bus.
async fn come_up(args: &RunArgs) -> Result<Arc<Host>, Error> {
    let mut config = load(args.config.as_deref())?;
    let bus_in_file = config.bus.clone();
    if let Some(url) = &args.bus {
        config.bus.url = BusUrl::Url(url.clone());
    }
    if let Some(address) = args.embedded_bus {
        config.bus.url = BusUrl::Embedded(address);
    }
    let registry = start_registry(&config, bus_in_file).await;
    let ledger = usage::ledger(&config.file);
    ledger.present(config.toolbox_ids());
    let joined = bus::join(&config, Arc::clone(&registry), Arc::clone(&ledger)).await;
    let bus = match joined {
        Ok(bus) => bus,
        Err(error) => {
            registry.stop(STOP_RUNG).await;
            return Err(error);
        }
    };
    Ok(Arc::new(Host {
        config,
        started: Instant::now(),
        registry,
        bus,
        ledger,
    }))
}

/// Reads the configuration, named or found.
fn load(named: Option<&Path>) -> Result<Config, Error> {
    let file = config::find(named, &config::process_env).map_err(|error| Error::usage(error.to_string()))?;
    Config::load(&file, &config::process_env).map_err(|faults| Error::usage(faults.to_string()))
}

/// Starts the toolboxes; `bus` is what the file says of the bus, which a reload cannot change.
async fn start_registry(config: &Config, bus: BusConfig) -> Arc<Registry> {
    let file = config.file.clone();
    let load = move || {
        let config = Config::load(&file, &config::process_env).map_err(|faults| faults.to_string())?;
        if config.bus != bus {
            tracing::warn!("`bus:` was changed: it takes effect when toolhost is started anew");
        }
        Ok(config)
    };
    let surroundings = Surroundings {
        guard: Guard::of_this_process(),
        state: StateFolder::of_this_process(),
        ..Surroundings::default()
    };
    Registry::start(config, surroundings, Box::new(load)).await
}

/// The control socket is a convenience: without it the host works all the same.
fn serve_control(host: &Arc<Host>, args: &RunArgs, stop: &CancellationToken, tasks: &TaskTracker) {
    let path = crate::cli::socket_path(args.socket.as_deref());
    match control::socket::bind(&path) {
        Ok(socket) => _ = tasks.spawn(keep_control(socket, path, Arc::clone(host), stop.clone())),
        Err(error) => no_control(&error),
    }
}

fn no_control(error: &control::socket::SocketError) {
    tracing::warn!(error = %error, hint = error.hint(), "no control socket, `toolhost status` will not reach this host");
}

/// Answers on the control socket; after a panic of our own on a new one, since the toolboxes are well without it.
async fn keep_control(socket: ControlSocket, path: PathBuf, host: Arc<Host>, stop: CancellationToken) {
    let mut bound = Ok(socket);
    loop {
        let socket = match bound {
            Ok(socket) => socket,
            Err(error) => return no_control(&error),
        };
        let serving = control::server::serve(socket, Arc::clone(&host), stop.clone());
        // The host's own state is its tasks', and behind locks that know of panics.
        if AssertUnwindSafe(serving).catch_unwind().await.is_ok() {
            return;
        }
        tracing::error!("a fault of toolhost itself ended the control socket; it is made anew");
        tokio::time::sleep(CONTROL_PAUSE).await;
        bound = control::socket::bind(&path);
    }
}

/// Shows a person what is up once everything has come up or failed.
async fn welcome(host: Arc<Host>, output: Output, stop: CancellationToken) {
    let shown = async {
        if !settled(&host.registry, SETTLING).await {
            tracing::info!("some toolboxes are still starting");
        }
        output.tell_a_person(&report::banner(&host, output.colors_stderr()));
    };
    tokio::select! {
        () = shown => {}
        () = stop.cancelled() => {}
    }
}

/// Tells the service manager how the host is, until `stop`.
fn inform(host: Arc<Host>, manager: Arc<ServiceManager>, stop: CancellationToken) -> JoinHandle<()> {
    tokio::spawn(async move {
        tokio::select! {
            _ = manager.keep_informed(&host) => {}
            () = stop.cancelled() => {}
        }
    })
}

impl Host {
    /// Works until a signal, until a required toolbox cannot be started, or until a part it cannot do without has ended.
    async fn until_stopped(&self, signals: &mut Signals) -> Result<(), Error> {
        let mut settings = self.registry.settings();
        let required = self.required_failed();
        let mut required = std::pin::pin!(required);
        loop {
            tokio::select! {
                asked = signals.next() => {
                    if asked == Asked::Stop {
                        return Ok(());
                    }
                    let registry = Arc::clone(&self.registry);
                    tokio::spawn(async move { _ = crate::bus::toolboxes::Toolboxes::reload(&*registry).await });
                }
                Ok(()) = settings.changed() => {
                    let settings = settings.borrow_and_update().clone();
                    self.bus.bridge.set_tool_service(settings.tool_service);
                    self.bus.bridge.set_migrate(&settings.migrate);
                    self.ledger.present(settings.toolbox_ids.iter().map(String::as_str));
                }
                error = &mut required => return Err(error),
                error = self.bus.vital.ended() => return Err(error),
            }
        }
    }

    /// Ends with the first required toolbox that cannot be started.
    async fn required_failed(&self) -> Error {
        let toolboxes = self.registry.toolboxes();
        let required = toolboxes.iter().filter(|toolbox| toolbox.config.required);
        let mut outcomes: FuturesUnordered<_> = required.map(|toolbox| outcome(toolbox)).collect();
        while let Some(outcome) = outcomes.next().await {
            if let Some((toolbox_id, why)) = outcome {
                let what = format!("the required toolbox '{toolbox_id}' cannot be started: {why}");
                return Error::new(Exit::Failed, what);
            }
        }
        std::future::pending().await
    }

    /// Toolboxes first, so that what they finish is still answered; then the bus.
    async fn stop(&self) {
        tracing::info!("stopping");
        self.registry.stop(STOP_RUNG).await;
        self.bus.bridge.stop_forwarding();
        self.bus.leave().await;
    }
}

/// Waits until every toolbox has come up or failed, for `patience` in all; whether they have.
async fn settled(registry: &Registry, patience: Duration) -> bool {
    let all = async {
        for toolbox in registry.toolboxes() {
            // One that ended meanwhile has settled too.
            _ = toolbox.brief().wait_for(|brief| brief.settled).await.is_ok();
        }
    };
    tokio::time::timeout(patience, all).await.is_ok()
}

/// Why a toolbox did not come up when it was started first; `None` where it did.
async fn outcome(toolbox: &crate::registry::Toolbox) -> Option<(String, String)> {
    let mut brief = toolbox.brief();
    let phase = brief.wait_for(|brief| brief.settled).await.ok()?.phase.clone();
    match phase {
        Phase::Backoff(why) | Phase::Failed(why) => Some((toolbox.config.id.clone(), why)),
        _ => None,
    }
}

/// What a signal asks for.
#[derive(PartialEq, Eq)]
enum Asked {
    Stop,
    Reload,
}

/// The signals a host handles.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|error| Error::failed(format!("cannot handle signals: {error}")));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Stop,
            _ = self.terminate.recv() => Asked::Stop,
            _ = self.hangup.recv() => Asked::Reload,
        }
    }

    async fn stop(&mut self) {
        while self.next().await != Asked::Stop {}
    }
}
