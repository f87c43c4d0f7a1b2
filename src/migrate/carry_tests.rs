//! Which calls are forwarded, by table.

use super::*;

/// One thing that happens, at a time.
#[derive(Debug, Clone, Copy)]
enum E {
    Old(u64),
    New(u64),
    Empty(u64),
    Itself(u64),
    Carried(u64),
    Other(u64),
}
use E::{Carried as Answered, Empty, Itself, New, Old, Other};
use Way::{ToPredecessor, ToStatic};

/// What happened before a call, what happens after it; whether it is forwarded, and when.
type Case = (&'static [E], &'static [E], (bool, u64));

fn after(way: Way, events: &[E]) -> Carried {
    let mut carried = Carried::new(way);
    for event in events {
        apply(&mut carried, *event);
    }
    carried
}

fn apply(carried: &mut Carried, event: E) -> Option<News> {
    match event {
        Old(at) => carried.discovered(Some(Sign::Old), at),
        New(at) => carried.discovered(Some(Sign::New), at),
        Empty(at) => carried.discovered(None, at),
        Itself(at) => carried.answered_itself(at),
        Answered(_) => {
            carried.carried();
            None
        }
        Other(at) => {
            carried.other_heard(at);
            None
        }
    }
}

/// What becomes of a call at 1000 when `meanwhile` happens after it: forwarded or not, and when.
fn fate(way: Way, before: &[E], meanwhile: &[E]) -> (bool, u64) {
    const CALLED: u64 = 100_000;
    let mut carried = after(way, before);
    let hold = match carried.call(CALLED) {
        Next::Forward => return (true, 0),
        Next::Leave => return (false, 0),
        Next::Hold(hold) => hold,
    };
    assert_eq!(carried.settled(&hold, CALLED), None);
    for event in meanwhile {
        apply(&mut carried, *event);
        let (Old(at) | New(at) | Empty(at) | Itself(at) | Answered(at) | Other(at)) = *event;
        if let Some(forwarded) = carried.settled(&hold, at) {
            return (forwarded, at - CALLED);
        }
    }
    let forwarded = carried.settled(&hold, hold.until).expect("decided in the end");
    (forwarded, hold.until - CALLED)
}

#[test]
fn a_call_is_forwarded_to_an_old_host_and_left_to_one_that_has_learned() {
    let table: [Case; 16] = [
        // Nothing known.
        (&[], &[], (true, UNKNOWN)),
        (&[], &[Old(100_010)], (true, 10)),
        (&[], &[New(100_010)], (false, 10)),
        (&[], &[Empty(100_010)], (true, 10)),
        // An old host, known for long, or seen just now.
        (&[Old(0)], &[], (true, KNOWN)),
        (&[Old(0)], &[Old(100_003)], (true, 3)),
        (&[Old(99_900)], &[], (true, 0)),
        // It was updated.
        (&[Old(0)], &[New(100_003)], (false, 3)),
        (&[Old(0)], &[Itself(100_900)], (false, 900)),
        (&[Old(0), New(99_000)], &[], (false, 0)),
        (&[Old(0), Itself(99_000)], &[], (false, 0)),
        // It is asked again in a while, and may be an old one again.
        (&[New(0)], &[New(100_001)], (false, 1)),
        (&[New(0)], &[Old(100_001)], (true, 1)),
        (&[New(0)], &[], (false, KNOWN)),
        (&[Itself(0)], &[Old(100_001)], (true, 1)),
        // What was seen to answer may have been a toolhost that has gone.
        (&[Old(0), Itself(10), Old(20)], &[Old(100_004)], (true, 4)),
    ];
    for (before, meanwhile, expected) in table {
        assert_eq!(
            fate(ToPredecessor, before, meanwhile),
            expected,
            "{before:?} {meanwhile:?}"
        );
    }
}

#[test]
fn a_host_of_the_replacement_may_answer_the_first_old_call_itself() {
    let table: [Case; 10] = [
        (&[], &[], (true, GRACE)),
        (&[New(99_990)], &[], (true, GRACE)),
        (&[], &[New(100_010)], (true, GRACE)),
        (&[], &[Itself(100_300)], (false, 300)),
        (&[], &[Old(100_010)], (false, 10)),
        // Once it is proven not to, there is nothing to wait for but a discover.
        (&[New(99_900), Answered(99_950)], &[], (true, 0)),
        (&[New(0), Answered(0)], &[New(100_005)], (true, 5)),
        (&[New(0), Answered(0)], &[Old(100_005)], (false, 5)),
        (&[New(0), Answered(0), Itself(99_000)], &[], (false, 0)),
        // Another host than the one that was proven.
        (&[New(0), Answered(0), Old(1), New(99_900)], &[], (true, GRACE)),
    ];
    for (before, meanwhile, expected) in table {
        assert_eq!(fate(ToStatic, before, meanwhile), expected, "{before:?} {meanwhile:?}");
    }
}

#[test]
fn of_two_toolhosts_one_forwards_and_the_other_takes_over_when_it_is_gone() {
    let table: [Case; 5] = [
        (
            &[Old(99_900), Other(99_000)],
            &[Old(100_001), Other(100_005)],
            (false, 5),
        ),
        (&[Old(99_900), Other(99_000)], &[Old(100_001)], (true, OTHER_MOVES)),
        (&[Old(0)], &[Other(100_001)], (false, 1)),
        (&[Old(0), Other(0)], &[Old(100_001)], (true, 1)),
        // What the other answers is no answer of the host.
        (&[Old(99_990), Other(90_000), Itself(99_000)], &[], (true, OTHER_MOVES)),
    ];
    for (before, meanwhile, expected) in table {
        assert_eq!(
            fate(ToPredecessor, before, meanwhile),
            expected,
            "{before:?} {meanwhile:?}"
        );
    }
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
    carried.discovered(Some(Sign::New), 1002);
    assert!(carried.flat_settled(&hold, 1002), "also of a host that has learned");
    assert_eq!(carried.flat_call(1003), Next::Forward);
}

#[test]
fn what_changed_is_told_once() {
    let mut carried = Carried::new(ToPredecessor);
    assert_eq!(apply(&mut carried, Old(0)), None);
    assert_eq!(apply(&mut carried, New(1)), Some(News::Learned));
    assert_eq!(apply(&mut carried, Itself(2)), None);
    assert_eq!(apply(&mut carried, New(3)), None);
    assert_eq!(apply(&mut carried, Old(4)), Some(News::Forgot));
}
