//! How a call ends: a result, or an error in the words the contract fixes.

use std::fmt;
use std::time::{Duration, Instant};

use crate::json::Text;

/// The end of one call.
pub type Outcome = Result<Text, CallError>;

/// Why a call has no result. `Display` is the text the caller gets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The request names no tool.
    #[error("Missing required field: 'name'")]
    MissingName,
    /// No toolbox, or not this one, owns the tool.
    #[error("Unknown tool: '{0}'")]
    UnknownTool(String),
    /// Several toolboxes own it, so that the flat name does not say which.
    #[error("Ambiguous tool name: '{name}' is owned by {}", Quoted(.owners))]
    Ambiguous {
        /// The flat name.
        name: String,
        /// The toolbox_ids, in the order of the configuration.
        owners: Vec<String>,
    },
    /// The arguments do not fit; `faults` is `<where>: <why>`, joined by `; `.
    #[error("Invalid arguments for '{name}': {faults}")]
    InvalidArguments {
        /// The published tool name.
        name: String,
        /// Every fault.
        faults: String,
    },
    /// The result does not fit.
    #[error("Invalid output from '{name}': {faults}")]
    InvalidOutput {
        /// The published tool name.
        name: String,
        /// Every fault.
        faults: String,
    },
    /// A schema of the tool does not compile, so it never runs.
    #[error("Invalid schema of '{name}': {why}")]
    InvalidSchema {
        /// The published tool name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The tool ran and raised: `Class: message`, as the toolbox said it.
    #[error("{0}")]
    Raised(String),
    /// A command that is run once a call failed, or could not be started: `CommandError: why`.
    #[error("CommandError: {0}")]
    Command(String),
    /// No answer within the call's time.
    #[error("TimeoutError: '{name}' did not answer within {}{hint}", humantime::format_duration(*.timeout))]
    Timeout {
        /// The published tool name.
        name: String,
        /// The time it had.
        timeout: Duration,
        /// What may be behind it, or nothing; starts with its own separator.
        hint: &'static str,
    },
    /// The process died, or was replaced, with the call in it.
    #[error("ToolboxCrashed: {0}")]
    Crashed(String),
    /// No process to call, and when that may change.
    #[error("ToolboxUnavailable: {0}")]
    Unavailable(String),
    /// The queue is full.
    #[error("Overloaded: {0} calls are waiting")]
    Overloaded(usize),
    /// The calls on hand are too large together.
    #[error("Overloaded: calls of {bytes} bytes are waiting (limit {limit})")]
    OverloadedBytes {
        /// Bytes of the calls on hand.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The toolbox's answer cannot be used: `ProtocolError: why`.
    #[error("ProtocolError: {0}")]
    Protocol(String),
    /// The result has more bytes than `max_result` lets on the bus.
    #[error("ResultTooLarge: result too large ({}, limit {limit})", Size(*.bytes))]
    ResultTooLarge {
        /// Bytes of the result; `None` of a command that was ended while it printed on.
        bytes: Option<usize>,
        /// The limit.
        limit: usize,
    },
}

impl CallError {
    /// A panic in toolhost itself took the call with it.
    pub fn of_our_own() -> Self {
        Self::Crashed(FAULT.to_owned())
    }
}

/// What is said of a panic in our own code: to callers, in the status, in the log.
pub const FAULT: &str = "a fault of toolhost itself, which its log tells";

/// How large, as far as it is known.
struct Size(Option<usize>);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "{bytes} bytes"),
            None => f.write_str("the command printed on and was ended"),
        }
    }
}

/// `'a', 'b'`.
struct Quoted<'a>(&'a [String]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}'{name}'")?;
        }
        Ok(())
    }
}

/// Where the one answer to a call goes.
///
/// Owning it is the duty to answer: one dropped unanswered answers by itself, so that no path
/// through the host can lose a caller or answer one twice.
pub struct ReplyTo {
    answer: Option<Box<dyn FnOnce(Outcome) + Send>>,
    bytes: usize,
}

impl ReplyTo {
    /// Answers go to `answer`, which must not block.
    pub fn new(answer: impl FnOnce(Outcome) + Send + 'static) -> Self {
        Self {
            answer: Some(Box::new(answer)),
            bytes: 0,
        }
    }

    /// The same, told how many bytes the request keeps in memory until it is answered.
    pub fn of_request(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Bytes the request keeps in memory, as far as they were told.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same, which lets go of `share` once the answer is given.
    pub fn holding(mut self, share: impl Send + 'static) -> Self {
        let bytes = self.bytes;
        match self.answer.take() {
            Some(answer) => Self::new(move |outcome| {
                answer(outcome);
                drop(share);
            })
            .of_request(bytes),
            None => self,
        }
    }

    /// Gives the answer.
    pub fn send(mut self, outcome: Outcome) {
        if let Some(answer) = self.answer.take() {
            answer(outcome);
        }
    }
}

impl Drop for ReplyTo {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            answer(Err(if std::thread::panicking() {
                CallError::of_our_own()
            } else {
                CallError::Unavailable("the toolbox was stopped".to_owned())
            }));
        }
    }
}

impl fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyTo")
    }
}

/// One call on its way to a tool.
#[derive(Debug)]
pub struct Call {
    /// The published tool name.
    pub name: String,
    /// The arguments, any JSON value as it came; absent means `{}`.
    pub kwargs: Option<Text>,
    /// The context of the Message that asks, for toolboxes that announced `context`.
    pub context: Option<Text>,
    /// When it arrived: its time runs from here.
    pub arrived: Instant,
    /// Where the answer goes.
    pub reply: ReplyTo,
}

impl Call {
    /// Bytes it keeps in memory until it is answered.
    pub fn bytes(&self) -> usize {
        let len = |text: &Option<Text>| text.as_ref().map_or(0, Text::len);
        self.reply.bytes.max(len(&self.kwargs) + len(&self.context))
    }
}
