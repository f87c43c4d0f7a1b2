//! The tree → a [`Config`], collecting every fault on the way.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::expand::Place;
use super::fault::{Fault, Faults, Position};
use super::yaml::{self, Entry, Node, below};
use super::{
    BusConfig, Config, Lookup, MigrateConfig, PredecessorTopics, Source, Sources, ToolService, ToolboxConfig, place,
    suggest, toolbox,
};
use crate::regular_file;

/// Far more than any file of this kind holds; a mistyped path to a disk image ends here.
const LONGEST_FILE: u64 = 4 << 20;

pub(super) const TOP_KEYS: &[&str] = &[
    "bus",
    "tool_service",
    "predecessor_topics",
    "migrate",
    "watch",
    "defaults",
    "toolboxes",
];

const PREDECESSORS: &[(&str, PredecessorTopics)] = &[
    ("answer", PredecessorTopics::Answer),
    ("warn", PredecessorTopics::Warn),
    ("ignore", PredecessorTopics::Ignore),
];

/// What the reading of one file shares: where it is, the environment, and what was found wrong.
pub(super) struct Reader<'a> {
    /// As it was named, for faults.
    pub(super) file: PathBuf,
    /// Absolute; what relative paths are relative to.
    pub(super) folder: PathBuf,
    pub(super) env: Lookup<'a>,
    pub(super) faults: Vec<Fault>,
    /// Every file read so far.
    pub(super) sources: Vec<Source>,
}

impl Config {
    /// Reads `file`.
    ///
    /// # Errors
    /// Everything that is wrong with it and the files it names.
    pub fn load(file: &Path, env: Lookup<'_>) -> Result<Self, Faults> {
        let text = text_of(file, LONGEST_FILE).map_err(|(at, what)| {
            Faults::new(vec![Fault {
                file: file.to_owned(),
                at,
                path: String::new(),
                what,
            }])
        })?;
        Self::parse(&text, file, env)
    }

    /// Reads `text` as if it stood in `file`, which need not exist.
    ///
    /// # Errors
    /// Everything that is wrong with it and the files it names.
    pub fn parse(text: &str, file: &Path, env: Lookup<'_>) -> Result<Self, Faults> {
        // Fails for an empty path only, which no text was read from.
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let folder = absolute.parent().unwrap_or(Path::new("/")).to_owned();
        let mut reader = Reader {
            file: file.to_owned(),
            folder,
            env,
            faults: Vec::new(),
            sources: Vec::new(),
        };
        reader.read_from(&absolute, text);
        let config = reader.config(text, absolute);
        match config {
            Some(config) if reader.faults.is_empty() => Ok(config),
            _ => Err(Faults::new(reader.faults)),
        }
    }
}

