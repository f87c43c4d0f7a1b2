//! The file of counts: refused in words, or within every bound, and then as good as any other to count on with.

use toolhost::migrate::usage::{Caller, Counts, MOST_CALLERS, Moment, Toolbox, Topic, Usage, Who};

/// A day after whatever the file says of today.
const NOW: Moment = Moment {
    wall: 1_800_000_000,
    steady: 86_400,
};

/// What a file holds, perhaps.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut usage = match Usage::restored(text) {
        Ok(usage) => usage,
        Err(why) => return assert!(!why.trim().is_empty()),
    };
    let start = Moment { steady: 0, ..NOW };
    usage.present(["wn"], start);
    usage.connected(true, start);
    let before = usage.told(start).remove(0).1;
    check(&before);
    for topic in [Topic::Predecessor, Topic::Replacement] {
        let who = Who {
            source: Some("one that no file knows"),
            ..Who::default()
        };
        usage.count("wn", topic, &who, || ["source"].into_iter(), NOW);
    }
    let after = usage.told(NOW).remove(0).1;
    check(&after);
    assert_eq!(after.quiet_seconds, 0);
    assert_eq!(
        after.calls.predecessor_calls,
        before.calls.predecessor_calls.saturating_add(1)
    );
    // No number is given to another, and nobody's counts go down.
    let of = |caller: &Caller| {
        (
            caller.number,
            caller.calls.predecessor_calls,
            caller.calls.replacement_calls,
        )
    };
    let named = |caller: &&Caller| after.callers.iter().any(|later| of(later) == of(caller));
    let gone = before.callers.len() - before.callers.iter().filter(named).count();
    assert!(gone <= 1, "one makes room at most, not {gone}");
    let kept = usage.kept_at_last(NOW).text();
    let mut again = Usage::restored(&kept).expect("its own file");
    again.present(["wn"], start);
    let again = again.told(start).remove(0).1;
    check(&again);
    assert_eq!((again.calls, again.quiet_seconds), (after.calls, after.quiet_seconds));
    let numbers = |toolbox: &Toolbox| {
        let mut numbers: Vec<_> = toolbox.callers.iter().map(|caller| caller.number).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&again), numbers(&after), "the same callers");
}

/// What always holds of a toolbox.
fn check(toolbox: &Toolbox) {
    assert!(toolbox.callers.len() <= MOST_CALLERS);
    assert!(toolbox.quiet_seconds <= toolbox.counted_seconds);
    let mut sum: Counts = toolbox.others;
    let mut numbers = std::collections::HashSet::new();
    for caller in &toolbox.callers {
        sum.add(&caller.calls);
        assert!(caller.number > 0 && numbers.insert(caller.number), "its own number");
        for text in [&caller.source, &caller.session_id].into_iter().flatten() {
            assert!(text.len() <= 80);
        }
        assert!(caller.context_keys.len() <= 1000 && !caller.context_keys.contains('\n'));
    }
    assert_eq!(
        (sum.predecessor_calls, sum.replacement_calls),
        (toolbox.calls.predecessor_calls, toolbox.calls.replacement_calls),
        "the series add up"
    );
}
