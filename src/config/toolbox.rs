//! The keys of one toolbox, or of `defaults`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::declared::OUTPUTS;
use super::read::Reader;
use super::yaml::{Entry, Node, Value, below};
use super::{
    DeclaredTool, Kind, Mode, Output, PredecessorTopics, Publish, Restart, RestartWhen, Script, Start, ToolboxConfig,
    place, quantity,
};
use crate::json::Text;

/// Every key of a toolbox.
pub(super) const KEYS: &[&str] = &[
    "command",
    "tools",
    "script",
    "python",
    "concurrent",
    "output",
    "requires",
    "cwd",
    "env",
    "env_file",
    "inherit_env",
    "limits",
    "umask",
    "user",
    "group",
    "sandbox",
    "config",
    "timeout",
    "describe_timeout",
    "mode",
    "processes",
    "max_pending",
    "start",
    "idle_timeout",
    "restart",
    "required",
    "max_line",
    "max_result",
    "coerce",
    "namespace",
    "rename",
    "allow",
    "deny",
    "predecessor_topics",
];

pub(super) const RESTART_KEYS: &[&str] = &["when", "backoff", "max_backoff", "give_up_after", "within"];

/// Exactly one of these a toolbox.
const KINDS: &[&str] = &["command", "tools", "script", "mcp", "opm"];

/// What the format has a place for and this version does not read.
const LATER: &[&str] = &["mcp", "opm"];

pub(super) const NO_KIND: &str = "needs one of 'command', a program that speaks the protocol: [program, argument, ...]; \
                                  'tools', commands declared here; and 'script', a plain script: ./notes.py";

/// Keys of one kind only, and what to know about them elsewhere. From `defaults` they do nothing there.
const OF_SCRIPT: &[(&str, &str)] = &[
    (
        "python",
        "only a 'script' is started by toolhost's choice of a Python; a 'command' names its own",
    ),
    (
        "concurrent",
        "only a 'script' has it; other toolboxes say so themselves or have 'processes'",
    ),
    ("output", "only a Bash 'script' has it; of 'tools', each has its own"),
];

/// Keys that say when processes come and go which outlast a call.
const OF_PROCESSES: &[&str] = &["start", "idle_timeout"];

/// Calls a script gets at once where `concurrent: true` does not say how many.
const CONCURRENT: usize = 8;

/// Commands of one toolbox at work at once, where the file does not say: each is busy for one call, and a slow one holds up
/// no other.
pub(crate) const AT_ONCE: usize = 8;

const NOT_YET: &str = "is not in this version of toolhost yet";

/// The OVOS bus ends a connection that sends more than its 25 MB; two are for the rest of the message.
const LARGEST_RESULT: usize = 23_000_000;

const LARGEST_LINE: usize = 1 << 30;

const MODES: &[(&str, Mode)] = &[("persistent", Mode::Persistent), ("oneshot", Mode::Oneshot)];

const STARTS: &[(&str, Start)] = &[("eager", Start::Eager), ("lazy", Start::Lazy)];

const WHENS: &[(&str, RestartWhen)] = &[
    ("always", RestartWhen::Always),
    ("on_failure", RestartWhen::OnFailure),
    ("never", RestartWhen::Never),
];

/// Replaces `place` by what was read, if anything was.
fn set<T>(place: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *place = value;
    }
}

/// Whether it is `mode: oneshot`.
fn is_oneshot(entry: &Entry) -> bool {
    entry.key == "mode" && matches!(&entry.value.value, Value::Scalar(scalar) if scalar.text() == "oneshot")
}

/// Whether `key` says what runs a toolbox.
pub(super) fn is_kind(key: &str) -> bool {
    KINDS.contains(&key)
}

/// `own` and what `defaults` adds. Mappings are joined, one level deep.
pub(super) fn with_defaults<'n>(own: &'n [Entry], defaults: &'n [Entry]) -> Vec<Cow<'n, Entry>> {
    let own_kind = own.iter().any(|entry| is_kind(&entry.key));
    let mut merged: Vec<Cow<'n, Entry>> = own.iter().map(Cow::Borrowed).collect();
    for default in defaults {
        match merged.iter_mut().find(|entry| entry.key == default.key) {
            None if own_kind && is_kind(&default.key) => {}
            None => merged.push(Cow::Borrowed(default)),
            Some(entry) => {
                if let (Value::Mapping(inner), Value::Mapping(more)) = (&entry.value.value, &default.value.value) {
                    let lacking = |more: &&Entry| inner.iter().all(|entry| entry.key != more.key);
                    let joined = inner.iter().chain(more.iter().filter(lacking)).cloned().collect();
                    entry.to_mut().value.value = Value::Mapping(joined);
                }
            }
        }
    }
    merged
}

