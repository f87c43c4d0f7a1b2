//! Bytes into lines, with a limit that bounds memory and a way back after it. Pure.

use bytes::{Buf, Bytes, BytesMut};

/// How much is read at once at least.
const CHUNK: usize = 16 * 1024;

/// How much of an overlong line is kept, to tell whose answer it is.
const HEAD: usize = 256;

/// How much of an overlong line is skipped at least, before it counts as one without an end.
const SKIPPED: usize = 64 << 20;

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole line, or a cut of one, without its end.
    Line(Bytes),
    /// A line over the limit; the stream goes on at the next line.
    TooLong {
        /// Its first bytes.
        head: Bytes,
    },
    /// The line told to be too long goes on and on. Once for a line.
    Endless,
    /// The line told to be too long before it had an end has one now.
    Ended,
}

/// Collects what is read and gives it out in lines.
#[derive(Debug)]
pub struct LineBuffer {
    buffer: BytesMut,
    /// Bytes already looked through for a line's end.
    scanned: usize,
    limit: usize,
    /// Whether an overlong line is cut into pieces (stderr) rather than skipped (stdout).
    cutting: bool,
    /// Bytes of the overlong line that were skipped so far, where one is being skipped.
    skipping: Option<usize>,
}

impl LineBuffer {
    /// Lines of at most `limit` bytes; a longer one is reported and skipped.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            cutting: false,
            skipping: None,
        }
    }

    /// Lines cut into pieces of at most `limit` bytes; a lone CR ends a piece too, so that a
    /// progress bar is no endless line.
    pub fn new_cutting(limit: usize) -> Self {
        Self {
            cutting: true,
            ..Self::new(limit)
        }
    }

    /// Where the next bytes are read into, with room for a good many.
    pub fn room(&mut self) -> &mut BytesMut {
        self.buffer.reserve(CHUNK);
        &mut self.buffer
    }

    /// Whether a line that is too long has not ended yet.
    pub fn is_skipping(&self) -> bool {
        self.skipping.is_some()
    }

    /// The next piece that is complete.
    pub fn next_piece(&mut self) -> Option<Piece> {
        loop {
            let end = self.find_end();
            if self.cutting && end.unwrap_or(self.buffer.len()) > self.limit {
                self.scanned -= self.limit;
                return Some(Piece::Line(self.buffer.split_to(self.limit).freeze()));
            }
            let Some(end) = end else {
                return self.over_limit();
            };
            let line = self.buffer.split_to(end + 1);
            self.scanned = 0;
            if self.skipping.take().is_some() {
                return Some(Piece::Ended);
            }
            if self.cutting && end == 0 {
                self.skip_blank();
                continue;
            }
            let line = line.freeze().slice(..end);
            if line.len() > self.limit {
                return Some(Piece::TooLong {
                    head: line.slice(..HEAD.min(end)),
                });
            }
            return Some(Piece::Line(line));
        }
    }

    /// What is left where the stream ends without a line's end.
    pub fn take_rest(&mut self) -> Option<Bytes> {
        let rest = std::mem::take(&mut self.buffer).freeze();
        self.scanned = 0;
        (!rest.is_empty() && !self.is_skipping()).then_some(rest)
    }

    /// A run of line ends says nothing, and a flood of them should cost nothing.
    fn skip_blank(&mut self) {
        let blank = self
            .buffer
            .iter()
            .take_while(|byte| matches!(byte, b'\n' | b'\r'))
            .count();
        self.buffer.advance(blank);
    }

    fn find_end(&mut self) -> Option<usize> {
        let unseen = &self.buffer[self.scanned..];
        let found = if self.cutting {
            memchr::memchr2(b'\n', b'\r', unseen)
        } else {
            memchr::memchr(b'\n', unseen)
        };
        let end = found.map(|at| self.scanned + at);
        self.scanned = end.unwrap_or(self.buffer.len());
        end
    }

    fn over_limit(&mut self) -> Option<Piece> {
        if let Some(skipped) = self.skipping {
            let most = self.limit.max(SKIPPED);
            let now = skipped.saturating_add(self.buffer.len());
            self.skipping = Some(now);
            self.scanned = 0;
            self.buffer.clear();
            return (skipped <= most && now > most).then_some(Piece::Endless);
        }
        if self.buffer.len() <= self.limit {
            return None;
        }
        self.scanned = 0;
        let head = Bytes::copy_from_slice(&self.buffer[..HEAD.min(self.buffer.len())]);
        // Dropped, not cleared: the room of the overlong line goes back to the system.
        self.buffer = BytesMut::new();
        self.skipping = Some(0);
        Some(Piece::TooLong { head })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(lines: &mut LineBuffer, bytes: &[u8]) {
        lines.buffer.extend_from_slice(bytes);
    }

    fn all(lines: &mut LineBuffer) -> Vec<Piece> {
        std::iter::from_fn(|| lines.next_piece()).collect()
    }

    fn line(text: &'static str) -> Piece {
        Piece::Line(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn lines_come_whole_however_they_arrive() {
        let mut lines = LineBuffer::new(100);
        let mut seen = Vec::new();
        for byte in b"one\n\ntwo\r\nthr" {
            feed(&mut lines, &[*byte]);
            seen.extend(all(&mut lines));
        }
        assert_eq!(seen, [line("one"), line(""), line("two\r")]);
        assert_eq!(lines.take_rest().unwrap(), "thr");
        assert_eq!(lines.next_piece(), None);
        assert_eq!(lines.take_rest(), None);
    }

    #[test]
    fn an_overlong_line_is_told_once_and_the_next_one_read() {
        for chunk in [1, 7, 1000] {
            let mut lines = LineBuffer::new(10);
            let mut seen = Vec::new();
            for bytes in [b"{\"id\":1,".as_slice(), &[b'x'; 500], b"\nnext\n0123456789\n"]
                .concat()
                .chunks(chunk)
            {
                feed(&mut lines, bytes);
                seen.extend(all(&mut lines));
                assert!(lines.buffer.len() <= 1010);
            }
            assert!(
                matches!(&seen[0], Piece::TooLong { head } if head.starts_with(b"{\"id\":1,")),
                "{chunk}"
            );
            let after = &seen[usize::from(seen[1] == Piece::Ended) + 1..];
            assert_eq!(after, [line("next"), line("0123456789")], "{chunk}");
            assert_eq!(
                seen[1] == Piece::Ended,
                chunk < 500,
                "one that came whole is over already"
            );
        }
    }

    #[test]
    fn a_line_without_an_end_is_told_once_and_its_end_too() {
        let mut lines = LineBuffer::new(10);
        let mut seen = Vec::new();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..2 {
            for _ in 0..80 {
                feed(&mut lines, &piece);
                seen.extend(all(&mut lines));
                assert!(lines.is_skipping() && lines.buffer.is_empty());
                assert!(lines.buffer.capacity() <= 2 << 20);
            }
            feed(&mut lines, b"x\nnext\n");
            seen.extend(all(&mut lines));
            assert!(!lines.is_skipping());
        }
        let head = Bytes::from(vec![b'x'; HEAD]);
        let told = [Piece::TooLong { head }, Piece::Endless, Piece::Ended, line("next")];
        assert_eq!(seen[..4], told);
        assert_eq!(seen[4..], told);
    }

    #[test]
    fn a_cutting_buffer_loses_nothing_and_holds_little() {
        let mut lines = LineBuffer::new_cutting(4);
        feed(&mut lines, b"\r\r\n50%\r\r60%\rabcdefgh");
        assert_eq!(all(&mut lines), [line("50%"), line("60%"), line("abcd")]);
        assert_eq!(lines.take_rest().unwrap(), "efgh");
    }

    #[test]
    fn a_long_line_of_stderr_that_comes_at_once_is_cut_and_not_dropped() {
        let mut lines = LineBuffer::new_cutting(4);
        feed(&mut lines, b"abcdefghij\nnext\n");
        assert_eq!(all(&mut lines), [line("abcd"), line("efgh"), line("ij"), line("next")]);
    }
}
