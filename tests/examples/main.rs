//! Every file of `examples/` and `toolboxes/` at work: the real program hosts it, the real bus client calls it, and what
//! comes back is what stands in the tables here. A file that nothing here runs fails the tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

#[path = "../common/scratch.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of it")]
mod scratch;

mod answers;
mod coverage;
mod files;
mod host;
mod hostile;
mod notes;
mod readmes;
mod shipped;
mod system;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use answers::{Call, Expected};
use host::Host;
use serde_json::{Value, json};
use toolhost::config::{Config, process_env};

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The configurations of `examples/`.
fn configurations() -> Vec<PathBuf> {
    let files = coverage::files_below(&root().join("examples"));
    let mut yaml: Vec<_> = files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|ext| ext == "yaml"))
        .collect();
    yaml.sort();
    assert!(!yaml.is_empty());
    yaml
}

/// Makes each call of `calls`, those of one toolbox in their order, and tells which tools these were.
fn make(host: &Host, calls: &[Call]) -> BTreeSet<(String, String)> {
    std::thread::scope(|scope| {
        for toolbox in calls.chunk_by(|call, next| call.toolbox == next.toolbox) {
            scope.spawn(|| make_in_order(host, toolbox));
        }
    });
    calls
        .iter()
        .map(|call| (call.toolbox.to_owned(), call.tool.to_owned()))
        .collect()
}

fn make_in_order(host: &Host, calls: &[Call]) {
    for call in calls {
        let answer = host.call(call.toolbox, call.tool, &call.kwargs);
        let asked = format!("{} {} {}", call.toolbox, call.tool, call.kwargs);
        match (&call.expected, &answer) {
            (Expected::Result(expected), Ok(result)) => assert_eq!(result, expected, "{asked}"),
            (Expected::Error(expected), Err(error)) => assert_eq!(error, expected, "{asked}"),
            (Expected::ErrorWith(parts), Err(error)) => {
                assert!(parts.iter().all(|part| error.contains(part)), "{asked}: {error}");
            }
            (Expected::Satisfies(check), Ok(result)) => check(result),
            _ => panic!("{asked}: {answer:?}"),
        }
    }
}

#[test]
fn every_tool_of_every_example_answers_what_is_expected() {
    for file in configurations() {
        let host = Host::start(&file);
        let called = make(&host, &answers::of(&host));
        let published = host.published();
        let uncalled: Vec<_> = published.difference(&called).collect();
        assert!(
            uncalled.is_empty(),
            "no call in the tables for {uncalled:?} of {}",
            file.display()
        );
    }
}

#[test]
fn every_toolbox_of_every_example_says_what_it_cannot_do() {
    for file in configurations() {
        let host = Host::start(&file);
        for toolbox in host.toolboxes() {
            let answer = host.call(&toolbox, "nope", &json!({}));
            assert_eq!(answer, Err("Unknown tool: 'nope'".to_owned()), "{toolbox}");
        }
    }
}

#[test]
fn the_commands_in_the_comments_of_an_example_work() {
    let mut commands = 0;
    for file in configurations().into_iter().chain(readmes::configurations()) {
        let text = std::fs::read_to_string(&file).expect("a configuration");
        let scratch = scratch::Scratch::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("#   toolhost ")) {
            let words: Vec<_> = line.split_whitespace().take_while(|word| *word != "#").collect();
            if words[0] == "run" {
                continue; // As every other test here does.
            }
            let output = host::toolhost()
                .args(&words)
                .env("XDG_STATE_HOME", scratch.path())
                .current_dir(root())
                .output()
                .expect("the program starts");
            assert!(output.status.success(), "toolhost {line}: {output:?}");
            commands += 1;
        }
    }
    assert!(commands >= 5);
}

#[test]
fn wordnet_without_its_database_says_what_to_install() {
    let scratch = scratch::Scratch::new();
    let file = scratch.path().join("toolhost.yaml");
    let folder = root().join("toolboxes/wordnet");
    let yaml = format!(
        "bus: {{url: embedded}}\ntoolboxes:\n  wordnet:\n    command: [python3, wordnet.py]\n    cwd: {}\n    config: {{dict: /nonexistent}}\n",
        folder.display()
    );
    std::fs::write(&file, yaml).expect("a configuration");
    let host = Host::start(&file);
    let error = host
        .call("wordnet", "define_word", &json!({"word": "serendipity"}))
        .expect_err("no database");
    assert!(
        error.starts_with("FileNotFoundError: no WordNet database in /nonexistent"),
        "{error}"
    );
    assert!(error.contains("wordnet-base"), "{error}");
}

#[test]
fn the_example_has_the_declared_toolboxes_as_they_are_shipped() {
    let load = |file: &Path| Config::load(file, &process_env).expect("a good configuration");
    let example = load(&root().join("examples/toolhost.yaml"));
    for file in readmes::configurations() {
        let shipped = load(&file).toolboxes.remove(0);
        let copy = example.toolboxes.iter().find(|toolbox| toolbox.id == shipped.id);
        let copy = copy.expect("its place in the example");
        assert_eq!(copy.kind, shipped.kind, "{}", shipped.id);
        assert_eq!(copy.env, shipped.env, "{}", shipped.id);
    }
}

#[test]
fn no_file_of_examples_and_toolboxes_is_left_out() {
    let configurations: Vec<_> = configurations().into_iter().chain(readmes::configurations()).collect();
    let covered = coverage::covered(&configurations);
    let all: BTreeSet<_> = ["examples", "toolboxes"]
        .iter()
        .flat_map(|folder| coverage::files_below(&root().join(folder)))
        .collect();
    let left_out: Vec<_> = all.difference(&covered).collect();
    assert!(left_out.is_empty(), "run by no test: {left_out:#?}");
}

/// Every name that the schema of the configuration knows as a key.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        found.extend(properties.keys().cloned());
    }
    match schema {
        Value::Object(members) => members.values().for_each(|member| keys(member, found)),
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_configuration_stands_in_the_example() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect(file);
    let schema: Value = serde_json::from_str(&read("protocol/config.schema.json")).expect("a schema");
    let mut known = BTreeSet::new();
    keys(&schema, &mut known);
    assert!(known.len() > 50, "{known:?}");
    let example = read("examples/toolhost.yaml");
    let words: BTreeSet<&str> = example
        .split(|c: char| c.is_whitespace() || "{},".contains(c))
        .filter_map(|word| word.strip_suffix(':'))
        .collect();
    let absent: Vec<_> = known.iter().filter(|key| !words.contains(key.as_str())).collect();
    assert!(absent.is_empty(), "in no line of examples/toolhost.yaml: {absent:?}");
}
