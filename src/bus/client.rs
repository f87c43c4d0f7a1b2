//! The client: a WebSocket to the OVOS bus that is kept for ever.
//!
//! # Theory of operation
//!
//! One task owns everything: the socket, the outbox, the handler. It is either away
//! (connecting, or waiting to try again) or on a link. In both states it takes frames from the
//! queue behind [`Sender`]; away, they wait in the outbox, within its bounds.
//!
//! On a link there is one poll loop (`pump`) over the unsplit WebSocket: read what is there, write
//! what is waiting, flush once. A socket that takes nothing stops the writing only, so a busy bus
//! never stops our reading, and no future that holds half a frame is ever dropped.
//!
//! A link ends when the bus closes it, when the bus sends what RFC 6455 makes us refuse, when it
//! answers no ping, or when the stop token is cancelled. Only the last ends the task.

mod backoff;
mod outbox;
mod pump;
mod report;
mod socket;
mod tls;

use std::future::Future;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::CancellationToken;

pub use self::outbox::OutboxLimits;
pub use self::socket::ConnectError;

use self::backoff::Backoff;
use self::outbox::{EndedBy, Outbox};
use self::pump::{End, Pump};
use self::report::Report;
use self::socket::{Socket, Target};
use super::link::{FrameHandler, Link, Sender, Transport};
use super::queue::{self, Inlet, Outlet};
use super::wire::{linger, refusal};

/// Which bus, and how.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// `ws://` or `wss://`, with host, port and route.
    pub url: String,
    /// Certificates (PEM) to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Bounds on what waits while the bus is away.
    pub outbox: OutboxLimits,
    /// Time limits.
    pub timing: Timing,
    /// Largest message taken from the bus, in bytes; a larger one costs the link.
    pub max_message: usize,
}

impl ClientConfig {
    /// The defaults, for the bus at `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            ca_file: None,
            outbox: OutboxLimits::default(),
            timing: Timing::default(),
            max_message: 64 << 20,
        }
    }
}

/// Time limits of a client.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Of one attempt to connect, handshakes included.
    pub connect_within: Duration,
    /// Silence from the bus after which it is pinged.
    pub ping_after: Duration,
    /// Silence after a ping by which the link is dead.
    pub pong_within: Duration,
    /// For what is still to be sent when the client is stopped.
    pub flush_within: Duration,
    /// For the closing handshake.
    pub close_within: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect_within: Duration::from_secs(5),
            ping_after: Duration::from_secs(10),
            pong_within: Duration::from_secs(10),
            flush_within: Duration::from_secs(2),
            close_within: Duration::from_secs(1),
        }
    }
}

/// A client of the bus, not yet running.
#[derive(Debug)]
pub struct Client {
    target: Target,
    config: ClientConfig,
    stop: CancellationToken,
    queue: Outlet,
    sender: Inlet,
    link: watch::Sender<Link>,
}

impl Client {
    /// A client that runs until `stop`. Nothing is connected yet.
    ///
    /// # Errors
    /// [`ConnectError::Url`]; everything else is tried again for ever.
    pub fn new(config: ClientConfig, stop: CancellationToken) -> Result<Self, ConnectError> {
        let target = Target::parse(&config.url)?;
        let (sender, queue) = queue::bounded(config.outbox.bytes);
        let link = watch::Sender::new(Link::Trying {
            since: Instant::now(),
            error: None,
        });
        Ok(Self {
            target,
            config,
            stop,
            queue,
            sender,
            link,
        })
    }
}

impl Transport for Client {
    fn sender(&self) -> Sender {
        Sender::queue(self.sender.clone())
    }

    fn link(&self) -> watch::Receiver<Link> {
        self.link.subscribe()
    }

    fn run(self, handler: impl FrameHandler) -> impl Future<Output = ()> + Send {
        let outbox = Outbox::new(self.config.outbox.clone());
        let report = Report::new(self.target.address());
        Running {
            client: self,
            handler,
            outbox,
            report,
            backoff: Backoff::new(),
        }
        .run()
    }
}

