//! One tool in every way a tool can be made: the same result from each, as many lines as the table in `toolboxes/README.md`
//! says, and beside them the plugin for OVOS that the same tool would have to be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test starts programs as a user does, and panics where it cannot go on"
)]

#[path = "../common/mod.rs"]
#[allow(unused_imports, reason = "each test binary uses its own part of it")]
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use common::caller::{Caller, LIST};
use common::embedded::Embedded;
use common::host::Host;
use common::peers::python_command;
use common::scratch::Scratch;

/// The ways, by their folder, in the order of the table.
const WAYS: [&str; 9] = [
    "declared",
    "python",
    "bash",
    "javascript",
    "helper-python",
    "helper-bash",
    "helper-javascript",
    "protocol-python",
    "protocol-bash",
];
const PLUGIN: &str = "plugin";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder(way: &str) -> PathBuf {
    root().join("tests/wrapping").join(way)
}

/// Every file of a way.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_compiled = |path: &PathBuf| path.ends_with("__pycache__");
    files.extend(
        folders
            .iter()
            .filter(|path| !is_compiled(path))
            .flat_map(|path| self::files(path)),
    );
    files
}

/// The lines that are not blank. Comments count: those of a script are its schema, and there are no others.
fn lines(file: &Path) -> usize {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Lines of code, of YAML, and of packaging.
fn measure(way: &str) -> [usize; 3] {
    let mut counts = [0; 3];
    for file in files(&folder(way)) {
        match file.extension().and_then(|ending| ending.to_str()) {
            // `toolboxes:` stands once, however many there are.
            Some("yaml") => counts[1] += lines(&file) - 1,
            Some("toml") => counts[2] += lines(&file),
            _ => counts[0] += lines(&file),
        }
    }
    counts
}

/// The rows of the table: the folder a row links to, and its numbers.
fn table() -> Vec<(String, Vec<usize>)> {
    let page = std::fs::read_to_string(root().join("toolboxes/README.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.split_once("](../tests/wrapping/"));
    rows.map(|(_, rest)| {
        let (way, numbers) = rest.split_once(')').unwrap();
        let cells = numbers.split('|').map(str::trim).filter(|cell| !cell.is_empty());
        (
            way.trim_end_matches('/').to_owned(),
            cells.map(|cell| cell.parse().unwrap()).collect(),
        )
    })
    .collect()
}

#[test]
fn the_table_says_how_many_lines_each_way_takes() {
    let expected: Vec<_> = WAYS
        .iter()
        .chain(&[PLUGIN])
        .map(|way| ((*way).to_owned(), measure(way).to_vec()))
        .collect();
    assert_eq!(table(), expected);
}

/// Hosts the tool in every way at once, each from its own YAML, and beside it the helper it was copied with.
async fn hosted(bus: &Embedded) -> Host {
    let mut host = Host::launch_with(&json!({}), |command| {
        let place = command.get_current_dir().expect("its folder");
        let mut yaml = "toolboxes:\n".to_owned();
        for way in WAYS {
            let copied = Command::new("cp").arg("-r").arg(folder(way)).arg(place).status();
            assert!(copied.unwrap().success());
            let own = std::fs::read_to_string(folder(way).join("toolhost.yaml")).unwrap();
            // Each file stands in a folder of its own; here one file has them all.
            yaml += &own
                .strip_prefix("toolboxes:\n")
                .unwrap()
                .replace("./", &format!("./{way}/"));
            for helper in ["toolhost.py", "toolhost.sh", "toolhost.mjs"]
                .iter()
                .filter(|_| way.starts_with("helper-"))
            {
                std::fs::copy(root().join("protocol").join(helper), place.join(way).join(helper)).unwrap();
            }
        }
        std::fs::write(place.join("toolhost.yaml"), yaml).unwrap();
        std::fs::write(place.join("a log.txt"), text()).unwrap();
        command.args(["--bus", &bus.url]);
    });
    host.ready().await;
    host
}

/// Twelve lines, the last of them blank.
fn text() -> String {
    let line = |number| {
        if number == 12 {
            "\n".to_owned()
        } else {
            format!("line {number} \"ä\"\n")
        }
    };
    (1..=12).map(line).collect()
}

fn last(count: usize) -> Value {
    let text = text();
    let all: Vec<&str> = text.lines().collect();
    json!({"lines": all[all.len() - count..]})
}

#[tokio::test]
async fn every_way_gives_the_same_tool() {
    let bus = Embedded::start().await;
    let host = hosted(&bus).await;
    let mut caller = Caller::connect(&bus.url).await;
    let listed = caller.ask(LIST, &json!({})).await;
    assert_eq!(listed["tools"].as_array().unwrap().len(), WAYS.len(), "{listed}");
    let file = host.folder().join("a log.txt");
    for way in WAYS {
        let is_it = |tool: &&Value| tool["toolbox_id"] == way;
        let tool = listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("no {way}"));
        assert_eq!(tool["description"], "The last lines of a text file.", "{way}");
        let schema = &tool["argument_schema"];
        assert_eq!(schema["required"], json!(["file"]), "{way}");
        assert_eq!(
            schema["properties"]["file"],
            json!({"type": "string", "description": "The file."}),
            "{way}"
        );
        assert_eq!(schema["properties"]["count"]["description"], "How many lines.", "{way}");
        assert_eq!(schema["properties"]["count"]["default"], 10, "{way}");
        for (kwargs, expected) in [
            (json!({"file": file}), last(10)),
            (json!({"file": file, "count": 3}), last(3)),
            (json!({"file": file, "count": 0}), last(0)),
            (json!({"file": file, "count": 99}), last(12)),
            (json!({"file": "/dev/null"}), json!({"lines": []})),
        ] {
            assert_eq!(caller.call(way, "last_lines", &kwargs).await, Ok(expected), "{way}");
        }
        let error = caller
            .call(way, "last_lines", &json!({"file": "/no/such"}))
            .await
            .unwrap_err();
        assert!(error.contains("/no/such"), "{way}: {error}");
        let error = caller
            .call(way, "last_lines", &json!({"count": "3"}))
            .await
            .unwrap_err();
        assert!(
            error.starts_with("Invalid arguments for 'last_lines': "),
            "{way}: {error}"
        );
    }
    host.stop().await;
}

/// Finds the plugin as OVOS does, calls it, and prints what comes back.
const OVOS: &str = r#"
import json, sys
from ovos_plugin_manager.utils import PluginTypes, find_plugins
toolbox = find_plugins(PluginTypes.AGENT_TOOLBOX)["last-lines-tools"]()
[tool] = toolbox.tool_json_list
results = [toolbox.call_tool("last_lines", kwargs).model_dump(mode="json") for kwargs in json.loads(sys.argv[1])]
try:
    error = toolbox.call_tool("last_lines", {"file": "/no/such"})
except Exception as raised:
    error = str(raised.__cause__)
print(json.dumps({"description": tool["description"], "required": tool["argument_schema"]["required"],
                  "results": results, "error": error}))
"#;

#[test]
fn the_plugin_beside_them_is_one_that_ovos_loads() {
    let scratch = Scratch::new();
    let place = scratch.path().join("plugin");
    let copied = Command::new("cp").arg("-r").arg(folder(PLUGIN)).arg(&place).status();
    assert!(copied.unwrap().success());
    let file = scratch.path().join("log.txt");
    std::fs::write(&file, text()).unwrap();
    // What an editable installation leaves behind: the entry points, read from pyproject.toml.
    let mut install = python_command(scratch.path());
    install
        .args(["-c", "import setuptools; setuptools.setup()", "-q", "egg_info"])
        .current_dir(&place);
    let installed = install.output().unwrap();
    assert!(installed.status.success(), "{installed:?}");

    let calls = json!([{"file": file}, {"file": file, "count": 3}, {"file": file, "count": 0}]).to_string();
    let mut ovos = python_command(scratch.path());
    let output = ovos
        .args(["-c", OVOS, &calls])
        .env("PYTHONPATH", &place)
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(
        output
            .stdout
            .split(|byte| *byte == b'\n')
            .rfind(|line| !line.is_empty())
            .unwrap_or_default(),
    )
    .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(said["results"], json!([last(10), last(3), last(0)]));
    assert_eq!(said["description"], "The last lines of a text file.");
    assert_eq!(said["required"], json!(["file"]));
    assert!(said["error"].as_str().unwrap().contains("/no/such"), "{said}");
}
