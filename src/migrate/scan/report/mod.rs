//! What a scan of many files comes to, and how it is written: for people, as JSON, as SARIF, for GitHub.

use std::fmt::Write as _;
use std::ops::Range;

use super::finding::{Finding, What};
use super::place::Kind;

pub mod github;
pub mod json;
pub mod sarif;
pub mod text;

/// A place in a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The first line.
    pub line: usize,
    /// The first character in it.
    pub column: usize,
    /// The last line.
    pub end_line: usize,
    /// The character behind the last.
    pub end_column: usize,
}

impl Region {
    /// Where the bytes of `text` stand.
    pub fn of(text: &str, bytes: &Range<usize>) -> Self {
        let (line, column) = place(text, bytes.start);
        let (end_line, end_column) = place(text, bytes.end);
        Self {
            line,
            column,
            end_line,
            end_column,
        }
    }
}

fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    // A mark at the beginning of the file is no character of its first line.
    let line = line.trim_start_matches('\u{feff}');
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Bytes of a line that is kept as it is, and characters of a longer one that are.
const LONG: usize = 1000;
/// Of these, before the finding.
const BEFORE: usize = 200;

/// A finding in its file.
#[derive(Debug, Clone)]
pub struct Located {
    /// The file, as it was named or found.
    pub path: String,
    /// Where in it.
    pub region: Region,
    /// The first line of it; of a long one the part around the finding.
    pub snippet: String,
    /// Characters of the line before that part, where it is one.
    pub left_out: Option<usize>,
    /// What it is.
    pub finding: Finding,
    /// What rewrites it.
    pub changes: Vec<(Region, String)>,
    /// Whether it has been rewritten.
    pub fixed: bool,
}

impl Located {
    /// Takes `finding` in `text` to its file.
    pub fn of(path: &str, text: &str, finding: Finding) -> Self {
        let start = text.get(..finding.span.start).unwrap_or_default();
        let line = start.rfind('\n').map_or(0, |at| at + 1);
        let snippet = text
            .get(line..)
            .and_then(|rest| rest.lines().next())
            .unwrap_or_default();
        let changes = finding.fix.iter().flatten();
        let region = Region::of(text, &finding.span);
        // A line that a bundler made is as long as the file, and there may be a finding in each of its statements.
        let snippet = snippet.trim_start_matches('\u{feff}');
        let left_out = (snippet.len() > LONG).then(|| region.column.saturating_sub(BEFORE));
        Self {
            path: path.to_owned(),
            region,
            snippet: snippet.chars().skip(left_out.unwrap_or_default()).take(LONG).collect(),
            left_out,
            changes: changes
                .map(|edit| (Region::of(text, &edit.range), edit.text.clone()))
                .collect(),
            finding,
            fixed: false,
        }
    }
}

/// A file that was not read, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file or folder.
    pub path: String,
    /// Why.
    pub why: String,
    /// Whether it should have been read: without it the scan is not whole.
    pub is_fault: bool,
    /// Whether it is worth a line for a person who did not ask for this file.
    pub is_told: bool,
}

/// What a scan comes to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What was found.
    pub found: Vec<Located>,
    /// What was not read.
    pub skipped: Vec<Skipped>,
    /// How many files were read.
    pub files: usize,
}

impl Report {
    /// What was found and not rewritten.
    pub fn left(&self) -> impl Iterator<Item = &Located> {
        self.found.iter().filter(|located| !located.fixed)
    }

    /// How much of which kind is left, in words: `2 callers, 1 host`.
    pub fn counts(&self) -> String {
        let mut text = String::new();
        for (kind, one, many) in [
            (Kind::Caller, "caller", "callers"),
            (Kind::Host, "host", "hosts"),
            (Kind::Listener, "listener", "listeners"),
            (Kind::Arguments, "wrong key of arguments", "wrong keys of arguments"),
            (Kind::Mention, "mention", "mentions"),
        ] {
            let count = self.left().filter(|located| located.finding.kind == kind).count();
            if count > 0 {
                let comma = if text.is_empty() { "" } else { ", " };
                let word = if count == 1 { one } else { many };
                write!(text, "{comma}{count} {word}").unwrap_or_default();
            }
        }
        text
    }

    /// Whether everything was read that should have been.
    pub fn is_whole(&self) -> bool {
        !self.skipped.iter().any(|skipped| skipped.is_fault)
    }

    /// Leaves a call alone whose answer is awaited on the old topic in a place that is not rewritten with it, and one that a
    /// host in these files might not hear any more.
    pub fn settle(&mut self) {
        let obstacles: Vec<_> = self.found.iter().filter_map(obstacle).collect();
        let mut held: Vec<(String, String)> = Vec::new();
        for located in &mut self.found {
            let finding = &mut located.finding;
            if finding.kind != Kind::Caller || finding.fix.is_err() || finding.what == What::Flag {
                continue;
            }
            let same = |id: &Option<String>| id.is_none() || finding.toolbox_id.is_none() || *id == finding.toolbox_id;
            if let Some((_, why)) = obstacles.iter().find(|(id, _)| same(id)) {
                finding.fix = Err(why.clone());
                held.push((located.path.clone(), finding.shown_id.clone()));
                located.changes.clear();
            }
        }
        // A wait that would have moved with such a call stays with it.
        for located in &mut self.found {
            let finding = &mut located.finding;
            let is_held = held
                .iter()
                .any(|(path, id)| *path == located.path && *id == finding.shown_id);
            if finding.kind == Kind::Listener && finding.fix.is_ok() && is_held {
                finding.fix = Err("the call it belongs to is left to you".to_owned());
                located.changes.clear();
            }
        }
    }
}

/// What keeps calls of a toolbox, or of any, on the old topic, and why.
fn obstacle(located: &Located) -> Option<(Option<String>, String)> {
    let finding = &located.finding;
    let place = format!("{}:{}", located.path, located.region.line);
    let why = match finding.kind {
        Kind::Listener if finding.fix.is_err() => {
            format!("its answer may be awaited in {place}, on the old topic; move both together")
        }
        Kind::Host if !finding.answers_both => {
            format!("it may be for the host in {place}, which has only the old topic; move that first")
        }
        _ => return None,
    };
    Some((finding.toolbox_id.clone(), why))
}

/// The rules of the machine formats: id, a short description, how bad it is.
pub(super) const RULES: [(&str, &str, Level); 5] = [
    (
        "predecessor-caller",
        "A call on the predecessor topic of a toolbox",
        Level::Warning,
    ),
    (
        "predecessor-host",
        "A host of the predecessor topic of a toolbox",
        Level::Warning,
    ),
    (
        "predecessor-listener",
        "A wait for answers on the predecessor topic of a toolbox",
        Level::Warning,
    ),
    (
        "misplaced-arguments",
        "Arguments under a key that the call does not read",
        Level::Error,
    ),
    (
        "predecessor-mention",
        "Text that speaks of the predecessor topic of a toolbox",
        Level::Note,
    ),
];

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

/// The rule that a kind breaks, as its place in [`RULES`].
pub(super) fn rule(kind: Kind) -> usize {
    match kind {
        Kind::Caller => 0,
        Kind::Host => 1,
        Kind::Listener => 2,
        Kind::Arguments => 3,
        Kind::Mention => 4,
    }
}

/// Without characters that a terminal would obey.
pub(super) fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c) => {
            '\u{fffd}'
        }
        c => c,
    };
    text.chars().map(shown).collect()
}
