//! Every class of fault a configuration can have: one file each in `config_faults/`, and beside it
//! what toolhost says about it. `UPDATE=1 cargo test --test config_faults` writes that anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]
#![expect(clippy::unwrap_used, reason = "a failing test says so by a panic")]

use std::path::{Path, PathBuf};

use toolhost::config::Config;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config_faults");

/// Stands for a secret in the files, and in no fault.
const SECRET: &str = "hunter2";

fn env(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/a".into()),
        "T" => Some("5s".into()),
        "SPACED" => Some("a b".into()),
        "SECRET" => Some(SECRET.into()),
        _ => None,
    }
}

/// What is said about `file`, without the folder of this machine.
fn said(file: &Path) -> String {
    let said = match Config::load(file, &env) {
        Ok(config) => format!("no fault; {} toolboxes", config.toolboxes.len()),
        Err(faults) => faults.to_string(),
    };
    said.replace(&format!("{FOLDER}/"), "") + "\n"
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_class_of_fault_is_told_as_before() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut different = Vec::new();
    for file in files() {
        let (said, expected) = (said(&file), file.with_extension("expected"));
        if update {
            std::fs::write(&expected, &said).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            different.push(format!("{}:\n{said}", expected.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn no_fault_tells_a_secret_and_every_fault_names_its_file() {
    for file in files() {
        for line in said(&file).lines().filter(|line| !line.starts_with("no fault")) {
            assert!(!line.contains(SECRET), "{line}");
            let named = line.split(':').next().unwrap();
            assert!(Path::new(FOLDER).join(named).exists(), "{line}");
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_a_fault_too() {
    let faults = Config::load(Path::new("tests/config_faults/nowhere.yml"), &env).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "tests/config_faults/nowhere.yml: cannot be read: there is no such file"
    );
}

#[test]
fn a_pipe_in_the_place_of_the_file_is_refused_and_not_waited_for() {
    let pipe = std::env::temp_dir().join(format!("toolhost-test-pipe-{}", std::process::id()));
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let loaded = Config::load(&pipe, &env);
    std::fs::remove_file(&pipe).unwrap();
    assert_eq!(
        loaded.unwrap_err().to_string(),
        format!("{}: cannot be read: it is no file but a pipe", pipe.display())
    );
}
