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
    let text = before.kept_at_last(at(30)).text();
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
    assert_eq!(usage.toolboxes.len(), MOST_FORMER + 1);
    assert!(usage.toolboxes.contains_key("t199"));
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

#[test]
fn the_file_never_tells_of_more_quiet_than_there_is_whenever_the_host_is_killed() {
    // Seconds at which somebody calls; the file is written whenever it is news, and every 40 seconds.
    let calls = [0, 10, 100, 159, 160, 161, 220, 290, 500, 560, 619];
    let mut usage = usage();
    let mut in_file = usage.kept_meanwhile(at(0)).text();
    let mut last_call = 0;
    let mut news = 0;
    for second in 0..700 {
        if calls.contains(&second) {
            last_call = second;
            let is_news = usage.count(
                "wn",
                Topic::Predecessor,
                &who("a", "s"),
                || ["source"].into_iter(),
                at(second),
            );
            if is_news {
                in_file = usage.kept_meanwhile(at(second)).text();
                news += 1;
            }
        }
        if second % 40 == 39 {
            in_file = usage.kept_meanwhile(at(second)).text();
        }
        // Killed now, and started anew.
        let restored = Usage::restored(&in_file).unwrap();
        let told = restored.toolboxes["wn"].quiet_seconds;
        assert!(told <= second - last_call, "{told} at {second}");
    }
    assert_eq!(
        restored_quiet(&in_file),
        679 - 619,
        "and not less than what is worth telling"
    );
    assert!((1..calls.len()).contains(&news), "{news} of the calls were news");
}

fn restored_quiet(text: &str) -> u64 {
    Usage::restored(text).unwrap().toolboxes["wn"].quiet_seconds
}

#[test]
fn news_is_the_first_call_and_the_end_of_a_quiet_that_the_file_knows_of() {
    let mut usage = usage();
    let old = |usage: &mut Usage, now| usage.count("wn", Topic::Predecessor, &who("a", "s"), std::iter::empty, at(now));
    assert!(old(&mut usage, 1), "the first");
    assert!(!old(&mut usage, 1000), "no file says that it was quiet");
    usage.kept_meanwhile(at(1059));
    assert!(!old(&mut usage, 1060), "nor of so short a time");
    usage.kept_meanwhile(at(1120));
    let new = usage.count("wn", Topic::Replacement, &who("a", "s"), std::iter::empty, at(1121));
    assert!(!new, "the replacement may be used");
    assert!(old(&mut usage, 1122));
    assert!(!old(&mut usage, 1123));
    // Where the file could not be written, it may still say so.
    usage.file_is_old();
    assert!(old(&mut usage, 1124));
    let text = usage.kept_at_last(at(1130)).text();
    let mut restored = Usage::restored(&text).unwrap();
    assert!(old(&mut restored, 1), "what was written last holds any quiet");
}

#[test]
fn a_bus_that_comes_and_goes_adds_no_time_twice() {
    let mut usage = usage();
    // As the ledger tells it: what begins at 1.2 begins with the next full second, what ends at 1.9 ended with the last.
    for _ in 0..1000 {
        usage.connected(false, at(1));
        usage.connected(true, at(2));
    }
    assert_eq!(of(&mut usage, 2).counted_seconds, 1);
    call(&mut usage, Topic::Predecessor, &who("a", "s"), 10);
    assert_eq!(of(&mut usage, 9).quiet_seconds, 0);
    assert_eq!(of(&mut usage, 20).quiet_seconds, 10);
}

#[test]
fn a_clock_that_was_set_back_keeps_no_caller_for_ever() {
    let mut usage = usage();
    let mut call = |session: &str, wall| {
        let now = Moment { wall, steady: 1 };
        usage.count("wn", Topic::Predecessor, &who("a", session), std::iter::empty, now);
    };
    // All of them from the year 2106.
    for n in 0..MOST_CALLERS {
        call(&format!("future {n}"), 4_294_967_295);
    }
    for n in 0..2 * MOST_CALLERS as u64 {
        call(&format!("now {n}"), 1_800_000_000 + n);
    }
    let toolbox = of(&mut usage, 2);
    let is_now = |caller: &Caller| caller.session_id.as_ref().is_some_and(|id| id.starts_with("now"));
    assert!(toolbox.callers.iter().all(is_now), "{:?}", toolbox.callers);
}

