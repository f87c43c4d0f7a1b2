//! The one place that writes to stdout and stderr.
//!
//! stdout is data: it carries the answer and nothing else. stderr is talk, and talk never fails.

use std::io::{self, IsTerminal as _, Write as _};

use crate::error::Error;
use crate::logging;

use super::spell;

/// What the two streams are connected to, found out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// A person reads stdout.
    pub stdout_is_terminal: bool,
    /// A person reads stderr.
    pub stderr_is_terminal: bool,
    /// stderr is the systemd journal.
    pub stderr_is_journal: bool,
    /// Neither `NO_COLOR` nor a dumb terminal forbids color; it needs a terminal as well.
    pub color_is_welcome: bool,
}

impl Output {
    /// As this process was started.
    pub fn from_environment() -> Self {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            stderr_is_journal: logging::is_journal(io::stderr(), |name| std::env::var(name).ok()),
            color_is_welcome: !forbidden,
        }
    }

    /// Whether stdout may be colored.
    pub fn colors_stdout(&self) -> bool {
        self.stdout_is_terminal && self.color_is_welcome
    }

    /// Whether stderr may be colored.
    pub fn colors_stderr(&self) -> bool {
        self.stderr_is_terminal && self.color_is_welcome
    }

    /// Writes a JSON value: spread over lines for a person, on one line for a pipe.
    ///
    /// # Errors
    /// stdout could not be written.
    pub fn json(&self, json: &str) -> Result<(), Error> {
        let text = if self.stdout_is_terminal {
            spell::pretty(json)
        } else {
            spell::compact(json)
        };
        self.data(text.as_bytes())
    }

    /// Writes `data`, and a line end where it has none.
    ///
    /// A reader that went away (`| head -1`) has got what it wanted.
    ///
    /// # Errors
    /// stdout could not be written.
    pub fn data(&self, data: &[u8]) -> Result<(), Error> {
        self.is_read(data).map(|_| ())
    }

    /// The same for one who would go on writing: false where the reader went away.
    ///
    /// # Errors
    /// stdout could not be written.
    pub fn is_read(&self, data: &[u8]) -> Result<bool, Error> {
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(data)
            .and_then(|()| {
                if data.ends_with(b"\n") {
                    Ok(())
                } else {
                    stdout.write_all(b"\n")
                }
            })
            .and_then(|()| stdout.flush());
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Error::failed(format!("cannot write the answer to stdout: {error}"))),
        }
    }

    /// Says something to the person at stderr, or to nobody.
    pub fn talk(&self, text: &str) {
        let mut line = text.to_owned();
        if !line.ends_with('\n') {
            line.push('\n');
        }
        io::stderr().write_all(line.as_bytes()).unwrap_or_default();
    }

    /// Says something only where a person waits for an answer.
    pub fn tell_a_person(&self, text: &str) {
        if self.stderr_is_terminal {
            self.talk(text);
        }
    }

    /// `error: ...`, and `hint: ...` where there is one.
    pub fn error(&self, error: &Error) {
        let (red, cyan, off) = if self.colors_stderr() {
            ("\x1b[1;31m", "\x1b[36m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        let mut text = format!("{red}error:{off} {}\n", spell::plain(&error.to_string()));
        if let Some(hint) = error.hint() {
            text.push_str(&format!("{cyan}hint:{off} {}\n", spell::plain(hint)));
        }
        if self.stderr_is_journal {
            text = logging::as_errors_of_the_journal(&text);
        }
        self.talk(&text);
    }
}
