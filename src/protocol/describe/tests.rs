//! Tests of `protocol::describe`.

use std::time::Duration;

use super::*;

#[test]
fn a_full_description() {
    let raw = r#"{"tools": [
        {"name": "define_word", "description": "Defines.", "argument_schema": {"b": 1.0, "a": 1e2},
         "output_schema": true, "hints": {"readOnly": true, "openWorld": false}, "timeout": "1m 30s",
         "title": "Define", "category": "words", "version": "2", "x-new": 1},
        {"name": "find", "description": "", "parameters": [{"name": "q", "type": "string"}], "timeout": 2.5}
      ], "protocol": 1, "version": "1.2", "description": "Words.",
      "capabilities": ["context", "streaming", "concurrent"]}"#;
    let description = Description::parse(raw).unwrap();
    assert_eq!(
        description,
        Description {
            tools: vec![
                ToolDescription {
                    number: 1,
                    name: "define_word".into(),
                    description: "Defines.".into(),
                    argument_schema: Some(r#"{"b": 1.0, "a": 1e2}"#.into()),
                    output_schema: Some("true".into()),
                    hints: Hints {
                        read_only: Some(true),
                        open_world: Some(false),
                        ..Hints::default()
                    },
                    timeout: Some(Duration::from_secs(90)),
                    title: Some("Define".into()),
                    category: Some("words".into()),
                    version: Some("2".into()),
                },
                ToolDescription {
                    number: 2,
                    name: "find".into(),
                    argument_schema: Some(
                        r#"{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false}"#.into()
                    ),
                    timeout: Some(Duration::from_millis(2500)),
                    ..ToolDescription::default()
                },
            ],
            version: Some("1.2".into()),
            description: Some("Words.".into()),
            capabilities: Capabilities {
                context: true,
                cancel: false,
                concurrent: true,
            },
            unknown_capabilities: vec!["streaming".into()],
            warnings: vec!["the capability 'streaming' is not known and does nothing".into()],
        }
    );
}

#[test]
fn faults_are_plain_and_complete() {
    let tool = |rest: &str| format!(r#"{{"tools":[{{"name":"a","description":"d",{rest}}}]}}"#);
    let named = |name: &str| format!(r#"{{"tools":[{{"name":{name},"description":"d"}}]}}"#);
    let table = [
        (
            "[]".to_owned(),
            "the describe result is an array, expected an object with 'tools'",
        ),
        ("{}".to_owned(), "the describe result has no 'tools'"),
        (r#"{"tools":{}}"#.to_owned(), "'tools' is an object, expected an array"),
        (
            r#"{"tools":[],"protocol":2}"#.to_owned(),
            "the toolbox speaks protocol 2 and this toolhost speaks 1: have the toolbox answer \"protocol\": 1, or \
             run a toolhost that knows 2",
        ),
        (
            r#"{"tools":[],"capabilities":"cancel"}"#.to_owned(),
            "'capabilities' is a string, expected an array",
        ),
        (
            r#"{"tools":[],"capabilities":[1]}"#.to_owned(),
            "a capability is a number, expected its name as a string",
        ),
        (
            r#"{"tools":["a",{"name":"b","description":"d"},{}]}"#.to_owned(),
            "tool 1 is a string, expected an object; tool 3 has no name",
        ),
        (named("5"), "tool 1 has a 'name' that is a number, expected a string"),
        (named(r#""""#), "tool 1 has an empty name"),
        (
            named(r#""a\n""#),
            "tool 1 has a control character in its name (\"a\\n\")",
        ),
        (
            named(r#"" a""#),
            "tool 1 has a name that starts or ends with a blank (' a')",
        ),
        (
            named(&format!("\"{}\"", "x".repeat(129))),
            "tool 1 has a name of over 128 characters",
        ),
        (
            r#"{"tools":[{"name":"a"},{"name":"b"},{"name":"a"}]}"#.to_owned(),
            "'a' is listed twice, as tool 1 and as tool 3",
        ),
        (
            tool(r#""argument_schema":{},"parameters":[]"#),
            "tool 1 ('a') has both argument_schema and parameters: give one of them",
        ),
        (
            tool(r#""parameters":[{"name":"q"}]"#),
            "tool 1 ('a') has a parameter 'q' that has no type, expected one of string, number, integer, boolean, \
             array, object",
        ),
    ];
    for (raw, expected) in table {
        assert_eq!(Description::parse(&raw).unwrap_err(), expected, "{raw}");
    }
    let many = format!(r#"{{"tools":[{}]}}"#, vec!["{}"; 15].join(","));
    assert!(
        Description::parse(&many)
            .unwrap_err()
            .ends_with("; tool 10 has no name; and 5 more")
    );
}

#[test]
fn what_only_adorns_is_dropped_with_a_warning() {
    let raw = r#"{"tools":[{"name":"läs mer","title":3,"hints":{"readOnly":"yes"},"argument_schema":null,
        "output_schema":[1],"timeout":1e19}], "version":1,"protocol":"1","capabilities":["concurent"]}"#;
    let description = Description::parse(raw).unwrap();
    let tool = &description.tools[0];
    assert_eq!((&tool.argument_schema, tool.timeout), (&None, None));
    // Kept: it will not compile, which costs this tool its calls and no other.
    assert_eq!(tool.output_schema.as_deref(), Some("[1]"));
    assert_eq!(
        description.warnings,
        [
            "the describe result has a 'version' that is a number, expected a string: ignored",
            "tool 1 ('läs mer') has a name some models cannot call: they take letters, digits, _ and -, at most 64",
            "tool 1 ('läs mer') has no description: a model cannot tell when to use it",
            "tool 1 ('läs mer') has an output_schema that is an array, expected an object",
            "tool 1 ('läs mer') has a hint 'readOnly' that is no boolean: ignored",
            "tool 1 ('läs mer') has a timeout that is neither a duration such as \"90s\" nor a number of seconds, above 0 \
             and up to a year: it is ignored",
            "tool 1 ('läs mer') has a 'title' that is a number, expected a string: ignored",
            "the capability 'concurent' is not known and does nothing",
        ]
    );
}

#[test]
fn what_a_toolbox_remarks_for_its_owner_is_a_warning_and_nothing_of_it_refuses_the_description() {
    let of = |warnings: &str| {
        let raw = format!(r#"{{"tools": [], "warnings": {warnings}}}"#);
        Description::parse(&raw).unwrap().warnings
    };
    assert_eq!(of(r#"["no tool: a: no hint", "b"]"#), ["no tool: a: no hint", "b"]);
    assert_eq!(of("null"), [""; 0]);
    assert_eq!(
        of(r#""text""#),
        ["the describe result has 'warnings' that are a string, expected an array of strings: ignored"]
    );
    assert_eq!(
        of(r#"[1, "b"]"#),
        ["the describe result has a warning that is no string: ignored", "b"]
    );
    let many = of(&format!("[{}\"x\"]", "\"x\", ".repeat(60)));
    assert_eq!(many.len(), 51);
    assert_eq!(many[50], "and 11 further warnings");
    assert_eq!(of(&format!("[\"{}\"]", "x".repeat(5000)))[0].len(), 603);
}
