//! A value reaches a script byte for byte, or is refused in plain words before anything runs (faults F100 and F101).

use serde_json::{Value, json};

use crate::Scripts;
use crate::common::values::values;

const PYTHON: &str = r#"
def one(x: str) -> str: return x
def untyped(x) -> str: return x
def with_default(*, x: str = "none"): return x
def many(xs: list) -> list: return xs
def spread(*xs: str): return xs
def named(**xs: str): return xs
"#;

const NODE: &str = "
/** One. @param {string} x */
export function one(x) { return x }
/** Untyped. */
export function untyped(x) { return x }
/** With a default. @param {object} given @param {string} [given.x] */
export function with_default({ x = 'none' } = {}) { return x }
/** Many. @param {string[]} xs */
export function many(xs) { return xs }
/** Spread. @param {...string} xs */
export function spread(...xs) { return xs }
";

/// Prints what it got, each value with a NUL behind it, and keeps count of its runs.
const BASH: &str = r#"#!/usr/bin/env bash
echo "$1" >> "$HOME/runs"
# @cmd Of an option
# @option --x
option() { printf '%s\0' "$argc_x"; env true; }
# @cmd Of an option that may stand again and again
# @option --xs*
multiple() { printf '%s\0' "${argc_xs[@]}"; env true; }
# @cmd Of a place
# @arg x!
place() { printf '%s\0' "$argc_x"; [[ $1 == "$argc_x" ]]; }
# @cmd Of all places
# @arg xs*
places() { printf '%s\0' "${argc_xs[@]}"; env true; }
# @cmd Of a second place, behind an option
# @option --first
# @arg a!
# @arg x
behind() { printf '%s\0' "$argc_first" "$argc_a" "$argc_x"; }
# @cmd Of what follows
# @arg xs~
rest() { printf '%s\0' "${argc_xs[@]}"; }
# @cmd Of entries
# @option -D-* <VALUE>
entries() { printf '%s\0' "${argc_D[k]}"; }
eval "$(argc --argc-eval "$0" "$@")"
"#;

async fn mirrors() -> Scripts {
    let files = [("python.py", PYTHON), ("node.mjs", NODE), ("bash.sh", BASH)];
    Scripts::host(&files, &json!({})).await
}

fn shown(value: &str) -> String {
    value.chars().take(40).collect()
}

/// Values as texts with a NUL behind each.
fn with_nuls<'a>(values: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"output": values.into_iter().map(|value| format!("{value}\0")).collect::<String>()})
}

impl Scripts {
    fn runs(&self) -> usize {
        let runs = std::fs::read_to_string(self.host.folder().join("runs")).unwrap_or_default();
        runs.lines().count()
    }

    fn nothing_hostile_ran(&self) {
        for folder in [self.host.folder(), self.path()] {
            assert!(!folder.join("ran").exists());
        }
    }
}

