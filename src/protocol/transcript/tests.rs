//! Tests of `protocol::transcript`.

use super::*;
use crate::protocol::answer::{self, Line};
use crate::protocol::describe::Description;
use crate::protocol::request::Request;

fn all() -> impl Iterator<Item = (&'static str, Vec<Step>)> {
    GENERIC
        .iter()
        .chain(EXAMPLE)
        .map(|(name, text)| (*name, parse(text).unwrap_or_else(|why| panic!("{name}: {why}"))))
}

/// The request a host step stands for, written by the types.
fn rewritten(raw: &str) -> String {
    let members = Members::parse(raw).unwrap();
    let text = |name: &str| members.get(name).map(|raw| raw.get());
    let number = |name: &str| text(name).unwrap().parse().unwrap();
    let string = |name: &str| serde_json::from_str::<String>(text(name).unwrap()).unwrap();
    let (toolbox_id, name);
    let request = match string("op").as_str() {
        "describe" => {
            toolbox_id = string("toolbox_id");
            Request::Describe {
                id: number("id"),
                toolbox_id: &toolbox_id,
                config: text("config").unwrap(),
            }
        }
        "call" => {
            name = string("name");
            Request::Call {
                id: number("id"),
                name: &name,
                kwargs: text("kwargs").unwrap(),
                context: text("context"),
            }
        }
        _ => Request::Cancel {
            target: number("target"),
        },
    };
    let mut out = Vec::new();
    request.write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn host_steps_are_what_the_host_writes() {
    for (name, steps) in all() {
        for step in steps {
            if let Step::Host(raw) = step {
                assert_eq!(rewritten(&raw), format!("{raw}\n"), "{name}");
            }
        }
    }
}

#[test]
fn toolbox_lines_are_understood() {
    for (name, steps) in all() {
        for step in steps {
            let line = match step {
                Step::ToolboxRaw(line) => line,
                Step::Toolbox(pattern) => pattern.to_string(),
                _ => continue,
            };
            let parsed = answer::parse(line.as_bytes());
            let understood = !matches!(parsed, Line::Noise(_) | Line::Faulty { .. } | Line::Blank);
            assert!(understood, "{name}: {line}: {parsed:?}");
        }
    }
}

#[test]
fn the_example_toolbox_describes_itself() {
    let (_, text) = EXAMPLE[0];
    let Step::Toolbox(answer) = &parse(text).unwrap()[1] else {
        panic!("the second step answers describe");
    };
    let description = Description::parse(&answer["result"].to_string()).unwrap();
    assert_eq!(description.warnings, [""; 0]);
    assert_eq!(description.tools.len(), 3);
    assert!(description.capabilities.cancel);
}

#[test]
fn generic_transcripts_hold_for_any_tool() {
    for (name, text) in GENERIC {
        let steps = parse(text).unwrap();
        assert!(!steps.iter().any(|step| matches!(step, Step::ToolboxRaw(_))), "{name}");
        assert_eq!(steps[steps.len() - 2..], [Step::Close, Step::Exits], "{name}");
    }
}

#[test]
fn patterns() {
    let table = [
        ("1", "1.0", true),
        ("1", "2", false),
        ("9007199254740993", "9007199254740992", false),
        ("18446744073709551616", "18446744073709551616", true),
        (r#""<any>""#, "null", true),
        (r#""<string>""#, "3", false),
        (r#""<number>""#, "3e400", true),
        (r#""<array>""#, "[]", true),
        (r#""<object>""#, "[]", false),
        (r#""<boolean>""#, "false", true),
        (r#""<error>""#, r#""E: x""#, true),
        (r#""<error>""#, r#"{"message":"x"}"#, true),
        (r#""<error>""#, r#""""#, false),
        (r#""<error>""#, "3", false),
        (r#""<b>""#, r#""<b>""#, true),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
        (r#"{"a":1,"...":"<any>"}"#, r#"{"b":2,"a":1}"#, true),
        (r#"{"a":1,"...":"<any>"}"#, r#"{"b":2}"#, false),
        (r#"[1,"<any>"]"#, "[1,[]]", true),
        ("[1]", "[1,2]", false),
    ];
    for (pattern, value, expected) in table {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(matches(&parse(pattern), &parse(value)), expected, "{pattern} {value}");
    }
    let pattern = serde_json::json!({"id": 7, "result": "<any>"});
    for (line, expected) in [
        (r#"{"id":"7","result":1}"#, true),
        (r#" {"id":7.0,"result":1} "#, true),
        (r#"{"id":8,"result":1}"#, false),
        (r#"{"id":null,"result":1}"#, false),
        ("banner", false),
    ] {
        assert_eq!(matches_line(&pattern, line.as_bytes()), expected, "{line}");
    }
}

#[test]
fn what_is_no_step_is_refused() {
    for line in [
        "3",
        "{}",
        r#"{"close":false}"#,
        r#"{"host":3}"#,
        r#"{"close":true,"exits":true}"#,
        r#"{"x":1}"#,
    ] {
        assert!(
            parse(&format!("{{\"close\":true}}\n\n{line}"))
                .unwrap_err()
                .starts_with("line 3 "),
            "{line}"
        );
    }
}