/// An entry, borrowed or joined with a default.
pub(super) trait AsEntry {
    fn entry(&self) -> &Entry;
}

impl AsEntry for Entry {
    fn entry(&self) -> &Entry {
        self
    }
}

impl AsEntry for Cow<'_, Entry> {
    fn entry(&self) -> &Entry {
        self
    }
}

/// A toolbox while its keys are read.
pub(super) struct Draft {
    toolbox: ToolboxConfig,
    command: Option<Vec<String>>,
    tools: Option<Vec<DeclaredTool>>,
    script: Option<PathBuf>,
    python: Option<PathBuf>,
    concurrent: Option<usize>,
    output: Option<Output>,
    processes: Option<usize>,
    /// Lower than `env`, wherever the two stand.
    env_file: Vec<(String, String)>,
}

impl Draft {
    fn new(toolbox: ToolboxConfig) -> Self {
        Self {
            toolbox,
            command: None,
            tools: None,
            script: None,
            python: None,
            concurrent: None,
            output: None,
            processes: None,
            env_file: Vec::new(),
        }
    }

    /// The toolbox, `None` where nothing runs it.
    pub(super) fn finished(self) -> Option<ToolboxConfig> {
        let mut toolbox = self.toolbox;
        toolbox.kind = if let Some(argv) = self.command {
            Kind::Command(argv)
        } else if let Some(tools) = self.tools {
            Kind::Tools(tools)
        } else {
            Kind::Script(Script {
                path: self.script?,
                python: self.python,
                concurrent: self.concurrent,
                output: self.output.unwrap_or_default(),
            })
        };
        if !matches!(toolbox.kind, Kind::Command(_)) {
            // Out of `defaults`; in a toolbox of its own it is a fault.
            toolbox.mode = Mode::Persistent;
        }
        toolbox.processes_given = self.processes.is_some();
        let at_once = if matches!(toolbox.kind, Kind::Tools(_)) {
            AT_ONCE
        } else {
            1
        };
        toolbox.processes = self.processes.unwrap_or(at_once);
        let mut env: BTreeMap<String, String> = self.env_file.into_iter().collect();
        env.append(&mut toolbox.env.0);
        toolbox.env.0 = env;
        Some(toolbox)
    }
}

