//! The storm itself: one caller that paces, hears and keeps the ledger, and what it does to bus and host meanwhile.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use futures_util::StreamExt as _;
use nix::sys::signal::Signal;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use toolhost::control::client;
use toolhost::control::order::Orders;
use toolhost::control::verb::Verb;

use crate::cast::{self, HEALTHY, MOODY};
use crate::common::caller::{CALL, RELOAD, call};
use crate::common::eventually::eventually;
use crate::common::host::Host;
use crate::common::peers::RealBus;
use crate::common::raw::Raw;
use crate::ledger::{Ledger, Sums, To};

/// How large a storm is.
pub(crate) struct Plan {
    /// Calls of healthy toolboxes before it, to compare with.
    pub(crate) quiet: usize,
    pub(crate) calls: usize,
    pub(crate) healthy_a_second: u32,
    pub(crate) moody_a_second: u32,
    pub(crate) kills: usize,
    pub(crate) reloads: usize,
}

/// What came of it.
pub(crate) struct Report {
    seed: u64,
    sums: Sums,
    kills: usize,
    reloads: usize,
    /// Calls the host says healthy toolboxes were given.
    healthy_received: u64,
    restarts: u64,
    /// Frames the host's log counts as given up.
    given_up: u64,
    quiet: (Duration, Duration),
    storm: (Duration, Duration),
    /// Resident memory of the host in KiB, at 20 points of the storm.
    memory: Vec<u64>,
    /// Descriptors of the host with every toolbox stopped, before and after.
    descriptors: (usize, usize),
}

const TICK: Duration = Duration::from_millis(10);

/// Calls without an answer beyond which no more are made.
const IN_HAND: usize = 200;

/// Runs a storm, up to the end of the host.
pub(crate) async fn run(plan: &Plan) -> Report {
    let seed = std::env::var("CHAOS_SEED").map_or(4, |seed| seed.parse().expect("CHAOS_SEED is a number"));
    println!("CHAOS_SEED={seed}");
    let bus = RealBus::start().await;
    let generations = [0; MOODY];
    let host = Host::start(&cast::config(&bus.url(), &generations)).await;
    let before = descriptors_at_rest(&host).await;
    order_all(&host, Verb::Start).await;
    let caller = Raw::connect(&bus.url()).await;
    let mut storm = Storm {
        random: fastrand::Rng::with_seed(seed),
        bus,
        host,
        generations,
        caller,
        ledger: Ledger::default(),
        memory: Vec::new(),
    };
    storm.calls(plan.quiet, plan.healthy_a_second, 0).await;
    storm.settle().await;
    let quiet = 0..storm.ledger.sent();
    let pids = storm.healthy_pids();
    storm.rage(plan).await;
    storm.settle().await;
    assert_eq!(storm.healthy_pids(), pids, "no healthy process was replaced");
    storm.report(seed, plan, quiet, before).await
}

struct Storm {
    random: fastrand::Rng,
    bus: RealBus,
    host: Host,
    generations: [u64; MOODY],
    caller: Raw,
    ledger: Ledger,
    memory: Vec<u64>,
}

/// What happens amid the calls.
enum Incident {
    Kill,
    Reload,
    /// The memory of the host is noted.
    Weigh,
}

/// As much of an answer as is looked at.
#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "type")]
    topic: String,
    #[serde(default)]
    data: AnswerData,
    #[serde(default)]
    context: AnswerContext,
}

#[derive(Deserialize, Default)]
struct AnswerData {
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default)]
struct AnswerContext {
    number: Option<usize>,
}

impl Storm {
    /// Calls, with kills of the bus and reloads among them.
    async fn rage(&mut self, plan: &Plan) {
        let rate = plan.healthy_a_second + plan.moody_a_second;
        let mut incidents = self.draw(plan);
        incidents.sort_by_key(|(at, _)| *at);
        let mut done = 0;
        for (at, incident) in incidents {
            let moody_percent = plan.moody_a_second * 100 / rate;
            self.calls(at - done, plan.healthy_a_second, moody_percent).await;
            done = at;
            match incident {
                Incident::Kill => self.kill_the_bus().await,
                Incident::Reload => self.reload().await,
                Incident::Weigh => self.memory.push(self.host_memory()),
            }
        }
    }

    /// What happens, each after how many calls.
    fn draw(&mut self, plan: &Plan) -> Vec<(usize, Incident)> {
        let kills = (0..plan.kills).map(|_| Incident::Kill);
        let incidents = kills.chain((0..plan.reloads).map(|_| Incident::Reload));
        let mut drawn: Vec<_> = incidents
            .map(|incident| (self.random.usize(..plan.calls), incident))
            .collect();
        drawn.extend((1..=20).map(|part| (plan.calls * part / 20, Incident::Weigh)));
        drawn
    }

