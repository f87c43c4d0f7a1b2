//! What the YAML file says, as values the rest of the program works with.
//!
//! Reading is two steps: `yaml` turns text into a tree that knows its lines, `read` turns the
//! tree into a [`Config`] and collects every fault on the way. Nothing here starts, connects or
//! watches anything, and the environment comes in as a function: only `find` and the reading of
//! files touch the machine. `insert` is the way back: a toolbox into the text, for `toolhost new`.
//!
//! Rules that hold for the whole file:
//!
//! - Every fault is told at once, with file, line, column and key. The values of `env` and of an
//!   `env_file` stand in none of them.
//! - A value is the text that was typed; the key that takes it says what it means. So `no` can be a
//!   toolbox_id, `1.10` an argument, and `"5s"` a time. Only under `config`, whose meaning is the
//!   toolbox's own, do the types of YAML 1.2 apply.
//! - `${NAME}` and `${NAME:-default}` expand in values, never in keys, after the YAML is parsed and
//!   before a value is typed. `$${` is a literal `${`, any other `$` is text. In `run` and `stdin` of a
//!   declared tool they expand before placeholders are read, and what a variable holds is text, its
//!   braces no placeholders. In its `shell` and under `x-` nothing expands: the shell has variables of its own.
//! - A path is relative to the folder of the file. A key that takes a mapping or a list may be left
//!   empty; any other key without a value is a fault.
//! - Keys of `defaults` apply to a toolbox that does not have them; mappings (`env`, `config`,
//!   `restart`, `rename`) are joined key by key, one level deep.
//! - At the top, keys that begin with `x-` are for anchors and read by nobody.

mod build;
mod bus;
mod command;
mod confinement;
mod declared;
mod dotenv;
mod environment;
mod expand;
mod fault;
mod find;
mod free;
mod habits;
pub mod insert;
mod migrate;
pub mod mycroft;
mod place;
mod quantity;
mod read;
mod scalars;
pub mod schema;
mod suggest;
mod toolbox;
mod warn;
mod words;
mod yaml;

pub use bus::{DEFAULT_EMBEDDED, embedded_address};
pub use declared::{DeclaredTool, Output, Run};
pub use fault::{Fault, Faults, Position};
pub use find::{NotFound, find};
pub use read::unfit_id;
pub(crate) use suggest::{joined, nearest};
pub(crate) use toolbox::AT_ONCE;
pub use warn::{Outlook, look_over};

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::confinement::Confinement;
use crate::json::Text;
use crate::migrate::carry::Way;

/// A time as the file writes it: `200ms`, `1m 30s`, a bare number of seconds.
///
/// # Errors
/// In words, where it is none, or longer than a year.
pub fn time(text: &str) -> Result<Duration, String> {
    quantity::duration(text).ok_or_else(|| "expected a time such as 500ms, 10s or 1m 30s, up to a year".to_owned())
}

/// Looks a variable of the environment up; passed in, so that a test brings its own.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment of this process. A variable that is no UTF-8 counts as not set.
pub fn process_env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The whole file.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The file it was read from, absolute.
    pub file: PathBuf,
    /// Which bus, and how it is reached.
    pub bus: BusConfig,
    /// Whether `ovos.tools.*` is answered.
    pub tool_service: ToolService,
    /// Which calls to toolboxes of other hosts are forwarded.
    pub migrate: MigrateConfig,
    /// The toolboxes, in the order of the file: they start in it and stop in reverse.
    pub toolboxes: Vec<ToolboxConfig>,
    /// Whether a change of the files this was read from is a reason to read them again.
    pub watch: bool,
    /// Every file this was read from: the file itself first, then each `env_file`.
    pub sources: Sources,
}

/// Files and what they held. Any two are equal: what the files say is the configuration, not how they say it.
#[derive(Debug, Clone, Default)]
pub struct Sources(pub Vec<Source>);

impl PartialEq for Sources {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A file the configuration was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// A digest of what it held: tells one content from another, and nothing of either.
    pub digest: u64,
}

impl Source {
    /// The digest of `content`, good for as long as this process lives.
    pub fn digest(content: &[u8]) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        hasher.finish()
    }
}

impl Config {
    /// The toolboxes this host answers for, by itself or by forwarding.
    pub fn toolbox_ids(&self) -> impl Iterator<Item = &str> {
        let hosted = self.toolboxes.iter().map(|toolbox| toolbox.id.as_str());
        hosted.chain(self.migrate.carried.iter().map(|carry| carry.toolbox_id.as_str()))
    }
}

