//! The verdict on hosts, by table and with the time handed in.

use super::host::{GONE, MOST_CALLS, PATIENCE};
use super::*;
use Topic::{Predecessor as Old, Replacement as New};
use Way::{ToPredecessor, ToStatic};

fn at(steady: u64) -> Moment {
    Moment { wall: steady, steady }
}

/// One thing that happens to the toolbox `wn`. Where there are two numbers, the last is what a call and its answer have
/// in common, or the number of a forwarded call.
#[derive(Debug, Clone, Copy)]
enum E {
    Asked,
    /// One answer to the discover of this number.
    Discover(Option<Sign>, u64),
    Call(Topic, u64),
    Answer(Topic, u64),
    Error(Topic, u64),
    Probe(Topic, u64),
    ProbeAnswer(Topic, u64),
    /// A call of this print is forwarded to this topic, as this one.
    Forward(Topic, u64, u64),
    /// The answer to a forwarded call.
    MarkedAnswer(Topic, u64),
    Announce(Option<Way>),
    Gap,
}
use E::*;

const OLD: Option<Sign> = Some(Sign::Old);
const NEW: Option<Sign> = Some(Sign::New);
/// The toolhost that forwards.
const BY: u64 = 7;

fn happens(watch: &mut Watch, event: E, second: u64) {
    let now = at(second);
    let heard = |topic, print| Heard {
        toolbox_id: "wn",
        topic,
        print,
        mark: None,
    };
    let mark = |call| Mark { by: BY, call };
    match event {
        Asked => watch.asked(now),
        Discover(sign, print) => watch.discovered("wn", sign, print, now),
        Call(topic, print) => watch.called(&heard(topic, print), &Who::default(), std::iter::empty, now),
        Answer(topic, print) => watch.answered(&heard(topic, print), Said::Result, now),
        Error(topic, print) => watch.answered(&heard(topic, print), Said::Error, now),
        Probe(topic, print) => watch.probed(&heard(topic, print), now),
        ProbeAnswer(topic, print) => watch.answered(&heard(topic, print), Said::ToProbe, now),
        Forward(topic, print, call) => watch.forwarded(&heard(topic, print), mark(call), now),
        MarkedAnswer(topic, call) => {
            let marked = Heard {
                mark: Some(mark(call)),
                ..heard(topic, 99)
            };
            watch.answered(&marked, Said::Error, now);
        }
        Announce(Some(way)) => watch.announced(BY, [("wn", way)].into_iter()),
        Announce(None) => watch.announced(BY, std::iter::empty()),
        Gap => watch.gap(),
    }
}

/// What is said of the toolbox after all that.
fn after(events: impl IntoIterator<Item = (u64, E)>) -> Watched {
    let mut watch = Watch::default();
    for (second, event) in events {
        happens(&mut watch, event, second);
    }
    watch.all(at(0)).remove(0)
}

fn check(table: &[(&[E], Answers)]) {
    for (events, expected) in table {
        let told = after(events.iter().map(|event| (0, *event)));
        assert_eq!(told.host, *expected, "{events:?}");
    }
}

#[test]
fn what_a_host_answers_is_told_by_its_definitions_and_its_answers() {
    check(&[
        (&[Discover(OLD, 1)], Answers::OldOnly),
        (&[Discover(NEW, 1)], Answers::New),
        (&[Discover(None, 1)], Answers::Nothing),
        (&[Call(Old, 1)], Answers::Nothing),
        (&[Call(Old, 1), Answer(Old, 1)], Answers::Old),
        (&[Call(Old, 1), Error(Old, 1)], Answers::Old),
        (&[Call(New, 1), Answer(New, 1)], Answers::New),
        (
            &[Call(Old, 1), Answer(Old, 1), Call(New, 2), Answer(New, 2)],
            Answers::Both,
        ),
        (&[Discover(NEW, 1), Call(Old, 1), Answer(Old, 1)], Answers::Both),
        (&[Discover(OLD, 1), Call(New, 1), Answer(New, 1)], Answers::Both),
        // The call was not heard.
        (&[Discover(NEW, 1), Answer(Old, 1)], Answers::New),
        // A host that writes something into the context.
        (&[Discover(NEW, 1), Call(Old, 1), Answer(Old, 2)], Answers::Both),
    ]);
}

