//! The text, the schemas and the transcripts in `protocol/` against the types that implement them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolhost::config::{Kind, ToolboxConfig};
use toolhost::json::Text;
use toolhost::protocol::transcript::{self, Step};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files whose types are the wire.
const WIRE: [&str; 8] = [
    "request.rs",
    "answer.rs",
    "answer/error.rs",
    "answer/salvage.rs",
    "describe.rs",
    "describe/fields.rs",
    "describe/tool.rs",
    "parameters.rs",
];

/// FNV-1a over the code of the wire types, without tests, comments and what a formatter moves.
fn fingerprint() -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in WIRE {
        let text = fs::read_to_string(root().join("src/protocol").join(file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for byte in lines.flat_map(str::bytes).filter(|byte| !b" \t,".contains(byte)) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[test]
fn the_text_follows_the_wire_types() {
    let text = fs::read_to_string(root().join("protocol/README.md")).unwrap();
    let named = text.lines().find_map(|line| line.strip_prefix("wire-types: "));
    let current = fingerprint();
    assert_eq!(
        named,
        Some(current.as_str()),
        "the wire types changed: bring protocol/ (README.md, schema, transcripts) up to date with them, then set the \
         line in protocol/README.md to `wire-types: {current}`"
    );
}

fn schema(name: &str) -> Value {
    let text = fs::read_to_string(root().join("protocol/schema").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn transcripts() -> impl Iterator<Item = (&'static str, Vec<Step>)> {
    let all = transcript::GENERIC.iter().chain(transcript::EXAMPLE);
    all.map(|(name, text)| (*name, transcript::parse(text).unwrap()))
}

/// A value a pattern stands for.
fn example_of(pattern: &Value) -> Value {
    match pattern {
        Value::String(text) => match text.as_str() {
            "<any>" => Value::Null,
            "<string>" => json!("x"),
            "<number>" => json!(1),
            "<boolean>" => json!(true),
            "<array>" => json!([]),
            "<object>" => json!({}),
            "<error>" => json!({"type": "E", "message": "x"}),
            _ => pattern.clone(),
        },
        Value::Array(items) => items.iter().map(example_of).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "...");
            Value::Object(
                members
                    .map(|(name, one)| (name.clone(), example_of(one)))
                    .collect::<Map<_, _>>(),
            )
        }
        _ => pattern.clone(),
    }
}

fn toolbox_value(step: &Step) -> Option<Value> {
    match step {
        Step::Toolbox(pattern) => Some(example_of(pattern)),
        Step::ToolboxRaw(line) => serde_json::from_str(line.trim_start_matches('\u{feff}')).ok(),
        _ => None,
    }
}

fn errors(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| error.to_string()).collect()
}

#[test]
fn the_schemas_hold_for_every_line() {
    let request = jsonschema::validator_for(&schema("request.schema.json")).unwrap();
    let answer = jsonschema::validator_for(&schema("answer.schema.json")).unwrap();
    for (name, steps) in transcripts() {
        for step in &steps {
            if let Step::Host(raw) = step {
                let value = serde_json::from_str(raw).unwrap();
                assert_eq!(errors(&request, &value), [""; 0], "{name}: {raw}");
            } else if let Some(value) = toolbox_value(step) {
                assert_eq!(errors(&answer, &value), [""; 0], "{name}: {value}");
            }
        }
    }
}

#[test]
fn the_schema_of_descriptions_holds() {
    let mut whole = schema("answer.schema.json");
    let members = whole.as_object_mut().unwrap();
    members.remove("oneOf");
    members.insert("$ref".into(), json!("#/$defs/description"));
    let description = jsonschema::validator_for(&whole).unwrap();
    let mut seen = 0;
    for (name, steps) in transcripts() {
        for value in steps.iter().filter_map(toolbox_value) {
            if let Some(result) = value.get("result").filter(|result| result.get("tools").is_some()) {
                assert_eq!(errors(&description, result), [""; 0], "{name}");
                seen += 1;
            }
        }
    }
    assert!(seen > 5);
    for bad in [
        json!({}),
        json!({"tools": [{}]}),
        json!({"tools": [{"name": ""}]}),
        json!({"tools": [{"name": "a", "argument_schema": {}, "parameters": []}]}),
        json!({"tools": [{"name": "a", "parameters": [{"name": "p"}]}]}),
        json!({"tools": [], "protocol": 2}),
    ] {
        assert!(!description.is_valid(&bad), "{bad}");
        let read = toolhost::protocol::describe::Description::parse(&bad.to_string());
        assert!(read.is_err(), "{bad}");
    }
}

#[test]
fn every_transcript_is_compiled_in() {
    for (family, known) in [("generic", transcript::GENERIC), ("example", transcript::EXAMPLE)] {
        let folder = root().join("protocol/transcripts").join(family);
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        assert_eq!(files.len(), known.len(), "{family}: {files:?}");
    }
}

#[tokio::test]
async fn a_real_toolbox_holds_the_conversations_of_every_transcript() {
    let argv = ["python3", "reference.py"].map(str::to_owned).to_vec();
    let config = ToolboxConfig {
        config: Text::from(r#"{"lang":"en"}"#.to_owned()),
        ..ToolboxConfig::new("example", Kind::Command(argv), root().join("tests/fixtures"))
    };
    for transcripts in [transcript::EXAMPLE, transcript::GENERIC] {
        let report = toolhost::check::replay(&config, transcripts).await;
        assert!(report.is_good() && report.findings.is_empty(), "{report}");
        assert_eq!(report.tools, ["echo", "fail", "wait"]);
    }
}
