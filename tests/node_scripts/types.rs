//! Every type of JSDoc: the schema it becomes, and its values there and back.

use serde_json::json;

use crate::{names, read, scripts, tool, tools};

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
    "name":{"type":"string"}},"additionalProperties":false}"#;
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
    (
        "place",
        PLACE,
        r#"{"lat":1,"lon":2,"name":"x"}"#,
        "{lat:number,lon:number,name:string}",
        None,
    ),
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
    // The host fills in defaults, also within.
    let more: &[Row] = &[
        (
            "place",
            "",
            r#"{"lat":1,"lon":2}"#,
            "{lat:number,lon:number,name:string}",
            Some(r#"{"lat":1,"lon":2,"name":"here"}"#),
        ),
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
            r#"{"since":"2026-01-31T12:00:00.000Z","by":{"lat":1,"lon":2,"name":"x"}}"#,
            "{since:Date,by:{lat:number,lon:number,name:string}}",
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