struct Running<H> {
    client: Client,
    handler: H,
    outbox: Outbox,
    report: Report,
    backoff: Backoff,
}

impl<H: FrameHandler> Running<H> {
    async fn run(mut self) {
        while let Some(attempt) = self.attempt().await {
            let why = match attempt {
                Ok(stream) => match self.on_link(stream).await {
                    Some(why) => why,
                    None => break,
                },
                Err(error) => {
                    let why = error.to_string();
                    self.report.not_reached(&why);
                    why
                }
            };
            self.set_trying(why);
            let wait = tokio::time::sleep(self.backoff.next(fastrand::f64()));
            if self.while_away(wait).await.is_none() {
                break;
            }
        }
        self.report.stopped(self.outbox.unsent());
        self.client.link.send_replace(Link::Stopped);
    }

    /// One attempt to connect, or nothing when the client is stopped.
    async fn attempt(&mut self) -> Option<Result<WebSocketStream<Socket>, ConnectError>> {
        let target = self.client.target.clone();
        let ca_file = self.client.config.ca_file.clone();
        let within = self.client.config.timing.connect_within;
        let config = websocket_config(self.client.config.max_message);
        self.while_away(async move { target.open(ca_file, config, within).await })
            .await
    }

    /// Lives on a link until it ends. Answers why it ended, or nothing when the client is stopped.
    async fn on_link(&mut self, stream: WebSocketStream<Socket>) -> Option<String> {
        let since = Instant::now();
        self.report.connected();
        self.outbox.link_up(stream.get_ref().written());
        self.client.link.send_replace(Link::Connected { since });
        self.handler.connected();

        let client = &mut self.client;
        let pump = Pump::new(
            stream,
            &mut client.queue,
            &mut self.outbox,
            &mut self.handler,
            &mut self.report,
            client.config.timing.clone(),
            client.stop.clone(),
        );
        let (end, stream) = pump.run().await;
        let (ended_by, why) = match end {
            End::Stopped => {
                self.handler.disconnected("stopped");
                return None;
            }
            End::ByBus(why) => (EndedBy::Bus, why),
            End::Reset(why) => (EndedBy::Reset, why),
            End::ByUs(why) => (EndedBy::Us, why),
            End::Refused(error) => {
                // No close frame behind a half-written one: it would complete what is sent again.
                let close = self.outbox.is_written().then(|| refusal(&error));
                tokio::spawn(linger(stream, close, client.config.timing.close_within));
                (
                    EndedBy::Us,
                    format!("the bus sent what a WebSocket client must refuse: {error}"),
                )
            }
        };
        let sent_again = self.outbox.link_down(ended_by, Instant::now());
        self.report.link_lost(&why, sent_again, self.outbox.unsent());
        self.report.given_up(self.outbox.take_given_up());
        self.backoff.link_stood(since.elapsed());
        self.handler.disconnected(&why);
        Some(why)
    }

    fn set_trying(&self, why: String) {
        self.client.link.send_modify(|link| {
            let since = match link {
                Link::Trying { since, .. } => *since,
                _ => Instant::now(),
            };
            *link = Link::Trying {
                since,
                error: Some(why),
            };
        });
    }

    /// Awaits `future` while frames go to the outbox. Nothing when the client is stopped.
    async fn while_away<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(future);
        loop {
            tokio::select! {
                biased;
                () = self.client.stop.cancelled() => return None,
                output = &mut future => return Some(output),
                // Never `None`: the client holds a sender itself.
                Some(frame) = self.client.queue.recv() => {
                    self.outbox.push(frame, Instant::now());
                    self.report.given_up(self.outbox.take_given_up());
                    self.report.refused(self.client.queue.take_refused());
                }
            }
        }
    }
}

/// Small buffers, for one is zeroed at each read; frames of any size that is asked for.
fn websocket_config(max_message: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(32 << 10)
        .write_buffer_size(64 << 10)
        .max_message_size(Some(max_message))
        .max_frame_size(Some(max_message))
}
