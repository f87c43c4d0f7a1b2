//! `toolhost migrate watch`: listens to a bus and tells which predecessor topics are used on it, by whom, and who answers.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant as Deadline, sleep_until};

use super::args::WatchArgs;
use super::hear::hear;
use super::view;
use crate::cli::args::AskArgs;
use crate::cli::hosting::Hosting;
use crate::cli::output::Output;
use crate::cli::request::Request;
use crate::cli::spell::compact;
use crate::cli::wire::{Event, Silence, Wire};
use crate::error::Error;
use crate::migrate::usage::Moment;
use crate::migrate::watch::{MOST_TOOLBOXES, Watch, Watched};
use crate::topics::{DISCOVER, PREFIX};

/// How long the bus itself is waited for.
const CONNECT: Duration = Duration::from_secs(5);
/// How often the hosts are asked what they have: they may be replaced meanwhile.
const ASK_AGAIN: Duration = Duration::from_secs(30);
/// The same at most, where a sign of life of one is waited for.
const ASK_SOON: Duration = Duration::from_secs(2);
/// A time no watch lasts, for clocks that want one.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// `toolhost migrate watch`
pub(super) async fn run(args: &WatchArgs, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    let ask = AskArgs {
        bus: args.bus.clone(),
        config: None,
        ca_file: args.ca_file.clone(),
        timeout: None,
    };
    // Every frame that concerns the watch contains it.
    let mut attached = hosting.join_bus(&ask, PREFIX)?;
    if let Err(silence) = attached.wire.connected(CONNECT).await {
        let bus = attached.wire.bus.clone();
        attached.detach().await;
        return Err(unreachable(&silence, &bus));
    }
    output.tell_a_person(&format!("listening on {}, Ctrl-C ends it", attached.wire.bus));
    let mut watching = Watching::new(args.json, output);
    let ended = watching.listen(&mut attached.wire, args.time).await;
    attached.detach().await;
    match ended? {
        Ended::AsWanted => watching.end(),
        Ended::Unread => Ok(()),
    }
}

fn unreachable(silence: &Silence, bus: &str) -> Error {
    let why = match silence {
        Silence::Unreachable(why) | Silence::Lost(why) => why.clone(),
        Silence::Timeout => "no answer in time".to_owned(),
    };
    Error::no_answer(format!("the message bus at {bus} cannot be reached: {why}"))
}

struct Watching {
    watch: Watch,
    start: Instant,
    /// When the hosts were last asked.
    asked: Option<Instant>,
    connected: bool,
    /// Whether it was said that not every toolbox has room.
    told_full: bool,
    json: bool,
    output: Output,
}

/// Why a watch is over.
enum Ended {
    /// Its time is, or somebody said so.
    AsWanted,
    /// Whoever read what it tells is gone.
    Unread,
}

impl Watching {
    fn new(json: bool, output: Output) -> Self {
        Self {
            watch: Watch::default(),
            start: Instant::now(),
            asked: None,
            connected: true,
            told_full: false,
            json: json || !output.stdout_is_terminal,
            output,
        }
    }