#[test]
fn a_host_whose_definitions_are_of_the_other_kind_is_another_one() {
    let called = [Call(Old, 1), Answer(Old, 1)];
    let then = |events: &[E]| after(called.iter().chain(events).map(|event| (0, *event))).host;
    assert_eq!(then(&[Discover(OLD, 1)]), Answers::OldOnly);
    assert_eq!(then(&[Discover(OLD, 1), Discover(NEW, 2)]), Answers::New);
    assert_eq!(
        then(&[Discover(OLD, 1), Discover(NEW, 2), Call(Old, 2), Answer(Old, 2)]),
        Answers::Both
    );
    assert_eq!(
        then(&[Discover(NEW, 1), Discover(OLD, 2)]),
        Answers::OldOnly,
        "a step back"
    );
    // Two hosts have it, and answer in any order.
    let two = [
        Discover(OLD, 1),
        Discover(NEW, 1),
        Discover(NEW, 2),
        Discover(OLD, 2),
        Discover(OLD, 3),
        Discover(NEW, 3),
    ];
    assert_eq!(then(&two), Answers::Both);
    assert_eq!(
        then(&[&two[..], &[Discover(NEW, 4), Discover(NEW, 5)]].concat()),
        Answers::New
    );
}

#[test]
fn what_one_that_forwards_answers_is_not_taken_for_the_hosts() {
    check(&[
        // An old host, and one that forwards to it.
        (
            &[
                Discover(OLD, 1),
                Call(New, 1),
                Forward(Old, 1, 5),
                MarkedAnswer(Old, 5),
                Answer(New, 1),
            ],
            Answers::OldOnly,
        ),
        // The same host when nobody has asked it what it has.
        (
            &[Call(New, 1), Forward(Old, 1, 5), MarkedAnswer(Old, 5), Answer(New, 1)],
            Answers::Old,
        ),
        // A new host, and one that forwards to it.
        (
            &[
                Discover(NEW, 1),
                Call(Old, 1),
                Forward(New, 1, 5),
                MarkedAnswer(New, 5),
                Answer(Old, 1),
            ],
            Answers::New,
        ),
        // The marked answer tells what the host answers, whichever it is.
        (
            &[Discover(NEW, 1), Call(New, 1), Forward(Old, 1, 5), MarkedAnswer(Old, 5)],
            Answers::Both,
        ),
        // It answered itself meanwhile, and what was forwarded too.
        (
            &[
                Discover(NEW, 1),
                Call(Old, 1),
                Forward(New, 1, 5),
                Answer(Old, 1),
                Call(Old, 2),
                Answer(Old, 2),
            ],
            Answers::Both,
        ),
        // Two calls of the same context, forwarded one after the other.
        (
            &[
                Discover(NEW, 1),
                Call(Old, 1),
                Forward(New, 1, 5),
                Call(Old, 1),
                Answer(Old, 1),
                Forward(New, 1, 6),
                Answer(Old, 1),
            ],
            Answers::New,
        ),
        // Errors may be its own, of a call that it could not forward.
        (
            &[Discover(NEW, 1), Announce(Some(ToStatic)), Call(Old, 1), Error(Old, 1)],
            Answers::New,
        ),
        (
            &[Discover(NEW, 1), Announce(Some(ToStatic)), Call(Old, 1), Answer(Old, 1)],
            Answers::Both,
        ),
        (
            &[
                Discover(NEW, 1),
                Announce(Some(ToPredecessor)),
                Call(Old, 1),
                Error(Old, 1),
            ],
            Answers::Both,
        ),
        // The watch began between the call and its answer.
        (
            &[Discover(OLD, 1), Forward(Old, 1, 5), Call(New, 2), Answer(New, 1)],
            Answers::OldOnly,
        ),
    ]);
}

