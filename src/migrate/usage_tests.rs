//! The accounting, by table and with the time handed in.

use super::*;

fn at(steady: u64) -> Moment {
    Moment {
        wall: 1_000_000 + steady,
        steady,
    }
}

fn who<'a>(source: &'a str, session_id: &'a str) -> Who<'a> {
    Who {
        source: Some(source),
        session_id: Some(session_id),
        keys: Keys::of(["source", "session"].into_iter()),
    }
}

fn call(usage: &mut Usage, topic: Topic, who: &Who<'_>, now: u64) {
    usage.count("wn", topic, who, || ["source", "session"].into_iter(), at(now));
}

fn of(usage: &mut Usage, now: u64) -> Toolbox {
    let told = usage.told(at(now));
    let found = told.into_iter().find(|(id, _)| id == "wn");
    found.expect("it is counted").1
}

fn usage() -> Usage {
    let mut usage = Usage::default();
    usage.connected(true, at(0));
    usage.present(["wn"], at(0));
    usage
}

#[test]
fn time_counts_only_while_the_host_is_on_the_bus_and_has_the_toolbox() {
    let mut usage = usage();
    usage.connected(false, at(10));
    usage.connected(true, at(100));
    assert_eq!(of(&mut usage, 105).counted_seconds, 15);
    usage.present([], at(110));
    assert_eq!(usage.told(at(150)), []);
    usage.present(["wn"], at(200));
    let toolbox = of(&mut usage, 201);
    assert_eq!((toolbox.counted_seconds, toolbox.quiet_seconds), (21, 21));
    assert_eq!(toolbox.since, 1_000_000);
}

#[test]
fn a_call_on_the_predecessor_topic_ends_the_quiet_and_one_on_the_replacement_does_not() {
    let mut usage = usage();
    call(&mut usage, Topic::Replacement, &who("a", "s"), 50);
    assert_eq!(of(&mut usage, 60).quiet_seconds, 60);
    call(&mut usage, Topic::Predecessor, &who("a", "s"), 70);
    let toolbox = of(&mut usage, 75);
    assert_eq!((toolbox.counted_seconds, toolbox.quiet_seconds), (75, 5));
    assert_eq!(
        (toolbox.calls.predecessor_calls, toolbox.calls.replacement_calls),
        (1, 1)
    );
    assert_eq!(toolbox.calls.last_predecessor, Some(1_000_070));
}

#[test]
fn callers_are_told_apart_by_source_session_and_context_keys() {
    let mut usage = usage();
    let other_keys = Who {
        keys: Keys::of(["source"].into_iter()),
        ..who("a", "s")
    };
    for _ in 0..3 {
        call(&mut usage, Topic::Predecessor, &who("a", "s"), 1);
    }
    call(&mut usage, Topic::Predecessor, &who("a", "t"), 2);
    call(&mut usage, Topic::Predecessor, &other_keys, 3);
    call(&mut usage, Topic::Replacement, &who("b", "s"), 4);
    let toolbox = of(&mut usage, 5);
    let calls: Vec<_> = toolbox
        .callers
        .iter()
        .map(|caller| caller.calls.predecessor_calls)
        .collect();
    assert_eq!(calls, [1, 1, 3, 0], "the last to use the predecessor comes first");
    assert_eq!(Keys::of(["a", "b"].into_iter()), Keys::of(["b", "a"].into_iter()));
    assert_ne!(Keys::of(["a"].into_iter()), Keys::of(["a", "b"].into_iter()));
}

#[test]
fn a_flood_of_callers_stays_bounded_and_every_call_counted() {
    let mut usage = usage();
    call(&mut usage, Topic::Predecessor, &who("the one to find", "s"), 0);
    for n in 0..10_000 {
        call(&mut usage, Topic::Replacement, &who("flood", &n.to_string()), n);
    }
    let toolbox = of(&mut usage, 10_000);
    assert_eq!(toolbox.callers.len(), MOST_CALLERS);
    assert_eq!(toolbox.calls.replacement_calls, 10_000);
    let told: u64 = toolbox
        .callers
        .iter()
        .map(|caller| caller.calls.replacement_calls)
        .sum();
    assert_eq!(told + toolbox.others.replacement_calls, 10_000);
    assert_eq!(toolbox.callers[0].source.as_deref(), Some("the one to find"));
    let long = "é".repeat(1000);
    call(&mut usage, Topic::Predecessor, &who(&long, &long), 10_001);
    call(&mut usage, Topic::Predecessor, &who(&long, &long), 10_002);
    let toolbox = of(&mut usage, 10_003);
    assert_eq!(toolbox.callers[0].calls.predecessor_calls, 2, "known again");
    assert!(toolbox.callers[0].source.as_ref().is_some_and(|text| text.len() <= 80));
}

#[test]
fn what_is_kept_goes_on_after_a_restart_and_the_time_between_is_not_counted() {
    let mut before = usage();
    call(&mut before, Topic::Predecessor, &who("a", "s"), 10);
    let text = before.kept(at(30));
    let mut after = Usage::restored(&text).unwrap();
    let start = |steady| Moment {
        wall: 9_000_000 + steady,
        steady,
    };
    assert_eq!(after.told(start(0)), [], "until the host says it is there");
    after.present(["wn"], start(0));
    after.connected(true, start(5));
    let who = who("a", "s");
    after.count("wn", Topic::Replacement, &who, || ["x"].into_iter(), start(6));
    let (_, toolbox) = after.told(start(10)).remove(0);
    assert_eq!((toolbox.counted_seconds, toolbox.quiet_seconds), (35, 25));
    assert_eq!(toolbox.calls.last_predecessor, Some(1_000_010));
    assert_eq!(toolbox.callers.len(), 1, "the same caller");
}

#[test]
fn former_toolboxes_are_forgotten_in_the_end() {
    let mut usage = Usage::default();
    for n in 0..200 {
        usage.present([format!("t{n}").as_str()], at(n));
    }
    let kept = usage.kept(at(200));
    let restored = Usage::restored(&kept).unwrap();
    assert_eq!(restored.toolboxes.len(), MOST_FORMER + 1);
    assert!(restored.toolboxes.contains_key("t199"));
}

#[test]
fn a_file_of_something_else_is_refused_in_words() {
    assert!(Usage::restored("{}").is_err());
    assert!(Usage::restored("nonsense").is_err());
    let later = r#"{"version":2,"toolboxes":{}}"#;
    assert_eq!(
        Usage::restored(later),
        Err("its version is 2, this toolhost reads 1".to_owned())
    );
}

#[test]
fn keys_are_shown_in_one_line_of_a_bounded_length() {
    assert_eq!(joined(["source", "a\nb"].into_iter()), "source a b");
    let many: Vec<_> = (0..1000).map(|n| format!("k{n}")).collect();
    assert!(joined(many.iter().map(String::as_str)).chars().count() <= LONGEST_KEYS + 1);
}

/// `cargo test --release --lib migrate::usage -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn what_counting_a_known_caller_costs() {
    let mut usage = usage();
    let sessions: Vec<String> = (0..MOST_CALLERS).map(|n| format!("session-{n}")).collect();
    let rounds = 1_000_000;
    let start = std::time::Instant::now();
    for n in 0..rounds {
        let session = &sessions[if n % 8 == 0 { n % MOST_CALLERS } else { 0 }];
        let who = who("skill", std::hint::black_box(session));
        call(&mut usage, Topic::Replacement, &who, 1);
    }
    println!("{:?} each", start.elapsed() / u32::try_from(rounds).unwrap());
}