impl Reader<'_> {
    /// Reads `entries`; what is wrong or missing has its default.
    pub(super) fn keys<E: AsEntry>(&mut self, entries: &[E], path: &str, predecessors: PredecessorTopics) -> Draft {
        let toolbox = ToolboxConfig::new("", Kind::Command(Vec::new()), self.folder.clone());
        let mut draft = Draft::new(toolbox);
        draft.toolbox.predecessor_topics = predecessors;
        for entry in entries {
            let entry = entry.entry();
            self.key(entry, &below(path, &entry.key), &mut draft);
        }
        let kinds: Vec<&Entry> = entries
            .iter()
            .map(AsEntry::entry)
            .filter(|entry| is_kind(&entry.key))
            .collect();
        if let [first, second, ..] = kinds[..] {
            let first = &first.key;
            let what = format!("a toolbox has one of command, tools and script; this one has '{first}' already");
            self.fault(second.at, &below(path, &second.key), what);
        }
        draft
    }

    fn key(&mut self, entry: &Entry, path: &str, draft: &mut Draft) {
        let (value, toolbox) = (&entry.value, &mut draft.toolbox);
        match entry.key.as_str() {
            "command" => draft.command = self.command(value, path),
            "tools" => draft.tools = self.tools(value, path),
            "script" => draft.script = self.script(value, path),
            "python" => draft.python = self.python(value, path),
            "concurrent" => draft.concurrent = self.concurrent(value, path),
            "output" => draft.output = self.choice(value, path, OUTPUTS),
            "requires" => set(&mut toolbox.requires, self.programs(value, path)),
            "cwd" => set(&mut toolbox.cwd, self.path(value, path, "a folder")),
            "env" => toolbox.env.0 = self.env(value, path),
            "env_file" => draft.env_file = self.env_file(value, path),
            "inherit_env" => set(&mut toolbox.inherit_env, self.names(value, path)),
            "limits" | "umask" | "user" | "group" | "sandbox" => {
                self.confinement(entry, path, &mut toolbox.confinement)
            }
            "config" => set(&mut toolbox.config, self.free(value, path)),
            "timeout" => set(&mut toolbox.timeout, self.duration(value, path)),
            "describe_timeout" => set(&mut toolbox.describe_timeout, self.duration(value, path)),
            "mode" => set(&mut toolbox.mode, self.choice(value, path, MODES)),
            "processes" => draft.processes = self.count(value, path, 1..=1024),
            "max_pending" => set(&mut toolbox.max_pending, self.count(value, path, 1..=1_000_000)),
            "start" => set(&mut toolbox.start, self.choice(value, path, STARTS)),
            "idle_timeout" => set(&mut toolbox.idle_timeout, self.idle_timeout(value, path)),
            "restart" => set(&mut toolbox.restart, self.restart(value, path)),
            "required" => set(&mut toolbox.required, self.boolean(value, path)),
            "max_line" => set(&mut toolbox.max_line, self.size(value, path, LARGEST_LINE, "1GiB")),
            "max_result" => {
                let most = "23MB, which is near what the OVOS bus takes";
                set(&mut toolbox.max_result, self.size(value, path, LARGEST_RESULT, most));
            }
            "coerce" => set(&mut toolbox.coerce, self.boolean(value, path)),
            "predecessor_topics" => set(&mut toolbox.predecessor_topics, self.predecessor_topics(value, path)),
            "namespace" | "rename" | "allow" | "deny" => self.publish(entry, path, &mut toolbox.publish),
            key if LATER.contains(&key) => self.fault(entry.at, path, NOT_YET),
            "args" => self.fault(
                entry.at,
                path,
                "unknown key; arguments stand in 'command': [program, argument, ...]",
            ),
            "environment" => self.fault(entry.at, path, "unknown key; did you mean 'env'?"),
            "venv" | "virtualenv" | "interpreter" => self.fault(
                entry.at,
                path,
                "unknown key; did you mean 'python'? It takes a Python, or the folder of a virtual environment",
            ),
            "working_dir" | "workdir" | "dir" => self.fault(entry.at, path, "unknown key; did you mean 'cwd'?"),
            _ => self.unknown(entry, path, KEYS),
        }
    }

    fn script(&mut self, node: &Node, path: &str) -> Option<PathBuf> {
        let script = self.path(node, path, "a script: ./notes.py")?;
        let Value::Scalar(scalar) = &node.value else {
            return Some(script);
        };
        if let Some((file, _)) = scalar.typed.split_once(char::is_whitespace)
            && place::is_script(file)
            && !script.exists()
        {
            let what = format!(
                "a script takes no arguments; to pass some, declare a command: tools: {{NAME: {{run: [{file}, argument, ...]}}}}"
            );
            self.fault(node.at, path, what);
        }
        Some(script)
    }

    /// A program looked for on the PATH, or a path: to a program or to the folder of a virtual environment.
    fn python(&mut self, node: &Node, path: &str) -> Option<PathBuf> {
        let expected = "a Python such as python3.12, or the folder of a virtual environment such as ./venv";
        let text = self.text(node, path, expected)?;
        if text.contains('/') || text.starts_with(['.', '~']) {
            return self.path(node, path, expected);
        }
        Some(PathBuf::from(text))
    }

    fn concurrent(&mut self, node: &Node, path: &str) -> Option<usize> {
        self.parsed(
            node,
            path,
            "true, false, or a whole number from 1 to 256",
            |text| match text {
                "true" | "True" | "TRUE" => Some(CONCURRENT),
                "false" | "False" | "FALSE" => Some(1),
                _ => quantity::count(text).filter(|count| (1..=256).contains(count)),
            },
        )
    }

    /// Names of programs.
    fn programs(&mut self, node: &Node, path: &str) -> Option<Vec<String>> {
        let programs = self.texts(node, path, "program")?;
        if programs.iter().any(|program| program.contains(char::is_whitespace)) {
            self.fault(
                node.at,
                path,
                "an item is the name of a program, without arguments or versions: [jq, wn]",
            );
        }
        Some(programs)
    }

    /// Whether the toolbox's `own` keys go with what runs it. From `defaults` they stand for the toolboxes they suit.
    pub(super) fn suits_kind(&mut self, own: &[Entry], merged: &[Cow<'_, Entry>], path: &str) {
        let Some(kind) = merged
            .iter()
            .find(|entry| is_kind(&entry.key))
            .map(|entry| entry.key.as_str())
        else {
            return;
        };
        for entry in own {
            let path = below(path, &entry.key);
            let misplaced = OF_SCRIPT.iter().find(|(key, _)| *key == entry.key);
            if let Some((_, why)) = misplaced.filter(|_| kind != "script") {
                self.fault(entry.at, &path, format!("does nothing beside '{kind}': {why}"));
            }
            if OF_PROCESSES.contains(&entry.key.as_str()) && kind == "tools" {
                let what = "does nothing beside 'tools': what they declare is started once a call anyway";
                self.fault(entry.at, &path, what);
            }
            if entry.key == "idle_timeout" && merged.iter().any(|entry| is_oneshot(entry)) {
                let what = "does nothing beside 'mode: oneshot': such a process ends with its call anyway";
                self.fault(entry.at, &path, what);
            }
            if !is_oneshot(entry) {
                continue;
            }
            match kind {
                "tools" => self.fault(
                    entry.value.at,
                    &path,
                    "is for a 'command' only: what 'tools' declares is started once a call anyway",
                ),
                "script" => self.fault(
                    entry.value.at,
                    &path,
                    "is for a 'command' only: toolhost keeps a script loaded, or starts it once a call, as its kind asks",
                ),
                _ => {}
            }
        }
    }

    fn free(&mut self, node: &Node, path: &str) -> Option<Text> {
        let entries = self.entries(node, path, "a mapping")?;
        let mut out = String::new();
        self.object(entries, path, &mut out);
        Some(Text::from(out))
    }

    /// A time, or `never`, which takes back what `defaults` say.
    fn idle_timeout(&mut self, node: &Node, path: &str) -> Option<Option<Duration>> {
        match &node.value {
            Value::Scalar(scalar) if scalar.text() == "never" => Some(None),
            _ => self.duration(node, path).map(Some),
        }
    }

    fn restart(&mut self, node: &Node, path: &str) -> Option<Restart> {
        let mut restart = Restart::default();
        for entry in self.entries(node, path, "a mapping such as {when: on_failure}")? {
            let (path, value) = (&below(path, &entry.key), &entry.value);
            match entry.key.as_str() {
                "when" => set(&mut restart.when, self.choice(value, path, WHENS)),
                "backoff" => set(&mut restart.backoff, self.duration(value, path)),
                "max_backoff" => set(&mut restart.max_backoff, self.duration(value, path)),
                "give_up_after" => {
                    let count = self.count(value, path, 1..=1_000_000);
                    set(
                        &mut restart.give_up_after,
                        count.and_then(|count| u32::try_from(count).ok()),
                    );
                }
                "within" => set(&mut restart.within, self.duration(value, path)),
                _ => self.unknown(entry, path, RESTART_KEYS),
            }
        }
        if restart.backoff > restart.max_backoff {
            let [least, most] = [restart.backoff, restart.max_backoff].map(humantime::format_duration);
            self.fault(
                node.at,
                path,
                format!("'backoff' ({least}) is longer than 'max_backoff' ({most})"),
            );
        }
        Some(restart)
    }

    fn publish(&mut self, entry: &Entry, path: &str, publish: &mut Publish) {
        match entry.key.as_str() {
            "namespace" => {
                let expected = "a word of A-Z a-z 0-9 _ -, put before every name";
                publish.namespace = self.parsed(&entry.value, path, expected, |text| {
                    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                    (!text.is_empty() && text.chars().all(fits)).then(|| text.to_owned())
                });
            }
            "rename" => publish.rename = self.rename(&entry.value, path),
            "allow" => set(&mut publish.allow, self.texts(&entry.value, path, "tool name")),
            _ => set(&mut publish.deny, self.texts(&entry.value, path, "tool name")),
        }
    }

    fn rename(&mut self, node: &Node, path: &str) -> BTreeMap<String, String> {
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        for entry in self
            .entries(node, path, "a mapping of names to names")
            .unwrap_or_default()
        {
            let path = below(path, &entry.key);
            let Some(name) = self.text(&entry.value, &path, "the name to publish") else {
                continue;
            };
            if let Some((other, _)) = renamed.iter().find(|(_, taken)| **taken == name) {
                let what = format!("'{other}' is renamed to the same name");
                self.fault(entry.value.at, &path, what);
            }
            renamed.insert(entry.key.clone(), name);
        }
        renamed
    }
}
