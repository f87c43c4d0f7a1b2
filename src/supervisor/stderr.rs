//! What a toolbox writes to stderr, logged at the level that the logging of its language marked it with.

use tracing::Level;
use tracing::level_filters::LevelFilter;

use crate::json::{self, Members};

/// Bytes of a line that are looked at: a mark stands in front, and a long line must not cost more than a short one.
const HEAD: usize = 200;

/// Whether lines of that level are logged at all.
pub(super) fn is_logged(level: Level) -> bool {
    level <= LevelFilter::current()
}

/// Logs a line; `suppressed` were left out before it.
pub(super) fn log(level: Level, toolbox: &str, suppressed: u64, line: &str) {
    // A level is part of what the compiler knows of an event.
    match level {
        Level::ERROR => tracing::error!(toolbox, suppressed, line, "stderr"),
        Level::WARN => tracing::warn!(toolbox, suppressed, line, "stderr"),
        Level::INFO => tracing::info!(toolbox, suppressed, line, "stderr"),
        Level::DEBUG => tracing::debug!(toolbox, suppressed, line, "stderr"),
        Level::TRACE => tracing::trace!(toolbox, suppressed, line, "stderr"),
    }
}

/// The levels of the lines of one process. What belongs to the line before has its level.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// The level of the last line that had a mark.
    last: Option<Level>,
    /// Inside of a Python traceback, which ends with the first line that is not indented.
    traceback: bool,
}

impl Levels {
    /// The level of the next line.
    pub(super) fn next(&mut self, line: &str) -> Level {
        let level = self.level(line);
        self.last = Some(level);
        level
    }

    fn level(&mut self, line: &str) -> Level {
        let before = self.last.unwrap_or(Level::INFO);
        if line.trim_start().is_empty() {
            return before;
        }
        if line.starts_with(TRACEBACK) {
            self.traceback = true;
            return Level::ERROR;
        }
        let indented = line.starts_with([' ', '\t']);
        if self.traceback {
            self.traceback = indented;
            return before;
        }
        // Between two tracebacks of one error.
        if CHAINED.iter().any(|words| line.starts_with(words)) {
            return before;
        }
        match marked(line) {
            Some(level) => level,
            None if indented => before,
            None => Level::INFO,
        }
    }
}

const TRACEBACK: &str = "Traceback (most recent call last):";
const CHAINED: [&str; 2] = [
    "The above exception was the direct cause of",
    "During handling of the above exception",
];

/// The level a line is marked with.
fn marked(line: &str) -> Option<Level> {
    if let Some(level) = syslog(line) {
        return Some(level);
    }
    if line.starts_with('{') {
        return of_json(line);
    }
    let head = head(line);
    let plain;
    let head = if head.contains('\x1b') {
        plain = without_colors(head);
        &plain
    } else {
        head
    };
    of_text(head)
}

/// `<3>` in front, as programs write it for a journal.
fn syslog(line: &str) -> Option<Level> {
    let [b'<', number @ b'0'..=b'7', b'>', ..] = line.as_bytes() else {
        return None;
    };
    Some(match number {
        b'0'..=b'3' => Level::ERROR,
        b'4' => Level::WARN,
        b'5' | b'6' => Level::INFO,
        _ => Level::DEBUG,
    })
}

/// A line of JSON, as pino, winston, zap, slog, structlog and others write it.
fn of_json(line: &str) -> Option<Level> {
    let object = Members::parse(line).ok()?;
    let level = ["level", "severity", "levelname", "log.level", "lvl"]
        .iter()
        .find_map(|name| object.get(name))?;
    match json::string(level) {
        Some(word) => of_word(&word),
        None => of_number(level.get().parse().ok()?),
    }
}

/// The numbers of pino and bunyan; Python's are theirs, shifted.
fn of_number(number: f64) -> Option<Level> {
    match number {
        n if n >= 50.0 => Some(Level::ERROR),
        n if n >= 40.0 => Some(Level::WARN),
        n if n >= 30.0 => Some(Level::INFO),
        n if n >= 20.0 => Some(Level::DEBUG),
        n if n >= 10.0 => Some(Level::TRACE),
        _ => None,
    }
}

fn of_word(word: &str) -> Option<Level> {
    const WORDS: [(&str, Level); 19] = [
        ("error", Level::ERROR),
        ("err", Level::ERROR),
        ("critical", Level::ERROR),
        ("crit", Level::ERROR),
        ("fatal", Level::ERROR),
        ("severe", Level::ERROR),
        ("panic", Level::ERROR),
        ("alert", Level::ERROR),
        ("emergency", Level::ERROR),
        ("emerg", Level::ERROR),
        ("warning", Level::WARN),
        ("warn", Level::WARN),
        ("info", Level::INFO),
        ("notice", Level::INFO),
        ("success", Level::INFO),
        ("debug", Level::DEBUG),
        ("verbose", Level::DEBUG),
        ("trace", Level::TRACE),
        ("silly", Level::TRACE),
    ];
    let found = WORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    found.map(|(_, level)| *level)
}

