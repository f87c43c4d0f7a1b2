//! Holds a child to its limits and its sandbox before it becomes the program.
//!
//! A closure between fork and exec would cost every start a fork of the host. So the child is started as *toolhost itself*,
//! by posix_spawn as any other, under the name `toolhost-launch`. It sets up what its first argument says and becomes
//! the program: same process, same group, same pipes.

pub mod kernel;
mod landlock;
pub mod launch;
mod limits;
mod seccomp;
mod user;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::confinement::{Confinement, Limits, Sandbox};
pub use user::{User, user};

/// The name under which toolhost is the launcher.
pub const NAME: &str = "toolhost-launch";

/// This program, also when its file was replaced since: the child is still the same program when it looks.
const OWN: &str = "/proc/self/exe";

/// What the launcher does. It holds no secret: `ps` shows it for a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Plan {
    limits: Limits,
    umask: Option<u32>,
    ids: Option<user::Ids>,
    sandbox: Option<Sandbox>,
    given: Vec<PathBuf>,
}

impl Plan {
    fn encode(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| format!("what it is held to cannot be told: {error}"))
    }

    fn decode(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("what it is held to cannot be read: {error}"))
    }
}

/// How the launcher is started in place of a program.
#[derive(Debug)]
pub(super) struct Launcher {
    /// The file to start.
    pub(super) path: PathBuf,
    /// Its arguments up to those of the program.
    pub(super) words: Vec<OsString>,
}

/// Whether all of it can be had here.
///
/// # Errors
/// What cannot, in words for the owner of the configuration.
pub(super) fn check(confinement: &Confinement) -> Result<(), String> {
    plan(confinement).map(drop)
}

/// The launcher for the program at `path`.
///
/// # Errors
/// As [`check`].
pub(super) fn launcher(confinement: &Confinement, path: &Path) -> Result<Launcher, String> {
    let plan = plan(confinement)?;
    Ok(Launcher {
        path: PathBuf::from(OWN),
        words: vec![NAME.into(), plan.encode()?.into(), path.into()],
    })
}

fn plan(confinement: &Confinement) -> Result<Plan, String> {
    let plan = Plan {
        limits: confinement.limits,
        umask: confinement.umask,
        ids: user::ids(confinement.user.as_deref(), confinement.group.as_deref())?,
        sandbox: confinement.sandbox.clone(),
        given: confinement.given.clone(),
    };
    limits::check(&plan.limits)?;
    if let Some(sandbox) = &plan.sandbox {
        kernel::check(sandbox)?;
        are_there("read", &sandbox.read)?;
        are_there("write", &sandbox.write)?;
    }
    Ok(plan)
}

/// A path that is misspelled would be a wall where none is meant.
fn are_there(key: &str, paths: &[PathBuf]) -> Result<(), String> {
    match paths.iter().find(|path| matches!(path.try_exists(), Ok(false))) {
        None => Ok(()),
        Some(missing) => Err(format!(
            "its sandbox names {} under '{key}', which does not exist; create it, or take it out",
            missing.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_arrives_as_it_was_made() {
        let plan = Plan {
            limits: Limits {
                memory: Some(512 << 20),
                cpu_seconds: Some(60),
                ..Limits::default()
            },
            umask: Some(0o077),
            ids: Some(user::Ids {
                uid: 65534,
                gid: 65534,
                groups: vec![65534, 7],
            }),
            sandbox: Some(Sandbox {
                read: vec!["/srv/with space".into(), "/srv/\"ü\"\n".into()],
                ..Sandbox::default()
            }),
            given: vec!["/tmp/x".into()],
        };
        assert_eq!(Plan::decode(&plan.encode().unwrap()), Ok(plan));
        assert!(Plan::decode("{}").unwrap_err().starts_with("what it is held to"));
    }

    #[test]
    fn what_a_sandbox_names_must_be_there() {
        let error = are_there("write", &["/".into(), "/nonexistent/data".into()]).unwrap_err();
        assert_eq!(
            error,
            "its sandbox names /nonexistent/data under 'write', which does not exist; create it, or take it out"
        );
    }
}
