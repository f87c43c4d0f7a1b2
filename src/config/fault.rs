//! What is wrong with a file, said so that it can be found and put right.

use std::fmt::{self, Write};
use std::path::PathBuf;

/// Characters of a key's path that are shown.
const LONGEST_PATH: usize = 100;

/// A place in a file; both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// One thing wrong with a file. Its text never holds a value of `env` or `env_file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Where in it; `None` where the file as a whole is meant.
    pub at: Option<Position>,
    /// The key, with those it stands under: `toolboxes.wordnet.timeout`. Empty at the top.
    pub path: String,
    /// What is wrong and what was expected instead.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(at) = self.at {
            write!(f, ":{}:{}", at.line, at.column)?;
        }
        f.write_str(": ")?;
        if !self.path.is_empty() {
            let end = self.path.char_indices().nth(LONGEST_PATH).map(|(end, _)| end);
            line(f, &self.path[..end.unwrap_or(self.path.len())])?;
            f.write_str(if end.is_some() { "...: " } else { ": " })?;
        }
        line(f, &self.what)
    }
}

/// Writes `text` on one line: a key in quotes may hold line breaks, or what a terminal obeys.
fn line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.chars().try_for_each(|c| match c.is_control() {
        true => write!(f, "{}", c.escape_default()),
        false => f.write_char(c),
    })
}

/// Everything that is wrong, in the order of the lines; shown one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Sorts `faults` and drops what is said twice of the same place: an alias or a default is read
    /// wherever it applies, but stands in the file once.
    pub(super) fn new(mut faults: Vec<Fault>) -> Self {
        // Stable, so that of two readings of one place the first stays: `defaults` before a toolbox.
        faults.sort_by(|a, b| a.file.cmp(&b.file).then(a.at.cmp(&b.at)));
        let mut kept: Vec<Fault> = Vec::with_capacity(faults.len());
        for fault in faults {
            let said = |other: &Fault| other.file == fault.file && other.at == fault.at && other.what == fault.what;
            if !kept.iter().rev().take_while(|other| other.at == fault.at).any(said) {
                kept.push(fault);
            }
        }
        Self(kept)
    }

    /// One by one.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none, which no error of this room is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
