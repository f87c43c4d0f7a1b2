//! How a process ended, in the words callers get.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Status(i32),
    /// Killed by this signal.
    Signal(i32),
    /// `wait` failed; why.
    Unknown(String),
}

impl Exit {
    /// Whether it ended with status 0.
    pub fn is_success(&self) -> bool {
        *self == Self::Status(0)
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
        assert!(Exit::Status(0).is_success() && !Exit::Signal(15).is_success());
    }
}
