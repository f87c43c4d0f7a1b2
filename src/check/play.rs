//! One transcript, played at a real process.

use std::future::poll_fn;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::report::Finding;
use super::{ANSWER, Subject};
use crate::config::Mode;
use crate::process::exit::Exit;
use crate::process::spawn::spawn;
use crate::process::{Process, ProcessEvent};
use crate::protocol::answer::{self, Line, Noise, sample};
use crate::protocol::transcript::{Step, matches_line};

/// Time to exit after the end of input.
const EXIT: Duration = Duration::from_secs(5);

/// Lines of noise shown of one play.
const SHOWN: usize = 3;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) findings: Vec<Finding>,
    /// The raw result of the last describe.
    pub(super) described: Option<String>,
    /// Whether the toolbox cannot be spoken to at all.
    pub(super) lost: bool,
}

/// Plays `steps`.
pub(super) async fn play(subject: &Subject<'_>, name: &str, steps: &[Step]) -> Played {
    let mut game = Game {
        subject,
        name,
        process: None,
        last_words: Vec::new(),
        noise: 0,
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

struct Game<'a> {
    subject: &'a Subject<'a>,
    name: &'a str,
    process: Option<Process>,
    last_words: Vec<String>,
    noise: usize,
    played: Played,
}

/// What came next.
enum Next {
    Line(bytes::Bytes),
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
                true
            }
            Err(error) => {
                self.played.lost = true;
                self.fault(error.to_string());
                false
            }
        }
    }

    fn close(&mut self) {
        if let Some(process) = &mut self.process {
            process.close_stdin();
        }
    }

    /// Waits for one line for each of `answers`, in any order.
    async fn expect(&mut self, answers: &[Step]) -> bool {
        let mut patterns: Vec<&Value> = answers
            .iter()
            .filter_map(|step| {
                if let Step::Toolbox(pattern) = step {
                    Some(pattern)
                } else {
                    None
                }
            })
            .collect();
        let describes = patterns
            .iter()
            .any(|pattern| pattern.pointer("/result/tools").is_some());
        let patience = if describes {
            self.subject.config.describe_timeout
        } else {
            ANSWER
        };
        let deadline = Instant::now() + patience;
        while !patterns.is_empty() {
            match self.next(deadline).await {
                Next::Line(line) => match answer::parse(&line) {
                    Line::Blank | Line::ToolsChanged | Line::Progress { .. } => {}
                    // An object is meant as an answer, whatever it lacks.
                    Line::Noise(Noise::NoId) => return self.wrong(&line, &Line::Noise(Noise::NoId), &patterns),
                    Line::Noise(noise) => self.note_noise(&line, &noise.to_string()),
                    parsed => {
                        let Some(met) = patterns.iter().position(|pattern| matches_line(pattern, &line)) else {
                            return self.wrong(&line, &parsed, &patterns);
                        };
                        patterns.remove(met);
                        self.note_described(&parsed);
                    }
                },
                Next::Exited(exit) => return self.silent(&format!("exited instead ({exit})"), &patterns),
                Next::Nothing => {
                    let within = humantime::format_duration(patience);
                    return self.silent(
                        &format!("wrote nothing within {within}; is its output buffered?"),
                        &patterns,
                    );
                }
            }
        }
        true
    }

    fn note_described(&mut self, line: &Line<'_>) {
        if let Line::Answer {
            outcome: Ok(result), ..
        } = line
            && result.contains("\"tools\"")
        {
            self.played.described = Some((*result).to_owned());
        }
    }

    fn note_noise(&mut self, line: &[u8], what: &str) {
        self.noise += 1;
        if self.noise <= SHOWN {
            let what = format!("wrote noise to stdout: {what}\nwrote: {}", sample(line));
            self.played.findings.push(Finding {
                is_fault: false,
                place: self.name.to_owned(),
                what,
            });
        }
    }

    fn wrong(&mut self, line: &[u8], parsed: &Line<'_>, patterns: &[&Value]) -> bool {
        let why = match parsed {
            Line::Faulty { why, .. } => format!(" ({why})"),
            Line::Noise(noise) => format!(" ({noise})"),
            _ => String::new(),
        };
        let what = format!(
            "wrong answer{why}\nwrote:  {}\nshould: {}",
            sample(line),
            shown(patterns)
        );
        self.fault(what);
        false
    }

    /// Without a first answer there is nothing to go on with.
    fn silent(&mut self, what: &str, patterns: &[&Value]) -> bool {
        self.played.lost = self.played.described.is_none() && patterns.iter().any(|pattern| pattern["id"] == 1);
        self.fault(format!("{what}\nshould write: {}", shown(patterns)));
        false
    }

    async fn expect_exit(&mut self) -> bool {
        let deadline = Instant::now() + EXIT;
        while self.process.is_some() {
            match self.next(deadline).await {
                Next::Line(line) if line.trim_ascii().is_empty() => {}
                Next::Line(line) => self.note_noise(&line, "an answer to nobody's request"),
                Next::Exited(Exit::Status(0)) => {}
                Next::Exited(exit) => {
                    self.fault(format!(
                        "ended with {exit} when its input was closed; it should exit with status 0"
                    ));
                    return false;
                }
                Next::Nothing => {
                    let within = humantime::format_duration(EXIT);
                    self.fault(format!("did not exit within {within} after its input was closed"));
                    return false;
                }
            }
        }
        true
    }

    async fn next(&mut self, deadline: Instant) -> Next {
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
                    self.last_words.push(sample(&line));
                    if self.last_words.len() > SHOWN {
                        self.last_words.remove(0);
                    }
                }
                ProcessEvent::PipeClosed(_) | ProcessEvent::OutputTooLong => {}
                ProcessEvent::Exited(exit) => {
                    self.process = None;
                    return Next::Exited(exit);
                }
            }
        }
    }

    fn fault(&mut self, mut what: String) {
        if !self.last_words.is_empty() {
            what.push_str("\nits stderr: ");
            what.push_str(&self.last_words.join("\n            "));
        }
        self.played.findings.push(Finding {
            is_fault: true,
            place: self.name.to_owned(),
            what,
        });
    }
}

fn shown(patterns: &[&Value]) -> String {
    patterns
        .iter()
        .map(|pattern| pattern.to_string())
        .collect::<Vec<_>>()
        .join("\n        ")
}
