//! Who plays: ten healthy toolboxes and fifty of every temper, in Python, Bash and Node.

use serde_json::{Value, json};

pub(crate) const HEALTHY: usize = 10;
pub(crate) const MOODY: usize = 50;

const TEMPERS: [&str; 7] = ["crash", "hang", "flood", "noise", "slow", "leak", "fork"];

/// The toolbox_id of a healthy toolbox.
pub(crate) fn healthy(index: usize) -> String {
    format!("healthy-{index}")
}

/// The toolbox_id of another one.
pub(crate) fn moody(index: usize) -> String {
    format!("{}-{index}", TEMPERS[index % TEMPERS.len()])
}

/// The configuration; a toolbox whose generation is raised is changed by the reload.
pub(crate) fn config(bus: &str, generations: &[u64; MOODY]) -> Value {
    let mut toolboxes = serde_json::Map::new();
    // Mixed, so that no kind has the first or the last place.
    for (index, generation) in generations.iter().enumerate() {
        if index.is_multiple_of(5) {
            let number = index / 5;
            toolboxes.insert(healthy(number), entry(number, "healthy", 0));
        }
        toolboxes.insert(moody(index), entry(index, TEMPERS[index % TEMPERS.len()], *generation));
    }
    json!({"bus": {"url": bus}, "toolboxes": toolboxes})
}

fn entry(index: usize, temper: &str, generation: u64) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chaos/tempers");
    // Of the healthy half in Python and half in Bash: what they cost themselves is to be little.
    let command = match index % 5 {
        0 | 2 => json!(["python3", format!("{folder}/temper.py")]),
        4 if temper != "healthy" => json!(["node", format!("{folder}/temper.mjs")]),
        _ => json!(["bash", format!("{folder}/temper.sh")]),
    };
    let mut entry = json!({"command": command, "config": {"temper": temper, "generation": generation}});
    if temper != "healthy" {
        entry["timeout"] = json!("1s");
        // Again and again; but for a few, which give up.
        if index % 10 != 3 {
            entry["restart"] = json!({"backoff": "50ms", "max_backoff": "1s", "give_up_after": 100_000});
        }
    }
    if temper == "leak" {
        entry["limits"] = json!({"memory": if index % 5 == 4 { "1GiB" } else { "64MiB" }});
    }
    if temper == "slow" && index.is_multiple_of(2) {
        entry["mode"] = json!("oneshot");
    }
    entry
}
