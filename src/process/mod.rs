//! Child processes: how one is started, spoken to, watched and ended.
//!
//! This room knows bytes, signals and exits. What the lines mean is the [`supervisor`]'s business, and what a tool or a
//! bus is nobody's here. Of a toolbox it knows that its process has an environment, which [`spawn`] puts together.
//!
//! [`supervisor`]: crate::supervisor

pub mod aside;
pub mod capture;
pub mod confine;
pub mod exit;
mod family;
pub mod guard;
pub mod lines;
mod mark;
mod orphans;
pub mod spawn;
mod table;

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Sleep, sleep};
use tokio_util::io::poll_read_buf;

use crate::confinement::Limits;

use capture::{Capture, Stdout};
use exit::Exit;
use family::Family;
use lines::{LineBuffer, Piece};

/// How long the pipes are read on after the process has exited.
///
/// Exit is what `wait` says, not the end of a pipe: a grandchild may hold the pipe open for hours.
const DRAIN: Duration = Duration::from_millis(200);

/// Between two looks at what a process left behind, which is killed each time: the first, and the longest.
const LOOK: Duration = Duration::from_millis(1);
const LONGEST_LOOK: Duration = Duration::from_millis(32);

/// How often it is looked at, two seconds in all, before the end is told all the same. Only what the system itself cannot
/// end, or what forks faster than it is killed, takes longer than an instant.
const LOOKS: u32 = 64;

/// Bytes of room kept for what is to be written.
const KEPT: usize = 256 * 1024;

/// Longest piece of a line on stderr; the rest is the next piece.
const STDERR_PIECE: usize = 8 * 1024;

/// What a process did.
#[derive(Debug)]
pub enum ProcessEvent {
    /// A line on stdout, without its end.
    Line(Bytes),
    /// A line on stdout longer than the limit; its rest is skipped. `head` is how it began.
    LineTooLong {
        /// The first bytes of it.
        head: Bytes,
    },
    /// The line that was too long goes on, far beyond the limit. Once for a line.
    LineEndless,
    /// The line that was too long has ended.
    LineEnded,
    /// There is more on stdout than the limit of what is read as a whole. Once; all of it is forgotten.
    OutputTooLong,
    /// A line, or a piece of a long one, on stderr.
    Stderr(Bytes),
    /// stdin or stdout was closed by the process, which lives on. Each of them once.
    PipeClosed(&'static str),
    /// It is gone, and so is all that descends from it, whatever group or session that is in. Always the last event.
    Exited(Exit),
}

/// A running child, leader of its own process group.
///
/// Dropped, it is killed with its group and all else that descends from it; tokio reaps it then.
///
/// [`Process::poll_event`] does all its input and output: no task of its own, nothing is lost when
/// a caller stops polling, and writing never waits on reading.
#[derive(Debug)]
pub struct Process {
    /// First: it is killed before tokio hears that nobody waits for it any more, while its number is its own.
    family: Family,
    child: tokio::process::Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    unsent: BytesMut,
    /// Whether `unsent` was long, whose room is not kept then.
    roomy: bool,
    close_stdin: bool,
    stdout: Option<ChildStdout>,
    captured: Capture,
    stderr: Option<ChildStderr>,
    stderr_lines: LineBuffer,
    /// A pipe it closed, and the time it has to exit before that is an event of its own.
    closed: Option<(&'static str, Pin<Box<Sleep>>)>,
    exit: Option<Exit>,
    drain: Option<Pin<Box<Sleep>>>,
    /// The next look at what it left behind, and how often there was one.
    farewell: Option<(Pin<Box<Sleep>>, u32)>,
    /// What it is held to, for the words about its end.
    limits: Limits,
}

impl Process {
    /// Takes over a child just spawned with three pipes in a group of its own.
    fn new(mut child: tokio::process::Child, group: Pid, capture: Stdout, family: Family) -> Self {
        Self {
            group,
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            unsent: BytesMut::new(),
            roomy: false,
            close_stdin: false,
            captured: Capture::new(capture),
            stderr_lines: LineBuffer::new_cutting(STDERR_PIECE),
            closed: None,
            exit: None,
            drain: None,
            family,
            farewell: None,
            limits: Limits::default(),
        }
    }

    /// The same, held to `limits`.
    fn held_to(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Its process id, which is its group's too.
    pub fn pid(&self) -> i32 {
        self.group.as_raw()
    }

    /// Whether it has ended. [`ProcessEvent::Exited`] comes a little later: with its last words, and when nothing is left of it.
    pub fn has_exited(&self) -> bool {
        self.exit.is_some()
    }

    /// Puts `bytes` behind what is still to be written to stdin; the next poll writes them.
    pub fn send(&mut self, bytes: &[u8]) {
        self.unsent.extend_from_slice(bytes);
        self.roomy |= self.unsent.len() > KEPT;
    }

    /// What it printed, after [`ProcessEvent::Exited`], where its stdout is read as a whole.
    pub fn take_output(&mut self) -> Bytes {
        self.captured.take_whole()
    }

    /// Bytes the process has not taken yet.
    pub fn unsent(&self) -> usize {
        self.unsent.len()
    }

    /// Whether it is amid a line on stdout that is too long: whatever it answers now is lost in it.
    pub fn is_amid_long_line(&self) -> bool {
        self.captured.is_skipping()
    }

    /// Closes stdin once everything sent is written.
    pub fn close_stdin(&mut self) {
        self.close_stdin = true;
    }

    /// Signals the whole group.
    pub fn signal(&self, signal: Signal) {
        self.family.signal(signal);
    }

    /// The next thing that happens, after [`ProcessEvent::Exited`] never again.
    ///
    /// Cancel-safe: every byte read or still to be written stays in `self`.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<ProcessEvent> {
        self.poll_exit(cx);
        self.poll_farewell(cx);
        self.poll_drained(cx);
        self.poll_write(cx);
        if let Poll::Ready(event) = self.poll_stdout(cx) {
            return Poll::Ready(event);
        }
        if let Poll::Ready(event) = self.poll_stderr(cx) {
            return Poll::Ready(event);
        }
        self.poll_end(cx)
    }

