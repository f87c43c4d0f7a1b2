//! How a process ended, in the words callers get.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

use crate::confinement::Limits;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Status(i32),
    /// Killed by this signal.
    Signal(i32),
    /// Killed by this signal, for what the words say.
    Limit(i32, String),
    /// `wait` failed; why.
    Unknown(String),
}

impl Exit {
    /// The same, as far as one of `limits` explains it.
    #[must_use]
    pub fn under(self, limits: &Limits) -> Self {
        let Self::Signal(number) = self else { return self };
        match reason(number, limits) {
            Some(why) => Self::Limit(number, why),
            None => self,
        }
    }

    /// Whether it ended with status 0.
    pub fn is_success(&self) -> bool {
        *self == Self::Status(0)
    }
}

/// The limit behind a signal. Out of memory, each runtime ends in a way of its own.
fn reason(number: i32, limits: &Limits) -> Option<String> {
    match Signal::try_from(number).ok()? {
        Signal::SIGXCPU => Some(format!("over its cpu_seconds of {}", limits.cpu_seconds?)),
        Signal::SIGXFSZ => Some(format!("over its file_size of {} bytes", limits.file_size?)),
        Signal::SIGABRT | Signal::SIGTRAP | Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGILL => Some(format!(
            "perhaps for want of memory, of which it may have {} bytes",
            limits.memory?
        )),
        Signal::SIGKILL => Some(format!("perhaps over its cpu_seconds of {}", limits.cpu_seconds?)),
        _ => None,
    }
}

impl From<std::io::Result<ExitStatus>> for Exit {
    fn from(waited: std::io::Result<ExitStatus>) -> Self {
        match waited {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Self::Status(code),
                (None, Some(signal)) => Self::Signal(signal),
                (None, None) => Self::Unknown(status.to_string()),
            },
            Err(error) => Self::Unknown(error.to_string()),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(code) => write!(f, "exit status {code}"),
            Self::Limit(number, why) => write!(f, "{}: {why}", Self::Signal(*number)),
            Self::Signal(number) => match Signal::try_from(*number) {
                Ok(signal) => write!(f, "signal {number} ({signal})"),
                Err(_) => write!(f, "signal {number}"),
            },
            Self::Unknown(why) => write!(f, "exit unknown ({why})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_named_as_the_contract_names_them() {
        assert_eq!(Exit::Status(3).to_string(), "exit status 3");
        assert_eq!(Exit::Signal(9).to_string(), "signal 9 (SIGKILL)");
        assert_eq!(Exit::Signal(64).to_string(), "signal 64");
        let limits = Limits {
            cpu_seconds: Some(60),
            ..Limits::default()
        };
        let over = Exit::Signal(24).under(&limits);
        assert_eq!(over.to_string(), "signal 24 (SIGXCPU): over its cpu_seconds of 60");
        assert_eq!(Exit::Signal(6).under(&limits), Exit::Signal(6), "memory has no limit");
        assert_eq!(Exit::Signal(24).under(&Limits::default()), Exit::Signal(24));
        assert!(Exit::Status(0).is_success() && !Exit::Signal(15).is_success());
    }
}