/// A file with one toolbox of these members.
fn file(members: &str) -> String {
    let all = r#"{"version":1,"toolboxes":{"wn":{"since":1,"counted_seconds":1,"quiet_seconds":1,"predecessor_calls":0,
        "replacement_calls":0,"callers":[]"#;
    format!("{all}{members}}}}}}}")
}

fn whole_file(counted: &str, quiet: &str, calls: &str, callers: &str, others: &str) -> String {
    format!(
        r#"{{"version":1,"toolboxes":{{"wn":{{"since":{counted},"counted_seconds":{counted},"quiet_seconds":{quiet},
        "predecessor_calls":{calls},"replacement_calls":{calls},"last_predecessor":{calls},
        "callers":[{callers}],"others":{others}}}}}}}"#
    )
}

fn caller_in_file(source: &str, calls: &str) -> String {
    format!(
        r#"{{"source":"{source}","session_id":"{source}","context_keys":"{source}","predecessor_calls":{calls},
        "replacement_calls":{calls},"last_predecessor":{calls}}}"#
    )
}

/// Uses `usage` in every way there is, and checks what always holds.
fn put_to_use(usage: &mut Usage) {
    usage.present(["wn"], at(0));
    usage.connected(true, at(0));
    for n in 0..3 {
        call(usage, Topic::Predecessor, &who("a", &n.to_string()), n);
        call(usage, Topic::Replacement, &who("b", &n.to_string()), n);
    }
    let toolbox = of(usage, 1 << 60);
    let mut sum = toolbox.others;
    toolbox.callers.iter().for_each(|caller| sum.add(&caller.calls));
    assert_eq!(sum.predecessor_calls, toolbox.calls.predecessor_calls);
    assert_eq!(sum.replacement_calls, toolbox.calls.replacement_calls);
    assert!(toolbox.quiet_seconds <= toolbox.counted_seconds);
    assert!(toolbox.callers.len() <= MOST_CALLERS);
    let numbers: BTreeSet<u64> = toolbox.callers.iter().map(|caller| caller.number).collect();
    assert_eq!(numbers.len(), toolbox.callers.len(), "each has its own number");
    for caller in &toolbox.callers {
        let texts = [&caller.source, &caller.session_id].into_iter().flatten();
        texts.for_each(|text| assert!(text.len() <= LONGEST));
        assert!(caller.context_keys.chars().count() <= LONGEST_KEYS + 1);
        assert!(!caller.context_keys.chars().any(char::is_control));
    }
    let again = Usage::restored(&usage.kept_at_last(at(1 << 60)).text()).unwrap();
    let (again, usage) = (&again.toolboxes["wn"], &usage.toolboxes["wn"]);
    assert_eq!(
        (&again.callers, &again.calls),
        (&usage.callers, &usage.calls),
        "nothing is lost"
    );
}

