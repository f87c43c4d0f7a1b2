//! What the kernel here can do.

use std::sync::Once;

use nix::libc;

use super::seccomp;
use crate::confinement::{Confinement, Sandbox};

/// The version of Landlock from which a sandbox cannot signal what is outside of it.
pub const SIGNALS: u32 = 6;

/// Whether LANDLOCK asks for its version.
const VERSION: libc::c_uint = 1;

/// The version of Landlock; 0 where there is none.
pub fn landlock() -> u32 {
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call reads no memory and makes nothing; it answers a number.
    let answered = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    u32::try_from(answered).unwrap_or(0)
}

/// Whether system calls can be filtered.
fn filters() -> bool {
    seccomp::knows_this_machine() && std::path::Path::new("/proc/sys/kernel/seccomp").exists()
}

/// Whether a sandbox can be had.
///
/// # Errors
/// What is missing, unless less will do.
pub(super) fn check(sandbox: &Sandbox) -> Result<(), String> {
    static TOLD: Once = Once::new();
    let mut missing = Vec::new();
    if landlock() == 0 {
        missing.push("Landlock (Linux 5.13 with 'landlock' in its list of security modules)");
    }
    if !filters() {
        missing.push("a filter of system calls (seccomp)");
    }
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(" and ");
    if sandbox.best_effort {
        TOLD.call_once(|| tracing::warn!(missing, "a sandbox holds less than it says, for what this system lacks"));
        return Ok(());
    }
    Err(format!(
        "its sandbox cannot be had: this system has no {missing}; 'best_effort: true' in the sandbox starts it with what \
         there is"
    ))
}

/// What of `asked` this system does not hold a toolbox to, in words for its owner.
pub fn not_held(asked: &Confinement) -> Option<&'static str> {
    let is_root = match asked.user.as_deref() {
        None => nix::unistd::geteuid().is_root(),
        Some(user) => matches!(user, "root" | "0"),
    };
    (asked.limits.processes.is_some() && is_root)
        .then_some("'processes' does not hold for root: give the toolbox a 'user'")
}

/// What limits and sandboxes can do here, as a line for people.
pub fn summary() -> String {
    let version = landlock();
    let files = match version {
        0 => "no Landlock, so no sandbox but with best_effort".to_owned(),
        version => format!("Landlock {version}"),
    };
    let filter = if filters() { "seccomp" } else { "no seccomp" };
    let signals = if version >= SIGNALS {
        "signals stay inside a sandbox"
    } else {
        "a sandbox can signal other processes of its user (not from Linux 6.12 on)"
    };
    let user = if nix::unistd::geteuid().is_root() {
        "'user' can be set"
    } else {
        "'user' cannot be set (not root)"
    };
    format!("{files}; {filter}; {signals}; {user}")
}
