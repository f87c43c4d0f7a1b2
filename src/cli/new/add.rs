//! The entry of a new toolbox, put into a configuration: all of it or nothing, and nothing else changed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files::write_new;
use super::plan::Plan;
use super::shown;
use crate::cli::replace::replace;
use crate::config::{self, Config, insert};
use crate::error::Error;

/// A configuration with a toolbox more, not yet written.
#[derive(Debug)]
pub(super) struct Addition {
    id: String,
    file: PathBuf,
    /// What stands in the file; `None` where there is none.
    before: Option<String>,
    after: String,
    line: usize,
}

impl Addition {
    /// Reads `file` and puts the entry of `plan`, whose program is at `path`, into its text.
    ///
    /// # Errors
    /// A file that cannot be read or has faults, an id that is taken, a layout that cannot be added to.
    pub(super) fn prepare(file: &Path, plan: &Plan, path: &str) -> Result<Self, Error> {
        let before = read(file)?;
        let text = insert::with_toolboxes(before.as_deref().unwrap_or_default());
        let parse = |text: &str| Config::parse(text, file, &config::process_env);
        let name = shown(file);
        let old = parse(&text).map_err(|faults| {
            let what = format!("{name} has faults already, so nothing is added: {}", first(&faults));
            Error::usage(what).with_hint(format!("toolhost check {name} tells them all"))
        })?;
        let by_hand = by_hand(plan, path);
        let inserted = insert::insert(&text, &plan.id, &plan.entry(path))
            .map_err(|why| Error::usage(format!("{name} {why}; nothing is changed")).with_hint(by_hand.clone()))?;
        let mut new = parse(&inserted.text).map_err(|faults| {
            let what = format!(
                "with '{}' {name} would have a fault, so it is not added: {}",
                plan.id,
                first(&faults)
            );
            Error::usage(what)
        })?;
        let added = new.toolboxes.iter().position(|toolbox| toolbox.id == plan.id);
        if added.map(|at| new.toolboxes.remove(at)).is_none() || new != old {
            let what = format!(
                "'{}' cannot be added to {name} without changing what else stands there",
                plan.id
            );
            return Err(Error::usage(what).with_hint(by_hand));
        }
        Ok(Self {
            id: plan.id.clone(),
            file: file.to_owned(),
            before,
            after: inserted.text,
            line: inserted.line,
        })
    }

    /// Writes it: whoever reads the file meanwhile sees the old text or the new one.
    ///
    /// # Errors
    /// The system's; the file is as it was.
    pub(super) fn write(&self) -> Result<(), Error> {
        let written = match &self.before {
            None => write_new(&self.file, &self.after, 0o666),
            Some(before) => replace(&self.file, before, &self.after),
        };
        written.map_err(|error| Error::failed(format!("{} cannot be written: {error}", shown(&self.file))))
    }

    /// What was done, for people.
    pub(super) fn told(&self) -> String {
        let what = if self.before.is_some() { "added" } else { "new, with" };
        format!("{}:{}: {what} '{}'", shown(&self.file), self.line, self.id)
    }
}

/// The text of `file`; `None` where there is no such file.
fn read(file: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        // A link to nowhere is not ours to follow.
        Err(error) if error.kind() == ErrorKind::NotFound && file.symlink_metadata().is_err() => Ok(None),
        Err(error) => Err(Error::usage(format!("{} cannot be read: {error}", shown(file)))),
    }
}

fn first(faults: &config::Faults) -> String {
    let first = faults.iter().next().map(ToString::to_string).unwrap_or_default();
    match faults.len() {
        0 | 1 => first,
        all => format!("{first} (and {} more)", all - 1),
    }
}

fn by_hand(plan: &Plan, path: &str) -> String {
    let flow = plan.flow_entry(path).map(|flow| format!(": {flow}"));
    let flow = flow.unwrap_or_default();
    format!("without --add the entry is printed, for you to write into the file{flow}")
}