    /// Sends `count` calls at the pace of the plan, `moody_percent` of them to others than the healthy; hears answers meanwhile.
    async fn calls(&mut self, count: usize, healthy_a_second: u32, moody_percent: u32) {
        let a_second = healthy_a_second * 100 / (100 - moody_percent);
        let a_tick = f64::from(a_second) * TICK.as_secs_f64();
        let mut ticks = ticks();
        let (mut sent, mut due) = (0, 0.0);
        while sent < count {
            tokio::select! {
                _ = ticks.tick() => {
                    due += a_tick;
                    // On a machine that cannot keep up callers wait as well, and none of them makes up for it later.
                    if self.ledger.open() > IN_HAND {
                        due = 0.0;
                    }
                    while due >= 1.0 && sent < count {
                        due -= 1.0;
                        sent += 1;
                        let is_moody = self.random.u32(..100) < moody_percent;
                        self.call(is_moody).await;
                    }
                }
                frame = self.caller.0.next() => self.hear(frame),
            }
        }
    }

    async fn call(&mut self, is_moody: bool) {
        let (to, toolbox_id) = if is_moody {
            (To::Moody, cast::moody(self.random.usize(..MOODY)))
        } else {
            (To::Healthy, cast::healthy(self.random.usize(..HEALTHY)))
        };
        let number = self.ledger.send(to);
        let kwargs = json!({"token": number.to_string(), "roll": self.random.u32(..100)});
        self.send(CALL, &call(&toolbox_id, "do", &kwargs), number).await;
    }

    async fn send(&mut self, topic: &str, data: &Value, number: usize) {
        let message = json!({"type": topic, "data": data, "context": {"number": number, "source": "chaos"}});
        self.caller.send(message.to_string()).await;
    }

    fn hear(&mut self, frame: Option<Result<Message, WsError>>) {
        let frame = frame.expect("the bus is there").expect("the bus is there");
        let Ok(text) = frame.into_text() else { return };
        let Ok(answer) = serde_json::from_str::<Answer>(&text) else {
            return;
        };
        if let Some(number) = answer.context.number.filter(|_| answer.topic.ends_with(".response")) {
            self.ledger.answer(number, answer.data.error.is_some());
        }
    }

    /// Waits until everything that must be answered is.
    async fn settle(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut ticks = ticks();
        while self.ledger.open() > 0 && Instant::now() < deadline {
            tokio::select! {
                _ = ticks.tick() => {}
                frame = self.caller.0.next() => self.hear(frame),
            }
        }
    }

    /// Kills the bus amid the calls and starts another. The host is held meanwhile, so that nothing it says is missed here.
    async fn kill_the_bus(&mut self) {
        self.bus.kill();
        while let Some(Ok(frame)) = self.caller.0.next().await {
            self.hear(Some(Ok(frame)));
        }
        self.ledger.bus_killed();
        let bus = &mut self.bus;
        self.host.signal(Signal::SIGSTOP);
        bus.restart().await;
        self.caller = Raw::connect(&self.bus.url()).await;
        self.host.signal(Signal::SIGCONT);
        let host = &self.host;
        eventually("the host is back on the bus", || {
            host.status()
                .is_some_and(|status| status["host"]["bus"]["state"] == "connected")
        })
        .await;
    }

    /// Changes some toolboxes in the file and has it read, each time by another way.
    async fn reload(&mut self) {
        for _ in 0..5 {
            self.generations[self.random.usize(..MOODY)] += 1;
        }
        self.host
            .write_config(&cast::config(&self.bus.url(), &self.generations));
        match self.random.u32(..3) {
            0 => self.host.signal(Signal::SIGHUP),
            1 => {
                let number = self.ledger.send(To::Service);
                self.send(RELOAD, &json!({}), number).await;
            }
            _ => {
                let socket = self.host.socket();
                // Beside the calls, not instead of them.
                tokio::task::spawn_blocking(move || client::ask(&socket, &Verb::Reload).expect("a good file"));
            }
        }
    }

    fn host_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.host.pid())).expect("a running host");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.expect("its memory").parse().expect("a number")
    }

    fn healthy_pids(&self) -> Vec<i32> {
        (0..HEALTHY)
            .map(|index| self.host.pid_of(&cast::healthy(index)))
            .collect()
    }

    async fn report(self, seed: u64, plan: &Plan, quiet: Range<usize>, before: usize) -> Report {
        let status = self.host.status().expect("the host tells its status");
        let toolboxes = status["toolboxes"].as_array().expect("toolboxes").clone();
        let of_healthy = |sum: fn(&Value) -> u64| {
            let healthy = toolboxes.iter().filter(|toolbox| {
                toolbox["toolbox_id"]
                    .as_str()
                    .is_some_and(|id| id.starts_with("healthy"))
            });
            healthy.map(sum).sum::<u64>()
        };
        let restarts = |toolbox: &Value| toolbox["restarts"].as_u64().expect("a number");
        let calls = |toolbox: &Value| {
            ["ok", "error"]
                .iter()
                .map(|end| toolbox["calls"][end].as_u64().expect("a number"))
                .sum()
        };
        let report = Report {
            seed,
            kills: plan.kills,
            reloads: plan.reloads,
            healthy_received: of_healthy(calls),
            given_up: given_up(&self.host.log()),
            restarts: toolboxes.iter().map(restarts).sum(),
            quiet: self.ledger.healthy_latency(quiet.clone()),
            storm: self.ledger.healthy_latency(quiet.end..self.ledger.sent()),
            sums: self.ledger.sums(),
            memory: self.memory,
            descriptors: (before, descriptors_at_rest(&self.host).await),
        };
        // Looks for processes that are left, too.
        self.host.stop().await;
        report
    }
}