    fn poll_exit(&mut self, cx: &mut Context<'_>) {
        if self.exit.is_some() {
            return;
        }
        let waited = {
            let wait = std::pin::pin!(self.child.wait());
            wait.poll(cx)
        };
        let Poll::Ready(status) = waited else { return };
        self.exit = Some(Exit::from(status).under(&self.limits));
        self.stdin = None;
        // What it left behind goes with it, also what holds our pipes or has left its group.
        if !self.family.end() {
            self.farewell = Some((Box::pin(sleep(LOOK)), 0));
        }
        self.drain = Some(Box::pin(sleep(DRAIN)));
    }

    /// Looks until nothing is left of its family: what the killed ones leave comes back here in turn.
    fn poll_farewell(&mut self, cx: &mut Context<'_>) {
        while let Some((look, looks)) = &mut self.farewell {
            if look.as_mut().poll(cx).is_pending() {
                return;
            }
            if self.family.is_gone() {
                self.farewell = None;
            } else if *looks == LOOKS {
                tracing::warn!(pid = self.pid(), "what this process started could not be ended in time");
                self.farewell = None;
            } else {
                *looks += 1;
                *look = Box::pin(sleep(LONGEST_LOOK.min(LOOK * 2_u32.saturating_pow(*looks))));
            }
        }
    }

    /// Reads no further once the time after its exit is up: whoever left its group and kept its pipes may write for ever.
    fn poll_drained(&mut self, cx: &mut Context<'_>) {
        if let Some(drain) = &mut self.drain
            && drain.as_mut().poll(cx).is_ready()
        {
            self.stdout = None;
            self.stderr = None;
        }
    }

    /// Writes what can be written.
    fn poll_write(&mut self, cx: &mut Context<'_>) {
        while let Some(stdin) = &mut self.stdin {
            if self.unsent.is_empty() {
                if std::mem::take(&mut self.roomy) {
                    self.unsent = BytesMut::new();
                }
                if self.close_stdin {
                    self.stdin = None;
                }
                return;
            }
            match Pin::new(stdin).poll_write(cx, &self.unsent) {
                Poll::Pending => return,
                Poll::Ready(Ok(written)) if written > 0 => self.unsent.advance(written),
                Poll::Ready(_) => {
                    self.stdin = None;
                    self.unsent.clear();
                    self.pipe_closed("stdin");
                }
            }
        }
    }

    /// A process that exits closes its pipes a moment before `wait` knows.
    fn pipe_closed(&mut self, pipe: &'static str) {
        if self.exit.is_none() && self.closed.is_none() {
            self.closed = Some((pipe, Box::pin(sleep(DRAIN))));
        }
    }

    fn poll_stdout(&mut self, cx: &mut Context<'_>) -> Poll<ProcessEvent> {
        loop {
            if let Some(event) = self.captured.next_event() {
                return Poll::Ready(event);
            }
            let Some(stdout) = &mut self.stdout else {
                // A last line may have no end.
                return self.captured.take_rest().map_or(Poll::Pending, Poll::Ready);
            };
            if ready!(poll_read(Pin::new(stdout), cx, self.captured.room())) {
                continue;
            }
            self.stdout = None;
            self.pipe_closed("stdout");
        }
    }

    fn poll_stderr(&mut self, cx: &mut Context<'_>) -> Poll<ProcessEvent> {
        loop {
            if let Some(Piece::Line(line)) = self.stderr_lines.next_piece() {
                return Poll::Ready(ProcessEvent::Stderr(line));
            }
            let Some(stderr) = &mut self.stderr else {
                return self
                    .stderr_lines
                    .take_rest()
                    .map_or(Poll::Pending, |line| Poll::Ready(ProcessEvent::Stderr(line)));
            };
            if ready!(poll_read(Pin::new(stderr), cx, self.stderr_lines.room())) {
                continue;
            }
            self.stderr = None;
        }
    }

    /// The end, once it has exited and its pipes are read out or their time is up.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<ProcessEvent> {
        if self.exit.is_none()
            && let Some((pipe, patience)) = &mut self.closed
        {
            ready!(patience.as_mut().poll(cx));
            let pipe = *pipe;
            self.closed = None;
            return Poll::Ready(ProcessEvent::PipeClosed(pipe));
        }
        match &self.exit {
            Some(exit)
                if self.drain.is_some()
                    && self.farewell.is_none()
                    && self.stdout.is_none()
                    && self.stderr.is_none() =>
            {
                self.drain = None;
                Poll::Ready(ProcessEvent::Exited(exit.clone()))
            }
            _ => Poll::Pending,
        }
    }
}

/// Reads once into `room`; `false` at the end of the pipe.
fn poll_read<R: AsyncRead>(pipe: Pin<&mut R>, cx: &mut Context<'_>, room: &mut BytesMut) -> Poll<bool> {
    // A pipe that fails is as good as closed: `wait` tells what became of the process.
    let read = ready!(poll_read_buf(pipe, cx, room));
    Poll::Ready(read.is_ok_and(|bytes| bytes > 0))
}