/// A line of text: the level is its first word, or follows a time, a logger's name or a separator.
fn of_text(head: &str) -> Option<Level> {
    if let Some(level) = of_fault(head) {
        return Some(level);
    }
    // `2026-01-01 12:00:00 - name - ERROR - text`, `2026-01-01 12:00:00 | ERROR | text`.
    for separator in [" - ", " | "] {
        let mut parts = head.splitn(6, separator);
        // The last part has the text.
        let marks: Vec<_> = parts.by_ref().take(5).collect();
        if let [marks @ .., _text] = marks.as_slice()
            && let Some(level) = marks.iter().find_map(|part| upper(part.trim()))
        {
            return Some(level);
        }
    }
    let mut words = head.split_ascii_whitespace();
    let mut timed = false;
    let mut first = words.next()?;
    // `2026-01-01 12:00:00,123`, `[2026-01-01T12:00:00Z`, `[12:00:00]`.
    while first.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit()) {
        timed = true;
        first = words.next()?;
    }
    if let Some(level) = first_word(first) {
        return Some(level);
    }
    if let Some(level) = logfmt(head) {
        return Some(level);
    }
    // `2026-01-01 12:00:00 name ERROR text`.
    let second = words.next().filter(|_| timed)?;
    upper(second).or_else(|| bracketed(second))
}

/// `ERROR`, `ERROR:name:text`, `[error]`, `error:`, `WARNING`.
fn first_word(word: &str) -> Option<Level> {
    if let Some(level) = upper(word).or_else(|| bracketed(word)) {
        return Some(level);
    }
    // Lower case is a mark with a colon alone: a sentence may begin with the word.
    let (word, _) = word.split_once(':')?;
    of_word(word)
}

fn upper(word: &str) -> Option<Level> {
    let is_upper = word.bytes().all(|byte| byte.is_ascii_uppercase());
    is_upper.then(|| of_word(word)).flatten()
}

/// `[error]`, `(error)`; of `[ERROR:name]` and `[ERROR` the level.
fn bracketed(word: &str) -> Option<Level> {
    let inner = word.strip_prefix(['[', '('])?;
    of_word(inner.split([']', ')', ':']).next()?)
}

/// `time=... level=error msg=...`.
fn logfmt(head: &str) -> Option<Level> {
    let at = head.find("level=")?;
    let stands_apart = at == 0 || head.as_bytes().get(at - 1) == Some(&b' ');
    let value = head.get(at + "level=".len()..)?.trim_start_matches('"');
    let word = value.split(|c: char| !c.is_ascii_alphabetic()).next()?;
    stands_apart.then(|| of_word(word)).flatten()
}

/// An error nobody caught: `TypeError: text` of Node, and what Rust says of a panic.
fn of_fault(head: &str) -> Option<Level> {
    let (before, _) = head.split_once(':')?;
    let is_name =
        before.len() > "Error".len() && before.bytes().all(|b| b.is_ascii_alphanumeric() || b"._".contains(&b));
    let ends = before.ends_with("Error") || before.ends_with("Exception");
    let panicked = before.starts_with("thread '") && before.contains("' panicked at ");
    (panicked || (is_name && ends)).then_some(Level::ERROR)
}

