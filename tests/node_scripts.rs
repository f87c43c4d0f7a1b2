//! Plain JavaScript files as toolboxes: the real program hosts them unmodified, and what callers get is what stands here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "common/scratch.rs"]
mod scratch;

#[path = "examples/host.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod host;

#[path = "node_scripts/types.rs"]
mod types;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use host::Host;
use scratch::Scratch;
use serde_json::{Value, json};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/node")
}

/// All of them, hosted.
fn scripts() -> Host {
    Host::start(&fixtures().join("scripts.yaml"))
}

/// The tools of the toolbox `id`, as they are published.
fn tools(id: &str) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["discover", "--json", "--config"])
        .arg(fixtures().join("scripts.yaml"))
        .output()
        .unwrap();
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let toolbox = found.iter().find(|toolbox| toolbox["toolbox_id"] == id);
    toolbox.unwrap()["tools"].as_array().unwrap().clone()
}

fn tool<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    let found = tools.iter().find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("no tool '{name}'"))
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn functions_are_found_however_they_are_exported_and_only_those_with_a_comment() {
    let ways = tools("ways");
    let mut found = names(&ways);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "_cost", "add", "declared", "first", "options", "rest", "second", "wrapped"
        ]
    );
    assert_eq!(
        tool(&ways, "add")["description"],
        "Adds two numbers.\n\nWith a second paragraph, and a link."
    );
    assert_eq!(
        tool(&ways, "add")["argument_schema"],
        json!({"type": "object", "properties": {
            "a": {"type": "number", "description": "The first."},
            "b": {"type": "number", "description": "The second, on two lines.", "default": 5}},
            "required": ["a"], "additionalProperties": false})
    );
    assert_eq!(
        tool(&ways, "options")["argument_schema"],
        json!({"type": "object", "properties": {
            "name": {"type": "string", "description": "Whom."},
            "list": {"type": "array", "items": {"type": "number"}},
            "items": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}},
                "required": ["id"], "additionalProperties": false}}},
            "required": ["name", "items"], "additionalProperties": false})
    );
    assert_eq!(names(&tools("esm")), ["started", "esm", "largest"]);
    assert_eq!(names(&tools("chosen")), ["plain"]);
    assert_eq!(
        names(&tools("members")),
        [
            "up",
            "quoted-name",
            "gen",
            "nested",
            "alias",
            "async",
            "bound",
            "args",
            "pattern",
            "objects",
            "mismatch",
            "tricky"
        ]
    );
    let parcel = tools("parcel");
    assert_eq!(
        parcel[0]["argument_schema"],
        json!({"type": "object", "properties": {
            "to": {"type": "string", "description": "Where it goes."},
            "shape": {"type": "string", "enum": ["box", "tube"], "description": "Its shape."},
            "grams": {"type": "integer", "description": "Its weight."},
            "extras": {"type": "array", "items": {"type": "string"}, "description": "What else is wanted."}},
            "required": ["to", "shape", "grams"], "additionalProperties": false})
    );
    let tides = tools("tides");
    assert_eq!(names(&tides), ["tide-table"]);
    assert_eq!(
        tides[0]["argument_schema"],
        json!({"type": "object", "properties": {
            "harbor": {"type": "string", "description": "The harbor, as the chart has it, e.g., \"Cuxhaven\", \"St. Ives, Cornwall\"."},
            "height": {"type": "string", "enum": ["meters", "feet"], "description": "What heights are in.", "default": "meters"}},
            "required": ["harbor"], "additionalProperties": false})
    );
}

