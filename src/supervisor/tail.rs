//! The last words of a process on stderr: what an error about its end quotes. Pure.

use std::collections::VecDeque;

use crate::process::spawn::{shows_windows_line_ends, windows_line_ends};

const LINES: usize = 5;
const LINE_BYTES: usize = 300;

/// The last few lines, clipped.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<String>);

impl Tail {
    /// Takes a line; blank ones say nothing.
    pub(super) fn push(&mut self, line: &str) {
        let line = line.trim_end();
        if line.trim_start().is_empty() {
            return;
        }
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        self.0.push_back(clip(line).to_owned());
    }

    /// The last lines, one below the other.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The line that is best quoted alone: one that blames the line ends of the script, which `env` follows with
    /// advice for something else; else the last.
    pub(super) fn telling(&self) -> Option<String> {
        let blames = |line: &&String| shows_windows_line_ends(line.as_bytes());
        match self.0.iter().find(blames) {
            Some(line) => Some(format!("{line}{}", windows_line_ends())),
            None => self.last().map(str::to_owned),
        }
    }

    /// The last line.
    pub(super) fn last(&self) -> Option<&str> {
        self.0.back().map(String::as_str)
    }
}

fn clip(line: &str) -> &str {
    let mut end = line.len().min(LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_words_in_it_is_kept_clipped() {
        let mut tail = Tail::default();
        assert_eq!(tail.last(), None);
        for line in ["Traceback", "  boom  ", "", "  "] {
            tail.push(line);
        }
        assert_eq!(tail.last(), Some("  boom"));
        assert_eq!(tail.text(), "Traceback\n  boom");
        tail.push(&"é".repeat(400));
        assert_eq!(tail.last().unwrap().len(), 300);
    }
}