/// Which calls to toolboxes of other hosts are forwarded from one call topic to the other (OVOS-TOOLS-1 §6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrateConfig {
    /// The toolboxes, none of them hosted here, none twice.
    pub carried: Vec<Carry>,
    /// How long a forwarded call may take.
    pub timeout: Duration,
}

impl Default for MigrateConfig {
    fn default() -> Self {
        Self {
            carried: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

/// One toolbox whose calls are forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carry {
    /// Its toolbox_id.
    pub toolbox_id: String,
    /// From where to where.
    pub way: Way,
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
    /// Where it begins in the file, for messages.
    pub line: Line,
    /// What runs it.
    pub kind: Kind,
    /// The folder its processes start in.
    pub cwd: PathBuf,
    /// Variables it gets beside the base set, `env_file` first and `env` over it. Secret: never shown.
    pub env: Env,
    /// Names of further variables it inherits from the host.
    pub inherit_env: Vec<String>,
    /// Programs that have to be there before it is started.
    pub requires: Vec<String>,
    /// What its processes are held to.
    pub confinement: Confinement,
    /// Handed to describe: a JSON object.
    pub config: Text,
    /// How long one call may take, queueing included.
    pub timeout: Duration,
    /// How long a describe may take, the start of the process included.
    pub describe_timeout: Duration,
    /// How its processes live.
    pub mode: Mode,
    /// Identical processes sharing the calls, at least 1; of `tools`, calls at work at once.
    pub processes: usize,
    /// Whether the file says how many, or it is the default of its kind.
    pub processes_given: bool,
    /// Calls that may wait for a process.
    pub max_pending: usize,
    /// When its processes start. See [`is_lazy`](Self::is_lazy).
    pub start: Start,
    /// How long a process is kept that nobody calls; `None`: for ever.
    pub idle_timeout: Option<Duration>,
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

impl ToolboxConfig {
    /// A toolbox with the default of every key, started in the folder `cwd`.
    pub fn new(id: impl Into<String>, kind: Kind, cwd: impl Into<PathBuf>) -> Self {
        Self {
            id: id.into(),
            line: Line::default(),
            kind,
            cwd: cwd.into(),
            env: Env::default(),
            inherit_env: Vec::new(),
            confinement: Confinement::default(),
            config: Text::from("{}".to_owned()),
            timeout: Duration::from_secs(30),
            describe_timeout: Duration::from_secs(60),
            mode: Mode::default(),
            processes: 1,
            processes_given: false,
            requires: Vec::new(),
            max_pending: 256,
            start: Start::default(),
            idle_timeout: None,
            restart: Restart::default(),
            required: false,
            max_line: 16 << 20,
            max_result: 8 << 20,
            coerce: false,
            publish: Publish::default(),
            predecessor_topics: PredecessorTopics::default(),
        }
    }

    /// Whether a process of it is started and talked to as by `other`: only the bus is told something else.
    pub fn is_run_like(&self, other: &Self) -> bool {
        let mut one = self.clone();
        one.predecessor_topics = other.predecessor_topics;
        one == *other
    }

    /// Whether its first process waits for the first call. One that is required has to show at the start that it can.
    pub fn is_lazy(&self) -> bool {
        self.start == Start::Lazy && !self.required
    }
}

/// A line of the file, 0 where there is none. Any two are equal: a toolbox that only moved in the
/// file is the same toolbox to a reload.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line(pub usize);

impl PartialEq for Line {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Line {}

/// What runs a toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A program that speaks the stdio protocol: its argv.
    Command(Vec<String>),
    /// Commands declared in the file, each run once a call. Never empty.
    Tools(Vec<DeclaredTool>),
    /// A plain script, whose functions or annotated commands are the tools.
    Script(Script),
}

/// A plain script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its file, absolute. Whether it is there shows when it is started.
    pub path: PathBuf,
    /// What runs it if it is Python: the name of a program, or an absolute path to one or to the folder of a virtual environment.
    pub python: Option<PathBuf>,
    /// Calls one process works on at once, at least 1. Where the file does not say: as many as come where a function is async;
    /// else one.
    pub concurrent: Option<usize>,
    /// What it prints, where it is Bash; the other languages give values.
    pub output: Output,
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

/// When the processes of a toolbox start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// With the host.
    #[default]
    Eager,
    /// With the first call.
    Lazy,
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
