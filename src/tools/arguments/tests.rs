//! Tests of `tools::arguments`.

use super::*;

fn prepare(schema: &str, coerce: bool, kwargs: &str) -> Result<String, String> {
    Arguments::compile(Some(schema), coerce).unwrap().prepare(Some(kwargs))
}

#[test]
fn anything_but_an_object_is_refused() {
    let any = Arguments::compile(None, false).unwrap();
    assert_eq!(any.prepare(None), Ok("{}".to_owned()));
    assert_eq!(any.prepare(Some(" {} ")), Ok("{}".to_owned()));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(127), "]".repeat(127));
    let table = [
        ("null", "arguments: expected an object, got null"),
        ("[]", "arguments: expected an object, got an array"),
        (r#""{\"a\":1}""#, "arguments: expected an object, got a string"),
        ("3", "arguments: expected an object, got a number"),
        ("true", "arguments: expected an object, got a boolean"),
        (&deep, "arguments: nested too deeply (limit 127)"),
        (r#"{"a":"\ud800"}"#, "arguments: a lone surrogate in a string"),
    ];
    let smuggled =
        r#"{"a":{"$serde_json::private::RawValue":"[[[[]]]]"}}"#.replace("[[[[]]]]", &deep.replace('"', "\\\""));
    let nested = format!("{{\"a\":{}{smuggled}{}}}", "[".repeat(60), "]".repeat(60));
    assert!(any.prepare(Some(&nested)).is_err());
    for (kwargs, expected) in table {
        for coerce in [false, true] {
            let any = Arguments::compile(Some("{}"), coerce).unwrap();
            assert_eq!(any.prepare(Some(kwargs)), Err(expected.to_owned()), "{kwargs}");
        }
    }
}

#[test]
fn the_tool_gets_what_was_checked() {
    let any = Arguments::compile(None, false).unwrap();
    let table = [
        (
            r#"{"path":"ok", "n" : 1,"path":"../../etc"}"#,
            r#"{"path":"../../etc","n":1}"#,
        ),
        (r#"{"a":{"b":1,"b":2}}"#, r#"{"a":{"b":2}}"#),
        (
            "{\"n\":[9007199254740993,18446744073709551616,-9223372036854775809,-0,-0.0,1.0,1e2,0.1,117.63331139400017,9007199254740991.0]}",
            "{\"n\":[9007199254740993,18446744073709551616,-9223372036854775809,-0,-0.0,1.0,1e+2,0.1,117.63331139400017,9007199254740991.0]}",
        ),
        (r#"{"\u00e9":"\u0000\/\ud83d\ude00"}"#, r#"{"é":"\u0000/😀"}"#),
    ];
    for (kwargs, expected) in table {
        assert_eq!(any.prepare(Some(kwargs)).unwrap(), expected);
    }
    let schema = r#"{"properties":{"path":{"const":"ok"}}}"#;
    assert!(prepare(schema, false, r#"{"path":"ok","path":"../../etc"}"#).is_err());
    assert_eq!(
        prepare("false", false, "{}"),
        Err("arguments: no value is allowed here".to_owned())
    );
}

#[test]
fn defaults_are_filled_in_before_the_check() {
    let table = [
        (
            r#"{"properties":{"lang":{"type":"string","default":"en"}},"required":["lang"]}"#,
            "{}",
            r#"{"lang":"en"}"#,
        ),
        (
            r#"{"properties":{"lang":{"default":"en"}}}"#,
            r#"{"lang":null}"#,
            r#"{"lang":null}"#,
        ),
        (
            r#"{"properties":{"o":{"properties":{"d":{"default":1.0}}}}}"#,
            r#"{"o":{"x":1}}"#,
            r#"{"o":{"x":1,"d":1.0}}"#,
        ),
        (r#"{"properties":{"o":{"properties":{"d":{"default":1}}}}}"#, "{}", "{}"),
        (
            r#"{"properties":{"o":{"default":{},"properties":{"d":{"default":1}}}}}"#,
            "{}",
            r#"{"o":{"d":1}}"#,
        ),
        (
            r##"{"properties":{"c":{"$ref":"#/$defs/c"},"e":{"$ref":"#/$defs/c","default":"e"}},"$defs":{"c":{"default":"red"}}}"##,
            "{}",
            r#"{"c":"red","e":"e"}"#,
        ),
        (
            r##"{"properties":{"l":{"items":{"$ref":"#/$defs/i"}}},"$defs":{"i":{"properties":{"n":{"default":0}}}}}"##,
            r#"{"l":[{},{"n":5},3]}"#,
            r#"{"l":[{"n":0},{"n":5},3]}"#,
        ),
        (r#"{"allOf":[{"properties":{"a":{"default":1}}}]}"#, "{}", r#"{"a":1}"#),
        (
            r#"{"properties":{"o":{"anyOf":[{"type":"object","properties":{"d":{"default":1}}},{"type":"null"}]}}}"#,
            r#"{"o":{}}"#,
            r#"{"o":{"d":1}}"#,
        ),
        (
            r##"{"properties":{"x":{"$ref":"#","default":{}}}}"##,
            "{}",
            r#"{"x":{}}"#,
        ),
    ];
    for (schema, kwargs, expected) in table {
        assert_eq!(prepare(schema, false, kwargs).as_deref(), Ok(expected), "{schema}");
    }
    // Defaults that multiply stop at a bound.
    let levels: Vec<_> = (0..30)
        .map(|i| {
            let next = format!(r##"{{"$ref":"#/$defs/d{}","default":{{}}}}"##, i + 1);
            format!(r#""d{i}":{{"properties":{{"a":{next},"b":{next}}}}}"#)
        })
        .collect();
    let schema = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d30":{{}}}}}}"##,
        levels.join(",")
    );
    assert!(prepare(&schema, false, "{}").unwrap().len() < 20_000);
}

#[test]
fn coercion_follows_its_table() {
    let table = [
        (r#""integer""#, r#""3""#, "3"),
        (r#""integer""#, r#"" -3 ""#, "-3"),
        (r#""integer""#, r#""3.0""#, "3"),
        (r#""integer""#, r#""+3""#, "3"),
        (r#""integer""#, r#""007""#, "7"),
        (r#""integer""#, r#""18446744073709551616""#, "18446744073709551616"),
        (r#""integer""#, "true", "1"),
        (r#""number""#, r#""1.50""#, "1.50"),
        (r#""number""#, r#""1e3""#, "1e+3"),
        (r#""number""#, r#"".5""#, "0.5"),
        (r#""boolean""#, r#""True""#, "true"),
        (r#""boolean""#, r#""off""#, "false"),
        (r#""boolean""#, "0", "false"),
        (r#""string""#, "3.10", r#""3.10""#),
        (r#""string""#, "false", r#""false""#),
        (r#""array""#, r#""[1, 2]""#, "[1,2]"),
        (r#""object""#, r#""{\"a\":1}""#, r#"{"a":1}"#),
        (r#"["integer","null"]"#, r#""null""#, "null"),
        (r#"["integer","null"]"#, r#""3""#, "3"),
        // What fits already stays as it is.
        (r#"["integer","string"]"#, r#""3""#, r#""3""#),
        (r#""number""#, "1.0", "1.0"),
    ];
    for (kind, value, expected) in table {
        let schema = format!(r#"{{"properties":{{"v":{{"type":{kind}}}}}}}"#);
        let kwargs = format!(r#"{{"v":{value}}}"#);
        assert_eq!(
            prepare(&schema, true, &kwargs),
            Ok(format!(r#"{{"v":{expected}}}"#)),
            "{kind} {value}"
        );
    }
    let refused = [
        (r#""integer""#, r#""3.5""#),
        (r#""integer""#, r#""three""#),
        (r#""integer""#, r#""NaN""#),
        (r#""number""#, r#""inf""#),
        (r#""number""#, "null"),
        (r#""boolean""#, "2"),
        (r#""string""#, "null"),
        (r#""string""#, "[1]"),
        (r#""array""#, r#""1,2""#),
        (r#""object""#, r#""[1]""#),
    ];
    for (kind, value) in refused {
        let schema = format!(r#"{{"properties":{{"v":{{"type":{kind}}}}}}}"#);
        let kwargs = format!(r#"{{"v":{value}}}"#);
        assert!(prepare(&schema, true, &kwargs).is_err(), "{kind} {value}");
    }
    // Never without being asked.
    assert!(prepare(r#"{"properties":{"v":{"type":"integer"}}}"#, false, r#"{"v":"3"}"#).is_err());
}

#[test]
fn coercion_finds_its_way() {
    let schema = r##"{"properties":{
        "n":{"$ref":"#/$defs/n"},
        "opt":{"anyOf":[{"type":"integer"},{"type":"null"}]},
        "all":{"allOf":[{"$ref":"#/$defs/n"},{"maximum":9}]},
        "list":{"type":"array","items":{"type":"integer"}},
        "pair":{"prefixItems":[{"type":"string"},{"type":"boolean"}]},
        "map":{"additionalProperties":{"type":"number"}},
        "deep":{"anyOf":[{"$ref":"#/$defs/o"},{"type":"null"}]}},
        "$defs":{"n":{"type":"integer"},"o":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}}}"##;
    let kwargs =
        r#"{"n":"1","opt":"2","all":"3","list":"[\"4\"]","pair":[5,"yes"],"map":{"x":"6.5"},"deep":{"n":"7"}}"#;
    let expected = r#"{"n":1,"opt":2,"all":3,"list":[4],"pair":["5",true],"map":{"x":6.5},"deep":{"n":7}}"#;
    assert_eq!(prepare(schema, true, kwargs).as_deref(), Ok(expected));
}