#[test]
fn that_a_toolhost_forwards_is_told_as_long_as_it_does() {
    let table: [(&[E], &[Way]); 8] = [
        (&[Announce(Some(ToPredecessor))], &[ToPredecessor]),
        (&[Announce(Some(ToPredecessor)), Announce(None)], &[]),
        (&[Announce(Some(ToPredecessor)), Announce(Some(ToStatic))], &[ToStatic]),
        (&[Call(New, 1), Forward(Old, 1, 5)], &[ToPredecessor]),
        (&[Call(Old, 1), Forward(New, 1, 5)], &[ToStatic]),
        (&[Call(Old, 1), Forward(New, 1, 5), Announce(None)], &[]),
        (
            &[Call(Old, 1), Forward(New, 1, 5), Call(New, 2), Forward(Old, 2, 6)],
            &[ToPredecessor, ToStatic],
        ),
        // Asked by a flat name, which goes to where the host is.
        (&[Discover(NEW, 1), Forward(New, 1, 5), MarkedAnswer(New, 5)], &[]),
    ];
    for (events, expected) in table {
        let told = after(events.iter().map(|event| (0, *event)));
        assert_eq!(told.forwarded, expected, "{events:?}");
    }
    let mut idle = vec![(0, Announce(Some(ToPredecessor))), (0, Discover(OLD, 0))];
    for n in 1..=3 {
        idle.extend([(n, Call(New, n)), (n, Discover(OLD, n))]);
    }
    idle.push((60, Discover(OLD, 60)));
    let told = after(idle);
    assert_eq!(
        (told.host, told.forwarded),
        (Answers::OldOnly, vec![]),
        "calls it forwarded once stay unanswered"
    );
}

#[test]
fn the_answer_to_a_probe_proves_the_topic_and_a_probe_is_no_call() {
    let probed = [Discover(NEW, 1), Announce(Some(ToStatic)), Probe(Old, 1)];
    let told = after(probed.map(|event| (0, event)));
    assert_eq!((told.host, told.predecessor_calls), (Answers::New, 0));
    assert_eq!(told.callers, []);
    let told = after(probed.into_iter().chain([ProbeAnswer(Old, 1)]).map(|event| (0, event)));
    assert_eq!(told.host, Answers::Both);
    // One that ignores the topic leaves probes unanswered as well, and is forwarded to nonetheless.
    let mut events = vec![(0, Discover(NEW, 0)), (0, Announce(Some(ToStatic)))];
    for n in 1..=3 {
        events.extend([(n, Probe(Old, n)), (n, Discover(NEW, n))]);
    }
    events.push((3 + PATIENCE, Discover(NEW, 9)));
    let told = after(events);
    assert_eq!((told.host, told.forwarded), (Answers::NewOnly, vec![ToStatic]));
}

/// Three calls on the predecessor topic with a sign of life after each, second by second.
fn three_calls() -> Vec<(u64, E)> {
    let call = |n| [(n, Call(Old, n)), (n, Discover(NEW, n))];
    [(0, Discover(NEW, 0))]
        .into_iter()
        .chain((1..=3).flat_map(call))
        .collect()
}

fn then(events: &[(u64, E)]) -> Answers {
    after(three_calls().into_iter().chain(events.iter().copied())).host
}

