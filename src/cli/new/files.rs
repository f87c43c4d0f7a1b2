//! The files of a new toolbox: written where nothing stood before.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use super::plan::{File, Plan};
use super::shown;
use crate::error::Error;

/// What is to be written, after it was looked whether it can be.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    /// The program.
    pub(super) program: Option<PathBuf>,
    renamed: Option<String>,
    new: Vec<(PathBuf, String, u32)>,
    /// The helper, where it is there already.
    kept: Option<PathBuf>,
}

impl Files {
    /// Looks whether the files of `plan` can be written into `folder`.
    ///
    /// # Errors
    /// A file that is there already, by its name.
    pub(super) fn check(folder: &Path, plan: &Plan) -> Result<Self, Error> {
        let mut files = Self {
            folder: folder.to_owned(),
            program: plan.program.as_ref().map(|file| folder.join(&file.name)),
            renamed: plan.renamed.clone(),
            new: Vec::new(),
            kept: None,
        };
        if let Some(File { name, text }) = &plan.program {
            let path = folder.join(name);
            // A link to nowhere is somebody's file as well.
            if path.symlink_metadata().is_ok() {
                let what = format!("{} is there already, and nothing is overwritten", shown(&path));
                return Err(Error::usage(what).with_hint("take another name, or another folder with --dir"));
            }
            // A plain script may be run by hand as well.
            files.new.push((path, text.clone(), 0o777));
        }
        if let Some(helper) = &plan.helper {
            files.look_at_helper(helper)?;
        }
        Ok(files)
    }

    fn look_at_helper(&mut self, helper: &File) -> Result<(), Error> {
        let path = self.folder.join(&helper.name);
        match fs::read(&path) {
            Ok(there) if there == helper.text.as_bytes() => self.kept = Some(path),
            Ok(_) => {
                let name = shown(&path);
                let what = format!("{name} is there already, and is not the helper of this version of toolhost");
                let hint = format!("remove {name} to get the one of this version, or take another folder with --dir");
                return Err(Error::usage(what).with_hint(hint));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => self.new.push((path, helper.text.clone(), 0o666)),
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                return Err(Error::usage(format!("{} is no folder", shown(&self.folder))));
            }
            Err(error) => return Err(Error::usage(format!("{} cannot be read: {error}", shown(&path)))),
        }
        Ok(())
    }

    /// Writes them; all or none.
    ///
    /// # Errors
    /// The system's, with the file.
    pub(super) fn write(&self) -> Result<(), Error> {
        for (at, (path, text, mode)) in self.new.iter().enumerate() {
            let folder = fs::create_dir_all(&self.folder);
            if let Err(error) = folder.and_then(|()| write_new(path, text, *mode)) {
                self.remove(at);
                return Err(Error::failed(format!("{} cannot be written: {error}", shown(path))));
            }
        }
        Ok(())
    }

    /// Takes away what was written.
    pub(super) fn undo(&self) {
        self.remove(self.new.len());
    }

    fn remove(&self, first: usize) {
        for (path, ..) in &self.new[..first] {
            // The error that led here is the one to tell.
            fs::remove_file(path).unwrap_or_default();
        }
    }

    /// What was written, for people.
    pub(super) fn told(&self) -> Vec<String> {
        let written: Vec<String> = self.new.iter().map(|(path, ..)| shown(path)).collect();
        let kept = self
            .kept
            .as_ref()
            .map(|path| format!("; {} was there already", shown(path)));
        let renamed = self.renamed.as_ref().map(|why| format!(" ({why})"));
        match written.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "wrote {}{}{}",
                written.join(" and "),
                kept.unwrap_or_default(),
                renamed.unwrap_or_default()
            )],
        }
    }
}

/// Writes a file that must not be there yet.
pub(super) fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // Half a file would be in the way of the next try.
        fs::remove_file(path).unwrap_or_default();
    })
}

/// The program as an entry names it in a configuration of this folder; empty where there is none.
///
/// # Errors
/// A path that is no text.
pub(super) fn path_from_here(folder: &Path, plan: &Plan) -> Result<String, Error> {
    named(
        folder.components().filter(|part| *part != Component::CurDir).collect(),
        plan,
    )
}

/// The same for the configuration `config`.
///
/// # Errors
/// A path that is no text.
pub(super) fn path_from(config: &Path, folder: &Path, plan: &Plan) -> Result<String, Error> {
    let base = settled(config.parent().unwrap_or(Path::new("")))?;
    let folder = settled(folder)?;
    let shared = base
        .components()
        .zip(folder.components())
        .take_while(|(a, b)| a == b)
        .count();
    if shared <= 1 {
        // Nothing but the root: a way up and down again would be of no use to a reader.
        return named(folder, plan);
    }
    let up = base.components().skip(shared).map(|_| Component::ParentDir);
    named(up.chain(folder.components().skip(shared)).collect(), plan)
}

fn named(folder: PathBuf, plan: &Plan) -> Result<String, Error> {
    let Some(program) = &plan.program else {
        return Ok(String::new());
    };
    let path = folder.join(&program.name);
    let path = if path.has_root() || path.starts_with("..") {
        path
    } else {
        Path::new(".").join(path)
    };
    let unfit =
        |path: std::ffi::OsString| Error::usage(format!("{} is no UTF-8, so that no YAML can name it", path.display()));
    path.into_os_string().into_string().map_err(unfit)
}

/// A folder without links in its path, as far as it is there.
fn settled(folder: &Path) -> Result<PathBuf, Error> {
    let here = std::env::current_dir().map_err(|error| Error::failed(format!("no working folder: {error}")))?;
    let whole = here.join(folder);
    let there = whole
        .ancestors()
        .find_map(|above| Some((above, above.canonicalize().ok()?)));
    Ok(match there {
        Some((above, real)) => real.join(whole.strip_prefix(above).unwrap_or(Path::new(""))),
        None => whole,
    })
}