#[test]
fn whatever_numbers_and_texts_a_file_holds_the_accounts_stay_whole() {
    let most = u64::MAX.to_string();
    let numbers = ["0", "1", "9007199254740993", most.as_str()];
    let long = "é".repeat(1 << 20);
    let others = [
        r#"{"predecessor_calls":0,"replacement_calls":0}"#.to_owned(),
        format!(r#"{{"predecessor_calls":{most},"replacement_calls":{most},"last_replacement":{most}}}"#),
    ];
    for counted in numbers {
        for calls in numbers {
            for of_each in numbers {
                for other in &others {
                    let callers = ["a", r"b\n\u0000", "a"]
                        .map(|source| caller_in_file(source, of_each))
                        .join(",");
                    let mut usage = Usage::restored(&whole_file(counted, &most, calls, &callers, other)).unwrap();
                    put_to_use(&mut usage);
                }
            }
        }
    }
    let many: Vec<_> = (0..500)
        .map(|n| caller_in_file(&format!("s{n}"), &n.to_string()))
        .collect();
    let mut usage = Usage::restored(&whole_file("5", "9", "0", &many.join(","), &others[0])).unwrap();
    let toolbox = &usage.toolboxes["wn"];
    assert_eq!(toolbox.callers.len(), MOST_CALLERS);
    assert_eq!(toolbox.callers[0].source.as_deref(), Some("s499"), "the last ones stay");
    assert_eq!(toolbox.calls.predecessor_calls, 500 * 499 / 2);
    put_to_use(&mut usage);
    let mut usage = Usage::restored(&whole_file("5", "9", "0", &caller_in_file(&long, "1"), &others[0])).unwrap();
    put_to_use(&mut usage);
    let numbered = r#","numbered":18446744073709551615"#;
    put_to_use(&mut Usage::restored(&file(numbered)).unwrap());
}

#[test]
fn toolboxes_beyond_the_bound_are_cut_as_soon_as_the_host_says_which_it_has() {
    let toolbox = |id: String| {
        let toolbox = r#"{"since":1,"counted_seconds":1,"quiet_seconds":1,"predecessor_calls":0,"replacement_calls":0,"callers":[]}"#;
        format!(r#""{id}":{toolbox}"#)
    };
    let mut toolboxes: Vec<_> = (0..1000).map(|n| toolbox(format!("t{n}"))).collect();
    toolboxes.push(toolbox("long".repeat(1 << 18)));
    let text = format!(r#"{{"version":1,"toolboxes":{{{}}}}}"#, toolboxes.join(","));
    let mut usage = Usage::restored(&text).unwrap();
    assert!(usage.toolboxes.keys().all(|id| id.len() <= LONGEST_ID));
    let here: Vec<_> = (0..100).map(|n| format!("t{n}")).collect();
    usage.present(here.iter().map(String::as_str), at(0));
    assert_eq!(usage.toolboxes.len(), 100 + MOST_FORMER);
    assert_eq!(usage.told(at(1)).len(), 100, "and none that is there");
}

#[test]
fn odd_files_are_refused_in_words() {
    let odd = [
        r#","numbered":-1"#,
        r#","numbered":1e400"#,
        r#","numbered":18446744073709551616"#,
        r#","others":[]"#,
        r#","others":null"#,
    ];
    for members in odd {
        let refused = Usage::restored(&file(members));
        assert!(refused.is_err_and(|why| !why.is_empty()), "{members}");
    }
    assert!(Usage::restored(&"[".repeat(1 << 20)).is_err());
}

#[test]
fn a_caller_that_made_room_has_another_number_when_it_is_back() {
    let mut usage = usage();
    let number = |usage: &mut Usage| {
        let toolbox = of(usage, 1000);
        let found = toolbox
            .callers
            .iter()
            .find(|caller| caller.source.as_deref() == Some("x"));
        found.map(|caller| caller.number)
    };
    call(&mut usage, Topic::Predecessor, &who("x", "s"), 1);
    assert_eq!(number(&mut usage), Some(1));
    for n in 0..MOST_CALLERS {
        call(&mut usage, Topic::Predecessor, &who("flood", &n.to_string()), 2);
    }
    assert_eq!(number(&mut usage), None);
    let mut usage = Usage::restored(&usage.kept_at_last(at(3)).text()).unwrap();
    usage.present(["wn"], at(3));
    call(&mut usage, Topic::Predecessor, &who("x", "s"), 4);
    assert_eq!(number(&mut usage), Some(MOST_CALLERS as u64 + 2));
}

#[test]
fn what_is_told_shows_nothing_that_serves_toolhost_alone_and_the_file_still_knows_each_caller() {
    let mut usage = usage();
    let odd = Who {
        keys: Keys::of(["odd key"].into_iter()),
        ..who("a", "s")
    };
    call(&mut usage, Topic::Predecessor, &odd, 1);
    let told = serde_json::to_string(&usage.told(at(1))).unwrap();
    assert!(!told.contains("digest") && !told.contains("numbered"), "{told}");
    let mut usage = Usage::restored(&usage.kept_at_last(at(1)).text()).unwrap();
    usage.present(["wn"], at(0));
    call(&mut usage, Topic::Predecessor, &odd, 2);
    assert_eq!(of(&mut usage, 2).callers.len(), 1);
}