#[test]
fn functions_get_their_arguments_as_they_take_them() {
    let host = scripts();
    for (toolbox, name, kwargs, result) in [
        ("ways", "add", json!({"a": 1}), json!(6)),
        ("ways", "add", json!({"b": 2, "a": 1}), json!(3)),
        ("ways", "first", json!({}), json!(true)),
        (
            "ways",
            "declared",
            json!({"name": "Ada", "loud": true}),
            json!("hello Ada!hello Ada!"),
        ),
        ("ways", "wrapped", json!({"b": "2", "a": "1"}), json!("12")),
        (
            "ways",
            "options",
            json!({"name": "x", "items": []}),
            json!({"name": "x", "items": []}),
        ),
        (
            "ways",
            "rest",
            json!({"first": 1, "more": ["a", "b"]}),
            json!([1, 2, "a", "b"]),
        ),
        ("ways", "_cost", json!({}), json!("1$")),
        ("chosen", "plain", json!({"a": 1}), json!([1, 2])),
        ("esm", "largest", json!({"numbers": [1, 7, 3]}), json!(7)),
        ("esm", "esm", json!({}), json!("default")),
        (
            "parcel",
            "parcel",
            json!({"to": "x", "shape": "box", "grams": 1}),
            json!("to,shape,grams"),
        ),
        ("members", "up", json!({"a": "x"}), json!("X")),
        (
            "members",
            "quoted-name",
            json!({}),
            json!([-1, "it's", "a\"b", "t", [1], true]),
        ),
        ("members", "gen", json!({"n": 3}), json!([0, 1, 2])),
        (
            "members",
            "nested",
            json!({"a": {"b": 1}, "d": [9], "z": 1}),
            json!([1, 2, 9, 5, {"z": 1}]),
        ),
        ("members", "alias", json!({}), json!("alias")),
        ("members", "async", json!({}), json!("async")),
        ("members", "bound", json!({"b": "q"}), json!([1, 7, "q"])),
        ("members", "args", json!({"b": 2, "a": 1}), json!([1, 2])),
        (
            "members",
            "pattern",
            json!({"pair": [1, 2], "s": "x"}),
            json!([1, 2, "x"]),
        ),
        (
            "members",
            "objects",
            json!({"one": {"x": "2026-01-31"}, "two": {"name": "n"}}),
            json!([true, "n", 3]),
        ),
        ("members", "mismatch", json!({"t": "y"}), json!("y")),
        ("members", "tricky", json!({}), json!(["[)\"]", ")"])),
        // As `node esm.js` would have it, but for the names that only CommonJS has.
        ("esm", "started", json!({}), json!([2, true, "undefined", "undefined"])),
        (
            "tides",
            "tide-table",
            json!({"harbor": "Lisbon"}),
            json!("high water in Lisbon: 3 meters"),
        ),
    ] {
        assert_eq!(host.call(toolbox, name, &kwargs), Ok(result), "{name} {kwargs}");
    }
}

#[test]
fn what_a_tool_throws_or_cannot_answer_is_the_error_of_its_call_alone() {
    let host = scripts();
    let pid = host.call("faulty", "pid", &json!({}));
    for (name, error) in [
        ("raise", "RangeError: too far"),
        ("text", "Error: just text"),
        ("own", "LookupError: no such word"),
        ("lost", "Error: nobody caught this"),
        ("uncaught", "TypeError: thrown in a timer"),
        ("nan", "TypeError: the result.list[1] is NaN, which JSON cannot carry"),
        (
            "infinite",
            "TypeError: the result is -Infinity, which JSON cannot carry",
        ),
        (
            "circular",
            "TypeError: the result.down[0].top is a circular reference, which JSON cannot carry",
        ),
        ("hole", "TypeError: the result[1] is undefined, which JSON cannot carry"),
        (
            "method",
            "TypeError: the result.run is a function, which JSON cannot carry",
        ),
        (
            "half",
            "TypeError: the result is text with half of a surrogate pair, which JSON cannot carry",
        ),
    ] {
        assert_eq!(host.call("faulty", name, &json!({})), Err(error.to_owned()), "{name}");
    }
    let deep = host.call("faulty", "deep", &json!({"levels": 300})).unwrap_err();
    assert!(deep.contains("nested deeper than 127 levels"), "{deep}");
    assert!(host.call("faulty", "deep", &json!({"levels": 100})).is_ok());
    assert_eq!(host.call("faulty", "pid", &json!({})), pid, "the process lives on");
}

