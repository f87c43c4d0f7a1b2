//! A transport of ours with a handler that notes everything.

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use toolhost::bus::client::{Client, ClientConfig};
use toolhost::bus::link::{FrameHandler, Link, Sender, Transport};

use super::eventually::within;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Frame(String),
    Echo(String),
    Connected,
    Disconnected(String),
}

struct Recorder(mpsc::UnboundedSender<Event>);

impl Recorder {
    fn note(&self, event: Event) {
        // The test may have seen enough.
        self.0.send(event).ok();
    }
}

impl FrameHandler for Recorder {
    fn frame(&mut self, frame: Utf8Bytes) {
        self.note(Event::Frame(frame.to_string()));
    }

    fn echo(&mut self, frame: Utf8Bytes) {
        self.note(Event::Echo(frame.to_string()));
    }

    fn connected(&mut self) {
        self.note(Event::Connected);
    }

    fn disconnected(&mut self, why: &str) {
        self.note(Event::Disconnected(why.to_owned()));
    }
}

/// A running transport.
pub(crate) struct Running {
    pub(crate) sender: Sender,
    pub(crate) link: watch::Receiver<Link>,
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// A client with default settings, connected.
    pub(crate) async fn connect(url: &str) -> Self {
        let mut running = Self::start(ClientConfig::new(url));
        running.until(|event| *event == Event::Connected).await;
        running
    }

    pub(crate) fn start(config: ClientConfig) -> Self {
        let stop = CancellationToken::new();
        Self::run(Client::new(config, stop.clone()).expect("a good URL"), stop)
    }

    pub(crate) fn run(transport: impl Transport, stop: CancellationToken) -> Self {
        let (note, events) = mpsc::unbounded_channel();
        let (sender, link) = (transport.sender(), transport.link());
        let task = tokio::spawn(transport.run(Recorder(note)));
        Self {
            sender,
            link,
            events,
            stop,
            task,
        }
    }

    pub(crate) fn send(&self, frame: &str) {
        self.sender.send(frame.into());
    }

    /// The events up to the one that is looked for.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        within("an event", async {
            loop {
                let event = self.events.recv().await.expect("the transport runs");
                let found = wanted(&event);
                events.push(event);
                if found {
                    return;
                }
            }
        })
        .await;
        events
    }

    /// Waits for a frame of someone else, and answers the frames before it and itself.
    pub(crate) async fn frames_until(&mut self, frame: &str) -> Vec<String> {
        let events = self.until(|event| *event == Event::Frame(frame.to_owned())).await;
        let frames = events.into_iter().filter_map(|event| match event {
            Event::Frame(frame) => Some(frame),
            _ => None,
        });
        frames.collect()
    }

    /// Waits until the link is down, and answers why.
    pub(crate) async fn disconnected(&mut self) -> String {
        let mut events = self.until(|event| matches!(event, Event::Disconnected(_))).await;
        match events.pop() {
            Some(Event::Disconnected(why)) => why,
            _ => unreachable!("until ends with what it looked for"),
        }
    }

    /// Waits until an attempt has failed, and answers why.
    pub(crate) async fn error(&mut self) -> String {
        let link = within(
            "an error of the link",
            self.link
                .wait_for(|link| matches!(link, Link::Trying { error: Some(_), .. })),
        );
        match &*link.await.expect("the transport runs") {
            Link::Trying { error: Some(error), .. } => error.clone(),
            other => unreachable!("{other:?}"),
        }
    }

    /// Stops it in good order.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        within("the transport ends", self.task).await.expect("without a panic");
    }
}
