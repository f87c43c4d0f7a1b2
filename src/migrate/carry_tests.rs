//! Which calls are forwarded, by table.

use super::*;

/// One thing that the host shows, at a time; a question of ours that it answers was asked [`ROUND`] before.
#[derive(Debug, Clone, Copy)]
enum E {
    /// It answers discover: as an old host, as a new one, without a tool.
    Old(u64),
    New(u64),
    Empty(u64),
    /// It answers the askers' topic itself.
    Itself(u64),
    /// It is known not to answer the predecessor.
    Silent(u64),
    /// It answers a discover of somebody else.
    NewToOthers(u64),
    /// It answers as an old host a discover that was sent at the first time.
    LateOld(u64, u64),
}
use E::{Empty, Itself, LateOld, New, NewToOthers, Old, Silent};
use Way::{ToPredecessor, ToStatic};

/// How many lower toolhosts forward too; what happens before a call and after it; what becomes of it, and after how long.
type Case = (usize, &'static [E], &'static [E], (Fate, u64));

const FORWARD: fn(u64) -> (Fate, u64) = |after| (Fate::Forward, after);
const LEAVE: fn(u64) -> (Fate, u64) = |after| (Fate::Leave, after);
/// When the call of a case comes.
const CALLED: u64 = 100_000;
/// How long a host takes to answer.
const ROUND: u64 = 1;

fn after(way: Way, events: &[E]) -> Carried {
    let mut carried = Carried::new(way, 0);
    for event in events {
        apply(&mut carried, *event);
    }
    carried
}

fn apply(carried: &mut Carried, event: E) -> Option<News> {
    let asked = |at: u64| Some(at.saturating_sub(ROUND));
    match event {
        Old(at) => carried.discovered(Some(Sign::Old), asked(at), at),
        New(at) => carried.discovered(Some(Sign::New), asked(at), at),
        Empty(at) => carried.discovered(None, asked(at), at),
        LateOld(asked, at) => carried.discovered(Some(Sign::Old), Some(asked), at),
        NewToOthers(at) => carried.discovered(Some(Sign::New), None, at),
        Itself(at) => carried.answered_itself(at),
        Silent(_) => carried.says_it_is_silent(),
    }
}

fn time(event: E) -> u64 {
    let (Old(at) | New(at) | Empty(at) | Itself(at) | Silent(at) | NewToOthers(at) | LateOld(_, at)) = event;
    at
}

/// What becomes of a call, and after how many milliseconds.
fn fate(way: Way, lower: usize, before: &[E], meanwhile: &[E]) -> (Fate, u64) {
    let mut carried = after(way, before);
    let Next::Hold(mut hold) = carried.call(CALLED, lower) else {
        return FORWARD(0);
    };
    let mut meanwhile = meanwhile.iter().copied().peekable();
    for now in CALLED..CALLED + 60_000 {
        while let Some(event) = meanwhile.next_if(|event| time(*event) == now) {
            apply(&mut carried, event);
        }
        match carried.settled(&mut hold, now, lower) {
            Fate::Wait => {}
            fate => return (fate, now - CALLED),
        }
    }
    panic!("decided in the end: {carried:?}")
}

fn check(way: Way, table: &[Case]) {
    for (lower, before, meanwhile, expected) in table {
        let case = format!("{way:?}, lower {lower}, {before:?}, {meanwhile:?}");
        assert_eq!(fate(way, *lower, before, meanwhile), *expected, "{case}");
    }
}

#[test]
fn a_call_is_forwarded_to_an_old_host_and_left_to_one_that_has_learned() {
    check(
        ToPredecessor,
        &[
            // Nothing known.
            (0, &[], &[], FORWARD(UNKNOWN)),
            (0, &[], &[Old(100_010)], FORWARD(10)),
            (0, &[], &[New(100_010)], LEAVE(10)),
            (0, &[], &[Empty(100_010)], FORWARD(10)),
            // An old host, known for long, or seen just now.
            (0, &[Old(0)], &[], FORWARD(KNOWN)),
            (0, &[Old(0)], &[Old(100_003)], FORWARD(3)),
            (0, &[Old(99_900)], &[], FORWARD(0)),
            // It was updated.
            (0, &[Old(0)], &[New(100_003)], LEAVE(3)),
            (0, &[Old(0)], &[Itself(100_900)], LEAVE(900)),
            (0, &[Old(0)], &[Empty(100_003)], FORWARD(3)),
            // An answer that lay in the socket, to a question of long ago.
            (0, &[Old(0)], &[LateOld(99_000, 100_010)], FORWARD(KNOWN)),
            (0, &[Old(0)], &[LateOld(99_900, 100_010)], FORWARD(10)),
            // Somebody else's question.
            (0, &[Old(0)], &[NewToOthers(100_003)], LEAVE(KNOWN)),
        ],
    );
}

