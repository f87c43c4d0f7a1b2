//! What a running host tells about itself. Values of variables never appear in it, and of an argv only the program.

use serde::{Deserialize, Serialize};

use crate::migrate::carry::Forward;
use crate::migrate::verdict::Report;

/// Everything `toolhost status --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The host itself.
    pub host: Host,
    /// Its toolboxes, in the order of the configuration.
    pub toolboxes: Vec<Toolbox>,
    /// Toolboxes of other hosts whose calls are forwarded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forwards: Vec<Forward>,
    /// Who calls them on which topic, kept over restarts.
    #[serde(default)]
    pub migration: Report,
}

/// The host itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Of the program.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// Seconds since it started.
    pub uptime_seconds: u64,
    /// The configuration file.
    pub config: String,
    /// The bus it is on.
    pub bus: Bus,
    /// Whether `ovos.tools.*` is answered.
    pub tool_service: ToolService,
    /// What collides: tool names two toolboxes own, other hosts' toolboxes of the same id. A sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Messages of the bus since the start.
    pub messages: Messages,
}

/// The bus a host is on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bus {
    /// Where it is, without a password it may carry.
    pub url: String,
    /// Whether it is reached.
    pub state: BusState,
    /// Seconds it has been so.
    pub since_seconds: u64,
    /// Why it was last lost or not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// Whether the bus is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusState {
    /// Connected.
    Connected,
    /// Not yet, or not any more; it is tried again.
    Connecting,
    /// toolhost serves the bus itself.
    Embedded,
}

/// Whether `ovos.tools.*` is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolService {
    /// It is.
    Answering,
    /// It is not, as the configuration says.
    Off,
    /// It is not, because another tool service answers on this bus.
    Silent,
}

/// Messages of the bus since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Messages {
    /// Requests for this host.
    pub received: u64,
    /// Answers that were sent.
    pub sent: u64,
    /// That came and broke OVOS-MSG-1 or OVOS-SESSION-1.
    pub malformed: u64,
}

/// One toolbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Toolbox {
    /// Its toolbox_id.
    pub toolbox_id: String,
    /// The program that runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// How it is.
    pub state: ToolboxState,
    /// Why it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When a toolbox in backoff is started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_in_ms: Option<u64>,
    /// How many tools it publishes.
    pub tools: usize,
    /// Its processes.
    pub processes: Vec<Process>,
    /// How often a process of it was started again.
    pub restarts: u64,
    /// Its calls since the start.
    pub calls: Calls,
    /// How long its calls take; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// How a toolbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolboxState {
    /// Without a process, by intention.
    Stopped,
    /// Not described yet.
    Starting,
    /// Calls are answered.
    Ready,
    /// Without a process until the next call, which is answered.
    Asleep,
    /// Finishing what it has.
    Stopping,
    /// Failed, and tried again in a while.
    Backoff,
    /// Failed, and left alone until asked.
    Failed,
}

/// One process of a toolbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Seconds since it started.
    pub uptime_seconds: u64,
    /// Calls it has and has not answered.
    pub in_flight: usize,
}

/// The calls of a toolbox since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    /// Answered with a result.
    pub ok: u64,
    /// Answered with an error.
    pub error: u64,
    /// Waiting for a process or for its answer.
    pub pending: usize,
}

/// How long calls take, from their arrival to their answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of them, no longer than this.
    pub p50_ms: f64,
    /// 99 of 100, no longer than this.
    pub p99_ms: f64,
}
