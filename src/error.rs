//! What a command of `toolhost` can end with: an exit code, a message, perhaps a hint.

use std::fmt;
use std::process::ExitCode;

/// The exit codes of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The tool, the host or the check answered an error.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// The bus could not be reached, or nobody answered in time.
    NoAnswer = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do what was asked.
///
/// `Display` is what stands after `error: `; the hint, where there is one, says what to try next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Error {
    /// An error that ends the program with `exit`.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
        }
    }

    /// The asked-for thing answered an error.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// The command line or the configuration is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Nobody was there, or nobody answered in time.
    pub fn no_answer(message: impl Into<String>) -> Self {
        Self::new(Exit::NoAnswer, message)
    }

    /// The same error with what to try next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What the program ends with.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// What to try next.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
