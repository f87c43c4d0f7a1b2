//! Attaches a question to a bus, over a socket or within the process.

use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;

use crate::bus::client::{Client, ClientConfig};
use crate::bus::link::{FrameHandler, Link, Transport};
use crate::error::Error;

use super::ask::Attached;
use super::wire::{Event, Wire};

/// Starts to join the bus that `config` names; only frames that contain `key` come in.
///
/// # Errors
/// The URL cannot be used; everything else shows once the bus is waited for.
pub fn join(config: ClientConfig, key: &str) -> Result<Attached, Error> {
    let stop = CancellationToken::new();
    let bus = config.url.clone();
    let client = Client::new(config, stop.clone()).map_err(|error| Error::usage(error.to_string()))?;
    Ok(attach(client, bus, key, stop))
}

/// Runs `transport`, which ends with `stop`, for one question told by `key`; `bus` is what people call it.
pub fn attach(transport: impl Transport, bus: String, key: &str, stop: CancellationToken) -> Attached {
    let (events, from_bus) = mpsc::unbounded_channel();
    let (sender, link) = (transport.sender(), transport.link());
    let key = key.to_owned();
    let running = tokio::spawn(transport.run(Events { key, events }));
    let wire = Wire {
        bus,
        to_bus: Box::new(move |frame| sender.send(frame)),
        from_bus,
        fault: Box::new(move || match &*link.borrow() {
            Link::Trying { error, .. } => error.clone(),
            _ => None,
        }),
    };
    let end = async move {
        stop.cancel();
        // A panic in the transport was reported where it happened.
        running.await.unwrap_or_default();
    };
    Attached {
        wire,
        toolbox_ids: None,
        end: Box::pin(end),
    }
}

/// Hands on what concerns the one question.
struct Events {
    key: String,
    events: mpsc::UnboundedSender<Event>,
}

impl Events {
    fn tell(&self, event: Event) {
        // Nobody listens any more once the question is answered.
        self.events.send(event).unwrap_or_default();
    }
}

impl FrameHandler for Events {
    fn frame(&mut self, frame: Utf8Bytes) {
        if frame.contains(&self.key) {
            self.tell(Event::Frame(frame));
        }
    }

    fn connected(&mut self) {
        self.tell(Event::Connected);
    }

    fn disconnected(&mut self, why: &str) {
        self.tell(Event::Disconnected(why.to_owned()));
    }
}
