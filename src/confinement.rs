//! What the processes of a toolbox are held to: limits, another user, a sandbox. Values only.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a program is held to. Where nothing is asked for, it is started as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Confinement {
    /// What it may use.
    pub limits: Limits,
    /// The mode bits that files it creates do not get.
    pub umask: Option<u32>,
    /// The user it runs as: a name or a number.
    pub user: Option<String>,
    /// The group it runs as: a name or a number.
    pub group: Option<String>,
    /// What it may reach.
    pub sandbox: Option<Sandbox>,
    /// Files made for it: its user gets them, its sandbox lets it write them.
    pub given: Vec<PathBuf>,
}

impl Confinement {
    /// Whether nothing is asked for.
    pub fn is_none(&self) -> bool {
        let Self {
            limits,
            umask,
            user,
            group,
            sandbox,
            given: _,
        } = self;
        *limits == Limits::default() && umask.is_none() && user.is_none() && group.is_none() && sandbox.is_none()
    }

    /// The same, reading `path` too.
    #[must_use]
    pub fn with_read(mut self, path: PathBuf) -> Self {
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.needed.push(path);
        }
        self
    }
}

/// What one process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory of its own.
    pub memory: Option<u64>,
    /// Seconds of processor time.
    pub cpu_seconds: Option<u64>,
    /// Files open at once.
    pub open_files: Option<u64>,
    /// Processes and threads of its user.
    pub processes: Option<u64>,
    /// Bytes a file it writes may have.
    pub file_size: Option<u64>,
}

/// What a process and all it starts may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sandbox {
    /// What may be read and executed, beside the system's programs and libraries.
    pub read: Vec<PathBuf>,
    /// What may be written as well.
    pub write: Vec<PathBuf>,
    /// Whether sockets may be opened.
    pub network: bool,
    /// Whether it is started also where the system can hold it to less than this.
    pub best_effort: bool,
    /// What it needs to run at all, such as its script. May be missing.
    pub needed: Vec<PathBuf>,
}
