//! What is kept of a child's stdout: lines, or all of it up to a limit. Pure.

use bytes::{Bytes, BytesMut};

use super::ProcessEvent;
use super::lines::{LineBuffer, Piece};

/// How the stdout of a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    /// Line by line as it comes; the most bytes a line may have.
    Lines(usize),
    /// As a whole once it has ended; the most bytes there may be.
    Whole(usize),
}

/// How much is read at once at least.
const CHUNK: usize = 16 * 1024;

/// The stdout of one process so far.
#[derive(Debug)]
pub(super) enum Capture {
    Lines(LineBuffer),
    Whole(Whole),
}

impl Capture {
    pub(super) fn new(stdout: Stdout) -> Self {
        match stdout {
            Stdout::Lines(limit) => Self::Lines(LineBuffer::new(limit)),
            Stdout::Whole(limit) => Self::Whole(Whole {
                buffer: BytesMut::new(),
                limit,
                is_over: false,
                told: false,
            }),
        }
    }

    /// Where the next bytes are read into.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        match self {
            Self::Lines(lines) => lines.room(),
            Self::Whole(whole) => whole.room(),
        }
    }

    /// What there is to tell by now.
    pub(super) fn next_event(&mut self) -> Option<ProcessEvent> {
        match self {
            Self::Lines(lines) => match lines.next_piece()? {
                Piece::Line(line) => Some(ProcessEvent::Line(line)),
                Piece::TooLong { head } => Some(ProcessEvent::LineTooLong { head }),
                Piece::Endless => Some(ProcessEvent::LineEndless),
                Piece::Ended => Some(ProcessEvent::LineEnded),
            },
            Self::Whole(whole) => whole.next_event(),
        }
    }

    /// Whether a line that is too long has not ended yet.
    pub(super) fn is_skipping(&self) -> bool {
        matches!(self, Self::Lines(lines) if lines.is_skipping())
    }

    /// A last line without an end, once nothing more can come.
    pub(super) fn take_rest(&mut self) -> Option<ProcessEvent> {
        match self {
            Self::Lines(lines) => lines.take_rest().map(ProcessEvent::Line),
            Self::Whole(_) => None,
        }
    }

    /// All of it, where it is read as a whole.
    pub(super) fn take_whole(&mut self) -> Bytes {
        match self {
            Self::Lines(_) => Bytes::new(),
            Self::Whole(whole) => whole.buffer.split().freeze(),
        }
    }
}

/// Everything up to a limit; what comes beyond it is read and forgotten.
#[derive(Debug)]
pub(super) struct Whole {
    buffer: BytesMut,
    limit: usize,
    is_over: bool,
    told: bool,
}

impl Whole {
    fn room(&mut self) -> &mut BytesMut {
        self.buffer.reserve(CHUNK);
        &mut self.buffer
    }

    fn next_event(&mut self) -> Option<ProcessEvent> {
        self.is_over |= self.buffer.len() > self.limit;
        if !self.is_over {
            return None;
        }
        self.buffer.clear();
        let first = !std::mem::replace(&mut self.told, true);
        first.then_some(ProcessEvent::OutputTooLong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(limit: usize) -> Capture {
        Capture::new(Stdout::Whole(limit))
    }

    #[test]
    fn the_whole_is_kept_as_it_came() {
        let mut capture = whole(6);
        for piece in [b"a\n".as_slice(), b"\r\n", b"\xff"] {
            capture.room().extend_from_slice(piece);
            assert!(capture.next_event().is_none());
        }
        assert!(capture.take_rest().is_none());
        assert_eq!(capture.take_whole(), b"a\n\r\n\xff".as_slice());
    }

    #[test]
    fn too_much_is_told_once_and_not_kept() {
        let mut capture = whole(3);
        for round in 0..3 {
            capture.room().extend_from_slice(b"1234");
            assert_eq!(
                matches!(capture.next_event(), Some(ProcessEvent::OutputTooLong)),
                round == 0
            );
        }
        assert!(capture.take_whole().is_empty());
    }
}