impl Reader<'_> {
    /// Notes that `text` stands in `path` and is part of the configuration. One file may serve several toolboxes.
    pub(super) fn read_from(&mut self, path: &Path, text: &str) {
        let source = Source {
            path: path.to_owned(),
            digest: Source::digest(text.as_bytes()),
        };
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
    }

    fn config(&mut self, text: &str, file: PathBuf) -> Option<Config> {
        let (root, mistakes) = yaml::parse(text);
        if root.is_none() && mistakes.is_empty() {
            let what = "the file is empty; it needs 'toolboxes', a mapping from toolbox_id to toolbox";
            self.fault(Position { line: 1, column: 1 }, "", what);
        }
        for mistake in mistakes {
            self.fault(mistake.at, &mistake.path, mistake.what);
        }
        let mut root = root?;
        self.expand(&mut root, "", Place::Top);
        self.top(&root, file)
    }

    fn top(&mut self, root: &Node, file: PathBuf) -> Option<Config> {
        let entries = self.entries(root, "", "a mapping with the key 'toolboxes'")?;
        let mut bus = BusConfig::default();
        let mut tool_service = ToolService::default();
        let mut predecessors = PredecessorTopics::default();
        let mut watch = false;
        let (mut defaults, mut toolboxes, mut migrate) = (None, None, None);
        for entry in entries {
            let (path, value) = (entry.key.as_str(), &entry.value);
            match path {
                "bus" => bus = self.bus(value, path),
                "tool_service" => tool_service = self.tool_service(value, path).unwrap_or_default(),
                "predecessor_topics" => predecessors = self.predecessor_topics(value, path).unwrap_or_default(),
                "migrate" => migrate = Some(value),
                "watch" => watch = self.boolean(value, path).unwrap_or_default(),
                "defaults" => defaults = Some(value),
                "toolboxes" => toolboxes = Some(value),
                _ if path.starts_with("x-") => {}
                _ if toolbox::KEYS.contains(&path) => {
                    self.fault(
                        entry.at,
                        path,
                        "unknown key here; it stands under 'defaults' or under a toolbox",
                    );
                }
                _ if below_nothing(entries, entry) => {
                    self.fault(entry.at, path, "unknown key; a toolbox is indented below 'toolboxes:'");
                }
                _ => self.unknown(entry, path, TOP_KEYS),
            }
        }
        let defaults = match defaults {
            Some(node) => self.defaults(node),
            None => &[],
        };
        let Some(toolboxes) = toolboxes else {
            self.fault(
                root.at,
                "toolboxes",
                "is missing; expected a mapping from toolbox_id to toolbox",
            );
            return None;
        };
        let toolboxes = self.entries(toolboxes, "toolboxes", "a mapping from toolbox_id to toolbox")?;
        let migrate = migrate.map_or_else(MigrateConfig::default, |node| self.migrate(node, "migrate", toolboxes));
        let shallow = self.too_shallow(toolboxes, "toolboxes", toolbox::KEYS);
        let toolboxes = toolboxes
            .iter()
            .filter(|entry| !shallow.contains(&entry.at))
            .filter_map(|entry| self.toolbox(entry, defaults, predecessors))
            .collect();
        Some(Config {
            file,
            bus,
            tool_service,
            migrate,
            toolboxes,
            watch,
            sources: Sources(std::mem::take(&mut self.sources)),
        })
    }

    /// Tells of entries that are indented too little; the places of them and of those they belong to, of which no more
    /// is to be said.
    pub(super) fn too_shallow(&mut self, entries: &[Entry], path: &str, keys: &[&str]) -> Vec<Position> {
        let mut told = Vec::new();
        for (entry, owner) in place::too_shallow(entries, keys) {
            let what = format!(
                "stands beside '{}:', which is empty: indent it below '{}:'",
                owner.key, owner.key
            );
            self.fault(entry.at, &below(path, &entry.key), what);
            told.extend([entry.at, owner.at]);
        }
        told
    }

    /// Looks the defaults over once by themselves, so that their faults are theirs.
    fn defaults<'n>(&mut self, node: &'n Node) -> &'n [Entry] {
        let entries = self
            .entries(node, "defaults", "a mapping of keys of a toolbox")
            .unwrap_or_default();
        self.keys(entries, "defaults", PredecessorTopics::default());
        entries
    }

    fn tool_service(&mut self, node: &Node, path: &str) -> Option<ToolService> {
        self.parsed(node, path, "true, false or auto", |text| match text {
            "true" | "True" | "TRUE" => Some(ToolService::Yes),
            "false" | "False" | "FALSE" => Some(ToolService::No),
            "auto" => Some(ToolService::Auto),
            _ => None,
        })
    }

    pub(super) fn predecessor_topics(&mut self, node: &Node, path: &str) -> Option<PredecessorTopics> {
        self.choice(node, path, PREDECESSORS)
    }

    fn toolbox(&mut self, entry: &Entry, defaults: &[Entry], predecessors: PredecessorTopics) -> Option<ToolboxConfig> {
        let path = below("toolboxes", &entry.key);
        if let Some(what) = unfit_id(&entry.key) {
            self.fault(entry.at, &path, what);
        }
        if let Some(meant) = place::meant(&entry.key, &entry.value.value) {
            let what = format!("expected the keys of a toolbox, {meant}");
            self.fault(entry.value.at, &path, what);
            return None;
        }
        let own = self.entries(&entry.value, &path, "the keys of a toolbox")?;
        let merged = toolbox::with_defaults(own, defaults);
        let draft = self.keys(&merged, &path, predecessors);
        // A misspelled kind has been told already.
        let meant = |key: &str| suggest::nearest(key, toolbox::KEYS).is_some_and(toolbox::is_kind);
        if !own
            .iter()
            .chain(defaults)
            .any(|entry| toolbox::is_kind(&entry.key) || meant(&entry.key))
        {
            self.fault(entry.at, &path, toolbox::NO_KIND);
        }
        self.suits_kind(own, &merged, &path);
        let mut toolbox = draft.finished()?;
        toolbox.id.clone_from(&entry.key);
        toolbox.line = super::Line(entry.at.line);
        Some(toolbox)
    }
}

/// Whether `entry` comes after a `toolboxes:` with nothing below it, and looks like a toolbox.
fn below_nothing(entries: &[Entry], entry: &Entry) -> bool {
    use super::yaml::Value;
    let empty = |other: &Entry| matches!(&other.value.value, Value::Scalar(scalar) if scalar.is_missing());
    let named = entries
        .iter()
        .any(|other| other.key == "toolboxes" && other.at < entry.at && empty(other));
    named
        && matches!(&entry.value.value, Value::Mapping(keys) if keys.iter().any(|key| toolbox::KEYS.contains(&key.key.as_str())))
}

/// Why `id` cannot be a toolbox_id.
pub fn unfit_id(id: &str) -> Option<String> {
    let unfit = id.chars().find(|c| !c.is_ascii_alphanumeric() && !"_-".contains(*c));
    match unfit {
        None if id.is_empty() => Some("a toolbox_id has at least one character".into()),
        None => None,
        Some(c @ (':' | '.')) => Some(format!(
            "'{c}' cannot stand in a toolbox_id (OVOS-TOOLS-1): use A-Z a-z 0-9 _ -"
        )),
        Some(c) => Some(format!(
            "'{}' cannot stand in a toolbox_id: use A-Z a-z 0-9 _ -",
            c.escape_debug()
        )),
    }
}

/// The text of `file`, or why there is none. What is no file, or a long one, is not waited for.
pub(super) fn text_of(file: &Path, longest: u64) -> Result<String, (Option<Position>, String)> {
    let mut bytes = Vec::new();
    let read = regular_file::open(file).and_then(|(open, _)| open.take(longest + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err((None, format!("cannot be read: {}", plain(&error))));
    }
    if bytes.len() as u64 > longest {
        return Err((None, format!("is larger than {longest} bytes")));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err((None, "is UTF-16; save it as UTF-8".into()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        let line = good.rsplit('\n').next().unwrap_or_default();
        let at = Position {
            line: good.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        };
        (Some(at), "not UTF-8 from here on".into())
    })
}

/// An error of the system without its number.
pub(super) fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