#[test]
fn a_host_that_has_learned_may_answer_and_is_asked_when_it_does_not() {
    let asked = ANSWERS_WITHIN;
    check(
        ToPredecessor,
        &[
            (0, &[New(99_990)], &[Itself(100_400)], LEAVE(400)),
            // A slow tool.
            (0, &[New(99_990)], &[New(101_001)], LEAVE(asked + 1)),
            (0, &[New(0)], &[], LEAVE(asked + KNOWN)),
            // It was set back.
            (0, &[New(0)], &[Old(101_001)], FORWARD(asked + 1)),
            (0, &[New(0)], &[Old(100_001), Old(101_001)], FORWARD(asked + 1)),
            (0, &[Itself(0)], &[Old(101_001)], FORWARD(asked + 1)),
            (0, &[Old(0), Itself(10), Old(20)], &[Old(100_004)], FORWARD(4)),
        ],
    );
    check(
        ToStatic,
        &[
            (0, &[Itself(99_990)], &[Itself(100_400)], LEAVE(400)),
            // It answers the replacement only, from now on, as it says itself, or as the first call shows.
            (
                0,
                &[New(0), Itself(0)],
                &[Silent(100_600), New(101_001)],
                FORWARD(asked + 1),
            ),
            (0, &[New(0), Itself(0)], &[New(101_001)], (Fate::Unanswered, WAITED_FOR)),
            (0, &[New(0), Itself(0)], &[New(101_001), Itself(109_000)], LEAVE(9_000)),
            (0, &[Old(0)], &[Old(101_001)], LEAVE(asked + 1)),
            // It was updated.
            (0, &[Old(0)], &[Silent(100_500), New(101_001)], FORWARD(asked + 1)),
        ],
    );
}

#[test]
fn a_host_of_the_replacement_may_answer_the_predecessor_itself() {
    check(
        ToStatic,
        &[
            // Nothing known, and a host that answers no discover.
            (0, &[], &[], FORWARD(GRACE)),
            (0, &[], &[Itself(100_300)], LEAVE(300)),
            (0, &[], &[New(100_010), Itself(100_400)], LEAVE(400)),
            (0, &[], &[New(100_010)], FORWARD(GRACE)),
            (0, &[], &[Old(100_010)], LEAVE(10)),
            (0, &[New(99_990)], &[], FORWARD(GRACE)),
            // Known, and silent now: busy, perhaps with this very call.
            (0, &[New(0)], &[], FORWARD(KNOWN)),
            // Once it is known not to answer, it takes no longer than a question.
            (0, &[Silent(0), New(99_960)], &[], FORWARD(0)),
            (0, &[Silent(0), New(1000)], &[New(100_005)], FORWARD(5)),
            (0, &[Silent(0), New(1000)], &[Itself(100_004), New(100_005)], LEAVE(4)),
            (0, &[Silent(0), New(1000)], &[Old(100_005)], LEAVE(5)),
            (0, &[Silent(0), New(1000)], &[], FORWARD(KNOWN)),
            // An answer that lay in the socket, and somebody else's question.
            (
                0,
                &[Silent(0), New(1000)],
                &[LateOld(99_000, 100_002), LateOld(100_001, 100_004)],
                LEAVE(4),
            ),
            (
                0,
                &[Silent(0), New(1000)],
                &[NewToOthers(100_002), New(100_009)],
                FORWARD(9),
            ),
            // Another host than the one that was silent.
            (0, &[New(0), Silent(0), Old(1), New(99_990)], &[], FORWARD(GRACE)),
        ],
    );
}

