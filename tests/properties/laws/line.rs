//! Bytes into lines: however they arrive, the same lines come out, none too long and none lost.

use toolhost::process::lines::{LineBuffer, Piece};

/// How much of an overlong line is kept at most.
const HEAD: usize = 256;

/// The first three bytes say how long a line may be, and how the rest is cut into reads.
pub fn hold(data: &[u8]) {
    let [limit, seed, longest, stream @ ..] = data else {
        return;
    };
    let limit = 1 + usize::from(*limit) * 3;
    let longest = 1 + usize::from(*longest) * 4;
    let mut rng = fastrand::Rng::with_seed(u64::from(*seed));
    let reads = cut(stream, longest, &mut rng);
    whole_lines(stream, limit, &reads);
    cut_lines(stream, limit, &reads);
}

/// `stream` in pieces of at most `longest` bytes.
fn cut<'s>(mut stream: &'s [u8], longest: usize, rng: &mut fastrand::Rng) -> Vec<&'s [u8]> {
    let mut reads = Vec::new();
    while !stream.is_empty() {
        let (read, rest) = stream.split_at(rng.usize(1..=longest).min(stream.len()));
        reads.push(read);
        stream = rest;
    }
    reads
}

/// What comes out, the rest at the end of the stream last.
fn played(mut lines: LineBuffer, reads: &[&[u8]], limit: usize) -> (Vec<Piece>, Option<Vec<u8>>) {
    let mut pieces = Vec::new();
    for read in reads {
        lines.room().extend_from_slice(read);
        pieces.extend(std::iter::from_fn(|| lines.next_piece()));
        assert!(lines.room().len() <= limit, "it holds more than a line may have");
    }
    let rest = lines.take_rest().map(|rest| rest.to_vec());
    assert_eq!(lines.next_piece(), None, "nothing is left after the rest");
    (pieces, rest)
}

/// Of a toolbox's stdout: the lines are those between the line feeds, and an overlong one costs itself and no other.
fn whole_lines(stream: &[u8], limit: usize, reads: &[&[u8]]) {
    let (pieces, rest) = played(LineBuffer::new(limit), reads, limit);
    let mut expected: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    let last = expected.pop().unwrap_or_default();
    if last.len() > limit {
        expected.push(last);
        assert_eq!(rest, None, "of an overlong line there is no rest");
    } else {
        assert_eq!(rest.unwrap_or_default(), last);
    }
    // That an overlong line has ended is told after it, where it was told before its end; these are shorter than endless.
    for (before, piece) in pieces.iter().zip(pieces.iter().skip(1)) {
        assert!(*piece != Piece::Ended || matches!(before, Piece::TooLong { .. }));
    }
    let pieces: Vec<_> = pieces.iter().filter(|piece| **piece != Piece::Ended).collect();
    assert_eq!(pieces.len(), expected.len());
    for (piece, line) in pieces.into_iter().zip(expected) {
        match piece {
            Piece::Line(got) => {
                assert_eq!(got, line);
                assert!(got.len() <= limit);
            }
            Piece::TooLong { head } => {
                assert!(line.len() > limit && line.starts_with(head));
                assert!(head.len() <= HEAD && head.len() >= HEAD.min(limit + 1));
            }
            Piece::Endless | Piece::Ended => panic!("{piece:?} of a line of {} bytes", line.len()),
        }
    }
}

/// Of stderr, which people read: no byte is lost but the ends of lines, and no piece is longer than it may be.
fn cut_lines(stream: &[u8], limit: usize, reads: &[&[u8]]) {
    let (pieces, rest) = played(LineBuffer::new_cutting(limit), reads, limit);
    let mut got = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Line(line) => {
                assert!(line.len() <= limit, "a piece of {} bytes, limit {limit}", line.len());
                assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
                got.extend_from_slice(&line);
            }
            other => panic!("a line of stderr was dropped for its length: {other:?}"),
        }
    }
    got.extend(rest.unwrap_or_default());
    let ends = |byte: &&u8| !matches!(byte, b'\n' | b'\r');
    got.retain(|byte| ends(&byte));
    let expected: Vec<u8> = stream.iter().filter(ends).copied().collect();
    assert_eq!(got, expected);
}
