//! The log: on stderr, as lines for people or as JSON, and never in the way of the work.
//!
//! A terminal stopped with Ctrl-S, a pipe nobody reads and a full disk must neither end nor stop
//! the host. So lines go through a bounded queue to a thread of their own, which is the only one
//! that ever waits for stderr and overlooks every fault of it; what does not fit is counted and
//! the count logged once there is room again.
//!
//! A message is constant; what varies is in fields, which have one name throughout: `toolbox` (its id), `tool`, `pid`,
//! `topic`, `bus` (its URL), `file`, `line` (what a toolbox wrote), `error` (in the words of the system or of a library)
//! and `why` or `reason` (in ours).

use std::os::fd::AsFd;
use std::str::FromStr;

use tracing::level_filters::LevelFilter;

mod format;
mod sink;

pub use sink::Guard;

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// `2026-01-31 12:00:00.000Z INFO  target: message key=value`
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("expected text or json".to_owned()),
        }
    }
}

/// What is logged: this and worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(pub LevelFilter);

impl Level {
    /// For a program that runs on: what happens.
    pub const INFO: Self = Self(LevelFilter::INFO);
    /// For a command that answers and ends: what is wrong with toolhost itself.
    pub const ERROR: Self = Self(LevelFilter::ERROR);
}

impl FromStr for Level {
    type Err = String;

    /// Takes the names of Python's levels too, as the OVOS variable carries them.
    fn from_str(text: &str) -> Result<Self, String> {
        let filter = match text.trim().to_ascii_lowercase().as_str() {
            "off" => LevelFilter::OFF,
            "error" | "critical" | "fatal" => LevelFilter::ERROR,
            "warn" | "warning" => LevelFilter::WARN,
            "info" => LevelFilter::INFO,
            "debug" => LevelFilter::DEBUG,
            "trace" => LevelFilter::TRACE,
            _ => return Err("expected error, warn, info, debug, trace or off".to_owned()),
        };
        Ok(Self(filter))
    }
}

/// The variables that name a level, the more particular first.
const VARIABLES: [&str; 2] = ["TOOLHOST_LOG", "OVOS_DEFAULT_LOG_LEVEL"];

/// The level to log at: what was typed, what the environment says, or `default`.
///
/// A value nobody understands is passed over: `OVOS_DEFAULT_LOG_LEVEL` belongs to others.
pub fn level(typed: Option<Level>, default: Level, environment: impl Fn(&str) -> Option<String>) -> Level {
    typed
        .or_else(|| VARIABLES.iter().find_map(|name| environment(name)?.parse().ok()))
        .unwrap_or(default)
}

/// Whether `stream` is the one to the systemd journal that `JOURNAL_STREAM` tells of: `<device>:<inode>`.
///
/// The variable alone says little: whoever redirects stderr hands it on all the same.
pub fn is_journal(stream: impl AsFd, environment: impl Fn(&str) -> Option<String>) -> bool {
    let told = environment("JOURNAL_STREAM");
    let Ok(stat) = nix::sys::stat::fstat(stream) else {
        return false;
    };
    told.is_some_and(|told| told == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// The lines of `text`, each marked for the journal as an error.
pub fn as_errors_of_the_journal(text: &str) -> String {
    let mark = format::priority(tracing::Level::ERROR);
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

/// Starts logging to stderr.
///
/// In the journal each line has its priority in front, which the journal takes off: `journalctl -p err` finds the errors.
///
/// Lines still on their way are written when the guard is dropped, for a second at most. Where
/// another logger is set already it stays. What comes from `silent`, a module, is left out.
pub fn start(format: Format, level: Level, color: bool, silent: Option<&'static str>) -> Guard {
    let journal = is_journal(std::io::stderr(), |name| std::env::var(name).ok());
    let look = format::Lines { format, color, journal };
    let (sink, guard) = sink::start(std::io::stderr(), look);
    format::install(look, level, silent, sink);
    std::panic::set_hook(Box::new(log_panic));
    guard
}

/// A panic is contained in its task; that it happened belongs into the log, in the format of the log.
fn log_panic(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let said = payload.downcast_ref::<&str>().copied();
    let said = said
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = std::backtrace::Backtrace::capture();
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        tracing::error!(error = said, %location, %backtrace, "a fault of toolhost, please report it");
    } else {
        tracing::error!(error = said, %location, "a fault of toolhost, please report it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_is_told_from_any_other_stream_by_its_numbers() {
        use std::os::unix::fs::MetadataExt;
        let null = || std::fs::File::open("/dev/null").unwrap();
        let meta = null().metadata().unwrap();
        let told = format!("{}:{}", meta.dev(), meta.ino());
        assert!(is_journal(null(), |name| (name == "JOURNAL_STREAM").then(|| told.clone())));
        assert!(!is_journal(std::fs::File::open("/dev/full").unwrap(), |_| Some(
            told.clone()
        )));
        assert!(!is_journal(null(), |_| None));
        assert!(!is_journal(null(), |_| Some("8".to_owned())));
        assert_eq!(
            as_errors_of_the_journal("error: a\nhint: b\n"),
            "<3>error: a\n<3>hint: b\n"
        );
    }

    #[test]
    fn a_level_comes_from_the_flag_then_the_environment() {
        let environment = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                pairs
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            }
        };
        let both = environment(&[("TOOLHOST_LOG", "Trace"), ("OVOS_DEFAULT_LOG_LEVEL", "WARNING")]);
        let ovos = environment(&[("TOOLHOST_LOG", "loud"), ("OVOS_DEFAULT_LOG_LEVEL", "WARNING")]);
        assert_eq!(level(Some(Level::INFO), Level::ERROR, both), Level::INFO);
        assert_eq!(level(None, Level::INFO, both), Level(LevelFilter::TRACE));
        assert_eq!(level(None, Level::INFO, ovos), Level(LevelFilter::WARN));
        assert_eq!(level(None, Level::INFO, environment(&[])), Level::INFO);
        assert!("loud".parse::<Level>().is_err());
        assert!("yaml".parse::<Format>().is_err());
    }
}