#[test]
fn beside_a_lower_toolhost_a_call_waits_for_it_and_is_left_to_a_host_that_has_learned() {
    check(
        ToPredecessor,
        &[
            (1, &[Old(99_990)], &[], FORWARD(OTHER_MOVES)),
            (1, &[Old(0)], &[Old(100_007)], FORWARD(7 + OTHER_MOVES)),
            (1, &[Old(0)], &[], FORWARD(KNOWN + OTHER_MOVES)),
            (1, &[Old(0), New(99_500)], &[New(101_001)], LEAVE(ANSWERS_WITHIN + 1)),
            (1, &[Old(99_990)], &[New(100_500)], LEAVE(500)),
            (1, &[Old(99_990)], &[Itself(100_500)], LEAVE(500)),
            // Of three each has its turn.
            (2, &[Old(99_990)], &[], FORWARD(2 * OTHER_MOVES)),
            (2, &[Old(99_990)], &[New(102_000)], LEAVE(2_000)),
        ],
    );
    check(
        ToStatic,
        &[
            (1, &[Silent(0), New(99_960)], &[], FORWARD(OTHER_MOVES)),
            (1, &[], &[New(100_001)], FORWARD(GRACE + OTHER_MOVES)),
            (1, &[], &[New(100_001), Itself(101_900)], LEAVE(1_900)),
        ],
    );
}

#[test]
fn toolhosts_that_do_not_know_the_same_of_a_host_never_forward_in_the_same_moment() {
    // What is heard in between gets from one to the other well within this.
    const APART: u64 = 100;
    let to_predecessor: &[&[E]] = &[&[], &[Old(0)], &[Old(99_990)], &[New(0)], &[Itself(0)]];
    let to_static: &[&[E]] = &[&[], &[New(0)], &[Silent(0)], &[Silent(0), New(99_990)], &[Old(0)]];
    let heard: &[&[E]] = &[&[], &[Old(100_002), Old(101_002)], &[New(100_002), New(101_002)]];
    for (way, known) in [(ToPredecessor, to_predecessor), (ToStatic, to_static)] {
        for (one, other) in known.iter().flat_map(|one| known.iter().map(move |other| (one, other))) {
            for (heard, ranks) in heard
                .iter()
                .flat_map(|heard| [(0, 1), (1, 2)].map(|ranks| (heard, ranks)))
            {
                let (first, second) = (fate(way, ranks.0, one, heard), fate(way, ranks.1, other, heard));
                let both = first.0 == Fate::Forward && second.0 == Fate::Forward;
                assert!(
                    !both || first.1.abs_diff(second.1) >= APART,
                    "{way:?} {one:?} {other:?} {heard:?}: {first:?} {second:?}"
                );
            }
        }
    }
}

#[test]
fn a_host_is_probed_when_nobody_waits_for_an_answer() {
    let mut carried = Carried::new(ToStatic, 0);
    assert!(!carried.wants_probe(), "no host has been heard");
    apply(&mut carried, New(10));
    assert!(carried.wants_probe() && !carried.may_be_probed(LISTEN - 1) && carried.may_be_probed(LISTEN));
    carried.old_call(LISTEN);
    assert!(!carried.may_be_probed(LISTEN + WAITED_FOR - 1) && carried.may_be_probed(LISTEN + WAITED_FOR));
    carried.old_call(LISTEN + 1);
    carried.old_answer();
    assert!(!carried.may_be_probed(LISTEN + 2), "one of two is answered");
    carried.old_answer();
    assert!(carried.may_be_probed(LISTEN + 2));

    for known in [Itself(20), Silent(20), Old(20)] {
        let carried = after(ToStatic, &[New(10), known]);
        assert!(!carried.wants_probe(), "{known:?}");
    }
    assert!(!after(ToPredecessor, &[New(10)]).wants_probe());
}

