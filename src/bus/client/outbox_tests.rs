//! What becomes of each frame, by table.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn limits() -> OutboxLimits {
    OutboxLimits {
        frames: 4,
        bytes: 100,
        age: 60 * SECOND,
    }
}

/// An outbox with a link, whose frames all are one letter: seven bytes on the wire.
struct Bench {
    outbox: Outbox,
    start: Instant,
    written: u64,
}

impl Bench {
    fn new() -> Self {
        let mut outbox = Outbox::new(limits());
        outbox.link_up(1000);
        Self {
            outbox,
            start: Instant::now(),
            written: 1000,
        }
    }

    fn send(&mut self, frames: &str) {
        for frame in frames.chars() {
            self.outbox.pass(frame.to_string().into(), self.start);
        }
    }

    fn write(&mut self, bytes: u64) {
        self.written += bytes;
        self.outbox.written(self.written);
    }

    fn echo(&mut self, frames: &str) {
        for frame in frames.chars() {
            assert!(self.outbox.is_echo(&frame.to_string().into()), "{frame} is an echo");
        }
    }

    fn down(&mut self, ended_by: EndedBy) -> usize {
        self.outbox.link_down(ended_by, self.start)
    }

    /// What waits, in order; and what was given up.
    fn rest(&mut self) -> (String, String) {
        let given_up = self
            .outbox
            .take_given_up()
            .iter()
            .map(|(frame, _)| frame.to_string())
            .collect();
        let waiting = std::iter::from_fn(|| self.outbox.next(self.start))
            .map(|frame| frame.to_string())
            .collect();
        (waiting, given_up)
    }
}

#[test]
fn what_a_broken_link_leaves() {
    // sent, bytes the socket took, echoed, ended by; waiting again, given up
    let table = [
        ("abc", 0, "", EndedBy::Bus, "abc", ""),
        ("abc", 0, "", EndedBy::Us, "abc", ""),
        ("abc", 6, "", EndedBy::Us, "abc", ""),
        ("abc", 7, "", EndedBy::Us, "bc", "a"),
        ("abc", 20, "", EndedBy::Us, "c", "ab"),
        // Without proof that the bus echoes, a frame handed over may have been relayed.
        ("abc", 20, "", EndedBy::Bus, "c", "ab"),
        // With it, what was not echoed was not relayed; but for the first, perhaps in the middle of it.
        ("abc", 21, "a", EndedBy::Bus, "c", "b"),
        ("abc", 20, "a", EndedBy::Bus, "c", "b"),
        ("abc", 13, "a", EndedBy::Bus, "bc", ""),
        ("abcd", 28, "a", EndedBy::Bus, "cd", "b"),
        ("abc", 21, "abc", EndedBy::Bus, "", ""),
        // The bus dropped `a` on purpose: what came behind it was echoed.
        ("abcd", 28, "b", EndedBy::Bus, "d", "c"),
        // We gave up a bus that may go on later.
        ("abc", 21, "a", EndedBy::Us, "", "bc"),
    ];
    for (sent, written, echoed, ended_by, waiting, given_up) in table {
        let mut bench = Bench::new();
        bench.send(sent);
        bench.write(written);
        bench.echo(echoed);
        bench.down(ended_by);
        let rest = bench.rest();
        let expected = (waiting.to_owned(), given_up.to_owned());
        assert_eq!(rest, expected, "{sent}, {written} bytes, echo {echoed}, {ended_by:?}");
    }
}

#[test]
fn the_proof_that_a_bus_echoes_outlives_a_link_until_it_stops_to() {
    let mut bench = Bench::new();
    bench.send("a");
    bench.write(7);
    bench.echo("a");
    bench.down(EndedBy::Bus);
    bench.outbox.link_up(bench.written);
    bench.send("bc");
    bench.write(14);
    assert_eq!(bench.down(EndedBy::Bus), 1, "c");

    bench.outbox.link_up(bench.written);
    bench.outbox.next(bench.start);
    bench.write(7);
    bench.outbox.enforce(bench.start + 6 * SECOND);
    bench.send("de");
    bench.write(14);
    assert_eq!(bench.down(EndedBy::Bus), 0);
    assert_eq!(bench.rest(), (String::new(), "bde".to_owned()));
}

#[test]
fn the_oldest_waiting_frames_are_given_up() {
    let mut outbox = Outbox::new(limits());
    let start = Instant::now();
    for frame in ["a", "b", "c", "d", "e"] {
        outbox.push(frame.into(), start);
    }
    outbox.push("f".repeat(99).into(), start);
    let given_up = outbox.take_given_up();
    let given_up: Vec<_> = given_up
        .iter()
        .map(|(frame, reason)| (frame.as_str(), *reason))
        .collect();
    assert_eq!(
        given_up,
        [
            ("a", Reason::TooMany),
            ("b", Reason::TooMany),
            ("c", Reason::TooMany),
            ("d", Reason::TooMany)
        ]
    );
    assert_eq!(outbox.unsent(), 2);

    assert!(outbox.next(start + 61 * SECOND).is_none());
    let reasons: Vec<_> = outbox.take_given_up().into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons, [Reason::TooOld, Reason::TooOld]);
}

#[test]
fn too_old_to_be_sent_again() {
    let mut bench = Bench::new();
    bench.send("abc");
    bench.write(21);
    bench.echo("a");
    bench.outbox.link_down(EndedBy::Bus, bench.start + 61 * SECOND);
    assert_eq!(bench.rest(), (String::new(), "bc".to_owned()));
}

#[test]
fn foreign_frames_are_no_echoes() {
    let mut bench = Bench::new();
    bench.send("ab");
    bench.write(7);
    for frame in ["x", "ab", "", "b"] {
        assert!(!bench.outbox.is_echo(&frame.into()), "{frame:?}");
    }
    bench.echo("a");
    assert!(!bench.outbox.is_echo(&"a".into()), "it was echoed already");
}

#[test]
fn control_frames_count() {
    let mut bench = Bench::new();
    bench.send("a");
    bench.outbox.control(4);
    bench.send("b");
    bench.write(7 + 10 + 6);
    bench.down(EndedBy::Us);
    assert_eq!(bench.rest(), ("b".to_owned(), "a".to_owned()));
}

#[test]
fn a_bus_that_never_echoes_costs_little_memory() {
    let mut bench = Bench::new();
    for _ in 0..1000 {
        bench.send("a");
        bench.write(7);
    }
    assert_eq!(bench.outbox.lengths[&1], limits().frames);
    bench.outbox.enforce(bench.start + 6 * SECOND);
    assert!(bench.outbox.handed_over.entries.is_empty() && bench.outbox.lengths.is_empty());
}

#[test]
fn frames_that_waited_long_are_known_by_their_echo() {
    let mut bench = Bench::new();
    for frame in ["a", "b", "c"] {
        bench.outbox.push(frame.into(), bench.start);
    }
    let later = bench.start + 30 * SECOND;
    for _ in 0..3 {
        bench.outbox.next(later);
        bench.write(7);
    }
    bench.outbox.enforce(later + SECOND);
    bench.echo("a");
    bench.outbox.link_down(EndedBy::Bus, later + SECOND);
    assert_eq!(bench.rest(), ("c".to_owned(), "b".to_owned()));
}

#[test]
fn lengths_on_the_wire() {
    for (payload, expected) in [(0, 6), (125, 131), (126, 134), (65_535, 65_543), (65_536, 65_550)] {
        assert_eq!(encoded_len(payload), expected, "{payload}");
    }
}