fn ticks() -> Interval {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Stops every toolbox, and counts what the host still has open, once that is steady.
async fn descriptors_at_rest(host: &Host) -> usize {
    order_all(host, Verb::Stop).await;
    let folder = format!("/proc/{}/fd", host.pid());
    let count = || std::fs::read_dir(&folder).expect("a running host").count();
    // The control connection of a moment ago may still be closing.
    let (mut last, mut seen) = (count(), 0);
    eventually("as many descriptors for a while", || {
        let now = count();
        seen = if now == last { seen + 1 } else { 0 };
        last = now;
        seen == 40
    })
    .await;
    last
}

/// How many frames a log says were given up.
fn given_up(log: &str) -> u64 {
    let lines = log.lines().filter(|line| line.contains("frames given up"));
    let counts = lines.filter_map(|line| line.split(" frames=").nth(1)?.split(' ').next()?.parse::<u64>().ok());
    counts.sum()
}

async fn order_all(host: &Host, verb: fn(Orders) -> Verb) {
    let socket = host.socket();
    let orders = Orders {
        all: true,
        wait: true,
        grace_ms: 1_000,
        ..Orders::default()
    };
    tokio::task::spawn_blocking(move || client::ask(&socket, &verb(orders)).expect("the host obeys"))
        .await
        .expect("the host answers");
}

impl Report {
    /// What must hold on any machine.
    pub(crate) fn check(&self) {
        assert_eq!(self.sums.doubled, Vec::<usize>::new(), "answered twice");
        assert_eq!(
            self.sums.lost,
            Vec::<usize>::new(),
            "never answered, with the bus there"
        );
        assert_eq!(
            self.sums.healthy_errors,
            Vec::<usize>::new(),
            "calls of healthy toolboxes that failed"
        );
        let lost = self.healthy_received - self.sums.healthy_answered;
        assert!(
            lost <= self.given_up,
            "{lost} answers are lost, and the log counts {}",
            self.given_up
        );
        let (before, after) = self.descriptors;
        assert!(
            after <= before,
            "{after} descriptors are open with every toolbox stopped, before the storm {before} were"
        );
    }

    /// What holds on a machine that does nothing else.
    pub(crate) fn check_costs(&self) {
        let ratio = self.storm.0.as_secs_f64() / self.quiet.0.as_secs_f64();
        assert!(ratio < 2.0, "healthy toolboxes took {ratio:.2} times as long");
        let (early, late) = (self.most_memory(5..10), self.most_memory(15..20));
        assert!(late < early + early / 4, "memory grew from {early} to {late} KiB");
    }

    fn most_memory(&self, points: Range<usize>) -> u64 {
        self.memory[points].iter().copied().max().unwrap_or_default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sums = &self.sums;
        writeln!(
            f,
            "seed {}, {} requests, the bus killed {} times, {} reloads",
            self.seed, sums.sent, self.kills, self.reloads
        )?;
        writeln!(f, "results {}, errors {}", sums.results, sums.errors)?;
        writeln!(f, "answered twice {}, never {}", sums.doubled.len(), sums.lost.len())?;
        writeln!(
            f,
            "without an answer, the bus having been killed meanwhile: {}",
            sums.gone_with_the_bus
        )?;
        let lost = self.healthy_received - sums.healthy_answered;
        writeln!(
            f,
            "healthy: answered {}, received and not answered {lost}, errors {}",
            sums.healthy_answered,
            sums.healthy_errors.len()
        )?;
        writeln!(f, "processes started again: {}", self.restarts)?;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        writeln!(
            f,
            "healthy latency, ms: quiet median {:.2} p99 {:.2}; storm median {:.2} p99 {:.2}; ratio of medians {:.2}, of p99 {:.2}",
            ms(self.quiet.0),
            ms(self.quiet.1),
            ms(self.storm.0),
            ms(self.storm.1),
            ms(self.storm.0) / ms(self.quiet.0),
            ms(self.storm.1) / ms(self.quiet.1)
        )?;
        writeln!(f, "memory of the host, KiB: {:?}", self.memory)?;
        write!(
            f,
            "descriptors with all stopped: {} before, {} after",
            self.descriptors.0, self.descriptors.1
        )
    }
}
