//! `toolhost migrate watch`: listens to a bus and tells which predecessor topics are used on it, by whom, and who answers.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant as Deadline, MissedTickBehavior, interval, timeout_at};

use super::args::WatchArgs;
use super::view;
use crate::bus::message::Message;
use crate::bus::topic::{Peek, Topic, peek};
use crate::bus::who::Caller;
use crate::cli::args::AskArgs;
use crate::cli::hosting::Hosting;
use crate::cli::output::Output;
use crate::cli::request::Request;
use crate::cli::wire::{Event, Silence, Wire};
use crate::error::Error;
use crate::json;
use crate::migrate::owner::{FORWARDED, sign};
use crate::migrate::usage::{Moment, Topic as CallTopic};
use crate::migrate::watch::{Watch, Watched};

/// What every frame that concerns the watch contains.
const KEY: &str = "ovos.persona.tools.";
/// How long the bus itself is waited for.
const CONNECT: Duration = Duration::from_secs(5);
/// How often the hosts are asked what they have: they may be replaced meanwhile.
const ASK_AGAIN: Duration = Duration::from_secs(30);
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
    let mut attached = hosting.join_bus(&ask, KEY)?;
    if let Err(silence) = attached.wire.connected(CONNECT).await {
        let bus = attached.wire.bus.clone();
        attached.detach().await;
        return Err(unreachable(&silence, &bus));
    }
    output.tell_a_person(&format!("listening on {}, Ctrl-C ends it", attached.wire.bus));
    let mut watching = Watching {
        watch: Watch::default(),
        start: Instant::now(),
        json: args.json || !output.stdout_is_terminal,
        output,
    };
    let ended = watching.listen(&mut attached.wire, args.time).await;
    attached.detach().await;
    ended?;
    watching.end()
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
    json: bool,
    output: Output,
}

impl Watching {
    /// Listens until the time is over or somebody ends it.
    async fn listen(&mut self, wire: &mut Wire, time: Option<Duration>) -> Result<(), Error> {
        let no_handler = |error| Error::failed(format!("cannot handle signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(no_handler)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(no_handler)?;
        let deadline = Deadline::now() + time.unwrap_or(ENDLESS);
        let mut second = interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asked: Option<Instant> = None;
        loop {
            if asked.is_none_or(|asked| asked.elapsed() >= ASK_AGAIN) {
                (wire.to_bus)(Request::new("ovos.persona.tools.discover", "{}").frame().into());
                asked = Some(Instant::now());
            }
            let event = tokio::select! {
                event = timeout_at(deadline, wire.from_bus.recv()) => event,
                _ = second.tick() => Ok(Some(Event::Connected)),
                _ = interrupt.recv() => return Ok(()),
                _ = terminate.recv() => return Ok(()),
            };
            match event {
                Err(_) | Ok(None) => return Ok(()),
                Ok(Some(Event::Frame(frame))) => self.hear(&frame),
                Ok(Some(Event::Disconnected(why))) => {
                    self.output.talk(&format!("the bus is gone ({why}), waiting for it"));
                    asked = None;
                }
                Ok(Some(Event::Connected)) => {}
            }
            self.tell()?;
        }
    }

    fn hear(&mut self, frame: &str) {
        let Peek::Topic(topic) = peek(frame) else { return };
        let topic = Topic::of(&topic);
        if topic == Topic::Foreign {
            return;
        }
        let Ok(message) = Message::parse(frame) else { return };
        let named = || message.data.get("toolbox_id").and_then(json::string);
        match topic {
            Topic::DiscoverAnswer => {
                if let Some(id) = named() {
                    self.watch.discovered(&id, message.data.get("tools").and_then(sign));
                }
            }
            Topic::Predecessor(id) => self.called(id, CallTopic::Predecessor, &message),
            Topic::PredecessorAnswer(id) => self.watch.answered(id, CallTopic::Predecessor),
            Topic::Call => {
                if let Some(id) = named() {
                    self.called(&id, CallTopic::Replacement, &message);
                }
            }
            Topic::CallAnswer => {
                if let Some(id) = named() {
                    self.watch.answered(&id, CallTopic::Replacement);
                }
            }
            _ => {}
        }
    }

    fn called(&mut self, toolbox_id: &str, topic: CallTopic, message: &Message<'_>) {
        // Whoever sent it first has been heard already.
        if message.context.get(FORWARDED).is_some() {
            return;
        }
        let caller = Caller::of(message);
        let keys = || message.context.iter().map(|(key, _)| key);
        let now = self.now();
        self.watch.called(toolbox_id, topic, &caller.who(message), keys, now);
    }

    fn tell(&mut self) -> Result<(), Error> {
        let now = self.now();
        let news = self.watch.news(now);
        news.iter().try_for_each(|watched| self.line(watched))
    }

    fn line(&self, watched: &Watched) -> Result<(), Error> {
        if !self.json {
            return self.output.data(view::watched(watched).as_bytes());
        }
        let odd = |error| Error::failed(format!("cannot write it as JSON: {error}"));
        let line = serde_json::to_string(watched).map_err(odd)?;
        self.output.data(line.as_bytes())
    }

    /// What it came to, every topic once.
    fn end(&mut self) -> Result<(), Error> {
        let now = self.now();
        let all = self.watch.all(now);
        if self.json {
            return all.iter().try_for_each(|watched| self.line(watched));
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
