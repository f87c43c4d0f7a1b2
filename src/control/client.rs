//! Asks a running host over its control socket.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
use crate::json::Members;

use super::socket::{SocketError, check_folder, check_length};
use super::verb::Verb;

/// How long a host may take to read a request.
const READING: Duration = Duration::from_secs(10);
/// Bytes an answer may have.
const LONGEST_ANSWER: u64 = 64 * 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error("no toolhost is running on the control socket {}", .0.display())]
    NobodyThere(PathBuf),
    /// The socket is not to be trusted, or cannot exist.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The connection failed.
    #[error("cannot ask the host on the control socket {}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// What came back is no answer.
    #[error("the answer on the control socket {} is none: {why}", path.display())]
    Odd {
        /// The path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The host said no.
    #[error("{0}")]
    Refused(String),
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        let text = error.to_string();
        match error {
            ClientError::NobodyThere(_) => Self::no_answer(text)
                .with_hint("start one with `toolhost run`, or name the socket of a running one with --socket"),
            ClientError::Socket(error) => {
                let hint = error.hint().unwrap_or("name another one with --socket");
                Self::usage(text).with_hint(hint)
            }
            ClientError::Io { .. } | ClientError::Odd { .. } => Self::no_answer(text),
            ClientError::Refused(_) => Self::failed(text),
        }
    }
}

/// Asks the host on the control socket at `path`; the answer is the text of a JSON value.
///
/// # Errors
/// [`ClientError`].
pub fn ask(path: &Path, verb: &Verb) -> Result<String, ClientError> {
    ask_within(path, verb, verb.patience())
}

/// The same, waiting for so long at most; `None`: until the host hangs up.
///
/// # Errors
/// [`ClientError`].
pub fn ask_within(path: &Path, verb: &Verb, patience: Option<Duration>) -> Result<String, ClientError> {
    check_length(path)?;
    check_folder(path)?;
    let io_error = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ClientError::NobodyThere(path.to_owned()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::Io {
            path: path.to_owned(),
            error: io::Error::new(error.kind(), "no answer in time"),
        },
        _ => ClientError::Io {
            path: path.to_owned(),
            error,
        },
    };
    let mut stream = UnixStream::connect(path).map_err(io_error)?;
    let line = exchange(&mut stream, verb, patience).map_err(io_error)?;
    unwrap_answer(&line, verb.name()).map_err(|refusal| match refusal {
        Ok(why) => ClientError::Refused(why),
        Err(why) => ClientError::Odd {
            path: path.to_owned(),
            why,
        },
    })
}

fn exchange(stream: &mut UnixStream, verb: &Verb, patience: Option<Duration>) -> io::Result<String> {
    stream.set_read_timeout(patience)?;
    stream.set_write_timeout(Some(READING))?;
    let asked = stream.write_all(format!("{}\n", verb.line()).as_bytes());
    let mut line = String::new();
    let read = BufReader::new(stream).take(LONGEST_ANSWER).read_line(&mut line);
    if line.is_empty() {
        // One that has no seat for another peer says so and hangs up, perhaps before it is asked.
        asked?;
    }
    read?;
    Ok(line)
}

/// What `line` answers under `name`: `Err(Ok(why))` where the host refused, `Err(Err(why))` where it is no answer.
fn unwrap_answer(line: &str, name: &str) -> Result<String, Result<String, String>> {
    if !line.ends_with('\n') {
        return Err(Err("the host hung up".to_owned()));
    }
    let members = Members::parse(line).map_err(|error| Err(error.to_string()))?;
    if let Some(error) = members.get("error") {
        let text = crate::json::string(error).map_or_else(|| error.get().to_owned(), Into::into);
        return Err(Ok(text));
    }
    match members.get(name) {
        Some(value) => Ok(value.get().to_owned()),
        None => Err(Err(format!("it has no '{name}'"))),
    }
}
