//! The toolboxes that `protocol/README.md` shows in its section on the helpers: each is run as a reader would run it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "readme/blocks.rs"]
#[allow(dead_code, reason = "another test needs more of it")]
mod blocks;
#[path = "common/scratch.rs"]
mod scratch;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use scratch::Scratch;

/// What a block is written in, what runs it, the ending of its file, and what a caller of `divide` by 0 reads.
const LANGUAGES: [(&str, &str, &str, &str); 3] = [
    ("python", "python3", "py", "error: ZeroDivisionError: "),
    ("bash", "bash", "sh", "error: ZeroDivisionError: b is 0\n"),
    ("javascript", "node", "mjs", "error: RangeError: b is 0\n"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The section on the helpers.
fn section() -> String {
    let text = fs::read_to_string(root().join("protocol/README.md")).unwrap();
    let (_, section) = text.split_once("\n## 12. Helpers\n").expect("the section");
    section.split("\n## ").next().unwrap_or_default().to_owned()
}

fn toolhost(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs a line that must succeed, and gives what it printed.
fn good(folder: &Path, line: &str) -> String {
    let output = toolhost(folder, line);
    assert!(output.status.success(), "toolhost {line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_toolbox_shown_passes_the_check_without_a_finding_and_its_tools_answer() {
    let blocks = blocks::blocks(&section());
    assert_eq!(blocks.len(), LANGUAGES.len());
    for (language, runner, ending, error) in LANGUAGES {
        let block = blocks.iter().find(|block| block.language == language).unwrap();
        assert!(
            block.body.lines().count() <= 12,
            "ten lines, more or less: {}",
            block.body
        );
        let scratch = Scratch::new();
        let folder = scratch.path();
        let helper = format!("toolhost.{ending}");
        fs::copy(root().join("protocol").join(&helper), folder.join(&helper)).unwrap();
        fs::write(folder.join(format!("sums.{ending}")), &block.body).unwrap();

        let program = format!("{runner} sums.{ending}");
        let checked = good(folder, &format!("check -- {program}"));
        assert_eq!(checked, "ok   check: 2 tools, greet, divide\n", "{language}");
        let entry = format!("toolboxes:\n  sums:\n    command: [{runner}, sums.{ending}]\n");
        fs::write(folder.join("toolhost.yaml"), entry).unwrap();
        let call = |rest: &str| format!("call --config toolhost.yaml sums {rest}");
        for (rest, answer) in [
            ("greet", "\"Hello, world!\"\n"),
            ("greet name=Ada", "\"Hello, Ada!\"\n"),
            ("divide a:=7 b:=2", "3\n"),
        ] {
            assert_eq!(good(folder, &call(rest)), answer, "{language}: {rest}");
        }
        let failed = toolhost(folder, &call("divide a:=7 b:=0"));
        assert_eq!(failed.status.code(), Some(1), "{language}");
        let said = String::from_utf8(failed.stderr).unwrap();
        assert!(said.starts_with(error), "{language}: {said}");
    }
}
