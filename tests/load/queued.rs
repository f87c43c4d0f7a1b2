//! Far more calls than a toolbox can serve, and far larger ones.

use serde_json::json;

use crate::common::caller::{CALL, Caller, call};
use crate::common::embedded::Embedded;
use crate::common::host::{Host, moody};
use crate::measure::{Answers, at_gate, healthy_calls, hear, open_gate, peak_memory, someone_at_gate};

/// What was refused is in the log, and not with a line each.
fn told_in_a_few_lines(host: &Host, toolbox: &str, refused: usize) {
    let log = host.log();
    let of_it = format!("overloaded, calls are refused toolbox={toolbox} suppressed=");
    let lines = log.lines().filter(|line| line.contains(&of_it)).count();
    assert!(0 < lines && lines < refused.min(100), "{lines} lines:\n{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_10000_calls_at_once_each_has_one_answer_and_the_neighbor_does_not_notice() {
    const CALLS: usize = 10_000;
    const NEIGHBORS: usize = 50;
    let bus = Embedded::start().await;
    let mut slow = moody(&json!({}));
    slow["timeout"] = "3m".into();
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"slow": slow, "healthy": moody(&json!({}))}});
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url).await;
    let gate = host.folder().join("gate");
    caller
        .send_as(CALL, &call("slow", "meet", &at_gate(&gate)), "gate")
        .await;
    someone_at_gate(&gate).await;
    let url = bus.url.clone();
    let neighbor = tokio::spawn(async move { healthy_calls(&mut Caller::connect(&url).await, NEIGHBORS).await });
    for n in 0..CALLS {
        let kwargs = json!({"n": n});
        caller
            .send_as(CALL, &call("slow", "echo", &kwargs), &format!("token {n}"))
            .await;
    }
    neighbor.await.expect("the neighbor");
    // Those that wait are answered when the one before them is; all others were refused at once.
    let refused = CALLS - 256;
    hear(&mut caller, refused + NEIGHBORS).await;
    open_gate(&gate);
    hear(&mut caller, CALLS + 1 + NEIGHBORS).await;
    let answers = Answers::of(&caller);
    let (mut served, mut overloaded) = (0, 0);
    for n in 0..CALLS {
        match answers.to(&format!("token {n}")).expect("an answer") {
            Ok(result) => {
                assert_eq!(result, json!({"n": n}));
                served += 1;
            }
            Err(error) => {
                let count = error
                    .strip_prefix("Overloaded: ")
                    .and_then(|rest| rest.strip_suffix(" calls are waiting"));
                let count = count.unwrap_or_else(|| panic!("{error}"));
                assert!(["256", "1024"].contains(&count), "{error}");
                overloaded += 1;
            }
        }
    }
    let peak = peak_memory(&host);
    println!("{served} served, {overloaded} refused, {peak} MiB at most");
    assert_eq!((served, overloaded), (256, refused));
    assert!(peak < 200, "{peak} MiB");
    assert_eq!(
        host.toolbox("slow")["calls"],
        json!({"ok": CALLS - refused + 1, "error": refused, "pending": 0})
    );
    told_in_a_few_lines(&host, "slow", refused);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_too_large_together_are_refused_and_the_neighbor_is_served() {
    const CALLS: usize = 70;
    let bus = Embedded::start().await;
    let mut stuck = moody(&json!({}));
    stuck["timeout"] = "3m".into();
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"stuck": stuck, "healthy": moody(&json!({}))}});
    let host = Host::start(&config).await;
    let mut caller = Caller::connect(&bus.url).await;
    let gate = host.folder().join("gate");
    caller
        .send_as(CALL, &call("stuck", "meet", &at_gate(&gate)), "gate")
        .await;
    someone_at_gate(&gate).await;
    // Seventy mebibytes, and few enough by their number.
    let text = "x".repeat(1 << 20);
    for n in 0..CALLS {
        let kwargs = json!({"file": gate.join("count"), "text": text});
        caller
            .send_as(CALL, &call("stuck", "count", &kwargs), &format!("token {n}"))
            .await;
        if n % 10 == 0 {
            healthy_calls(&mut caller, 1).await;
        }
    }
    let peak = peak_memory(&host);
    open_gate(&gate);
    hear(&mut caller, 1 + CALLS + CALLS / 10).await;
    let answers = Answers::of(&caller);
    let (mut served, mut refused) = (0, 0);
    for n in 0..CALLS {
        match answers.to(&format!("token {n}")).expect("an answer") {
            Ok(result) => {
                assert_eq!(result, json!("counted"));
                served += 1;
            }
            Err(error) => {
                let good = error.starts_with("Overloaded: calls of 6")
                    && error.ends_with(" bytes are waiting (limit 67108864)");
                assert!(good, "{error}");
                refused += 1;
            }
        }
    }
    println!("{served} served, {refused} refused, {peak} MiB at most");
    assert_eq!(
        (served, refused),
        (63, 7),
        "64 MiB without the little that is round each mebibyte"
    );
    assert!(peak < 300, "{peak} MiB");
    assert_eq!(
        host.toolbox("stuck")["calls"],
        json!({"ok": served + 1, "error": refused, "pending": 0})
    );
    told_in_a_few_lines(&host, "stuck", refused);
    // What was answered counts no longer.
    let kwargs = json!({"text": text});
    assert!(caller.call("stuck", "echo", &kwargs).await == Ok(kwargs));
    host.stop().await;
}
