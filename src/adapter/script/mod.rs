//! Plain scripts (`script:`): a file whose functions or annotated commands are the tools, and which knows nothing of
//! toolhost.
//!
//! Python and JavaScript are read by their own interpreter. It is started with the helper of its language
//! (`protocol/toolhost.py`, `protocol/toolhost.mjs`), which imports the script and speaks the protocol for it. The helper is
//! part of this program: it reaches the interpreter as its first input, or lies in a folder for it. Bash scripts annotated for argc are read here, and
//! run once a call.

pub mod argc;
mod bash;
mod conventions;
mod foreign;
mod kit;
mod node;
mod python;
mod shebang;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Adapter, Speaker};
use crate::config::{Script, ToolboxConfig};
use crate::process::spawn::Program;
use crate::regular_file;
pub(super) use kit::temporary;
use shebang::Shebang;

/// A language that scripts are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python 3.8 or later.
    Python,
    /// JavaScript, for Node.
    Node,
    /// Bash, annotated for argc.
    Bash,
}

impl Language {
    /// The language of a script: what its first line asks for, else what its name ends in.
    pub fn of(script: &Path) -> Option<Self> {
        let shebang = Shebang::of(script);
        if shebang
            .as_ref()
            .is_some_and(|shebang| foreign::of_interpreter(shebang.interpreter()).is_some())
        {
            return None;
        }
        let asked = shebang.and_then(|shebang| Self::of_interpreter(shebang.interpreter()));
        asked.or_else(|| Self::of_name(script))
    }

    fn of_interpreter(name: &str) -> Option<Self> {
        match name {
            "bash" | "sh" | "dash" => Some(Self::Bash),
            "node" | "nodejs" => Some(Self::Node),
            name if name.starts_with("python") || name.starts_with("pypy") => Some(Self::Python),
            _ => None,
        }
    }

    fn of_name(script: &Path) -> Option<Self> {
        match script.extension()?.to_str()? {
            "py" => Some(Self::Python),
            "js" | "mjs" | "cjs" => Some(Self::Node),
            "sh" | "bash" => Some(Self::Bash),
            _ => None,
        }
    }
}

/// The adapter of a script.
pub(super) fn adapter(script: &Script, bare: Program, config: &ToolboxConfig) -> Adapter {
    match Language::of(&script.path) {
        Some(Language::Bash) => Adapter::Runs(Box::new(bash::BashScript::new(script, bare, config))),
        language => Adapter::Speaks(Speaker::Script(Box::new(Runner {
            language,
            script: script.clone(),
            bare,
        }))),
    }
}

/// Starts the interpreter of a Python or JavaScript file.
#[derive(Debug)]
pub struct Runner {
    language: Option<Language>,
    script: Script,
    bare: Program,
}

impl Runner {
    /// What is to be started.
    ///
    /// # Errors
    /// A file that cannot be read, or whose language nobody can tell.
    pub fn program(&self) -> Result<Program, String> {
        let path = &self.script.path;
        let source = read(path)?;
        let bare = Program {
            environment: conventions::environment(&self.bare.environment, path, &String::from_utf8_lossy(&source)),
            ..self.bare.clone()
        };
        // The file may not have been there when the toolbox was set up.
        match self.language.or_else(|| Language::of(path)) {
            Some(Language::Python) => match python::fault(&self.script) {
                Some(fault) => Err(fault),
                None => Ok(python::program(&self.script, &bare)),
            },
            Some(Language::Node) => Ok(node::program(&self.script, &bare)),
            Some(Language::Bash) => Err(format!(
                "{} is a Bash script, which could not be told when toolhost started; give it a name that ends in .sh",
                path.display()
            )),
            None => Err(foreign::why(path, &self.bare.cwd).unwrap_or_else(|| format!(
                "the language of {} cannot be told: let its name end in .py, .js, .mjs, .cjs or .sh, or its first line \
                 name the interpreter (#!/usr/bin/env python3)",
                path.display()
            ))),
        }
    }
}

/// No script is longer.
const LONGEST: u64 = 4 << 20;

/// The bytes of a script.
fn read(script: &Path) -> Result<Vec<u8>, String> {
    let told = |why: String| format!("the script {} {why}", script.display());
    let (file, meta) = regular_file::open(script).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => told("does not exist".to_owned()),
        _ => told(format!("cannot be read: {error}")),
    })?;
    if meta.len() > LONGEST {
        return Err(told(format!("is larger than {LONGEST} bytes")));
    }
    let mut bytes = Vec::new();
    match file.take(LONGEST).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(told(format!("cannot be read: {error}"))),
    }
}

/// `path` as an argument. One that is no UTF-8 cannot stand in one unchanged, and is then not found.
fn argument(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What the name of a tool is made of where the script itself is the tool: its name without the ending.
fn stem(script: &Path) -> String {
    let stem = script.file_stem().unwrap_or_default().to_string_lossy();
    let fits = |c: char| {
        if c.is_ascii_alphanumeric() || "_-".contains(c) {
            c
        } else {
            '_'
        }
    };
    stem.chars().map(fits).collect()
}

/// The folder of a script.
fn folder(script: &Path) -> PathBuf {
    script.parent().map(Path::to_owned).unwrap_or_default()
}
