//! The tools of a lazy toolbox from one run to the next: its last describe answer, in the state folder.
//!
//! An answer is good for the toolbox that gave it. So it is kept with a digest of what decides what a toolbox says of
//! itself, as far as that can be told without starting it: the program, its configuration, its folder, the names of its
//! variables, the files named in its command, this version of toolhost. The digest tells none of them, and of secrets, the
//! values of `env`, it is not even made. What it misses, a changed value or library, shows with the first call.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::config::{Kind, ToolboxConfig};
use crate::json::{Text, push_string};
use crate::state_folder::StateFolder;

/// What the file of a toolbox holds.
#[derive(Deserialize)]
struct File<'a> {
    toolbox_id: &'a str,
    digest: &'a str,
    #[serde(borrow)]
    describe: &'a RawValue,
}

/// A toolbox's place in the state folder.
#[derive(Debug)]
pub(super) struct Kept {
    folder: StateFolder,
    toolbox_id: String,
    /// What the file is known to hold: a digest and a describe answer.
    held: Option<(String, Text)>,
}

impl Kept {
    pub(super) fn new(folder: StateFolder, toolbox_id: &str) -> Self {
        Self {
            folder,
            toolbox_id: toolbox_id.to_owned(),
            held: None,
        }
    }

    /// A toolbox_id has no character that a file name cannot have.
    fn name(&self) -> String {
        format!("tools/{}.json", self.toolbox_id)
    }

    /// The describe answer that was kept, if it is one of a toolbox as `config` says.
    pub(super) fn read(&mut self, config: &ToolboxConfig) -> Option<Text> {
        let ignored = |why: &dyn std::fmt::Display| {
            let file = self.folder.path(&self.name());
            tracing::warn!(toolbox = self.toolbox_id, file = %file.display(), %why, "kept tools ignored");
        };
        let text = match self.folder.read(&self.name()) {
            Ok(text) => text?,
            Err(error) => {
                ignored(&error);
                return None;
            }
        };
        let file: File<'_> = match serde_json::from_str(&text) {
            Ok(file) => file,
            Err(error) => {
                ignored(&format_args!("it is damaged: {error}"));
                return None;
            }
        };
        let digest = digest(config);
        if (file.toolbox_id, file.digest) != (&self.toolbox_id, &digest) {
            tracing::info!(toolbox = self.toolbox_id, "changed since its tools were kept");
            return None;
        }
        let describe = Text::from(file.describe.get().to_owned());
        self.held = Some((digest, describe.clone()));
        Some(describe)
    }

    /// Keeps `describe`, the answer of a process that was started with what has this `digest`.
    pub(super) fn write(&mut self, digest: String, describe: &Text) {
        let hold = (digest, describe.clone());
        if self.held.as_ref() == Some(&hold) {
            return;
        }
        let mut text = String::from(r#"{"toolbox_id":"#);
        push_string(&mut text, &self.toolbox_id);
        text.push_str(r#","digest":"#);
        push_string(&mut text, &hold.0);
        text.push_str(r#","describe":"#);
        text.push_str(describe.as_str());
        text.push_str("}\n");
        // One that failed is not tried again with each describe.
        self.held = Some(hold);
        if let Err(error) = self.folder.write(&self.name(), &text) {
            let file = self.folder.path(&self.name());
            tracing::warn!(
                toolbox = self.toolbox_id,
                file = %file.display(),
                %error,
                "its tools cannot be kept; the next start of toolhost has to start it to learn them"
            );
        }
    }
}

/// Of what decides what a toolbox says of itself. Another build of toolhost may hash otherwise: that costs one start.
pub(super) fn digest(config: &ToolboxConfig) -> String {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    // No kind shows the value of a variable here.
    format!("{:?} {:?}", config.kind, config.mode).hash(&mut hasher);
    config.config.as_str().hash(&mut hasher);
    config.cwd.hash(&mut hasher);
    config.env.0.keys().for_each(|name| name.hash(&mut hasher));
    config.inherit_env.hash(&mut hasher);
    for file in files(config) {
        stamp(&file).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Where its program may be: every part of its command that is the path of a file, and its script.
fn files(config: &ToolboxConfig) -> Vec<PathBuf> {
    match &config.kind {
        Kind::Command(argv) => argv.iter().map(|part| config.cwd.join(part)).collect(),
        Kind::Script(script) => vec![script.path.clone()],
        Kind::Tools(_) => Vec::new(),
    }
}

/// What changes when somebody changes the file.
fn stamp(file: &Path) -> Option<(u64, i64, i64)> {
    let meta = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Env;

    fn command(argv: &[&str]) -> ToolboxConfig {
        let argv = argv.iter().map(|part| (*part).to_owned()).collect();
        ToolboxConfig::new("greet", Kind::Command(argv), "/nowhere")
    }

    #[test]
    fn what_a_toolbox_says_of_itself_hangs_on_these_and_on_nothing_else() {
        let plain = || command(&["python3", "greet.py"]);
        let env = |name: &str, value: &str| Env([(name.to_owned(), value.to_owned())].into());
        let with = |change: &dyn Fn(&mut ToolboxConfig)| {
            let mut config = plain();
            change(&mut config);
            digest(&config)
        };
        let known = digest(&plain());
        let other: [&dyn Fn(&mut ToolboxConfig); 6] = [
            &|config| config.kind = command(&["python3", "other.py"]).kind,
            &|config| config.config = Text::from("{\"lang\":\"de\"}".to_owned()),
            &|config| config.cwd = "/elsewhere".into(),
            &|config| config.env = env("LANG", "de"),
            &|config| config.inherit_env = vec!["LANG".to_owned()],
            &|config| config.mode = crate::config::Mode::Oneshot,
        ];
        for change in other {
            assert_ne!(with(change), known);
        }
        // How calls are served and what is published is not the toolbox's own affair.
        let same: [&dyn Fn(&mut ToolboxConfig); 3] = [
            &|config| config.publish.namespace = Some("wn".to_owned()),
            &|config| config.timeout = std::time::Duration::from_secs(1),
            &|config| config.processes = 2,
        ];
        for change in same {
            assert_eq!(with(change), known);
        }
        // A secret leaves no trace.
        let secret = |value: &'static str| with(&move |config| config.env = env("TOKEN", value));
        assert_eq!(secret("hunter2"), secret("hunter3"));
    }

    #[test]
    fn a_changed_program_is_another_one() {
        let folder = std::env::temp_dir().join(format!("toolhost-kept-{:08x}", fastrand::u32(..)));
        std::fs::create_dir_all(&folder).unwrap();
        let mut config = command(&["python3", "greet.py"]);
        config.cwd.clone_from(&folder);
        let absent = digest(&config);
        std::fs::write(folder.join("greet.py"), "one").unwrap();
        let first = digest(&config);
        assert_eq!(digest(&config), first);
        std::fs::write(folder.join("greet.py"), "and two").unwrap();
        let second = digest(&config);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(absent != first && first != second);
    }
}
