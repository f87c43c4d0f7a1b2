//! What a finished command said: its exit and what it printed → the outcome of the call.

use serde_json::value::RawValue;

use super::channel::ResultFile;
use crate::config::Output;
use crate::json::{self, Text, push_string};
use crate::process::exit::Exit;
use crate::protocol::answer::sample;
use crate::tools::outcome::{CallError, Outcome};

/// How the end of one command is read.
#[derive(Debug)]
pub struct Reading {
    /// What it prints.
    pub output: Output,
    /// The exit statuses that are no error.
    pub accept_exit: Vec<i32>,
    /// A file that may hold the result in place of stdout.
    pub channel: Option<ResultFile>,
    /// The most bytes a result may have.
    pub limit: usize,
}

impl Reading {
    /// Whether such an end is no error.
    pub fn accepts(&self, exit: &Exit) -> bool {
        matches!(exit, Exit::Status(status) if self.accept_exit.contains(status))
    }

    /// The outcome of a command that ended with `exit`, having printed `stdout` and, last of all on stderr, `last_lines`.
    pub fn outcome(&self, exit: &Exit, stdout: &[u8], last_lines: &str) -> Outcome {
        if !self.accepts(exit) {
            // Some programs tell their errors where their results go.
            let words = if last_lines.is_empty() {
                end_of(stdout)
            } else {
                last_lines.to_owned()
            };
            let separator = if words.is_empty() { "" } else { ": " };
            return Err(CallError::Command(format!("{exit}{separator}{words}")));
        }
        match &self.channel {
            None => self.result(stdout),
            Some(file) => match file.read(self.limit)? {
                said if said.is_empty() => self.result(stdout),
                said => self.result(&said),
            },
        }
    }

    fn result(&self, printed: &[u8]) -> Outcome {
        match self.output {
            Output::Json => value(printed),
            Output::Text => {
                let mut result = String::with_capacity(printed.len() + 16);
                result.push_str(r#"{"output":"#);
                push_string(&mut result, &String::from_utf8_lossy(printed));
                result.push('}');
                Ok(Text::from(result))
            }
            Output::Lines => {
                let mut result = String::with_capacity(printed.len() * 2 + 16);
                result.push_str(r#"{"lines":["#);
                for (index, line) in String::from_utf8_lossy(printed).lines().enumerate() {
                    if index > 0 {
                        result.push(',');
                    }
                    push_string(&mut result, line);
                }
                result.push_str("]}");
                Ok(Text::from(result))
            }
        }
    }
}

/// The last line with words in it, clipped.
fn end_of(stdout: &[u8]) -> String {
    let start = stdout.len().saturating_sub(1024);
    let text = String::from_utf8_lossy(&stdout[start..]);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map(|line| sample(line.as_bytes())).unwrap_or_default()
}

/// What was printed as the one JSON value it is.
fn value(printed: &[u8]) -> Outcome {
    let unfit = |why: String| {
        let begins = sample(printed.trim_ascii());
        CallError::Command(format!(
            "its output is not the JSON it should be: {why}; it begins: {begins}"
        ))
    };
    let printed_text = std::str::from_utf8(printed).map_err(|error| unfit(format!("invalid UTF-8: {error}")))?;
    let text = printed_text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(CallError::Command(
            "it printed nothing, where a JSON value was expected".to_owned(),
        ));
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| unfit(error.to_string()))?;
    json::fit_to_send(raw.get()).map_err(|error| unfit(error.to_string()))?;
    Ok(Text::from(raw.get().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(output: Output, exit: &Exit, stdout: &[u8], stderr: &str) -> String {
        let reading = Reading {
            output,
            accept_exit: vec![0, 1],
            channel: None,
            limit: 1000,
        };
        match reading.outcome(exit, stdout, stderr) {
            Ok(result) => result.as_str().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_was_printed_becomes_the_result() {
        let ok = &Exit::Status(0);
        for (output, printed, expected) in [
            (Output::Text, b"".as_slice(), r#"{"output":""}"#),
            (Output::Text, b" a\n\"b\"\n", r#"{"output":" a\n\"b\"\n"}"#),
            (Output::Text, b"a\xffb", "{\"output\":\"a\u{fffd}b\"}"),
            (Output::Lines, b"", r#"{"lines":[]}"#),
            (Output::Lines, b"a\n\nb\r\n", r#"{"lines":["a","","b"]}"#),
            (Output::Lines, b"a", r#"{"lines":["a"]}"#),
            (Output::Json, b" {\"a\": 1.10}\n", "{\"a\": 1.10}"),
            (
                Output::Json,
                b"\xef\xbb\xbf[18446744073709551616]",
                "[18446744073709551616]",
            ),
            (
                Output::Json,
                b"\n",
                "CommandError: it printed nothing, where a JSON value was expected",
            ),
            (
                Output::Json,
                b"oops\n",
                "CommandError: its output is not the JSON it should be: expected value at line 1 column 1; it begins: oops",
            ),
        ] {
            assert_eq!(outcome(output, ok, printed, "warned"), expected);
        }
        assert!(outcome(Output::Json, ok, b"1 2", "").contains("trailing characters"));
        assert!(outcome(Output::Json, ok, b"\"\xff\"", "").contains("invalid UTF-8"));
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert!(outcome(Output::Json, ok, deep.as_bytes(), "").contains("too deep"));
    }

    #[test]
    fn only_accepted_exits_are_results() {
        for (exit, stderr, expected) in [
            (Exit::Status(1), "no match", r#"{"output":"result\n x\n\n"}"#),
            (Exit::Status(3), "", "CommandError: exit status 3: x"),
            (
                Exit::Status(3),
                "cannot open\nthe file",
                "CommandError: exit status 3: cannot open\nthe file",
            ),
        ] {
            assert_eq!(outcome(Output::Text, &exit, b"result\n x\n\n", stderr), expected);
        }
        let killed = outcome(Output::Text, &Exit::Signal(9), b"", "");
        assert_eq!(killed, "CommandError: signal 9 (SIGKILL)");
    }
}
