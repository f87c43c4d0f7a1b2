//! One transcript, played at a real process.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::asked::Asked;
use super::diagnose::{self, Diagnosis, Judged};
use super::hints::Hint;
use super::report::Finding;
use super::{Subject, plain, silence};
use crate::config::{Kind, Mode};
use crate::process::exit::Exit;
use crate::process::spawn::{spawn, windows_line_ends};
use crate::process::{Process, ProcessEvent};
use crate::protocol::answer::{self, Line, sample, sample_of};
use crate::protocol::transcript::Step;

/// Time to exit after the end of input.
const EXIT: Duration = Duration::from_secs(5);

/// Time for the rest of an object that began on a line.
const REST: Duration = Duration::from_secs(1);

/// Lines one object may stand on, to be told as one.
const MOST_LINES: usize = 10_000;

/// The kind of finding that it does not exit.
pub(super) const STAYS: &str = "no exit";

/// Lines of stderr that are shown.
const LAST_WORDS: usize = 3;

/// Characters of one of them: the useful half of a message is often its end.
const WORDS: usize = 400;

/// Characters of the line that says why a script does not start.
const REASON: usize = 600;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) findings: Vec<Finding>,
    /// The raw result of the last describe.
    pub(super) described: Option<String>,
    /// Whether the toolbox cannot be spoken to at all.
    pub(super) lost: bool,
    /// An exit that was seen before its time.
    exit: Option<Exit>,
}

/// Plays `steps`.
pub(super) async fn play(subject: &Subject<'_>, name: &str, steps: &[Step]) -> Played {
    let mut game = Game {
        subject,
        name,
        process: None,
        lines: VecDeque::new(),
        sent: Vec::new(),
        answered: Vec::new(),
        last_words: Vec::new(),
        windows: false,
        played: Played::default(),
    };
    let mut rest = steps;
    while let Some((step, further)) = rest.split_first() {
        let good = match step {
            Step::Host(_) | Step::Raw(_) => {
                rest = further;
                game.send(step).await
            }
            Step::Toolbox(_) => {
                let count = rest.iter().take_while(|step| matches!(step, Step::Toolbox(_))).count();
                let (answers, further) = rest.split_at(count);
                rest = further;
                game.expect(answers).await
            }
            Step::Close => {
                rest = further;
                game.close();
                true
            }
            Step::Exits => {
                rest = further;
                game.expect_exit().await
            }
            // For decoders only: no program is asked to write it.
            Step::ToolboxRaw(_) => {
                rest = further;
                true
            }
        };
        if !good {
            break;
        }
    }
    game.played
}

pub(super) struct Game<'a> {
    pub(super) subject: &'a Subject<'a>,
    name: &'a str,
    pub(super) process: Option<Process>,
    /// Lines that were read ahead.
    lines: VecDeque<Bytes>,
    /// The requests so far.
    sent: Vec<Value>,
    /// The ids of those that were answered.
    answered: Vec<u64>,
    /// The last lines of its stderr, as they came.
    last_words: Vec<Bytes>,
    /// Whether its stderr shows a script with the line ends of Windows.
    windows: bool,
    played: Played,
}

/// What came next.
pub(super) enum Next {
    Line(Bytes),
    Exited(Exit),
    Nothing,
}

