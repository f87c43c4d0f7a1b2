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

async def wait_async(name: str) -> None:
    try:
        await asyncio.sleep(600)
    finally:
        ended.append(name)

def ends() -> list: return [os.getpid(), *ended]
"#;

const PATIENT_ALONE: &str = r#"
import os, time
import toolhost

ended = []

def wait(name: str) -> None:
    while not toolhost.cancelled():
        time.sleep(0.01)
    ended.append(name)

def ends() -> list: return [os.getpid(), *ended]
"#;

/// A call that is given up is ended, and the process serves on.
async fn is_cancelled(toolbox_id: &str, text: &str, tool: &str) {
    let file = format!("{toolbox_id}.py");
    let mut scripts = Scripts::host_with(&[(&file, text)], &json!({"timeout": "1s"})).await;
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
