//! The limits of a process (`setrlimit`).
//!
//! Memory is RLIMIT_DATA: what a program writes to and shares with nobody. RLIMIT_AS would count address space that is
//! only reserved, of which Node and the JVM take gigabytes before they do anything.

use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::user;
use crate::confinement::Limits;

/// The limits by the key of the configuration, those that are set.
fn set(limits: &Limits) -> impl Iterator<Item = (&'static str, Resource, u64)> {
    [
        ("memory", Resource::RLIMIT_DATA, limits.memory),
        ("cpu_seconds", Resource::RLIMIT_CPU, limits.cpu_seconds),
        ("open_files", Resource::RLIMIT_NOFILE, limits.open_files),
        ("processes", Resource::RLIMIT_NPROC, limits.processes),
        ("file_size", Resource::RLIMIT_FSIZE, limits.file_size),
    ]
    .into_iter()
    .filter_map(|(key, resource, limit)| Some((key, resource, limit?)))
}

/// Whether the host itself may have as much.
///
/// # Errors
/// The limit that is above that of the host, which only root may raise.
pub(super) fn check(limits: &Limits) -> Result<(), String> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    for (key, resource, limit) in set(limits) {
        let most = getrlimit(resource).map_or(u64::MAX, |(_, hard)| hard);
        // The number of processes is counted on from what there is.
        if limit > most && key != "processes" {
            return Err(format!(
                "its limit '{key}' of {limit} is above the {most} that toolhost itself may have; lower it, or raise that of \
                 toolhost (ulimit -H, systemd's Limit...)"
            ));
        }
    }
    Ok(())
}

/// Sets them for this process and what it becomes.
///
/// # Errors
/// The one the system refuses.
pub(super) fn apply(limits: &Limits, ids: Option<&user::Ids>) -> Result<(), String> {
    for (key, resource, limit) in set(limits) {
        let most = getrlimit(resource).map_or(u64::MAX, |(_, hard)| hard);
        let (soft, hard) = match resource {
            // SIGXCPU at the first, which names itself; SIGKILL for who goes on.
            Resource::RLIMIT_CPU => (limit, limit.saturating_add(1)),
            Resource::RLIMIT_NPROC => {
                let limit = limit.saturating_add(others(ids)).min(most);
                (limit, limit)
            }
            _ => (limit, limit),
        };
        let hard = if nix::unistd::geteuid().is_root() {
            hard
        } else {
            hard.min(most)
        };
        setrlimit(resource, soft, hard)
            .map_err(|error| format!("its limit '{key}' of {limit} cannot be set: {error}"))?;
    }
    Ok(())
}

/// Processes its user has already. The system counts all of a user's, and one who works at this machine has hundreds. A
/// user of its own has none that are not the toolbox's.
fn others(ids: Option<&user::Ids>) -> u64 {
    if ids.is_some() {
        return 0;
    }
    let own = nix::unistd::getuid().to_string();
    let Ok(all) = fs::read_dir("/proc") else { return 0 };
    all.flatten()
        .filter(|entry| {
            entry
                .file_name()
                .as_encoded_bytes()
                .first()
                .is_some_and(u8::is_ascii_digit)
        })
        .filter_map(|entry| threads(&fs::read_to_string(entry.path().join("status")).ok()?, &own))
        .sum()
}

/// Threads of the process whose `/proc/<pid>/status` this is, if it is of the user `uid`.
fn threads(status: &str, uid: &str) -> Option<u64> {
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)
    };
    (value("Uid:")? == uid).then(|| value("Threads:")?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_those_of_the_user() {
        let status = "Name:\tnode\nUid:\t1000\t0\t0\t0\nThreads:\t11\n";
        assert_eq!(threads(status, "1000"), Some(11));
        assert_eq!(threads(status, "0"), None);
        assert_eq!(threads("", "0"), None);
        assert!(others(None) > 0, "this one at least");
    }
}
