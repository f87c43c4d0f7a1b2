//! What a toolbox is held to, as its programs need it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::config::{Kind, ToolboxConfig};
use crate::confinement::Confinement;
use crate::process::confine;

/// What the programs of this toolbox are held to; `None` where nothing is asked for.
pub(super) fn of(config: &ToolboxConfig) -> Option<Box<Confinement>> {
    let mut held = config.confinement.clone();
    if held.is_none() {
        return None;
    }
    for path in named_files(config) {
        held = held.with_read(path);
    }
    Some(Box::new(held))
}

/// The files its configuration names as what is run. Of declared tools none: an argument may come from a caller, and
/// their programs are read as programs.
fn named_files(config: &ToolboxConfig) -> Vec<PathBuf> {
    match &config.kind {
        Kind::Script(script) => {
            // A virtual environment, or a Python of its own.
            let python = script.python.clone().filter(|python| python.is_absolute());
            std::iter::once(script.path.clone()).chain(python).collect()
        }
        Kind::Command(argv) => {
            let paths = argv.iter().map(|word| config.cwd.join(word));
            paths.filter(|path| path.is_file()).collect()
        }
        Kind::Tools(_) => Vec::new(),
    }
}

/// Variables a user brings: its name and its home, where the configuration does not say otherwise.
pub(super) fn variables_of_user(config: &ToolboxConfig) -> BTreeMap<String, String> {
    // One that does not exist is told where a process is started.
    let user = config
        .confinement
        .user
        .as_deref()
        .and_then(|user| confine::user(user).ok());
    let Some(user) = user else { return BTreeMap::new() };
    let home = user.home.to_string_lossy().into_owned();
    [("HOME", home), ("USER", user.name.clone()), ("LOGNAME", user.name)]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

/// The host's variables, without those that name folders of its own user where the toolbox has another.
pub(super) fn inherited(config: &ToolboxConfig) -> impl Iterator<Item = (OsString, OsString)> {
    let is_other = config.confinement.user.is_some();
    let named = config.inherit_env.clone();
    std::env::vars_os().filter(move |(name, _)| {
        let name = name.to_string_lossy();
        !is_other || !name.starts_with("XDG_") || named.iter().any(|wanted| *wanted == name)
    })
}