#[tokio::test]
async fn python_and_javascript_get_every_value_as_it_is() {
    let mut scripts = mirrors().await;
    let mut all = values();
    all.extend(["a\0b", "\u{2028}\u{feff}", "\r\n"].map(str::to_owned));
    for value in &all {
        for toolbox in ["python", "node"] {
            for tool in ["one", "untyped", "with_default"] {
                let said = scripts.call(toolbox, tool, json!({"x": value})).await;
                assert_eq!(said, Ok(json!(value)), "{toolbox} {tool} {:?}", shown(value));
            }
            for tool in ["many", "spread"] {
                let said = scripts.call(toolbox, tool, json!({"xs": [value, "", value]})).await;
                assert_eq!(
                    said,
                    Ok(json!([value, "", value])),
                    "{toolbox} {tool} {:?}",
                    shown(value)
                );
            }
        }
        let said = scripts.call("python", "named", json!({"any": value})).await;
        assert_eq!(said, Ok(json!({"any": value})), "{:?}", shown(value));
    }
    scripts.nothing_hostile_ran();
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

/// What a Bash tool is called with, and the values it is to have seen.
fn forms(value: &str) -> Vec<(&'static str, Value, Vec<&str>)> {
    vec![
        ("option", json!({"x": value}), vec![value]),
        ("multiple", json!({"xs": [value, "m"]}), vec![value, "m"]),
        ("place", json!({"x": value}), vec![value]),
        ("places", json!({"xs": ["m", value]}), vec!["m", value]),
        (
            "behind",
            json!({"first": value, "a": value, "x": value}),
            vec![value, value, value],
        ),
        ("rest", json!({"xs": [value, "--x", value]}), vec![value, "--x", value]),
        ("entries", json!({"D": {"k": value}}), vec![value]),
    ]
}

#[tokio::test]
async fn bash_gets_every_value_as_it_is_or_does_not_run() {
    let mut scripts = mirrors().await;
    let mut ran = 0;
    for value in values() {
        for (tool, kwargs, seen) in forms(&value) {
            match scripts.call("bash", tool, kwargs).await {
                Ok(result) => {
                    assert_eq!(result, with_nuls(seen), "{tool} {:?}", shown(&value));
                    ran += 1;
                }
                // argc itself takes what follows for options until there is a first word.
                Err(error) => assert!(
                    tool == "rest" && value.starts_with('-') && error.starts_with("Invalid arguments for 'rest': xs: "),
                    "{tool} {:?}: {error}",
                    shown(&value)
                ),
            }
        }
    }
    assert_eq!(scripts.runs(), ran, "what was refused did not run");
    scripts.nothing_hostile_ran();
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_list_of_ten_thousand_arrives_whole() {
    let mut scripts = mirrors().await;
    let items: Vec<String> = (0..10_000).map(|number| format!("-item {number}")).collect();
    for toolbox in ["python", "node"] {
        for tool in ["many", "spread"] {
            let said = scripts.call(toolbox, tool, json!({"xs": items})).await;
            assert!(said == Ok(json!(items)), "{toolbox} {tool}");
        }
    }
    let none: [&str; 0] = [];
    for tool in ["multiple", "places"] {
        // printf prints its format once where there is no argument.
        let said = scripts.call("bash", tool, json!({"xs": none})).await;
        assert_eq!(said, Ok(with_nuls([""])), "{tool}");
        let said = scripts.call("bash", tool, json!({"xs": items})).await;
        assert!(said == Ok(with_nuls(items.iter().map(String::as_str))), "{tool}");
    }
    scripts.host.stop().await;
}

#[tokio::test]
async fn what_no_program_can_be_handed_is_refused_before_anything_runs() {
    let mut scripts = mirrors().await;
    let long = "x".repeat(200_000);
    let hundred: Vec<String> = vec!["x".repeat(100_000); 100];
    for (tool, kwargs, why) in [
        ("option", json!({"x": "a\0b"}), "x: has a NUL character"),
        ("multiple", json!({"xs": ["a", "b\0"]}), "xs: has a NUL character"),
        ("place", json!({"x": "\0"}), "x: has a NUL character"),
        ("entries", json!({"D": {"k": "\0"}}), "D: has a NUL character"),
        ("option", json!({"x": long}), "x: "),
        ("place", json!({"x": long}), "x: "),
        ("places", json!({"xs": hundred}), "arguments: 1000"),
        ("entries", json!({"D": {"$(touch ran)": "v"}}), "D"),
        ("option", json!({"x": 5}), "x: "),
        ("option", json!({"y": "5"}), "y: is not allowed"),
        ("place", json!({}), "x: is required"),
    ] {
        let error = scripts.call("bash", tool, kwargs).await.unwrap_err();
        let expected = format!("Invalid arguments for '{tool}': {why}");
        let is_told =
            error.starts_with(&expected) && (tool != "places" || error.contains("too many for the command line"));
        assert!(is_told, "{expected}\n{}", error.chars().take(300).collect::<String>());
    }
    assert_eq!(scripts.runs(), 0);
    // Through a pipe any length goes.
    for toolbox in ["python", "node"] {
        let said = scripts.call(toolbox, "one", json!({"x": long})).await;
        assert!(said == Ok(json!(long)), "{toolbox}");
    }
    scripts.nothing_hostile_ran();
    scripts.neighbor_is_well().await;
    scripts.host.stop().await;
}