/// The pid of the faulty one, as soon as it is up.
fn process_of(host: &Host) -> Value {
    let start = Instant::now();
    loop {
        match host.call("faulty", "pid", &json!({})) {
            Ok(pid) => return pid,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_tool_that_ends_the_process_is_named_and_the_next_call_has_a_new_one() {
    let host = scripts();
    let crashed = |status, name: &str| {
        Err(format!(
            "ToolboxCrashed: exit status {status}: process.exit({status}) was called in the tool '{name}'"
        ))
    };
    for (name, status) in [("leave", 3), ("leaveLater", 4)] {
        let before = process_of(&host);
        assert_eq!(host.call("faulty", name, &json!({})), crashed(status, name));
        assert_ne!(process_of(&host), before);
    }
}

#[test]
fn nothing_a_script_prints_reads_or_changes_gets_into_an_answer() {
    let host = scripts();
    assert_eq!(host.call("faulty", "noise", &json!({})), Ok(json!("")));
    let folder = host.call("faulty", "where", &json!({})).unwrap();
    assert_eq!(host.call("faulty", "move", &json!({})), Ok(json!("/")));
    assert_eq!(host.call("faulty", "where", &json!({})), Ok(folder));
    let long = "x".repeat(100_000);
    assert_eq!(
        host.call("faulty", "length", &json!({"text": long})),
        Ok(json!(100_000))
    );
    // The host's own end, which Host checks, waits for no timer and no server.
    assert!(host.call("faulty", "stay", &json!({})).is_ok());
}

#[test]
fn asynchronous_tools_are_at_work_at_the_same_time() {
    let host = scripts();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let meet = || host.call("faulty", "meet", &json!({}));
        let both = [scope.spawn(meet), scope.spawn(meet)];
        both.map(|one| one.join().unwrap()).to_vec()
    });
    assert_eq!(answers, [Ok(json!("met")), Ok(json!("met"))]);
}

/// What `toolhost check` says of a file `name` with this text.
fn checked(name: &str, text: &str) -> String {
    let scratch = Scratch::new();
    std::fs::write(scratch.path().join(name), text).unwrap();
    let config = scratch.path().join("toolhost.yaml");
    std::fs::write(&config, format!("toolboxes: {{bad: {{script: ./{name}}}}}\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .arg("check")
        .arg(&config)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_script_that_cannot_be_served_says_why_in_one_line() {
    for (name, text, last) in [
        (
            "a.js",
            "exports.x = 1\nlet y = ;\n",
            "SyntaxError: Unexpected token ';' (a.js:2)",
        ),
        (
            "a.mjs",
            "export const x = 1\n\nlet y = ;\n",
            "SyntaxError: Unexpected token ';' (a.mjs:3)",
        ),
        (
            "a.js",
            "\nrequire('nosuch/part')\n",
            "Cannot find module 'nosuch/part' (a.js:2)",
        ),
        (
            "a.mjs",
            "import x from 'nosuch'\n",
            "Cannot find module 'nosuch' (a.mjs)",
        ),
        (
            "a.mjs",
            "import { nope } from 'node:fs'\n",
            "SyntaxError: The requested module 'node:fs' does not provide an export named 'nope' (a.mjs:1)",
        ),
        (
            "a.js",
            "\n\nnull.x\n",
            "TypeError: Cannot read properties of null (reading 'x') (a.js:3)",
        ),
        ("a.js", "throw 'text'\n", "Error: text (a.js)"),
        (
            "a.mjs",
            "setTimeout(() => { throw new Error('late') }, 1)\nawait new Promise((done) => setTimeout(done, 10000))\n",
            "Error: late (a.mjs:1)",
        ),
        (
            "a.js",
            "process.exit(0)\n",
            "process.exit(0) was called while a.js was loaded: a script that is served must not end itself",
        ),
        (
            "a.mjs",
            "await new Promise(() => {})\n",
            "a.mjs: it waits for something that never comes, and has exported nothing yet",
        ),
        ("a.js", "function f() {}\n", "a.js: no tools: it exports no function"),
        (
            "a.js",
            "exports.f = () => 1\n",
            "a.js: no tools: none of the exported functions (f) has a JSDoc comment right before it",
        ),
        (
            "a.js",
            "exports.TOOLS = ['g']\n",
            "a.js: TOOLS names 'g', which is no exported function",
        ),
        (
            "a.js",
            "/** @param {Symbol} s */\nexports.f = (s) => 1\n",
            "a.js: no tools: f: 's': a Symbol cannot be written as JSON",
        ),
    ] {
        let said = checked(name, text);
        let line = said
            .lines()
            .find(|line| line.starts_with("  fault in "))
            .unwrap_or_default();
        assert!(line.ends_with(last), "{text}\n{said}");
    }
}