#[test]
fn a_topic_counts_as_unanswered_after_several_calls_to_a_host_that_lives() {
    assert_eq!(then(&[]), Answers::New);
    assert_eq!(
        then(&[(2 + PATIENCE, Discover(NEW, 9))]),
        Answers::New,
        "the third waits"
    );
    assert_eq!(then(&[(3 + PATIENCE, Discover(NEW, 9))]), Answers::NewOnly);
    let living = [(60, Call(New, 50)), (60, Answer(New, 50))];
    assert_eq!(
        then(&living),
        Answers::NewOnly,
        "an answer on the other topic is a sign of life"
    );
    assert_eq!(then(&[(60, Call(New, 50))]), Answers::New, "a call to it is none");
    // Somebody else answers for it.
    let mut forwarded = vec![(0, Discover(NEW, 0))];
    for n in 1..=3 {
        forwarded.extend([
            (n, Call(Old, n)),
            (n, Forward(New, n, n)),
            (n, MarkedAnswer(New, n)),
            (n, Answer(Old, n)),
        ]);
    }
    assert_eq!(after(forwarded.clone()).host, Answers::New);
    forwarded.push((60, Discover(NEW, 9)));
    assert_eq!(after(forwarded).host, Answers::NewOnly);
    // Another host, a bus that was away.
    assert_eq!(then(&[(60, Gap), (60, Discover(NEW, 9))]), Answers::New);
    assert_eq!(then(&[(50, Discover(OLD, 8)), (60, Discover(NEW, 9))]), Answers::New);
    // A host that was away while several calls came.
    let away = (1..=9).map(|n| (n, Call(Old, n)));
    let away = [(0, Discover(NEW, 0))].into_iter().chain(away);
    assert_eq!(after(away.chain([(60, Discover(NEW, 9))])).host, Answers::New);
    // One that was not there before them.
    let before = [
        (1, Call(Old, 1)),
        (2, Call(Old, 2)),
        (3, Call(Old, 3)),
        (60, Discover(NEW, 9)),
    ];
    assert_eq!(after(before).host, Answers::New);
}

#[test]
fn a_late_answer_takes_it_back_and_is_learned_from() {
    let judged = (3 + PATIENCE, Discover(NEW, 8));
    assert_eq!(then(&[judged, (30, Answer(Old, 2))]), Answers::Both);
    assert_eq!(
        then(&[judged, (30, Answer(Old, 77))]),
        Answers::Both,
        "in an odd context"
    );
    // It took 28 seconds, so the next ones may take 56.
    let mut slow = vec![judged, (30, Answer(Old, 2))];
    for n in 31..=36 {
        slow.extend([(n, Call(Old, n)), (n, Discover(NEW, n))]);
    }
    slow.push((33 + 55, Discover(NEW, 88)));
    assert_eq!(then(&slow), Answers::Both);
    slow.push((33 + 56, Discover(NEW, 89)));
    assert_eq!(then(&slow), Answers::NewOnly, "it was told to ignore the topic since");
    // One is answered, those that came before it are slow.
    assert_eq!(
        then(&[(4, Call(Old, 4)), (4, Answer(Old, 4)), (60, Discover(NEW, 9))]),
        Answers::Both
    );
}

#[test]
fn old_only_is_said_of_a_host_without_definitions_when_the_replacement_is_ignored() {
    let mut events = vec![(0, Call(Old, 100)), (0, Answer(Old, 100))];
    for n in 1..=3 {
        events.extend([(n, Call(New, n)), (n, Call(Old, 100)), (n, Answer(Old, 100))]);
    }
    assert_eq!(after(events.clone()).host, Answers::Old);
    events.extend([(60, Call(Old, 100)), (60, Answer(Old, 100))]);
    assert_eq!(after(events).host, Answers::OldOnly);
}

#[test]
fn a_host_that_is_asked_in_vain_has_gone() {
    let events = |last| [(0, Discover(OLD, 1)), (10, Asked), (40, Asked), (last, Asked)];
    assert_eq!(after(events(9 + GONE)).host, Answers::OldOnly);
    assert_eq!(after(events(10 + GONE)).host, Answers::Nothing);
    let alive = [(0, Discover(OLD, 1)), (10, Asked), (99, Discover(OLD, 2)), (100, Asked)];
    assert_eq!(after(alive).host, Answers::OldOnly);
    let gap = [(0, Discover(OLD, 1)), (10, Asked), (99, Gap), (100, Asked)];
    assert_eq!(after(gap).host, Answers::OldOnly);
}

