//! Every cell of the table of states, and every verdict of the restarts behind it.

use super::*;

const EVENTS: [&str; 14] = [
    "Start",
    "Wake",
    "SpawnFailed",
    "Described",
    "Rest",
    "Broken",
    "Exited",
    "Tick",
    "Stop",
    "Dismiss",
    "Renew",
    "Drained",
    "Fell",
    "Unused",
];

/// The table of the module: the cells in which something happens, as `action → state`. In all others nothing does, which
/// is tested as well.
///
/// *Stopping* stands there six times, by its rung and by what follows: *Stopping* itself on Eof to stay down, *Draining* on
/// Drain, *Resting* before a rest, *Succeeded* by another process, *Terminated* on the rung below, and *Killed* for being
/// broken. *Served* has a test of its own.
const PERSISTENT: [(&str, &[(&str, &str)]); 12] = [
    (
        "Stopped",
        &[
            ("Start", "Spawn → Starting"),
            ("Rest", "None → Idle"),
            ("Renew", "Spawn → Starting"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Idle",
        &[
            ("Start", "Spawn → Starting"),
            ("Wake", "Spawn → Starting"),
            ("Stop", "None → Stopped"),
            ("Dismiss", "None → Stopped"),
            ("Renew", "Spawn → Starting"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Starting",
        &[
            ("SpawnFailed", "None → Backoff"),
            ("Described", "None → Ready"),
            ("Rest", "None → Idle"),
            ("Broken", "Kill → Stopping Kill Fail"),
            ("Exited", "None → Backoff"),
            ("Stop", "CloseStdin → Stopping Eof Stop"),
            ("Dismiss", "None → Stopping Drain Stop"),
            ("Renew", "None → Stopping Drain Start"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Ready",
        &[
            ("SpawnFailed", "None → Backoff"),
            ("Broken", "Kill → Stopping Kill Fail"),
            ("Exited", "None → Backoff"),
            ("Stop", "CloseStdin → Stopping Eof Stop"),
            ("Dismiss", "None → Stopping Drain Stop"),
            ("Renew", "None → Stopping Drain Start"),
            ("Fell", "None → Backoff"),
            ("Unused", "CloseStdin → Stopping Eof Idle"),
        ],
    ),
    (
        "Stopping",
        &[
            ("Start", "None → Stopping Eof Start"),
            ("Rest", "None → Stopping Eof Idle"),
            ("Exited", "None → Stopped"),
            ("Tick", "Terminate → Stopping Term Stop"),
            ("Renew", "None → Stopping Eof Start"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Draining",
        &[
            ("Start", "None → Stopping Drain Start"),
            ("Rest", "None → Stopping Drain Idle"),
            ("Exited", "None → Stopped"),
            ("Tick", "CloseStdin → Stopping Eof Stop"),
            ("Stop", "CloseStdin → Stopping Eof Stop"),
            ("Renew", "None → Stopping Drain Start"),
            ("Drained", "CloseStdin → Stopping Eof Stop"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Resting",
        &[
            ("Start", "None → Stopping Eof Start"),
            ("Wake", "None → Stopping Eof Start"),
            ("Exited", "None → Idle"),
            ("Tick", "Terminate → Stopping Term Idle"),
            ("Stop", "None → Stopping Eof Stop"),
            ("Dismiss", "None → Stopping Eof Stop"),
            ("Renew", "None → Stopping Eof Start"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Succeeded",
        &[
            ("Exited", "Spawn → Starting"),
            ("Tick", "Terminate → Stopping Term Start"),
            ("Stop", "None → Stopping Eof Stop"),
            ("Dismiss", "None → Stopping Eof Stop"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Terminated",
        &[
            ("Start", "None → Stopping Term Start"),
            ("Rest", "None → Stopping Term Idle"),
            ("Exited", "None → Stopped"),
            ("Tick", "Kill → Stopping Kill Stop"),
            ("Renew", "None → Stopping Term Start"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Killed",
        &[
            ("Start", "None → Stopping Kill Start"),
            ("Exited", "None → Backoff"),
            ("Tick", "Kill → Stopping Kill Fail"),
            ("Stop", "None → Stopping Kill Stop"),
            ("Dismiss", "None → Stopping Kill Stop"),
            ("Renew", "None → Stopping Kill Start"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Backoff",
        &[
            ("Start", "Spawn → Starting"),
            ("Tick", "Spawn → Starting"),
            ("Stop", "None → Stopped"),
            ("Dismiss", "None → Stopped"),
            ("Renew", "Spawn → Starting"),
            ("Fell", "None → Backoff"),
        ],
    ),
    (
        "Failed",
        &[
            ("Start", "Spawn → Starting"),
            ("Stop", "None → Stopped"),
            ("Dismiss", "None → Stopped"),
            ("Renew", "Spawn → Starting"),
        ],
    ),
];

/// The cells in which a run-once process differs.
const ONESHOT: [(&str, &str, &str); 6] = [
    ("Idle", "Wake", "Spawn → Ready"),
    ("Ready", "Unused", "–"),
    ("Resting", "Wake", "–"),
    ("Ready", "SpawnFailed", "None → Idle"),
    ("Ready", "Exited", "None → Idle"),
    ("Ready", "Broken", "Kill → Stopping Kill Idle"),
];

const GRACE: Grace = Grace {
    calls: Duration::from_secs(10),
    rung: Duration::from_secs(3),
};

fn state(name: &str, now: Instant) -> State {
    match name {
        "Stopped" => State::Stopped,
        "Idle" => State::Idle,
        "Starting" => State::Starting,
        "Ready" => State::Ready { since: now },
        "Stopping" => State::Stopping {
            rung: Rung::Eof,
            until: now,
            then: Then::Stop,
        },
        "Draining" => State::Stopping {
            rung: Rung::Drain,
            until: now,
            then: Then::Stop,
        },
        "Resting" => State::Stopping {
            rung: Rung::Eof,
            until: now,
            then: Then::Idle,
        },
        "Succeeded" => State::Stopping {
            rung: Rung::Eof,
            until: now,
            then: Then::Start,
        },
        "Terminated" => State::Stopping {
            rung: Rung::Term,
            until: now,
            then: Then::Stop,
        },
        "Killed" => State::Stopping {
            rung: Rung::Kill,
            until: now,
            then: Then::Fail("hung".into()),
        },
        "Backoff" => State::Backoff {
            until: now,
            reason: "it died".into(),
        },
        "Failed" => State::Failed {
            reason: "it died".into(),
        },
        _ => panic!("no state is called {name}"),
    }
}

fn event(name: &str) -> Event {
    match name {
        "Start" => Event::Start,
        "Wake" => Event::Wake,
        "SpawnFailed" => Event::SpawnFailed("no such file".into()),
        "Described" => Event::Described,
        "Rest" => Event::Rest,
        "Broken" => Event::Broken("hung".into()),
        "Exited" => Event::Exited {
            reason: "exit status 1".into(),
            success: false,
        },
        "Tick" => Event::Tick,
        "Served" => Event::Served,
        "Dismiss" => Event::Dismiss(GRACE),
        "Renew" => Event::Renew(GRACE),
        "Drained" => Event::Drained,
        "Fell" => Event::Fell("a fault".into()),
        "Unused" => Event::Unused(GRACE.rung),
        "Stop" => Event::Stop(Duration::from_secs(1)),
        _ => panic!("no event is called {name}"),
    }
}

fn shown(state: &State) -> String {
    match state {
        State::Stopping { rung, then, .. } => {
            let then = match then {
                Then::Fail(_) => "Fail".to_owned(),
                then => format!("{then:?}"),
            };
            format!("Stopping {rung:?} {then}")
        }
        state => format!("{state:?}")
            .split([' ', '{'])
            .next()
            .unwrap_or_default()
            .to_owned(),
    }
}

fn cell(mode: Mode, before: &str, happens: &str) -> String {
    let now = Instant::now();
    let mut lifecycle = Lifecycle::new(mode, Restart::default());
    lifecycle.state = state(before, now);
    let was = lifecycle.state.clone();
    let action = lifecycle.step(event(happens), now, 0.5);
    if lifecycle.state == was && action == Action::None {
        return "–".to_owned();
    }
    format!("{action:?} → {}", shown(&lifecycle.state))
}

#[test]
fn every_cell_of_the_table_is_as_written() {
    for (before, row) in PERSISTENT {
        for happens in EVENTS {
            let written = row.iter().find(|(event, _)| *event == happens);
            let expected = written.map_or("–", |(_, expected)| *expected);
            assert_eq!(
                cell(Mode::Persistent, before, happens),
                expected,
                "{before} × {happens}"
            );
            let once = ONESHOT
                .iter()
                .find(|(state, event, _)| (*state, *event) == (before, happens));
            let expected = once.map_or(expected, |(_, _, expected)| expected);
            assert_eq!(
                cell(Mode::Oneshot, before, happens),
                expected,
                "run-once: {before} × {happens}"
            );
        }
        let known = |(event, _): &(&str, &str)| EVENTS.contains(event);
        assert!(row.iter().all(known), "{before} has a cell of no event");
    }
}

#[test]
fn nothing_happens_before_it_is_due() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    for state in [
        State::Backoff {
            until: later,
            reason: String::new(),
        },
        State::Stopping {
            rung: Rung::Eof,
            until: later,
            then: Then::Stop,
        },
    ] {
        let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
        lifecycle.state = state.clone();
        assert_eq!(lifecycle.due(), Some(later));
        assert_eq!(lifecycle.step(Event::Tick, now, 0.5), Action::None);
        assert_eq!(lifecycle.state, state);
    }
}

#[test]
fn the_ladder_goes_down_rung_by_rung_and_stays_at_kill() {
    let mut now = Instant::now();
    let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
    lifecycle.state = State::Ready { since: now };
    assert_eq!(
        lifecycle.step(Event::Stop(Duration::from_secs(2)), now, 0.5),
        Action::CloseStdin
    );
    for expected in [Action::Terminate, Action::Kill, Action::Kill] {
        now += Duration::from_secs(2);
        assert_eq!(lifecycle.step(Event::Tick, now, 0.5), expected);
    }
}

#[test]
fn a_process_that_was_healthy_for_long_waits_as_if_for_the_first_time() {
    let start = Instant::now();
    let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
    let down = |healthy: u64, event: Event, lifecycle: &mut Lifecycle| {
        lifecycle.step(Event::Tick, start + Duration::from_secs(1_000_000), 1.0);
        lifecycle.state = State::Starting;
        lifecycle.step(Event::Described, start, 1.0);
        let now = start + Duration::from_secs(healthy);
        if lifecycle.step(event, now, 1.0) == Action::Kill {
            lifecycle.step(
                Event::Exited {
                    reason: "killed".into(),
                    success: false,
                },
                now,
                1.0,
            );
        }
        match lifecycle.state() {
            State::Backoff { until, .. } => until.duration_since(now).as_millis(),
            state => panic!("{state:?}"),
        }
    };
    let died = || Event::Exited {
        reason: "died".into(),
        success: false,
    };
    assert_eq!(down(1, died(), &mut lifecycle), 200);
    assert_eq!(down(1, died(), &mut lifecycle), 400);
    // Hung after a healthy hour: the time it took to kill it does not hide its health.
    assert_eq!(down(3600, Event::Broken("hung".into()), &mut lifecycle), 200);
}

#[test]
fn what_is_said_to_a_caller_tells_why_and_when() {
    let now = Instant::now();
    let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
    assert_eq!(lifecycle.unavailable(now), Some("stopped".into()));
    lifecycle.state = State::Backoff {
        until: now + Duration::from_millis(1500),
        reason: "exit status 1: boom".into(),
    };
    assert_eq!(
        lifecycle.unavailable(now),
        Some("exit status 1: boom; tried again in 1s 500ms".into())
    );
    lifecycle.state = State::Failed {
        reason: "exit status 1".into(),
    };
    assert_eq!(
        lifecycle.unavailable(now),
        Some("exit status 1; not tried again before `toolhost start` or a reload".into())
    );
    lifecycle.state = State::Ready { since: now };
    assert_eq!(lifecycle.unavailable(now), None);
}

#[test]
fn only_a_run_once_process_is_done_when_it_has_answered() {
    for before in PERSISTENT.map(|(before, _)| before) {
        assert_eq!(cell(Mode::Persistent, before, "Served"), "–", "{before}");
        let expected = if before == "Ready" {
            "CloseStdin → Stopping Eof Idle"
        } else {
            "–"
        };
        assert_eq!(cell(Mode::Oneshot, before, "Served"), expected, "{before}");
    }
}

#[test]
fn an_owner_waits_for_calls_first_and_then_goes_down_the_ladder() {
    let mut now = Instant::now();
    for (event, then) in [
        (Event::Dismiss(GRACE), State::Stopped),
        (Event::Renew(GRACE), State::Starting),
    ] {
        let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
        lifecycle.state = State::Ready { since: now };
        assert_eq!(lifecycle.step(event, now, 0.5), Action::None);
        assert_eq!(lifecycle.due(), Some(now + GRACE.calls));
        now += GRACE.calls;
        for expected in [Action::CloseStdin, Action::Terminate, Action::Kill, Action::Kill] {
            assert_eq!(lifecycle.step(Event::Tick, now, 0.5), expected);
            assert_eq!(lifecycle.due(), Some(now + GRACE.rung));
            now += GRACE.rung;
        }
        let exited = Event::Exited {
            reason: "killed".into(),
            success: false,
        };
        lifecycle.step(exited, now, 0.5);
        assert_eq!(*lifecycle.state(), then);
    }
}

/// The time an owner once gave is that of his order, and of no later end.
#[test]
fn a_process_that_ends_unasked_has_a_second_on_each_rung_whatever_was_asked_before() {
    let mut now = Instant::now();
    let ends = [
        (
            Mode::Oneshot,
            Event::Served,
            vec![Action::CloseStdin, Action::Terminate, Action::Kill],
        ),
        (
            Mode::Persistent,
            Event::Broken("hung".into()),
            vec![Action::Kill, Action::Kill],
        ),
    ];
    for (mode, end, actions) in ends {
        let mut lifecycle = Lifecycle::new(mode, Restart::default());
        lifecycle.state = State::Ready { since: now };
        lifecycle.step(Event::Renew(GRACE), now, 0.5);
        lifecycle.state = State::Ready { since: now };
        let mut event = end;
        for expected in actions {
            assert_eq!(lifecycle.step(event, now, 0.5), expected);
            assert_eq!(lifecycle.due(), Some(now + RUNG), "{expected:?}");
            now += RUNG;
            event = Event::Tick;
        }
    }
}

#[test]
fn an_owner_who_asks_again_with_less_patience_shortens_the_wait() {
    let now = Instant::now();
    let hasty = Grace {
        calls: Duration::ZERO,
        ..GRACE
    };
    let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
    lifecycle.state = State::Ready { since: now };
    lifecycle.step(Event::Renew(GRACE), now, 0.5);
    lifecycle.step(Event::Dismiss(hasty), now, 0.5);
    assert_eq!(lifecycle.step(Event::Tick, now, 0.5), Action::CloseStdin);
    assert_eq!(shown(lifecycle.state()), "Stopping Eof Stop");
    // And a patient one does not take a step back.
    lifecycle.step(Event::Dismiss(GRACE), now, 0.5);
    assert_eq!(shown(lifecycle.state()), "Stopping Eof Stop");
}

#[test]
fn an_owner_forgives_what_failed_and_a_fall_counts_as_a_failure() {
    let now = Instant::now();
    let fell = || Event::Fell("a fault".into());
    let restart = Restart {
        give_up_after: 3,
        ..Restart::default()
    };
    for forgiving in [Event::Start, Event::Renew(GRACE)] {
        let mut lifecycle = Lifecycle::new(Mode::Persistent, restart);
        let falls = |lifecycle: &mut Lifecycle| {
            (0..3)
                .map(|_| {
                    lifecycle.step(fell(), now, 0.5);
                    shown(lifecycle.state())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(falls(&mut lifecycle), ["Backoff", "Backoff", "Failed"]);
        assert_eq!(lifecycle.step(forgiving, now, 0.5), Action::Spawn);
        assert_eq!(falls(&mut lifecycle), ["Backoff", "Backoff", "Failed"]);
    }
}

#[test]
fn what_rests_starts_anew_with_the_next_request_and_counts_no_failure() {
    let mut now = Instant::now();
    let mut lifecycle = Lifecycle::new(Mode::Persistent, Restart::default());
    let rung = Duration::from_secs(3);
    lifecycle.step(Event::Start, now, 0.5);
    for end in [Event::Wake, Event::Wake, Event::Tick] {
        lifecycle.step(Event::Described, now, 0.5);
        assert_eq!(lifecycle.step(Event::Unused(rung), now, 0.5), Action::CloseStdin);
        assert_eq!(lifecycle.due(), Some(now + rung));
        // However it ends: its end was wanted.
        now += rung;
        lifecycle.step(end, now, 0.5);
        let exited = Event::Exited {
            reason: "signal 15 (SIGTERM)".into(),
            success: false,
        };
        lifecycle.step(exited, now, 0.5);
        assert_eq!(lifecycle.attempt(), 0);
    }
    assert_eq!(*lifecycle.state(), State::Idle);
    assert_eq!(lifecycle.unavailable(now), None);
    assert_eq!(
        (lifecycle.due(), lifecycle.step(Event::Tick, now, 0.5)),
        (None, Action::None)
    );
    assert_eq!(lifecycle.step(Event::Wake, now, 0.5), Action::Spawn);
    assert_eq!(*lifecycle.state(), State::Starting);
}