#[test]
fn a_probe_that_is_passed_over_shows_silence_and_one_that_nobody_hears_nothing() {
    let sent = LISTEN;
    let probed = || {
        let mut carried = after(ToStatic, &[New(10)]);
        carried.probed(sent);
        assert!(!carried.may_be_probed(sent + LISTEN - 1));
        carried
    };
    let mut carried = probed();
    carried.discovered(Some(Sign::New), Some(sent - 1), sent + 3);
    assert!(!carried.is_probed(), "an answer to a question from before the probe");
    carried.discovered(Some(Sign::New), Some(sent), sent + 4);
    assert_eq!(carried.passed(sent + 4 + MARGIN - 1), None);
    assert!(carried.is_probed() && carried.wants_probe());
    carried.passed(sent + 4 + MARGIN);
    assert!(!carried.is_probed() && !carried.wants_probe());
    let next = carried.call(sent + FRESH - 1, 0);
    assert_eq!(next, Next::Forward, "it is silent");

    let mut carried = probed();
    carried.discovered(Some(Sign::New), Some(sent), sent + 4);
    assert_eq!(carried.answered_itself(sent + 300), Some(News::Learned));
    assert_eq!(carried.passed(sent + 60_000), None);
    assert!(carried.learned());

    let mut carried = probed();
    for _ in 0..20 {
        assert_eq!(carried.passed(sent + 60_000), None, "nobody has heard it");
        if carried.wants_probe() {
            carried.probed(sent);
        }
    }
    assert!(!carried.wants_probe(), "it is not asked without end");
}

#[test]
fn a_call_by_a_flat_name_takes_the_topic_its_host_knows() {
    for (way, before, expected) in [
        (ToPredecessor, None, ToPredecessor),
        (ToPredecessor, Some(Old(0)), ToPredecessor),
        (ToPredecessor, Some(New(0)), ToStatic),
        (ToStatic, None, ToStatic),
        (ToStatic, Some(Old(0)), ToPredecessor),
    ] {
        let events: Vec<_> = before.into_iter().collect();
        assert_eq!(after(way, &events).flat_way(), expected, "{way:?} {before:?}");
    }
    let mut carried = after(ToPredecessor, &[New(0)]);
    let Next::Hold(hold) = carried.flat_call(1000) else {
        panic!("old knowledge")
    };
    assert!(!carried.flat_settled(&hold, 1001));
    carried.discovered(Some(Sign::New), Some(1001), 1002);
    assert!(carried.flat_settled(&hold, 1002), "also of a host that has learned");
    assert_eq!(carried.flat_call(1003), Next::Forward);
}

#[test]
fn what_changed_is_told_once() {
    let mut carried = Carried::new(ToPredecessor, 0);
    assert_eq!(apply(&mut carried, Old(0)), None);
    assert_eq!(apply(&mut carried, New(1)), Some(News::Learned));
    assert_eq!(apply(&mut carried, Itself(2)), None);
    assert_eq!(apply(&mut carried, New(3)), None);
    assert_eq!(apply(&mut carried, Old(4)), Some(News::Forgot));

    let mut carried = Carried::new(ToStatic, 0);
    assert_eq!(apply(&mut carried, Silent(1000)), None);
    assert_eq!(apply(&mut carried, Itself(2000)), Some(News::Learned));
    assert_eq!(apply(&mut carried, Itself(2001)), None);
    assert_eq!(apply(&mut carried, Silent(4000)), Some(News::Forgot));
    assert_eq!(apply(&mut carried, Itself(4001)), Some(News::Learned));
    assert_eq!(carried.left_unanswered(), Some(News::Forgot));
}

#[test]
fn a_host_that_answers_only_what_is_forwarded_is_silent_also_where_somebody_always_waits() {
    let mut carried = after(ToStatic, &[New(10)]);
    for _ in 1..SHOWN_BY {
        carried.answered_forwarded();
    }
    assert_eq!(fate(ToStatic, 0, &[New(99_990)], &[]), FORWARD(GRACE));
    assert!(matches!(carried.clone().call(11, 0), Next::Hold(_)));
    apply(&mut carried, Itself(12));
    carried.left_unanswered();
    carried.answered_forwarded();
    assert!(matches!(carried.call(13, 0), Next::Hold(_)), "in a row");
    for _ in 1..SHOWN_BY {
        carried.answered_forwarded();
    }
    assert_eq!(carried.call(14, 0), Next::Forward);
    apply(&mut carried, Itself(15));
    carried.answered_forwarded();
    assert!(carried.learned(), "what it has shown holds");
}

#[test]
fn a_way_is_called_what_json_calls_it() {
    for way in [ToPredecessor, ToStatic] {
        assert_eq!(serde_json::to_value(way).unwrap(), way.name());
    }
}
