//! Every annotation of Python: the schema callers see, the value the function gets, what its result becomes.
//!
//! The tables stand beside the scripts in `tests/fixtures/python/`. Of the Pythons found on the machine the oldest, the
//! usual and the newest are asked; what none of them can is skipped, which the test says.

#![allow(clippy::expect_used, clippy::unwrap_used)] // The allowance for tests ends at their own functions.

#[path = "common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use common::caller::{Caller, LIST};
use common::embedded::Embedded;
use common::eventually::eventually;
use common::host::{Host, fixture};
use common::peers;
use common::skipped::skipped;

/// A table that says what is to come of a script.
fn table(script: &str) -> Map<String, Value> {
    let text = std::fs::read_to_string(fixture(&format!("python/{script}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A Python, by its minor version.
struct Python {
    program: PathBuf,
    has_pydantic: bool,
}

/// Every Python from 3.8 on that runs here and `can` what is asked, one of each minor version: the one on the PATH where
/// it is of that.
fn pythons(can: impl Fn(u32, &Python) -> bool) -> BTreeMap<u32, Python> {
    let mut candidates: Vec<PathBuf> = vec!["python3".into()];
    candidates.extend((8..15).map(|minor| format!("python3.{minor}").into()));
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let versions = std::fs::read_dir(home.join(".pyenv/versions"));
    candidates.extend(
        versions
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path().join("bin/python3")),
    );
    // It has more installed than a Python usually has.
    candidates.push(peers::python());
    let mut found = BTreeMap::new();
    for (minor, python) in candidates.into_iter().filter_map(look_at) {
        if can(minor, &python) {
            found.entry(minor).or_insert(python);
        }
    }
    found
}

/// Which Python a program is, if it is one.
#[allow(clippy::disallowed_methods)] // It is asked, and gone.
fn look_at(program: PathBuf) -> Option<(u32, Python)> {
    let question = "import sys, importlib.util as u; print(sys.version_info[0], sys.version_info[1], \
                    u.find_spec('pydantic.v1') is not None if u.find_spec('pydantic') else False)";
    let output = Command::new(&program).args(["-c", question]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let [major, minor, pydantic] = words[..] else {
        return None;
    };
    let minor: u32 = minor.parse().ok()?;
    let has_pydantic = pydantic == "True";
    (major == "3" && minor >= 8).then_some((minor, Python { program, has_pydantic }))
}

/// The toolboxes of a host: `script` for each Python that can read it, by toolbox_id.
fn toolboxes(script: &str, can: impl Fn(u32, &Python) -> bool) -> Map<String, Value> {
    let mut fit: Vec<_> = pythons(can).into_iter().collect();
    // The oldest, the usual and the newest: the ones between hold no surprise, and each takes its time.
    let usual = |(_, python): &(u32, Python)| python.program == Path::new("python3");
    let ends = [0, fit.len().saturating_sub(1)];
    let chosen: Vec<bool> = (0..fit.len()).map(|at| ends.contains(&at) || usual(&fit[at])).collect();
    let mut chosen = chosen.into_iter();
    fit.retain(|_| chosen.next() == Some(true));
    fit.into_iter()
        .map(|(minor, python)| {
            let path = fixture(&format!("python/{script}.py"));
            (
                format!("python3_{minor}"),
                json!({"script": path, "python": python.program}),
            )
        })
        .collect()
}

/// Asks every Python for everything in the table of `script`; the host, for its log.
#[allow(clippy::print_stderr)] // Whoever reads the tests wants to know what they were run with.
async fn the_table_holds(script: &str, can: impl Fn(u32, &Python) -> bool) -> Option<Host> {
    let toolboxes = toolboxes(script, can);
    if toolboxes.is_empty() {
        skipped(&format!("{script}.py: no Python here that can read it"));
        return None;
    }
    eprintln!("{script}: {:?}", toolboxes.keys().collect::<Vec<_>>());
    let bus = Embedded::start().await;
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
    let mut caller = Caller::connect(&bus.url).await;
    let listed = caller.ask(LIST, &json!({})).await;
    for toolbox_id in toolboxes.keys() {
        schemas_hold(script, toolbox_id, &listed);
        calls_hold(script, toolbox_id, &mut caller).await;
    }
    Some(host)
}

fn schemas_hold(script: &str, toolbox_id: &str, listed: &Value) {
    let tools = listed["tools"].as_array().unwrap().iter();
    let mut tools: BTreeMap<&str, &Value> = tools
        .filter(|tool| tool["toolbox_id"] == toolbox_id)
        .map(|tool| (tool["name"].as_str().unwrap(), tool))
        .collect();
    tools.remove("seen");
    let table = table(script);
    assert_eq!(
        tools.keys().collect::<Vec<_>>(),
        BTreeMap::from_iter(&table).keys().collect::<Vec<_>>(),
        "{toolbox_id}"
    );
    for (name, wanted) in table.iter().filter(|(_, wanted)| wanted["takes"].is_object()) {
        assert_eq!(
            tools[name.as_str()]["argument_schema"],
            wanted["takes"],
            "{toolbox_id} {name}"
        );
        // A list has `{}` where a tool says nothing of its result.
        let output = wanted["gives"].as_object().cloned().unwrap_or_default();
        assert_eq!(
            tools[name.as_str()]["output_schema"],
            Value::from(output),
            "{toolbox_id} {name}"
        );
    }
}

/// Rows are `[kwargs, what the function saw or null, the result]` or `[kwargs, {"error": text}]`.
async fn calls_hold(script: &str, toolbox_id: &str, caller: &mut Caller) {
    for (name, wanted) in &table(script) {
        let rows = wanted["calls"].as_array().unwrap();
        assert_ne!(rows.len(), 0, "{name} is called");
        for row in rows {
            let answer = caller.call(toolbox_id, name, &row[0]).await;
            let place = format!("{toolbox_id} {name} {}", row[0]);
            match row[1].get("error") {
                Some(error) => assert_eq!(answer.map_err(Value::String), Err(error.clone()), "{place}"),
                None => assert_eq!(answer, Ok(row[2].clone()), "{place}"),
            }
            if row[1].is_string() {
                let seen = caller.call(toolbox_id, "seen", &json!({})).await;
                assert_eq!(seen.as_ref(), Ok(&row[1]), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn annotations_of_every_python_are_schemas_and_values_both_ways() {
    let host = the_table_holds("typed", |_, _| true).await.expect("a Python");
    for line in [
        "no tool: takes_function: the parameter 'value': a function cannot be made from JSON",
        "no tool: takes_type: the parameter 'value': type cannot be made from JSON",
        "no tool: takes_stranger: the parameter 'value': Match cannot be made from JSON",
        "no tool: takes_unknown: the parameter 'value': NoSuchName (NameError: name 'NoSuchName' is not defined)",
    ] {
        eventually(line, || host.log().contains(line)).await;
    }
    host.stop().await;
}

#[tokio::test]
async fn annotations_that_are_not_evaluated_are_read_as_well() {
    if let Some(host) = the_table_holds("modern", |minor, _| minor >= 10).await {
        let unknown = "no tool: unknown: the parameter 'value': Unknown (NameError: name 'Unknown' is not defined)";
        eventually(unknown, || host.log().contains(unknown)).await;
        host.stop().await;
    }
}

#[tokio::test]
async fn the_newest_annotations_are_read() {
    if let Some(host) = the_table_holds("newest", |minor, _| minor >= 12).await {
        host.stop().await;
    }
}

#[tokio::test]
async fn models_of_pydantic_are_read_where_it_is_installed() {
    let host = the_table_holds("models", |_, python| python.has_pydantic).await;
    host.expect("the Python of `tests/setup` has pydantic").stop().await;
}

#[tokio::test]
async fn an_annotation_this_python_does_not_know_costs_one_tool_and_the_log_says_which() {
    let toolboxes = toolboxes("modern_on_old", |minor, _| minor < 10);
    if toolboxes.is_empty() {
        skipped("modern_on_old.py: no Python older than 3.10 here");
        return;
    }
    let bus = Embedded::start().await;
    let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
    let mut caller = Caller::connect(&bus.url).await;
    for toolbox_id in toolboxes.keys() {
        assert_eq!(
            caller.call(toolbox_id, "good", &json!({"value": 1})).await,
            Ok(json!(1))
        );
        let bad = caller.call(toolbox_id, "bad", &json!({"value": 1})).await;
        assert_eq!(bad, Err("Unknown tool: 'bad'".to_owned()));
        let minor = toolbox_id.trim_start_matches("python3_");
        let hint = format!("Python 3.{minor} does not know it: write Optional, Union, List, ... of typing");
        let bad = "no tool: bad: the parameter 'value': int | None";
        eventually(&hint, || host.log().contains(bad) && host.log().contains(&hint)).await;
    }
    host.stop().await;
}
