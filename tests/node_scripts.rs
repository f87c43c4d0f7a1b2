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

use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Of an argument: the tool; its schema; a value; what JavaScript calls it; how it comes back, where that differs.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

const DATE: &str = r#"{"type":"string","format":"date-time"}"#;
const BASE64: &str = r#"{"type":"string","contentEncoding":"base64"}"#;
const PLACE: &str = r#"{"type":"object","description":"A place on earth.","properties":{
    "lat":{"type":"number","description":"north of the equator"},"lon":{"type":"number"},
    "name":{"type":"string","default":"here"}},"required":["lat","lon"],"additionalProperties":false}"#;
const PARTIAL: &str = r#"{"type":"object","description":"A place on earth.","properties":{
    "lat":{"type":"number","description":"north of the equator"},"lon":{"type":"number"},
    "name":{"type":"string","default":"here"}},"additionalProperties":false}"#;
const NOON: &str = r#""2026-01-31T12:00:00.000Z""#;
const NUMERIC: &str = r#"{"pattern":"^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$"}"#;

const SIMPLE: &[Row] = &[
    (
        "string",
        r#"{"type":"string"}"#,
        r#""naïve \u0000 \"x\"""#,
        "string",
        None,
    ),
    ("number", r#"{"type":"number"}"#, "1.5", "number", None),
    ("boolean", r#"{"type":"boolean"}"#, "false", "boolean", None),
    ("integer", r#"{"type":"integer"}"#, "-3", "number", None),
    ("bigint", r#"{"type":"integer"}"#, "3", "bigint", None),
    (
        "bigint",
        r#"{"type":"integer"}"#,
        "18446744073709551616",
        "bigint",
        None,
    ),
    ("bigint", r#"{"type":"integer"}"#, "-9007199254740993", "bigint", None),
    ("any", "{}", r#"{"a":[1,null]}"#, "{a:[number,null]}", None),
    ("any", "{}", "9007199254740993", "bigint", None),
    ("unknown", "{}", "null", "null", None),
    ("untyped", "{}", "[true]", "[boolean]", None),
    ("foreign", "{}", r#""x""#, "string", None),
    ("circle", "{}", "1", "number", None),
    ("nothing", r#"{"type":"null"}"#, "null", "null", None),
    (
        "object",
        r#"{"type":"object"}"#,
        r#"{"__proto__":1}"#,
        "{__proto__:number}",
        None,
    ),
    ("either", r#"{"type":["string","number"]}"#, "2", "number", None),
    ("nullable", r#"{"type":["string","null"]}"#, "null", "null", None),
    ("notNull", r#"{"type":"string"}"#, r#""x""#, "string", None),
    ("optional", r#"{"type":"string"}"#, r#""x""#, "string", None),
    ("bracketed", r#"{"type":"string"}"#, r#""x""#, "string", None),
    ("perhaps", r#"{"type":"string"}"#, r#""x""#, "string", None),
    ("defaulted", r#"{"type":"number","default":5}"#, "6", "number", None),
    (
        "letters",
        r#"{"type":"string","enum":["a","b"]}"#,
        r#""b""#,
        "string",
        None,
    ),
    ("digits", r#"{"enum":[1,2,null]}"#, "2", "number", None),
    (
        "unit",
        r#"{"type":"string","enum":["celsius","fahrenheit"]}"#,
        r#""celsius""#,
        "string",
        None,
    ),
    (
        "color",
        r#"{"type":"string","enum":["red","green"]}"#,
        r#""red""#,
        "string",
        None,
    ),
    ("promised", r#"{"type":"string"}"#, r#""x""#, "string", None),
    (
        "callback",
        r#"{"type":"string"}"#,
        r#""x""#,
        "[boolean,string]",
        Some(r#"[true,"x"]"#),
    ),
];

const CLASSES: &[Row] = &[
    ("date", DATE, NOON, "Date", None),
    ("date", DATE, r#""2026-01-31T13:00:00+01:00""#, "Date", Some(NOON)),
    (
        "textOrDate",
        r#"{"anyOf":[{"type":"string"},{"type":"string","format":"date-time"}]}"#,
        NOON,
        "string",
        None,
    ),
    (
        "dateOrText",
        r#"{"anyOf":[{"type":"string","format":"date-time"},{"type":"string"}]}"#,
        NOON,
        "Date",
        None,
    ),
    (
        "dateOrText",
        r#"{"anyOf":[{"type":"string","format":"date-time"},{"type":"string"}]}"#,
        r#""x""#,
        "string",
        None,
    ),
    (
        "url",
        r#"{"type":"string","format":"uri"}"#,
        r#""http://localhost/x""#,
        "URL",
        None,
    ),
    (
        "regexp",
        r#"{"type":"string","format":"regex"}"#,
        r#""a+/b""#,
        "RegExp",
        Some(r#""a+\\/b""#),
    ),
    (
        "regexp",
        r#"{"type":"string","format":"regex"}"#,
        r#""/a+/gi""#,
        "RegExp",
        None,
    ),
    ("buffer", BASE64, r#""AAH/""#, "Buffer", None),
    ("bytes", BASE64, r#""AAH/""#, "Uint8Array", None),
];

const COLLECTIONS: &[Row] = &[
    ("list", r#"{"type":"array"}"#, r#"[1,"a"]"#, "[number,string]", None),
    (
        "strings",
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"["a"]"#,
        "[string]",
        None,
    ),
    (
        "numbers",
        r#"{"type":"array","items":{"type":"number"}}"#,
        "[]",
        "[]",
        None,
    ),
    (
        "booleans",
        r#"{"type":"array","items":{"type":"boolean"}}"#,
        "[true]",
        "[boolean]",
        None,
    ),
    (
        "matrix",
        r#"{"type":"array","items":{"type":"array","items":{"type":"number"}}}"#,
        "[[1],[2,3]]",
        "[[number],[number,number]]",
        None,
    ),
    (
        "tuple",
        r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false,"minItems":2,"maxItems":2}"#,
        r#"["a",1]"#,
        "[string,number]",
        None,
    ),
    (
        "dates",
        r#"{"type":"array","items":{"type":"string","format":"date-time"}}"#,
        r#"["2026-01-31T12:00:00.000Z"]"#,
        "[Date]",
        None,
    ),
    (
        "rest",
        r#"{"type":"array","items":{"type":"number"}}"#,
        "[1,2]",
        "[number,number]",
        None,
    ),
    (
        "set",
        r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
        r#"["a","b"]"#,
        "Set{string,string}",
        None,
    ),
    (
        "map",
        r#"{"type":"object","additionalProperties":{"type":"number"}}"#,
        r#"{"a":1}"#,
        "Map{string:number}",
        None,
    ),
    (
        "dictionary",
        r#"{"type":"object","additionalProperties":{"type":"number"}}"#,
        r#"{"a":1}"#,
        "{a:number}",
        None,
    ),
    (
        "calendar",
        r#"{"type":"object","additionalProperties":{"type":"string","format":"date-time"}}"#,
        r#"{"a":"2026-01-31T12:00:00.000Z"}"#,
        "{a:Date}",
        None,
    ),
    (
        "record",
        r#"{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"],"additionalProperties":false}"#,
        r#"{"x":1,"y":2}"#,
        "{x:number,y:number}",
        None,
    ),
    (
        "inline",
        r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"a":1}"#,
        "{a:number}",
        None,
    ),
    ("place", PLACE, r#"{"lat":1,"lon":2}"#, "{lat:number,lon:number}", None),
    ("partial", PARTIAL, "{}", "{}", None),
    (
        "pick",
        r#"{"type":"object","description":"A place on earth.","properties":{"name":{"type":"string","default":"here"}},"additionalProperties":false}"#,
        r#"{"name":"x"}"#,
        "{name:string}",
        None,
    ),
    (
        "tree",
        r##"{"$ref":"#/$defs/Tree"}"##,
        r#"{"label":"a","branches":[{"label":"b","branches":[]}]}"#,
        "{label:string,branches:[{label:string,branches:[]}]}",
        None,
    ),
];

#[test]
fn every_type_of_an_argument_has_its_schema() {
    let tools = tools("types");
    let numbers = format!(r#"{{"type":"object","propertyNames":{NUMERIC},"additionalProperties":{DATE}}}"#);
    let note = format!(
        r#"{{"type":"object","properties":{{"since":{DATE},"by":{PLACE}}},"required":["since"],"additionalProperties":false}}"#
    );
    let rows = [SIMPLE, CLASSES, COLLECTIONS].concat();
    let expected = rows.iter().map(|row| (row.0, row.1));
    for (name, schema) in expected.chain([("numberMap", numbers.as_str()), ("note", &note)]) {
        let whole = &tool(&tools, name)["argument_schema"];
        assert_eq!(whole["properties"]["value"], read(schema), "{name}");
        assert_eq!(whole["additionalProperties"], false, "{name}");
    }
    // The tool of every row, and none but these: what JSON cannot carry is left out.
    let mut wanted: Vec<&str> = rows.iter().map(|row| row.0).chain(["numberMap", "note"]).collect();
    let mut found = names(&tools);
    wanted.sort_unstable();
    wanted.dedup();
    found.sort_unstable();
    assert_eq!(found, wanted);
    let place = &tool(&tools, "tree")["argument_schema"]["$defs"]["Tree"];
    assert_eq!(
        place,
        &read(
            r##"{"type":"object","properties":{"label":{"type":"string","description":"What it is called."},
            "branches":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["label"],"additionalProperties":false}"##
        )
    );
}

#[test]
fn what_may_be_left_out_is_not_required() {
    let tools = tools("types");
    let optional: Vec<&str> = tools
        .iter()
        .filter(|tool| {
            let required = tool["argument_schema"]["required"].as_array();
            !required.is_some_and(|required| required.contains(&json!("value")))
        })
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(optional, ["optional", "bracketed", "defaulted", "perhaps", "rest"]);
}

#[test]
fn every_value_reaches_the_function_as_its_type_and_comes_back() {
    let host = scripts();
    let more: &[Row] = &[
        (
            "numberMap",
            "",
            r#"{"1":"2026-01-31T12:00:00.000Z"}"#,
            "Map{number:Date}",
            None,
        ),
        (
            "note",
            "",
            r#"{"since":"2026-01-31T12:00:00.000Z","by":{"lat":1,"lon":2}}"#,
            "{since:Date,by:{lat:number,lon:number}}",
            None,
        ),
    ];
    for (name, _, value, js, back) in [SIMPLE, CLASSES, COLLECTIONS, more].concat() {
        let answer = host.call("types", name, &json!({ "value": read(value) }));
        let expected = json!({"js": js, "value": read(back.unwrap_or(value))});
        assert_eq!(answer, Ok(expected), "{name} of {value}");
    }
    let left_out = [
        ("optional", json!({"js": "undefined"})),
        ("defaulted", json!({"js": "number", "value": 5})),
        ("rest", json!({"js": "[]", "value": []})),
    ];
    for (name, expected) in left_out {
        assert_eq!(host.call("types", name, &json!({})), Ok(expected), "{name}");
    }
    for (name, value, why) in [
        (
            "number",
            "9007199254740993",
            "does not fit a JavaScript number, only a bigint",
        ),
        ("date", r#""yesterday""#, "is no date"),
        ("url", r#""no url""#, "Invalid URL"),
        ("regexp", r#""(""#, "Invalid regular expression"),
        ("bigint", "1.5", "Invalid arguments for 'bigint': value"),
        ("place", r#"{"lat":1,"lon":2,"alt":3}"#, "alt: is not allowed"),
        ("letters", r#""c""#, "Invalid arguments for 'letters'"),
    ] {
        let error = host.call("types", name, &json!({ "value": read(value) })).unwrap_err();
        assert!(error.contains(why), "{name}: {error}");
    }
}

#[test]
fn every_type_of_a_result_has_its_schema_and_comes_as_json() {
    let date = read(DATE);
    let rows = [
        ("text", json!({"type": "string"}), json!("x")),
        (
            "promise",
            json!({"type": "number", "description": "how many"}),
            json!(2),
        ),
        ("date", date, json!("1970-01-01T00:00:00.000Z")),
        (
            "map",
            json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}, "uniqueItems": true}}),
            json!({"a": [1, 2]}),
        ),
        ("bytes", read(BASE64), json!("aGk=")),
        (
            "open",
            json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}, "required": ["a"]}),
            json!({"a": 1, "c": "not announced"}),
        ),
        ("big", json!({"type": "integer"}), read("18446744073709551616")),
        (
            "tuple",
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": ["number", "null"]}], "items": false,
                "minItems": 2, "maxItems": 2}),
            json!(["a", null]),
        ),
        ("nothing", json!({"type": "null"}), json!(null)),
        ("perhaps", json!({"type": ["string", "null"]}), json!(null)),
        (
            "generator",
            json!({"type": "array", "items": {"type": "number"}}),
            json!([1, 2]),
        ),
        (
            "later",
            json!({"type": "array", "items": {"type": "string"}}),
            json!(["a", "b"]),
        ),
        (
            "url",
            json!({"type": "string", "format": "uri"}),
            json!("http://localhost/x"),
        ),
        (
            "address",
            json!({"type": "string", "format": "uri"}),
            json!("http://localhost/x"),
        ),
        (
            "untold",
            json!({}),
            json!({"when": "1970-01-01T00:00:00.000Z", "some": {"1": 2}}),
        ),
    ];
    let tools = tools("results");
    assert_eq!(tools.len(), rows.len(), "{:?}", names(&tools));
    let host = scripts();
    for (name, schema, result) in rows {
        assert_eq!(tool(&tools, name)["output_schema"], schema, "{name}");
        assert_eq!(host.call("results", name, &json!({})), Ok(result), "{name}");
    }
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
    let weather = tools("weather");
    assert_eq!(names(&weather), ["current-weather"]);
    assert_eq!(
        weather[0]["argument_schema"],
        json!({"type": "object", "properties": {
            "location": {"type": "string", "description": "The city and optionally the state or country, e.g., \"London\", \"San Francisco, CA\"."},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "The unit.", "default": "celsius"}},
            "required": ["location"], "additionalProperties": false})
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
        // As `node esm.js` would have it, but for the names that only CommonJS has.
        ("esm", "started", json!({}), json!([2, true, "undefined", "undefined"])),
        (
            "weather",
            "current-weather",
            json!({"location": "Lisbon"}),
            json!("12 celsius in Lisbon"),
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

#[test]
fn a_tool_that_ends_the_process_is_named_and_the_next_call_has_a_new_one() {
    let host = scripts();
    let crashed = |status, name: &str| {
        Err(format!(
            "ToolboxCrashed: exit status {status}: process.exit({status}) was called in the tool '{name}'"
        ))
    };
    for (name, status) in [("leave", 3), ("leaveLater", 4)] {
        let before = host.call("faulty", "pid", &json!({})).unwrap();
        assert_eq!(host.call("faulty", name, &json!({})), crashed(status, name));
        let after = host.call("faulty", "pid", &json!({})).unwrap();
        assert_ne!(before, after);
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
fn a_script_that_cannot_be_served_says_why_in_its_last_line() {
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
            "process.exit(0) was called while a.js was loaded: a script that is to be served must not end itself",
        ),
        (
            "a.mjs",
            "await new Promise(() => {})\n",
            "a.mjs: it waits for something that never comes, before it has exported anything",
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
            "a.js: no tools: the tool 'f' is left out: 's': a Symbol cannot be written as JSON",
        ),
    ] {
        let said = checked(name, text);
        let line = said.trim_end().lines().last().unwrap_or_default();
        assert!(line.ends_with(last), "{text}\n{said}");
    }
}