#[test]
fn the_hosts_are_to_be_asked_when_a_call_has_waited_and_it_matters() {
    let due = |events: &[(u64, E)]| {
        let mut watch = Watch::default();
        for (second, event) in events {
            happens(&mut watch, *event, *second);
        }
        watch.due()
    };
    let new = (0, Discover(NEW, 1));
    assert_eq!(due(&[(0, Call(Old, 1))]), None, "nobody is known who could answer");
    assert_eq!(due(&[new, (1, Call(Old, 1)), (2, Call(Old, 2))]), Some(1 + PATIENCE));
    assert_eq!(due(&[new, (1, Call(New, 1))]), None, "its definitions have said it");
    let asked = (1 + PATIENCE, Asked);
    assert_eq!(due(&[new, (1, Call(Old, 1)), asked]), None);
    assert_eq!(
        due(&[new, (1, Call(Old, 1)), (2, Call(Old, 2)), asked]),
        Some(2 + PATIENCE)
    );
    assert_eq!(due(&[new, (1, Call(Old, 1)), (2, Gap)]), None);
}

fn call(watch: &mut Watch, toolbox_id: &str, source: &str, print: u64) {
    call_on(watch, Old, toolbox_id, source, print);
}

fn call_on(watch: &mut Watch, topic: Topic, toolbox_id: &str, source: &str, print: u64) {
    let heard = Heard {
        toolbox_id,
        topic,
        print,
        mark: None,
    };
    let who = Who {
        source: Some(source),
        ..Who::default()
    };
    watch.called(&heard, &who, std::iter::empty, at(0));
}

#[test]
fn only_news_are_told_and_what_changes_nothing_costs_no_look_at_them() {
    let mut watch = Watch::default();
    for n in 0..500 {
        watch.discovered(&format!("box{n}"), NEW, 1, at(0));
    }
    assert_eq!(watch.news(at(0)).len(), 500);
    call(&mut watch, "box7", "a", 1);
    let news = watch.news(at(0));
    assert_eq!((news.len(), news[0].toolbox_id.as_str()), (1, "box7"));
    for n in 0..1000 {
        call(&mut watch, "box7", "a", n);
        watch.discovered("box8", NEW, n, at(1));
    }
    watch.asked(at(2));
    assert!(watch.changed.is_empty());
    call(&mut watch, "box7", "b", 1);
    let news = watch.news(at(0));
    assert_eq!(
        (news.len(), news[0].callers.len(), news[0].predecessor_calls),
        (1, 2, 1002)
    );
    call_on(&mut watch, New, "box9", "c", 1);
    assert_eq!(watch.news(at(0)).len(), 1);
    call(&mut watch, "box9", "c", 2);
    assert_eq!(watch.news(at(0)).len(), 1, "a step back to the predecessor");
}

#[test]
fn a_flood_is_bounded() {
    let mut watch = Watch::default();
    for n in 0..u64::try_from(MOST_CALLS).unwrap() * 3 {
        call(&mut watch, "wn", &n.to_string(), n);
    }
    let told = watch.all(at(0)).remove(0);
    assert_eq!(told.callers.len(), MOST_CALLERS);
    watch.news(at(0));
    call(&mut watch, "wn", "one more", 1);
    assert_eq!(watch.news(at(0)), [], "callers that nobody can count are no news");
    assert!(!watch.is_full());
    for n in 0..MOST_TOOLBOXES * 2 {
        watch.discovered(&n.to_string(), None, 1, at(0));
    }
    assert_eq!(watch.all(at(0)).len(), MOST_TOOLBOXES);
    assert!(watch.is_full());
}

#[test]
fn where_forwarded_calls_had_no_room_no_answer_is_taken_for_the_hosts() {
    let mut events = vec![(0, Discover(NEW, 1)), (0, Call(Old, 1)), (0, Forward(New, 1, 1))];
    let many = u64::try_from(MOST_CALLS).unwrap();
    events.extend((0..many).map(|_| (0, Call(Old, 1))));
    events.push((0, Answer(Old, 1)));
    assert_eq!(after(events).host, Answers::New);
}
