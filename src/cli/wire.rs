//! An attachment to a bus, whichever it is: frames out, what happens on it in.

use std::fmt;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::json::Text;

use super::request::Request;

/// One attachment to one bus, so that a socket, an embedded bus and a test look alike.
pub struct Wire {
    /// What people call the bus, in messages.
    pub bus: String,
    /// Sends a frame to the bus; never blocks.
    pub to_bus: Box<dyn Fn(Utf8Bytes) + Send + Sync>,
    /// What happens on the bus. Whoever fills it should let only frames through that contain the
    /// key of the request, or a busy bus queues up here.
    pub from_bus: mpsc::UnboundedReceiver<Event>,
    /// Why the bus is not there, as far as that is known.
    pub fault: Box<dyn Fn() -> Option<String> + Send + Sync>,
}

/// What happens on a bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It is there.
    Connected,
    /// It is not there any more, and why.
    Disconnected(String),
    /// A frame came.
    Frame(Utf8Bytes),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The bus could not be reached.
    Unreachable(String),
    /// The time is over.
    Timeout,
    /// The connection to the bus is.
    Lost(String),
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("bus", &self.bus).finish_non_exhaustive()
    }
}

impl Wire {
    /// Waits until the bus is there.
    ///
    /// # Errors
    /// [`Silence::Unreachable`] with the last fault there was.
    pub async fn connected(&mut self, limit: Duration) -> Result<(), Silence> {
        let deadline = Instant::now() + limit;
        loop {
            match timeout_at(deadline, self.from_bus.recv()).await {
                Ok(Some(Event::Connected)) => return Ok(()),
                Ok(Some(Event::Disconnected(_) | Event::Frame(_))) => {}
                Ok(None) | Err(_) => {
                    let why = (self.fault)().unwrap_or_else(|| "it does not respond".to_owned());
                    return Err(Silence::Unreachable(why));
                }
            }
        }
    }

    /// Asks, and waits for the first answer.
    ///
    /// # Errors
    /// [`Silence`].
    pub async fn ask(&mut self, request: &Request, timeout: Duration) -> Result<Text, Silence> {
        (self.to_bus)(request.frame().into());
        self.next_answer(request, Instant::now() + timeout).await
    }

    /// Asks everybody, and collects answers until `enough` of them are there or the time is over.
    ///
    /// # Errors
    /// [`Silence::Lost`] where not a single answer came before the connection ended.
    pub async fn collect(
        &mut self,
        request: &Request,
        window: Duration,
        enough: Option<usize>,
    ) -> Result<Vec<Text>, Silence> {
        let deadline = Instant::now() + window;
        (self.to_bus)(request.frame().into());
        let mut answers = Vec::new();
        while enough.is_none_or(|enough| answers.len() < enough) {
            match self.next_answer(request, deadline).await {
                Ok(answer) => answers.push(answer),
                Err(Silence::Lost(why)) if answers.is_empty() => return Err(Silence::Lost(why)),
                Err(_) => break,
            }
        }
        Ok(answers)
    }

    async fn next_answer(&mut self, request: &Request, deadline: Instant) -> Result<Text, Silence> {
        loop {
            match timeout_at(deadline, self.from_bus.recv()).await {
                Err(_) => return Err(Silence::Timeout),
                Ok(None) => return Err(Silence::Lost("it was closed".to_owned())),
                // What was asked before is forgotten by a bus that comes back, and so are answers to it.
                Ok(Some(Event::Disconnected(why))) => return Err(Silence::Lost(why)),
                Ok(Some(Event::Connected)) => {}
                Ok(Some(Event::Frame(frame))) => {
                    if let Some(answer) = request.answer_in(&frame) {
                        return Ok(answer);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wire, and its other end: what was sent, and where to answer.
    fn wire() -> (Wire, mpsc::UnboundedReceiver<Utf8Bytes>, mpsc::UnboundedSender<Event>) {
        let (to_bus, sent) = mpsc::unbounded_channel();
        let (answers, from_bus) = mpsc::unbounded_channel();
        let wire = Wire {
            bus: "ws://test".to_owned(),
            to_bus: Box::new(move |frame| to_bus.send(frame).unwrap_or_default()),
            from_bus,
            fault: Box::new(|| Some("refused".to_owned())),
        };
        (wire, sent, answers)
    }

    fn answer(request: &Request, data: &str) -> Event {
        let (topic, key) = (request.topic(), request.key());
        let frame = format!(r#"{{"type":"{topic}.response","data":{data},"context":{{"toolhost_call":"{key}"}}}}"#);
        Event::Frame(frame.into())
    }

    const LONG: Duration = Duration::from_millis(150);

    #[tokio::test]
    async fn an_answer_is_waited_for_through_foreign_traffic() {
        let (mut wire, mut sent, answers) = wire();
        let request = Request::new("t", "{}");
        answers.send(Event::Frame("not even JSON".into())).unwrap();
        answers.send(answer(&Request::new("t", "{}"), "1")).unwrap();
        answers.send(answer(&request, "[2]")).unwrap();
        let data = wire.ask(&request, LONG).await.unwrap();
        assert_eq!(data.as_str(), "[2]");
        assert_eq!(sent.recv().await.unwrap().as_str(), request.frame());
    }

    #[tokio::test]
    async fn silence_and_a_lost_bus_are_told_apart() {
        let (mut wire, _sent, answers) = wire();
        let request = Request::new("t", "{}");
        let started = Instant::now();
        assert_eq!(wire.ask(&request, LONG).await, Err(Silence::Timeout));
        assert!(started.elapsed() >= LONG);
        answers.send(Event::Disconnected("reset".to_owned())).unwrap();
        assert_eq!(wire.ask(&request, LONG).await, Err(Silence::Lost("reset".to_owned())));
    }

    #[tokio::test]
    async fn a_bus_is_waited_for_and_its_last_fault_told() {
        let (mut wire, _sent, events) = wire();
        let unreachable = wire.connected(LONG).await.unwrap_err();
        assert_eq!(unreachable, Silence::Unreachable("refused".to_owned()));
        events.send(Event::Disconnected("a first link".to_owned())).unwrap();
        events.send(Event::Connected).unwrap();
        assert_eq!(wire.connected(LONG).await, Ok(()));
    }

    #[tokio::test]
    async fn collecting_ends_with_the_window_or_with_enough() {
        let (mut wire, _sent, answers) = wire();
        let request = Request::new("t", "{}");
        for data in ["1", "2", "3"] {
            answers.send(answer(&request, data)).unwrap();
        }
        assert_eq!(wire.collect(&request, LONG, Some(2)).await.unwrap().len(), 2);
        let started = Instant::now();
        assert_eq!(wire.collect(&request, LONG, None).await.unwrap().len(), 1);
        assert!(started.elapsed() >= LONG);
    }
}