fn head(line: &str) -> &str {
    let mut end = line.len().min(HEAD);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// Without the escapes that color a terminal.
fn without_colors(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\x1b') {
        out.push_str(before);
        let end = escape
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(escape.len(), |at| at + 1);
        rest = &escape[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_level_its_language_marks_it_with() {
        let table = [
            // Python's logging, as it comes and as people set it up.
            (Level::ERROR, "ERROR:root:no such word"),
            (Level::ERROR, "CRITICAL:wordnet:gone"),
            (Level::WARN, "WARNING:urllib3.connectionpool:Retrying"),
            (Level::DEBUG, "DEBUG:asyncio:Using selector: EpollSelector"),
            (Level::INFO, "INFO:     Started server process [12]"),
            (Level::ERROR, "2026-01-01 12:00:00,123 - wordnet - ERROR - no such word"),
            (Level::WARN, "2026-01-01 12:00:00,123 WARNING wordnet: slow"),
            (Level::WARN, "2026-01-01 12:00:00,123 wordnet WARNING slow"),
            (Level::ERROR, "2026-01-01 12:00:00,123 [ERROR] no such word"),
            (Level::ERROR, "[ERROR] no such word"),
            (Level::ERROR, "[ERROR:wordnet] no such word"),
            (Level::WARN, "WARNING - slow"),
            // OVOS, loguru.
            (
                Level::ERROR,
                "2026-01-01 12:00:00.123 - OVOS - ovos_utils.log:func:12 - ERROR - it broke",
            ),
            (
                Level::DEBUG,
                "2026-01-01 12:00:00.123 - OVOS - __main__:<module>:3 - DEBUG - here",
            ),
            (
                Level::WARN,
                "2026-01-01 12:00:00.123 | WARNING  | __main__:<module>:3 - slow",
            ),
            (
                Level::INFO,
                "2026-01-01 12:00:00.123 | SUCCESS  | __main__:<module>:3 - done",
            ),
            // Node: pino, winston, bunyan, debug.
            (
                Level::ERROR,
                r#"{"level":50,"time":1767268800000,"msg":"no such word"}"#,
            ),
            (Level::WARN, r#"{"level":40,"msg":"slow"}"#),
            (Level::INFO, r#"{"level":30,"msg":"ERROR is a word"}"#),
            (Level::DEBUG, r#"{"level":20,"msg":"here"}"#),
            (Level::TRACE, r#"{"level":10,"msg":"here"}"#),
            (Level::ERROR, r#"{"message":"x","level":"error"}"#),
            (Level::WARN, r#"{"severity":"WARNING","message":"x"}"#),
            (Level::INFO, r#"{"level":[],"message":"x"}"#),
            (Level::INFO, r#"{"broken":"#),
            (Level::ERROR, "TypeError: words.map is not a function"),
            (Level::ERROR, "error: no such word"),
            // Rust: tracing, env_logger, panics; Go.
            (Level::ERROR, "2026-01-01T12:00:00.123456Z ERROR wordnet: no such word"),
            (
                Level::WARN,
                "\x1b[2m2026-01-01T12:00:00.123Z\x1b[0m \x1b[33m WARN\x1b[0m \x1b[2mwordnet\x1b[0m: slow",
            ),
            (Level::ERROR, "[2026-01-01T12:00:00Z ERROR wordnet] no such word"),
            (Level::ERROR, "thread 'main' panicked at src/main.rs:2:5:"),
            (
                Level::ERROR,
                "time=2026-01-01T12:00:00.000Z level=ERROR msg=\"no such word\"",
            ),
            (Level::WARN, "ts=1 level=warn msg=slow"),
            // For a journal, and shells.
            (Level::ERROR, "<3>no such word"),
            (Level::WARN, "<4>slow"),
            (Level::INFO, "<5>up"),
            (Level::DEBUG, "<7>here"),
            (Level::WARN, "warning: unused word"),
            (Level::ERROR, "fatal: not a git repository"),
            (Level::ERROR, "2026/01/01 12:00:00 [error] 12#12: gone"),
            // Not marked.
            (Level::INFO, "moody is up"),
            (Level::INFO, "Error handling is on"),
            (Level::INFO, "error handling is on"),
            (Level::INFO, "no ERROR - at all"),
            (Level::INFO, "found 3 words - 1 ERROR in the text"),
            (Level::INFO, "2026-01-01 12:00:00 all is well, no ERROR"),
            (Level::INFO, "loglevel=error is set"),
            (Level::INFO, "<8>"),
            (Level::INFO, "<b>"),
            (Level::INFO, "2026"),
            (Level::INFO, ""),
            (Level::INFO, "\x1b["),
            (Level::INFO, "é: ü"),
            (Level::INFO, "Errors: 0"),
        ];
        for (expected, line) in table {
            assert_eq!(Levels::default().next(line), expected, "{line}");
        }
    }

    #[test]
    fn what_belongs_to_a_line_has_its_level() {
        let levels = |text: &str| {
            let mut levels = Levels::default();
            let word = |line| match levels.next(line) {
                Level::ERROR => 'E',
                Level::WARN => 'W',
                Level::INFO => 'I',
                _ => 'D',
            };
            text.lines().map(word).collect::<String>()
        };
        let traceback = "up\nTraceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    f()\nValueError: no\nup again";
        assert_eq!(levels(traceback), "IEEEEI");
        let custom = "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\nwn.NoSuchWord: no\nup";
        assert_eq!(levels(custom), "EEEI");
        let chained = "Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 1\n\nDuring handling of the above exception, \
                       another exception occurred:\n\nTraceback (most recent call last):\n  File \"y.py\"\nwn.Gone: 2\nup";
        assert_eq!(levels(chained), "EEEEEEEEEI");
        let logged = "WARNING:wn:slow\nTraceback (most recent call last):\n  File \"x.py\"\nwn.Slow: 2\nINFO:wn:up";
        assert_eq!(levels(logged), "WEEEI");
        assert_eq!(
            levels("TypeError: x is not a function\n    at f (x.mjs:1:2)\n    at g\nup"),
            "EEEI"
        );
        assert_eq!(levels("DEBUG:wn:many\n  lines\nup\n  indented"), "DDII");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let long = format!("{}é ERROR", "x".repeat(HEAD - 1));
        assert_eq!(Levels::default().next(&long), Level::INFO);
        assert_eq!(
            Levels::default().next(&format!("ERROR: {}", "é".repeat(HEAD))),
            Level::ERROR
        );
    }
}
