//! What is counted: memory, answers, and whether the neighbor notices.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::caller::{Caller, outcome};
use crate::common::eventually::within;
use crate::common::host::Host;

/// The most memory a host had at any time, in MiB.
pub(crate) fn peak_memory(host: &Host) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.pid())).expect("a running host");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.expect("its peak").parse::<usize>().expect("a number") / 1024
}

/// Answers to calls that were sent with tokens of their own, each of which has one.
pub(crate) struct Answers(HashMap<String, Vec<Value>>);

impl Answers {
    /// Of everything `caller` has heard.
    pub(crate) fn of(caller: &Caller) -> Self {
        let mut answers: HashMap<String, Vec<Value>> = HashMap::new();
        for frame in caller.heard() {
            let token = frame["context"]["token"].as_str().unwrap_or_default();
            answers.entry(token.to_owned()).or_default().push(frame["data"].clone());
        }
        Self(answers)
    }

    /// What came of the call with this token, if anything did; never twice.
    pub(crate) fn to(&self, token: &str) -> Option<Result<Value, String>> {
        let answers = self.0.get(token)?;
        assert_eq!(answers.len(), 1, "answered twice: {token}: {answers:?}");
        answers.first().map(outcome)
    }
}

/// Listens until `count` answers were heard in all.
pub(crate) async fn hear(caller: &mut Caller, count: usize) {
    while caller.heard().len() < count {
        assert!(caller.hear().await, "the bus is there");
    }
}

/// Lets a call of `meet` go that waits in `folder`, and all that wait behind it.
pub(crate) fn open_gate(folder: &Path) {
    std::fs::write(folder.join("open"), "").expect("a file");
}

/// The arguments of a call that waits until the gate of `folder` is open.
pub(crate) fn at_gate(folder: &Path) -> Value {
    std::fs::create_dir_all(folder).expect("a folder");
    json!({"folder": folder, "parties": 2})
}

/// Waits until a call waits at the gate of `folder`.
pub(crate) async fn someone_at_gate(folder: &Path) {
    crate::common::eventually::eventually("a call waits at the gate", || {
        std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    })
    .await;
}

/// Calls of a healthy toolbox, one after another; each is answered right.
pub(crate) async fn healthy_calls(caller: &mut Caller, count: usize) {
    for n in 0..count {
        let answer = within("a healthy call", caller.call("healthy", "echo", &json!({"n": n}))).await;
        assert_eq!(answer, Ok(json!({"n": n})));
    }
}