    /// Listens until the time is over or somebody ends it.
    async fn listen(&mut self, wire: &mut Wire, time: Option<Duration>) -> Result<Ended, Error> {
        let no_handler = |error| Error::failed(format!("cannot handle signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_handler)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(no_handler)?;
        let deadline = Deadline::now() + time.unwrap_or(ENDLESS);
        loop {
            let next = self.next_asking();
            tokio::select! {
                event = wire.from_bus.recv() => match event {
                    Some(event) => self.happened(event),
                    None => return Ok(Ended::AsWanted),
                },
                () = sleep_until(next.into()), if self.connected => self.ask(wire),
                () = sleep_until(deadline) => return Ok(Ended::AsWanted),
                _ = interrupt.recv() => return Ok(Ended::AsWanted),
                _ = terminate.recv() => return Ok(Ended::AsWanted),
            }
            if !self.tell()? {
                return Ok(Ended::Unread);
            }
        }
    }

    fn next_asking(&self) -> Instant {
        let Some(asked) = self.asked else {
            return Instant::now();
        };
        let regular = asked + ASK_AGAIN;
        let due = self.watch.due().map(|due| self.start + Duration::from_secs(due));
        due.map_or(regular, |due| due.max(asked + ASK_SOON).min(regular))
    }

    fn ask(&mut self, wire: &Wire) {
        (wire.to_bus)(Request::new(DISCOVER, "{}").frame().into());
        self.asked = Some(Instant::now());
        self.watch.asked(self.now());
    }

    fn happened(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Frame(frame) => hear(&mut self.watch, &frame, now),
            Event::Disconnected(why) => {
                self.output.talk(&format!("the bus is gone ({why}), waiting for it"));
                self.connected = false;
            }
            Event::Connected => {
                if !self.connected {
                    self.output.talk("the bus is back, asking its hosts anew");
                }
                self.connected = true;
                self.asked = None;
                self.watch.gap();
            }
        }
    }

    /// Tells what is new; false where nobody reads it.
    fn tell(&mut self) -> Result<bool, Error> {
        if self.watch.is_full() && !self.told_full {
            self.told_full = true;
            self.output.talk(&format!(
                "there are more than {MOST_TOOLBOXES} toolboxes: those that came last are left out"
            ));
        }
        let now = self.now();
        for watched in self.watch.news(now) {
            if !self.line(&watched)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn line(&self, watched: &Watched) -> Result<bool, Error> {
        if !self.json {
            return self.output.is_read(view::watched(watched).as_bytes());
        }
        let odd = |error| Error::failed(format!("cannot write it as JSON: {error}"));
        let line = serde_json::to_string(watched).map_err(odd)?;
        // It may go to a terminal.
        self.output.is_read(compact(&line).as_bytes())
    }

    /// What it came to, every topic once.
    fn end(&mut self) -> Result<(), Error> {
        let now = self.now();
        let all = self.watch.all(now);
        if self.json {
            return all.iter().try_for_each(|watched| self.line(watched).map(|_| ()));
        }
        self.output
            .data(view::all_watched(&all, self.output.colors_stdout()).as_bytes())
    }

    fn now(&self) -> Moment {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment {
            wall: wall.as_secs(),
            steady: self.start.elapsed().as_secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;
    use crate::bus::message::Message;

    #[tokio::test]
    async fn hosts_are_asked_at_once_and_again_when_the_bus_is_back() {
        let (to_bus, mut sent) = mpsc::unbounded_channel();
        let (events, from_bus) = mpsc::unbounded_channel();
        let mut wire = Wire {
            bus: "ws://test".to_owned(),
            to_bus: Box::new(move |frame| to_bus.send(frame).unwrap_or_default()),
            from_bus,
            fault: Box::new(|| None),
        };
        let output = Output {
            stdout_is_terminal: false,
            stderr_is_terminal: false,
            stderr_is_journal: false,
            color_is_welcome: false,
        };
        let listening = tokio::spawn(async move { Watching::new(false, output).listen(&mut wire, None).await });
        // Far less than the hosts are asked regularly.
        let mut asked = async || timeout(ASK_AGAIN / 2, sent.recv()).await.unwrap();
        let is_discover = |frame: &str| Message::parse(frame).unwrap().topic == DISCOVER;
        assert!(is_discover(&asked().await.unwrap()));
        events.send(Event::Disconnected("reset".to_owned())).unwrap();
        events.send(Event::Connected).unwrap();
        assert!(is_discover(&asked().await.unwrap()));
        drop(events);
        assert_eq!(asked().await, None, "nothing more");
        assert!(matches!(listening.await.unwrap(), Ok(Ended::AsWanted)));
    }
}
