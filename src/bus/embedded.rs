//! The embedded bus: what ovos-messagebus is to its clients, inside this process.
//!
//! # Theory of operation
//!
//! The [`Hub`] knows every member, be it a socket or this process itself ([`Attachment`]). To relay a
//! frame it takes its lock, puts the frame (shared, not copied) into each member's queue and lets
//! go; so all members see all frames in one order. Each socket has a task that writes its queue and
//! reads its frames. A member whose queue grows past its bound does not read, and is dropped; it
//! never slows the others. This process itself cannot be dropped: while it is that far behind, no socket is
//! read, so that those who send too much wait.
//!
//! Where it differs from ovos-messagebus, on purpose: no Nagle's algorithm; a JSON frame that is no
//! object is dropped, not the connection it came on; binary frames that are no UTF-8 are dropped,
//! not passed on as broken text; and no web page from elsewhere gets in.

mod carrier;
mod door;
mod hub;
mod member;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::door::{Door, Refusal};
pub(super) use self::hub::Attached;
pub use self::hub::{Attachment, Hub};
use crate::log_limit::LogLimit;

/// Refused connections that are being told so at once, and the time each has to hear it.
const REFUSING: usize = 64;
const REFUSED_WITHIN: Duration = Duration::from_secs(1);

/// One line in the log in so long about a bus that is full.
const CROWDED: Duration = Duration::from_secs(10);

/// How the embedded bus behaves.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// The one path that is served.
    pub route: String,
    /// Largest message taken from a client, in bytes.
    pub max_message: usize,
    /// Connections at once, those that ask for their WebSocket included; one more is refused. Never more than half of the
    /// files this process may open: toolboxes need some too.
    pub max_connections: usize,
    /// Bytes that may wait for a client that does not read.
    pub max_backlog: usize,
    /// Time a connection has to ask for its WebSocket.
    pub handshake_within: Duration,
    /// Time clients have to take what is still theirs when the bus stops.
    pub close_within: Duration,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            route: "/core".to_owned(),
            max_message: 25 << 20,
            max_connections: 1024,
            // More than two of the largest messages.
            max_backlog: 64 << 20,
            handshake_within: Duration::from_secs(10),
            close_within: Duration::from_secs(2),
        }
    }
}

/// A bus of our own, listening but not yet running.
#[derive(Debug)]
pub struct EmbeddedBus {
    listener: TcpListener,
    address: SocketAddr,
    hub: Hub,
    options: EmbeddedOptions,
}

impl EmbeddedBus {
    /// Listens on `address`. Whoever reaches it runs the tools, so it should be a loopback address.
    ///
    /// # Errors
    /// The system's, where the address cannot be listened on.
    pub async fn bind(address: SocketAddr, mut options: EmbeddedOptions) -> io::Result<Self> {
        let files = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
        let half = usize::try_from(files / 2).unwrap_or(usize::MAX);
        options.max_connections = options.max_connections.min(half);
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let hub = Hub::new(options.max_backlog, options.max_message);
        Ok(Self {
            listener,
            address,
            hub,
            options,
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What its clients connect to.
    pub fn url(&self) -> String {
        format!("ws://{}{}", self.address, self.options.route)
    }

    /// The inside of the bus, to attach to it once it runs.
    pub fn hub(&self) -> Hub {
        self.hub.clone()
    }

    /// Attaches this process, as a client without a socket.
    pub fn attach(&self, stop: CancellationToken) -> Attachment {
        self.hub.attach(stop)
    }

    /// Serves clients until `stop`; then what is queued is written, for a bounded time, and every client told.
    pub async fn run(self, stop: CancellationToken) {
        let door = Door {
            route: self.options.route.clone(),
            loopback: self.address.ip().is_loopback(),
        };
        if !door.loopback {
            tracing::warn!(address = %self.address, "the embedded bus is open to other machines, who all may call the tools");
        }
        tracing::info!(address = %self.address, route = %door.route, "embedded bus listening");
        let tasks = TaskTracker::new();
        let mut crowd = Crowd::new();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((tcp, peer)) if tasks.len() >= self.options.max_connections => {
                        crowd.refuse(tcp, peer, self.options.max_connections);
                    }
                    Ok((tcp, peer)) => {
                        tasks.spawn(serve(tcp, peer, door.clone(), self.hub.clone(), self.options.clone(), stop.clone()));
                    }
                    Err(error) => {
                        // Out of file descriptors, most likely: the connection stays in the queue, so do not spin.
                        tracing::warn!(%error, "the embedded bus cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
        self.hub.close();
        tasks.close();
        if tokio::time::timeout(self.options.close_within, tasks.wait())
            .await
            .is_err()
        {
            tracing::debug!(
                clients = tasks.len(),
                "embedded bus stopped before all clients had read everything"
            );
        }
    }
}

/// Those who come while the bus has all the connections it takes.
struct Crowd {
    refusing: TaskTracker,
    lines: LogLimit,
}

impl Crowd {
    fn new() -> Self {
        Self {
            refusing: TaskTracker::new(),
            lines: LogLimit::new(1, CROWDED),
        }
    }

    /// Tells a client why it gets no connection. Where too many are being told, the connection just ends.
    fn refuse(&mut self, tcp: TcpStream, peer: SocketAddr, most: usize) {
        if let Some(suppressed) = self.lines.admit(Instant::now()) {
            tracing::warn!(%peer, most, suppressed, "the embedded bus has all the connections it takes, refused");
        }
        if self.refusing.len() < REFUSING {
            let refusal = Refusal::full(most);
            self.refusing
                .spawn(tokio::time::timeout(REFUSED_WITHIN, door::turn_away(tcp, refusal)));
        }
    }
}

async fn serve(
    tcp: TcpStream,
    peer: SocketAddr,
    door: Door,
    hub: Hub,
    options: EmbeddedOptions,
    stop: CancellationToken,
) {
    let entering = tokio::time::timeout(options.handshake_within, door.enter(tcp, options.max_message));
    let stream = tokio::select! {
        biased;
        () = stop.cancelled() => return,
        entered = entering => match entered {
            Ok(Ok(stream)) => stream,
            Ok(Err(refusal)) => {
                tracing::warn!(%peer, %refusal, "embedded bus refused a connection");
                return;
            }
            Err(_) => {
                tracing::debug!(%peer, "embedded bus gave up a connection that asked for nothing");
                return;
            }
        },
    };
    member::live(stream, peer, &hub, &options).await;
}