impl Game<'_> {
    /// Sends the line of `step`, to a process of its own where the toolbox is run once a request.
    async fn send(&mut self, step: &Step) -> bool {
        let Some(line) = self.subject.request(step) else {
            return true;
        };
        let once = self.subject.config.mode == Mode::Oneshot;
        if once && line.trim_ascii().is_empty() {
            return true;
        }
        if (once || self.process.is_none()) && !self.start().await {
            return false;
        }
        self.sent.extend(serde_json::from_slice(&line).ok());
        if let Some(process) = &mut self.process {
            process.send(&line);
        }
        if once {
            self.close();
        }
        true
    }

    async fn start(&mut self) -> bool {
        match spawn(&self.subject.program, &self.subject.guard).await {
            Ok(process) => {
                self.process = Some(process);
                self.lines.clear();
                true
            }
            Err(error) => {
                self.played.lost = true;
                self.fault("start", error.to_string());
                false
            }
        }
    }

    pub(super) fn close(&mut self) {
        if let Some(process) = &mut self.process {
            process.close_stdin();
        }
    }

    /// Waits for one line for each of `answers`, in any order.
    async fn expect(&mut self, answers: &[Step]) -> bool {
        let pattern = |step: &Step| match step {
            Step::Toolbox(pattern) => Some(Asked::of(pattern, &self.sent)),
            _ => None,
        };
        let mut asked: Vec<Asked> = answers.iter().filter_map(pattern).collect();
        let patience = if asked.iter().any(Asked::is_describe) {
            self.subject.config.describe_timeout
        } else {
            self.subject.patience
        };
        let deadline = Instant::now() + patience;
        while !asked.is_empty() {
            match self.next(deadline).await {
                Next::Line(line) => {
                    if !self.judge(&line, &mut asked).await {
                        return false;
                    }
                }
                Next::Exited(exit) => return self.exited(&exit, &asked),
                Next::Nothing => {
                    let (kind, what, hint) = silence::cause(self, patience).await;
                    let hints: Vec<String> = hint.map(|hint| hint.text(self.subject.language)).into_iter().collect();
                    return self.silent(kind, what, &hints, &asked);
                }
            }
        }
        true
    }

    /// Takes in one line. Whether it is worth going on.
    async fn judge(&mut self, line: &[u8], asked: &mut Vec<Asked>) -> bool {
        if self.is_of_a_canceled_call(line) {
            return true;
        }
        if let Some(diagnosis) = self.spread(line, asked).await {
            self.played.lost = self.is_first(asked);
            self.diagnosed(true, line, diagnosis);
            return false;
        }
        match diagnose::judge(line, asked, &self.answered) {
            Judged::Nothing => {}
            Judged::Noise(diagnosis) => self.diagnosed(false, line, diagnosis),
            Judged::Meets(index) => {
                let met = asked.remove(index);
                for odd in diagnose::oddities(line, &met) {
                    self.diagnosed(false, line, odd);
                }
                self.answered.push(met.id);
                self.note_described(line, met.is_describe());
            }
            Judged::Bad(diagnosis) => {
                self.played.lost = self.is_first(asked);
                self.diagnosed(true, line, diagnosis);
                self.note_described(line, asked.iter().any(Asked::is_describe));
                return false;
            }
        }
        true
    }

    /// Whether `line` is the first of several that are one object together.
    async fn spread(&mut self, line: &[u8], asked: &[Asked]) -> Option<Diagnosis> {
        let unfinished = |text: &[u8]| {
            let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(text);
            parsed.is_err_and(|error| error.is_eof())
        };
        if !line.trim_ascii().starts_with(b"{") || !unfinished(line) {
            return None;
        }
        let deadline = Instant::now() + REST;
        let mut whole = line.to_vec();
        let mut ahead = Vec::new();
        while ahead.len() < MOST_LINES
            && unfinished(&whole)
            && let Next::Line(further) = self.next_or_keep_exit(deadline).await
        {
            whole.push(b'\n');
            whole.extend_from_slice(&further);
            ahead.push(further);
        }
        match serde_json::from_slice(&whole) {
            Ok(value) => {
                self.note_described(Value::to_string(&value).as_bytes(), true);
                Some(diagnose::spread(&value, ahead.len() + 1, asked))
            }
            Err(_) => {
                self.lines.extend(ahead);
                None
            }
        }
    }

    /// The next line, where there is one; an exit is left for later.
    async fn next_or_keep_exit(&mut self, deadline: Instant) -> Next {
        match self.next(deadline).await {
            Next::Exited(exit) => {
                self.played.exit = Some(exit);
                Next::Nothing
            }
            next => next,
        }
    }

    /// Keeps what a describe answer says, also of one that cannot be used for its envelope.
    fn note_described(&mut self, line: &[u8], describes: bool) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = std::str::from_utf8(line).unwrap_or_default();
        let Ok(members) = crate::json::Members::parse(text) else {
            return;
        };
        if let Some(result) = members.get("result").filter(|_| describes)
            && result.get().contains("\"tools\"")
        {
            self.played.described = Some(result.get().to_owned());
        }
    }

    fn diagnosed(&mut self, is_fault: bool, line: &[u8], diagnosis: Diagnosis) {
        let Diagnosis {
            kind,
            what,
            should,
            hint,
        } = diagnosis;
        let mut what = format!("{what}\nwrote:  {}\nshould: {should}", sample(line));
        self.hint(&mut what, hint);
        if is_fault {
            self.fault(kind, what);
        } else {
            self.found(false, kind, what);
        }
    }

    fn hint(&self, what: &mut String, hint: Option<Hint>) {
        if let Some(hint) = hint {
            what.push('\n');
            what.push_str(&hint.text(self.subject.language));
        }
    }

    /// What a script's own last line says is all that its owner, who wrote no protocol, can use.
    fn did_not_start(&mut self, reason: &Bytes) -> bool {
        self.last_words.pop();
        self.played.lost = true;
        self.fault("start", sample_of(reason, REASON));
        false
    }

    fn exited(&mut self, exit: &Exit, asked: &[Asked]) -> bool {
        let is_script = matches!(self.subject.config.kind, Kind::Script(_));
        let reason = self.last_words.last().cloned();
        if let Some(reason) = reason.filter(|_| is_script && self.answered.is_empty() && !self.windows) {
            return self.did_not_start(&reason);
        }
        let (kind, mut what, hint) = match (exit.is_success(), self.answered.len()) {
            _ if self.windows => ("start", format!("exited instead ({exit}){}", windows_line_ends()), None),
            (true, 0) => (
                "no answer",
                format!("exited instead ({exit}), without an answer"),
                Some(Hint::Once),
            ),
            (true, count) => {
                let what = format!(
                    "exited instead ({exit}): it ended after {count} {} and should wait for the next request until its \
                     input ends, or be run once a request (mode: oneshot, here --oneshot)",
                    if count == 1 { "answer" } else { "answers" }
                );
                ("once", what, Some(Hint::Once))
            }
            (false, _) => ("crash", format!("exited instead ({exit})"), None),
        };
        let unknown = asked.iter().any(Asked::wants_error) && !exit.is_success();
        if let Some(one) = asked.first() {
            what.push_str(&format!("\nasked:  {}", one.words()));
        }
        let program = &self.subject.program;
        let mut hints: Vec<String> = Vec::new();
        if kind == "no answer" {
            hints.extend(plain::hint(&program.argv, &program.cwd));
        }
        let hint = hint.or(unknown.then_some(Hint::Unknown));
        hints.extend(hint.map(|hint| hint.text(self.subject.language)));
        self.silent(kind, what, &hints, asked)
    }

    /// Whether the very first answer is due: without it there is nothing to go on with.
    fn is_first(&self, asked: &[Asked]) -> bool {
        self.answered.is_empty() && asked.iter().any(|asked| asked.id == 1)
    }

    fn silent(&mut self, kind: &'static str, mut what: String, hints: &[String], asked: &[Asked]) -> bool {
        self.played.lost = self.is_first(asked);
        let lines: Vec<String> = asked.iter().map(|asked| asked.should(None)).collect();
        what.push_str(&format!("\nwrote:  nothing\nshould: {}", lines.join("\n        ")));
        for hint in hints {
            what.push('\n');
            what.push_str(hint);
        }
        self.fault(kind, what);
        false
    }

    async fn expect_exit(&mut self) -> bool {
        let deadline = Instant::now() + EXIT;
        while self.process.is_some() || !self.lines.is_empty() {
            match self.next(deadline).await {
                Next::Line(line) => match diagnose::judge(&line, &[], &self.answered) {
                    Judged::Bad(diagnosis) if diagnosis.kind == "twice" => {
                        self.diagnosed(true, &line, diagnosis);
                        return false;
                    }
                    Judged::Bad(diagnosis) | Judged::Noise(diagnosis) => self.unasked(&line, diagnosis),
                    Judged::Nothing | Judged::Meets(_) => {}
                },
                Next::Exited(Exit::Status(0)) => {}
                Next::Exited(exit) => {
                    let what = format!("ended with {exit} when its input was closed; it should exit with status 0");
                    self.fault("exit status", what);
                    return false;
                }
                Next::Nothing => {
                    let within = humantime::format_duration(EXIT);
                    let mut what = format!("did not exit within {within} after its input was closed");
                    self.hint(&mut what, Some(Hint::EndOfInput));
                    self.fault(STAYS, what);
                    return false;
                }
            }
        }
        true
    }

    /// A canceled call may still be answered: nobody waits for it, and the host is told that the process is free again.
    fn is_of_a_canceled_call(&self, line: &[u8]) -> bool {
        let Line::Answer { id, .. } = answer::parse(line) else {
            return false;
        };
        let cancels = |request: &Value| request["op"] == "cancel" && request["target"].as_u64() == Some(id);
        self.sent.iter().any(cancels)
    }

    fn unasked(&mut self, line: &[u8], diagnosis: Diagnosis) {
        if self.is_of_a_canceled_call(line) {
            return;
        }
        if diagnosis.kind == "noise" {
            return self.diagnosed(false, line, diagnosis);
        }
        let what = format!(
            "wrote noise to stdout: an answer to nobody's request\nwrote:  {}",
            sample(line)
        );
        self.found(false, "noise", what);
    }

    /// What comes next, until `deadline`.
    pub(super) async fn next(&mut self, deadline: Instant) -> Next {
        if let Some(line) = self.lines.pop_front() {
            return Next::Line(line);
        }
        if let Some(exit) = self.played.exit.take() {
            return Next::Exited(exit);
        }
        let Some(process) = &mut self.process else {
            return Next::Nothing;
        };
        loop {
            let Ok(event) = timeout_at(deadline, poll_fn(|cx| process.poll_event(cx))).await else {
                return Next::Nothing;
            };
            match event {
                ProcessEvent::Line(line) => return Next::Line(line),
                ProcessEvent::LineTooLong { head } => return Next::Line(head),
                ProcessEvent::Stderr(line) => {
                    self.windows |= crate::process::spawn::shows_windows_line_ends(&line);
                    self.last_words.push(line);
                    if self.last_words.len() > LAST_WORDS {
                        self.last_words.remove(0);
                    }
                }
                ProcessEvent::PipeClosed(_)
                | ProcessEvent::OutputTooLong
                | ProcessEvent::LineEndless
                | ProcessEvent::LineEnded => {}
                ProcessEvent::Exited(exit) => {
                    self.process = None;
                    return Next::Exited(exit);
                }
            }
        }
    }

    fn fault(&mut self, kind: &'static str, mut what: String) {
        if !self.last_words.is_empty() {
            what.push_str("\nits stderr: ");
            let words: Vec<String> = self.last_words.iter().map(|line| sample_of(line, WORDS)).collect();
            what.push_str(&words.join("\n            "));
        }
        self.found(true, kind, what);
    }

    fn found(&mut self, is_fault: bool, kind: &'static str, what: String) {
        self.played.findings.push(Finding {
            is_fault,
            place: self.name.to_owned(),
            kind,
            what,
        });
    }
}
