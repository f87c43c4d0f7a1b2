//! What the mutants are made of: inputs that stand in the repository anyway, and those of `seeds/`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::laws::BETWEEN;

/// Every law with a corpus.
pub(crate) const NAMES: [&str; 10] = [
    "line", "answer", "message", "yaml", "template", "describe", "bash", "schema", "control", "usage",
];

/// A line between two inputs in a file of `seeds/`.
const NEXT: &str = "\n===\n";

/// The inputs of one law.
pub(crate) fn corpus(name: &str) -> Vec<Vec<u8>> {
    let mut inputs = seeds(name);
    match name {
        "line" => inputs.extend(
            files("protocol/transcripts", &["jsonl"])
                .iter()
                .map(|text| [b"\x10\x07\x20", text.as_slice()].concat()),
        ),
        "answer" => inputs.extend(answers()),
        "yaml" => {
            inputs.extend(files("examples", &["yaml"]));
            inputs.extend(files("toolboxes", &["yaml"]));
            inputs.extend(files("tests/config_faults", &["yaml"]));
        }
        "describe" => inputs.extend(descriptions()),
        "bash" => {
            for folder in ["tests/fixtures/bash", "toolboxes"] {
                inputs.extend(
                    files(folder, &["sh"])
                        .into_iter()
                        .map(|text| [text, BETWEEN.into(), "{}".into()].concat()),
                );
            }
        }
        _ => {}
    }
    inputs
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `seeds/NAME.txt`, many in a file, and `seeds/NAME-*`, one each.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = root().join("tests/properties/seeds");
    let text = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
    let mut inputs: Vec<_> = text
        .trim_end()
        .split(NEXT)
        .map(|input| input.as_bytes().to_vec())
        .collect();
    for path in below(&folder) {
        if path
            .file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}-")))
        {
            inputs.push(std::fs::read(path).unwrap());
        }
    }
    inputs
}

/// The small files below a folder whose names end so.
fn files(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let fits = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| endings.iter().any(|one| ending == *one))
    };
    let texts = below(&root().join(folder))
        .into_iter()
        .filter(fits)
        .map(|path| std::fs::read(path).unwrap());
    texts.filter(|text| text.len() < 16 << 10).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else {
            found.push(path);
        }
    }
    // The order of a folder differs from machine to machine, and with it the cases would.
    found.sort();
    found
}

/// The steps of every transcript.
fn steps() -> Vec<Value> {
    let texts = files("protocol/transcripts", &["jsonl"]);
    let lines = texts.iter().flat_map(|text| std::str::from_utf8(text).unwrap().lines());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What toolboxes say in them.
fn answers() -> Vec<Vec<u8>> {
    let said = |step: Value| match (&step["toolbox"], &step["toolbox_raw"]) {
        (Value::Null, Value::String(raw)) => Some(raw.clone()),
        (Value::Null, _) => None,
        (pattern, _) => Some(pattern.to_string()),
    };
    steps().into_iter().filter_map(said).map(String::into_bytes).collect()
}

/// What toolboxes say of themselves in them, with arguments to call their tools with.
fn descriptions() -> Vec<Vec<u8>> {
    let answers = answers()
        .into_iter()
        .filter_map(|answer| serde_json::from_slice::<Value>(&answer).ok());
    let results = answers
        .map(|mut answer| answer["result"].take())
        .filter(|result| result["tools"].is_array());
    results
        .map(|result| format!("{result}{BETWEEN}{{}}").into_bytes())
        .collect()
}
