//! What the YAML file says, as values the rest of the program works with.
//!
//! Reading is two steps: `yaml` turns text into a tree that knows its lines, `read` turns the
//! tree into a [`Config`] and collects every fault on the way. Nothing here starts, connects or
//! watches anything.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::json::Text;

/// The whole file.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The file it was read from, absolute.
    pub file: PathBuf,
    /// Which bus, and how it is reached.
    pub bus: BusConfig,
    /// Whether `ovos.tools.*` is answered.
    pub tool_service: ToolService,
    /// The toolboxes, in the order of the file: they start in it and stop in reverse.
    pub toolboxes: Vec<ToolboxConfig>,
}

/// Which bus, and how it is reached.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BusConfig {
    /// Where it is.
    pub url: BusUrl,
    /// Certificates (PEM) to trust beside the system's, for a self-signed `wss://` bus.
    pub ca_file: Option<PathBuf>,
}

/// Where the bus is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BusUrl {
    /// As the OVOS `mycroft.conf` says, `ws://127.0.0.1:8181/core` where it says nothing.
    #[default]
    Mycroft,
    /// `ws://` or `wss://`.
    Url(String),
    /// toolhost serves one itself, at this address.
    Embedded(SocketAddr),
}

/// Whether `ovos.tools.*` is answered (OVOS-TOOLS-1 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolService {
    /// Always.
    Yes,
    /// Never.
    No,
    /// Unless another tool service answers on the same bus.
    #[default]
    Auto,
}

/// What becomes of calls on `ovos.persona.tools.<toolbox_id>.call` (OVOS-TOOLS-1 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PredecessorTopics {
    /// Answered.
    #[default]
    Answer,
    /// Answered, and each caller named in the log once an hour.
    Warn,
    /// Not answered.
    Ignore,
}

/// One toolbox: `defaults:` are applied, paths absolute, variables expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolboxConfig {
    /// Its toolbox_id on the bus: `[A-Za-z0-9_-]+`.
    pub id: String,
    /// What runs it.
    pub kind: Kind,
    /// The folder its processes start in.
    pub cwd: PathBuf,
    /// Variables it gets beside the base set, `env_file` first and `env` over it. Secret: never shown.
    pub env: Env,
    /// Names of further variables it inherits from the host.
    pub inherit_env: Vec<String>,
    /// Handed to describe: a JSON object.
    pub config: Text,
    /// How long one call may take, queueing included.
    pub timeout: Duration,
    /// How long a describe may take, the start of the process included.
    pub describe_timeout: Duration,
    /// How its processes live.
    pub mode: Mode,
    /// Identical processes sharing the calls; at least 1.
    pub processes: usize,
    /// Calls that may wait for a process.
    pub max_pending: usize,
    /// What follows the end of a process.
    pub restart: Restart,
    /// Whether the host gives up when this toolbox cannot be started.
    pub required: bool,
    /// Bytes one line of the toolbox may have.
    pub max_line: usize,
    /// Bytes one result may have on the bus.
    pub max_result: usize,
    /// Whether arguments are coerced to the types of their schema.
    pub coerce: bool,
    /// Which tools are published, and as what.
    pub publish: Publish,
    /// What becomes of predecessor calls.
    pub predecessor_topics: PredecessorTopics,
}

/// What runs a toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A program that speaks the stdio protocol: its argv.
    Command(Vec<String>),
}

/// How the processes of a toolbox live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One process serves many requests.
    #[default]
    Persistent,
    /// A process a request: one line in, one line out.
    Oneshot,
}

/// Variables of a toolbox. `Debug` shows names only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Env(pub BTreeMap<String, String>);

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What follows the end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// After which ends it is started again.
    pub when: RestartWhen,
    /// Wait before the first restart; doubled for each further one.
    pub backoff: Duration,
    /// The longest wait.
    pub max_backoff: Duration,
    /// So many failures ...
    pub give_up_after: u32,
    /// ... within this time, and it stays down until asked.
    pub within: Duration,
}

/// After which ends a process is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestartWhen {
    /// Any.
    #[default]
    Always,
    /// All but an exit with status 0.
    OnFailure,
    /// None.
    Never,
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            when: RestartWhen::Always,
            backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(30),
            give_up_after: 10,
            within: Duration::from_secs(300),
        }
    }
}

/// Which tools of a toolbox are published, and as what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Publish {
    /// Put before every name, with a `_` between.
    pub namespace: Option<String>,
    /// The toolbox's own name → the published one (before the namespace).
    pub rename: BTreeMap<String, String>,
    /// Globs over own names: publish only these. Empty: all.
    pub allow: Vec<String>,
    /// Globs over own names: never publish these.
    pub deny: Vec<String>,
}
