//! The accounts on disk: when they are written, and what becomes of them where they cannot be.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::*;

const NAME: &str = "usage.json";
const NEVER: Duration = Duration::from_secs(36_000);
const AT_ONCE: Duration = Duration::from_millis(1);

/// A state folder of a test's own, removed with it.
struct Own(PathBuf);

impl Own {
    fn new() -> Self {
        let name = format!("toolhost-ledger-{}-{:08x}", std::process::id(), fastrand::u32(..));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A ledger on it, as a host has it that is on the bus with `toolboxes`.
    fn ledger(&self, pace: Pace, toolboxes: &[&str]) -> Arc<Ledger> {
        let mut ledger = Ledger::open(StateFolder::at(&self.0), NAME.to_owned());
        ledger.pace = pace;
        ledger.present(toolboxes.iter().copied());
        ledger.connected(true);
        Arc::new(ledger)
    }

    /// Has the file say that `wn` has been quiet for so long.
    fn quiet(&self, seconds: u64) {
        let text = format!(
            r#"{{"version":1,"toolboxes":{{"wn":{{"since":1,"counted_seconds":{seconds},"quiet_seconds":{seconds},
            "predecessor_calls":7,"replacement_calls":0,"callers":[]}}}}}}"#
        );
        std::fs::write(self.0.join(NAME), text).unwrap();
    }

    /// What the file says of `wn`: its calls on the predecessor topic, and for how long there was none.
    fn told(&self) -> Option<(u64, u64)> {
        let text = std::fs::read_to_string(self.0.join(NAME)).ok()?;
        let file: serde_json::Value = serde_json::from_str(&text).expect("whole");
        let number = |member: &str| file["toolboxes"]["wn"][member].as_u64();
        Some((number("predecessor_calls")?, number("quiet_seconds")?))
    }

    async fn comes_to_tell(&self, what: &str, expected: impl Fn((u64, u64)) -> bool) {
        eventually(what, || self.told().is_some_and(&expected)).await;
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        std::fs::set_permissions(&self.0, std::fs::Permissions::from_mode(0o700)).unwrap_or_default();
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

async fn eventually(what: &str, check: impl Fn() -> bool) {
    let waiting = async {
        while !check() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    let in_time = timeout(Duration::from_secs(20), waiting).await;
    assert!(in_time.is_ok(), "not in time: {what}");
}

fn call(ledger: &Ledger, topic: Topic, toolbox_id: &str) {
    ledger.count(toolbox_id, topic, &Who::default(), std::iter::empty);
}

/// Runs the keeper of `ledger`; what is returned ends it, and waits for that.
fn keep(ledger: &Arc<Ledger>) -> impl Future<Output = ()> + use<> {
    let stop = CancellationToken::new();
    let keeper = tokio::spawn(Arc::clone(ledger).keep(stop.clone()));
    async move {
        stop.cancel();
        keeper.await.unwrap();
    }
}

const PATIENT: Pace = Pace {
    period: NEVER,
    rest: NEVER,
    idle: NEVER,
};

#[tokio::test]
async fn the_end_of_a_quiet_is_written_at_once_and_a_flood_after_it_waits() {
    let own = Own::new();
    own.quiet(1_000_000);
    let ledger = own.ledger(PATIENT, &["wn"]);
    let end = keep(&ledger);
    call(&ledger, Topic::Predecessor, "wn");
    own.comes_to_tell("the quiet is over", |told| told == (8, 0)).await;
    for _ in 0..10_000 {
        call(&ledger, Topic::Predecessor, "wn");
        call(&ledger, Topic::Replacement, "wn");
        tokio::task::yield_now().await;
    }
    assert_eq!(own.told(), Some((8, 0)), "written once");
    end.await;
    assert_eq!(own.told().map(|told| told.0), Some(10_008), "and at the end");
}

#[tokio::test]
async fn what_breaks_no_quiet_waits_for_more() {
    let own = Own::new();
    own.quiet(1_000_000);
    let ledger = own.ledger(PATIENT, &["wn"]);
    let end = keep(&ledger);
    let written = std::fs::metadata(own.0.join(NAME)).unwrap().modified().unwrap();
    for _ in 0..1000 {
        call(&ledger, Topic::Replacement, "wn");
        tokio::task::yield_now().await;
    }
    let now = std::fs::metadata(own.0.join(NAME)).unwrap().modified().unwrap();
    assert_eq!(now, written);
    end.await;
}

#[tokio::test]
async fn time_that_only_passes_is_written_too() {
    let own = Own::new();
    let pace = Pace {
        idle: AT_ONCE,
        period: NEVER,
        rest: AT_ONCE,
    };
    own.quiet(1000);
    let ledger = own.ledger(pace, &["wn"]);
    // What was entered so far is not what is waited for.
    ledger.wake.notified().await;
    ledger.lock().unwritten = false;
    let end = keep(&ledger);
    own.comes_to_tell("a second more", |(_, quiet)| quiet > 1000).await;
    ledger.connected(false);
    end.await;
}

#[tokio::test]
async fn the_time_that_a_report_tells_of_is_written() {
    let own = Own::new();
    let pace = Pace {
        idle: NEVER,
        period: AT_ONCE,
        rest: AT_ONCE,
    };
    own.quiet(1000);
    let ledger = own.ledger(pace, &["wn"]);
    ledger.wake.notified().await;
    ledger.lock().unwritten = false;
    std::fs::remove_file(own.0.join(NAME)).unwrap();
    let end = keep(&ledger);
    ledger.reported();
    own.comes_to_tell("what was reported", |(_, quiet)| quiet >= 1000).await;
    end.await;
}

#[tokio::test]
async fn a_host_that_stops_writes_the_time_it_counted_though_nothing_else_happened() {
    let own = Own::new();
    own.quiet(1000);
    let ledger = own.ledger(PATIENT, &["wn"]);
    ledger.wake.notified().await;
    ledger.lock().unwritten = false;
    std::fs::remove_file(own.0.join(NAME)).unwrap();
    keep(&ledger).await;
    assert!(own.told().is_some_and(|(_, quiet)| quiet >= 1000));
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_tried_again_and_tells_of_no_quiet_that_is_over() {
    let own = Own::new();
    own.quiet(1_000_000);
    let pace = Pace {
        idle: NEVER,
        period: AT_ONCE,
        rest: AT_ONCE,
    };
    let ledger = own.ledger(pace, &["wn"]);
    // Nothing can be written under the name of the new file: as on a full disk, what is there can still be renamed.
    let new = own.0.join(NAME).with_extension(format!("{}.new", std::process::id()));
    std::fs::create_dir_all(new.join("in the way")).unwrap();
    let end = keep(&ledger);
    call(&ledger, Topic::Predecessor, "wn");
    eventually("the file is out of the way", || own.told().is_none()).await;
    assert!(own.0.join("usage.stale").exists());
    eventually("the fault is told", || ledger.fault().is_some()).await;
    std::fs::remove_dir_all(&new).unwrap();
    own.comes_to_tell("it is written in the end", |(calls, quiet)| calls == 8 && quiet < 1000)
        .await;
    eventually("the fault is over", || ledger.fault().is_none()).await;
    end.await;
}

#[tokio::test]
async fn quiet_of_before_does_not_count_where_nothing_can_be_kept() {
    let own = Own::new();
    own.quiet(1_000_000);
    let new = own.0.join(NAME).with_extension(format!("{}.new", std::process::id()));
    std::fs::create_dir(&new).unwrap();
    let ledger = own.ledger(PATIENT, &["wn"]);
    let (_, toolbox) = ledger.told().remove(0);
    assert_eq!(toolbox.calls.predecessor_calls, 7, "what was counted is told");
    assert!(toolbox.quiet_seconds < 1000, "{}", toolbox.quiet_seconds);
    let fault = ledger.fault().expect("it is told");
    assert!(fault.starts_with("cannot write") && fault.contains(NAME), "{fault}");
}

#[tokio::test]
async fn two_hosts_with_one_file_do_not_undo_each_others_counts() {
    let own = Own::new();
    own.quiet(1_000_000);
    let first = own.ledger(PATIENT, &["wn"]);
    let second = own.ledger(PATIENT, &["wn"]);
    assert!(first.fault().is_none());
    assert!(second.fault().expect("told").contains("another toolhost"));
    let (end_first, end_second) = (keep(&first), keep(&second));
    call(&first, Topic::Predecessor, "wn");
    end_first.await;
    end_second.await;
    assert_eq!(own.told().map(|told| told.0), Some(8));
    let (_, toolbox) = second.told().remove(0);
    assert!(toolbox.quiet_seconds < 1000, "the second begins at nothing");
    drop((first, second));
    assert!(
        own.ledger(PATIENT, &["wn"]).fault().is_none(),
        "free with the end of the first"
    );
}
