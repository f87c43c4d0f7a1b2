//! Joins the toolboxes to a bus: one elsewhere, or one this process serves.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::bridge::Bridge;
use crate::bus::client::{Client, ClientConfig};
use crate::bus::embedded::{EmbeddedBus, EmbeddedOptions};
use crate::bus::link::{FrameHandler, Link, Sender, Transport};
use crate::cli::args::AskArgs;
use crate::cli::ask::Attached;
use crate::config::{BusConfig, BusUrl, Config, mycroft, process_env};
use crate::error::Error;
use crate::migrate::ledger::Ledger;
use crate::registry::Registry;

use super::vital::Vital;

/// A bus this host is on.
pub(super) struct Joined {
    pub(super) bridge: Bridge<Registry, Sender>,
    pub(super) link: watch::Receiver<Link>,
    /// What people call it.
    pub(super) url: String,
    /// Whether this process serves it.
    pub(super) embedded: bool,
    /// What of it must not end before it is asked to.
    pub(super) vital: Vital,
    ends: Mutex<Ends>,
}

/// What is to be ended, in this order.
#[derive(Default)]
struct Ends {
    phases: Vec<(CancellationToken, TaskTracker)>,
    vital: Vital,
}

impl Ends {
    /// Runs `task`, which ends with `stop`, as the next thing to be ended; `what` is it in words.
    fn push(&mut self, what: &'static str, stop: CancellationToken, task: impl Future<Output = ()> + Send + 'static) {
        let tasks = TaskTracker::new();
        tasks.spawn(self.vital.clone().watch(what, stop.clone(), task));
        tasks.close();
        self.phases.push((stop, tasks));
    }
}

impl Joined {
    /// Sends what waits, for a bounded time, and leaves; then the bus ends, if it is ours.
    pub(super) async fn leave(&self) {
        let ends = std::mem::take(&mut *self.ends.lock().unwrap_or_else(PoisonError::into_inner));
        for (stop, tasks) in ends.phases {
            stop.cancel();
            tasks.wait().await;
        }
    }
}

/// Frames of the bus, on their way to the bridge.
///
/// A panic of ours over one costs that one: a call in it is answered, by being dropped.
struct ToBridge(Bridge<Registry, Sender>);

impl FrameHandler for ToBridge {
    fn frame(&mut self, frame: Utf8Bytes) {
        contained(|| self.0.handle(frame, false));
    }

    fn echo(&mut self, frame: Utf8Bytes) {
        contained(|| self.0.handle(frame, true));
    }

    fn connected(&mut self) {
        contained(|| self.0.connected());
    }

    fn disconnected(&mut self, _why: &str) {
        contained(|| self.0.disconnected());
    }
}

/// Does `work`, and outlives its panic, which the log has told then.
fn contained(work: impl FnOnce()) {
    // What a bridge shares is behind locks, and whole after every statement.
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        tracing::error!("a fault of toolhost itself kept a Message from being served");
    }
}

/// Joins the bus that `config` names.
pub(super) async fn join(config: &Config, registry: Arc<Registry>, ledger: Arc<Ledger>) -> Result<Joined, Error> {
    match &config.bus.url {
        BusUrl::Embedded(address) => embed(*address, config, registry, ledger).await,
        _ => {
            let stop = CancellationToken::new();
            let client_config = client_config(&config.bus);
            let url = client_config.url.clone();
            let client = Client::new(client_config, stop.clone()).map_err(|error| Error::usage(error.to_string()))?;
            let mut ends = Ends::default();
            let (bridge, link) = attach(client, stop, bridging(config, registry, ledger), &mut ends);
            Ok(Joined {
                bridge,
                link,
                url,
                embedded: false,
                vital: ends.vital.clone(),
                ends: Mutex::new(ends),
            })
        }
    }
}

async fn embed(
    address: SocketAddr,
    config: &Config,
    registry: Arc<Registry>,
    ledger: Arc<Ledger>,
) -> Result<Joined, Error> {
    let bus = EmbeddedBus::bind(address, EmbeddedOptions::default()).await.map_err(|error| {
        Error::failed(format!("cannot serve a bus on {address}: {error}"))
            .with_hint("is a bus running there already? `--bus URL` joins it, `--embedded-bus=127.0.0.1:PORT` takes another port")
    })?;
    let (stop, leave) = (CancellationToken::new(), CancellationToken::new());
    let (url, attachment) = (bus.url(), bus.attach(leave.clone()));
    let mut ends = Ends::default();
    let (bridge, link) = attach(attachment, leave, bridging(config, registry, ledger), &mut ends);
    ends.push("the embedded bus", stop.clone(), bus.run(stop));
    Ok(Joined {
        bridge,
        link,
        url,
        embedded: true,
        vital: ends.vital.clone(),
        ends: Mutex::new(ends),
    })
}

/// Makes the bridge, once there is a way to the bus.
fn bridging(
    config: &Config,
    registry: Arc<Registry>,
    ledger: Arc<Ledger>,
) -> impl FnOnce(Sender) -> Bridge<Registry, Sender> + use<> {
    let (tool_service, migrate) = (config.tool_service, config.migrate.clone());
    move |sender| {
        let bridge = Bridge::new(registry, sender, tool_service, ledger, Handle::current());
        bridge.forward_by(&migrate);
        bridge
    }
}

/// Runs `transport` with a bridge on it.
fn attach(
    transport: impl Transport,
    stop: CancellationToken,
    bridge: impl FnOnce(Sender) -> Bridge<Registry, Sender>,
    ends: &mut Ends,
) -> (Bridge<Registry, Sender>, watch::Receiver<Link>) {
    let link = transport.link();
    let bridge = bridge(transport.sender());
    ends.push("the link to the bus", stop, transport.run(ToBridge(bridge.clone())));
    (bridge, link)
}

/// A bridge on the inside of `transport`, for one request; it ends with the transport.
pub(super) fn attach_for_one_request(
    transport: impl Transport,
    config: &Config,
    registry: Arc<Registry>,
) -> impl Future<Output = ()> + Send + 'static {
    let bridge = bridging(config, registry, Arc::default())(transport.sender());
    transport.run(ToBridge(bridge))
}

/// How the bus of `config` is reached.
fn client_config(bus: &BusConfig) -> ClientConfig {
    let url = match &bus.url {
        BusUrl::Url(url) => url.clone(),
        _ => mycroft_url(),
    };
    ClientConfig {
        ca_file: bus.ca_file.clone(),
        ..ClientConfig::new(url)
    }
}

/// The bus OVOS is configured for; what is wrong with that configuration goes to the log.
fn mycroft_url() -> String {
    let found = mycroft::bus_url(Path::new("/"), &process_env);
    for warning in &found.warnings {
        tracing::warn!(warning, "mycroft.conf");
    }
    found.url
}

/// Starts to join the bus that was named, or the one OVOS is configured for, for one question told by `key`.
///
/// # Errors
/// A URL that cannot be used.
pub(super) fn join_bus(args: &AskArgs, key: &str) -> Result<Attached, Error> {
    let url = args.bus.clone().unwrap_or_else(mycroft_url);
    crate::cli::attach::join(
        ClientConfig {
            ca_file: args.ca_file.clone(),
            ..ClientConfig::new(url)
        },
        key,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_over_one_frame_costs_that_frame() {
        let mut handled = 0;
        contained(|| panic!("a frame that nobody can take"));
        contained(|| handled += 1);
        assert_eq!(handled, 1);
    }
}
