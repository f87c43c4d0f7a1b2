//! Calls side by side, and calls that nobody waits for any more.

use serde_json::json;

use crate::common::caller::{CALL, call};
use crate::common::eventually::within;
use crate::harness::Scripts;

const MEETING: &str = r#"
import asyncio, threading

barrier = threading.Barrier(3)

def meet() -> int: return barrier.wait(timeout=30)
"#;

#[tokio::test]
async fn concurrent_calls_of_a_script_run_in_threads_side_by_side() {
    let mut scripts = Scripts::host_with(&[("meeting.py", MEETING)], &json!({"concurrent": 3})).await;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(scripts.caller.send(CALL, &call("meeting", "meet", &json!({}))).await);
    }
    let mut places = Vec::new();
    for token in tokens {
        places.push(scripts.caller.wait(&token, 1).await[0]["result"].as_i64().unwrap());
    }
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2], "each waited for the others");
    scripts.host.stop().await;
}

const PATIENT: &str = r#"
import asyncio, os, time
import toolhost

ended = []

@toolhost.tool(timeout="1s")
async def wait_async(name: str) -> None:
    try:
        await asyncio.sleep(600)
    finally:
        ended.append(name)

@toolhost.tool
def ends() -> list: return [os.getpid(), *ended]
"#;

const PATIENT_ALONE: &str = r#"
import os, time
import toolhost

ended = []

@toolhost.tool(timeout="1s")
def wait(name: str) -> None:
    while not toolhost.cancelled():
        time.sleep(0.01)
    ended.append(name)

@toolhost.tool
def ends() -> list: return [os.getpid(), *ended]
"#;

/// A call that is given up is ended, and the process serves on.
async fn is_cancelled(toolbox_id: &str, text: &str, tool: &str) {
    let file = format!("{toolbox_id}.py");
    let mut scripts = Scripts::host(&[(&file, text)]).await;
    let before = scripts.call(toolbox_id, "ends", json!({})).await.unwrap();
    let error = scripts.call(toolbox_id, tool, json!({"name": "a"})).await.unwrap_err();
    assert!(error.starts_with("TimeoutError: "), "{error}");
    within("the tool ends", async {
        loop {
            let after = scripts.call(toolbox_id, "ends", json!({})).await.unwrap();
            assert_eq!(after[0], before[0], "the same process");
            if after[1] == "a" {
                return;
            }
        }
    })
    .await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn an_async_tool_nobody_waits_for_any_more_is_cancelled() {
    is_cancelled("patient", PATIENT, "wait_async").await;
}

#[tokio::test]
async fn a_tool_without_threads_sees_that_nobody_waits_any_more() {
    is_cancelled("alone", PATIENT_ALONE, "wait").await;
}

const LOOKING: &str = r#"
import asyncio
import toolhost

called = running = peak = 0

async def look(last: int) -> int:
    """Looks until the last call is here too."""
    global called
    called += 1
    number = called
    while called < last:
        for _ in range(100):
            assert not toolhost.cancelled()
        await asyncio.sleep(0.001)
    return number

async def meet(wanted: int) -> int:
    """Waits until as many have been here at once, and says how many there were at most."""
    global running, peak
    running += 1
    peak = max(peak, running)
    while peak < wanted:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)
    running -= 1
    return peak
"#;

#[tokio::test]
async fn async_tools_that_ask_whether_somebody_waits_answer_every_call() {
    let mut scripts = Scripts::host(&[("looking.py", LOOKING)]).await;
    for round in 0..20 {
        let mut tokens = Vec::new();
        let last = 50 * (round + 1);
        for _ in 0..50 {
            let kwargs = json!({"last": last});
            tokens.push(scripts.caller.send(CALL, &call("looking", "look", &kwargs)).await);
        }
        for (number, token) in (last - 49..).zip(&tokens) {
            let answer = scripts.caller.wait(token, 1).await.remove(0);
            assert_eq!(answer["result"], json!(number), "round {round}: {answer}");
        }
    }
    scripts.host.stop().await;
}

#[tokio::test]
async fn no_more_async_calls_run_at_once_than_concurrent_says() {
    for (concurrent, most) in [(json!(2), 2), (json!(false), 1)] {
        let keys = json!({"concurrent": concurrent});
        let mut scripts = Scripts::host_with(&[("looking.py", LOOKING)], &keys).await;
        let mut tokens = Vec::new();
        for _ in 0..8 {
            let kwargs = json!({"wanted": most});
            tokens.push(scripts.caller.send(CALL, &call("looking", "meet", &kwargs)).await);
        }
        for token in tokens {
            let answer = scripts.caller.wait(&token, 1).await.remove(0);
            assert_eq!(answer["result"], json!(most), "concurrent: {concurrent}");
        }
        scripts.host.stop().await;
    }
}
