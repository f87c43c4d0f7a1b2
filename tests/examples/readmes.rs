//! The README of each toolbox: its YAML, or the file it names, is hosted, its command is run.

use std::path::PathBuf;

use crate::host::toolhost;
use crate::{coverage, root, scratch};

/// Every README below `toolboxes/`.
pub(crate) fn all() -> Vec<PathBuf> {
    let files = coverage::files_below(&root().join("toolboxes"));
    files.into_iter().filter(|file| file.ends_with("README.md")).collect()
}

/// The configurations beside the READMEs, for toolboxes that are nothing else.
pub(crate) fn configurations() -> Vec<PathBuf> {
    let beside = |readme: PathBuf| readme.with_file_name("toolhost.yaml");
    all().into_iter().map(beside).filter(|file| file.is_file()).collect()
}

/// What stands in the fenced blocks marked `language`.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("\n```{language}\n");
    let parts = text.split(opening.as_str()).skip(1);
    parts
        .map(|part| part.split("\n```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn what_the_readme_of_a_toolbox_shows_works() {
    let mut commands = 0;
    // The page beside the toolboxes is followed by tests/readme.
    let page = root().join("toolboxes/README.md");
    for readme in all().into_iter().filter(|readme| *readme != page) {
        let text = std::fs::read_to_string(&readme).expect("a README");
        let scratch = scratch::Scratch::new();
        std::os::unix::fs::symlink(root().join("toolboxes"), scratch.path().join("toolboxes")).expect("a link");
        let mut file = readme.with_file_name("toolhost.yaml");
        if !file.is_file() {
            file = scratch.path().join("toolhost.yaml");
            std::fs::write(&file, blocks(&text, "yaml").concat()).expect("a configuration");
        }
        for line in blocks(&text, "sh").concat().lines() {
            let arguments = line.strip_prefix("toolhost call ").expect("a call");
            // The README speaks of a running host; here the call brings its own.
            let output = toolhost()
                .args(["call", "--config"])
                .arg(&file)
                // What a shell would leave of quotes.
                .args(arguments.replace('\'', "").split_whitespace())
                .env("XDG_STATE_HOME", scratch.path())
                .current_dir(scratch.path())
                .output()
                .expect("the program starts");
            assert!(output.status.success(), "{}: {line}: {output:?}", readme.display());
            commands += 1;
        }
    }
    assert!(commands >= all().len() - 1);
}
