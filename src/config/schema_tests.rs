//! Tests of `config::schema`.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::config::{Config, bus, declared, read, toolbox};

const FULL: &str = include_str!("../../tests/config_faults/full.yaml");

fn value() -> Value {
    serde_json::from_str(&schema()).unwrap()
}

#[test]
fn the_file_in_protocol_is_this_schema() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/config.schema.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, schema()).unwrap();
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        stored,
        schema(),
        "UPDATE=1 cargo test --lib config::schema writes {} anew",
        file.display()
    );
}

#[test]
fn reader_and_schema_know_the_same_keys_in_the_same_order() {
    let schema = value();
    for (place, known) in [
        ("/properties", read::TOP_KEYS),
        ("/$defs/Bus/properties", bus::BUS_KEYS),
        ("/$defs/Toolbox/properties", toolbox::KEYS),
        ("/$defs/Restart/properties", toolbox::RESTART_KEYS),
        ("/$defs/Tool/properties", declared::TOOL_KEYS),
        ("/$defs/Parameter/properties", declared::PARAMETER_KEYS),
        ("/$defs/Hints/properties", declared::HINT_KEYS),
    ] {
        let properties = schema.pointer(place).and_then(Value::as_object);
        let keys: Vec<_> = properties.unwrap_or_else(|| panic!("{place}")).keys().collect();
        assert_eq!(keys, known, "{place}");
        let described = properties
            .into_iter()
            .flatten()
            .all(|(_, key)| key.get("description").is_some());
        assert!(described, "{place}");
    }
}

/// The schema's word on a file, aliases and `<<` resolved as an editor does.
fn accepts(text: &str) -> bool {
    let mut yaml: serde_yaml::Value = serde_yaml::from_str(text).unwrap();
    yaml.apply_merge().unwrap();
    jsonschema::validator_for(&value())
        .unwrap()
        .is_valid(&serde_json::to_value(yaml).unwrap())
}

#[test]
fn reader_and_schema_agree_on_files() {
    let toolbox = |keys: &str| format!("toolboxes: {{a: {{command: [x], {keys}}}}}");
    let mut files = vec![FULL.to_owned()];
    let good = [
        "",
        "timeout: 5",
        "timeout: 0.5",
        "timeout: 1h 30m",
        "max_line: 2048",
        "max_line: 8 MB",
        "env: {A: 1, B: true}",
        "env: ",
        "config: ",
        "processes: '2'",
        "start: lazy",
        "idle_timeout: 10m",
        "idle_timeout: never",
        "allow: ['*']",
        "restart: {give_up_after: 5, within: 1h}",
    ];
    files.extend(good.map(toolbox));
    files.extend(
        [
            "toolboxes: {a: {script: ./x.py, python: python3, concurrent: true, requires: [jq]}}",
            "toolboxes: {a: {tools: {t: {run: [x, ~, 1, [a, '{b}']], parameters: {b: {type: string, default: 1x}}}}}}",
            "toolboxes: {a: {tools: {t: {shell: x, accept_exit: [0, 1], hints: {readOnly: true}}}}}",
            "toolboxes:",
            "{bus: embedded, toolboxes: {}}",
            "{bus: , toolboxes: {}, x-a: 1}",
        ]
        .map(str::to_owned),
    );
    for text in files {
        assert!(accepts(&text), "{text}");
    }
    let bad = [
        "timeout: soon",
        "timeout: ",
        "timeout: 0",
        "processes: 0",
        "processes: two",
        "max_line: 8M",
        "mode: once",
        "env: {A: ~}",
        "env: [A=1]",
        "restart: never",
        "restart: {wen: never}",
        "timout: 5s",
        "script: x",
        "start: late",
        "idle_timeout: soon",
        "required: yes please",
        "namespace: a b",
        "allow: define",
        "limits: {memory: lots}",
        "limits: {procs: 3}",
        "umask: \"88\"",
        "sandbox: strict",
        "sandbox: {network: maybe}",
    ];
    let mut files: Vec<String> = bad.map(toolbox).into();
    files.extend(
        [
            "toolboxes: {a: {script: ./x.py, concurrent: 0}}",
            "toolboxes: {a: {tools: {}}}",
            "toolboxes: {a: {tools: {t: {}}}}",
            "toolboxes: {a: {tools: {t: {run: df}}}}",
            "toolboxes: {a: {tools: {t: {run: []}}}}",
            "toolboxes: {a: {tools: {t: {run: [x], shell: x}}}}",
            "toolboxes: {a: {tools: {t: {run: [x], accept_exit: 256}}}}",
            "toolboxes: {a: {tools: {t: {run: [x], output: xml}}}}",
            "toolboxes: {a: {tools: {t: {run: [x], parameters: {p: {}}}}}}",
            "toolboxes: {a: {tools: {t: {run: [x], hints: {readonly: true}}}}}",
            "{}",
            "toolboxes: []",
            "toolboxes: {a.b: {command: x}}",
            "{toolboxes: {}, bus: http://x}",
            "{toolboxes: {}, timeout: 5}",
        ]
        .map(str::to_owned),
    );
    for text in files {
        assert!(!accepts(&text), "{text}");
        assert!(Config::parse(&text, Path::new("/x.yaml"), &|_| None).is_err(), "{text}");
    }
}
