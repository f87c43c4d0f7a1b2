//! The YAML file: every fault has a place in it and no value of a variable, and what is put into a file leaves the rest alone.

use std::path::Path;

use toolhost::config::insert::{insert, with_toolboxes};
use toolhost::config::{Config, Faults};

use super::{SECRET, is_told_well};

/// A file that is not there, in a folder that is not either: what a text names beside it is not there, whatever it is called.
const FILE: &str = "/nowhere/at/all/toolhost.yaml";

/// The text of a file.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A file it names by a path of its own would be read, and there may be anything: a device that never ends.
    if text.contains("env_file") && text.contains('/') {
        return;
    }
    let read = load(text);
    if !text.starts_with('\u{feff}') {
        assert_eq!(load(&format!("\u{feff}{text}")), read, "a byte order mark says nothing");
    }
    match &read {
        Ok(config) => {
            assert_eq!(config.file, Path::new(FILE));
            for toolbox in &config.toolboxes {
                let debug = format!("{:?}", toolbox.env);
                assert!(!debug.contains(SECRET), "{debug}");
                assert!(toolbox.processes >= 1 && toolbox.max_result >= 1024);
                assert!(
                    serde_json::from_str::<serde_json::Value>(toolbox.config.as_str())
                        .is_ok_and(|config| config.is_object())
                );
            }
        }
        Err(faults) => told_well(text, faults),
    }
    takes_one_more(text, read.ok().as_ref());
}

fn load(text: &str) -> Result<Config, Faults> {
    Config::parse(text, Path::new(FILE), &environment)
}

/// Every variable that is asked for in small letters is secret, one in capitals is not set.
fn environment(name: &str) -> Option<String> {
    match name {
        "HOME" | "EMPTY" => Some(String::new()),
        _ if name.starts_with("TOKEN") => Some(format!("{SECRET}{{{name}}}: [\n")),
        _ => None,
    }
}

fn told_well(text: &str, faults: &Faults) {
    let lines: Vec<&str> = lines(text);
    assert!(!faults.is_empty());
    for fault in faults.iter() {
        assert_eq!(fault.file, Path::new(FILE));
        let at = fault.at.expect("a fault in the text has a place in it");
        assert!(
            (1..=lines.len()).contains(&at.line),
            "line {} of {}: {fault}",
            at.line,
            lines.len()
        );
        let width = lines[at.line - 1].chars().count();
        assert!(
            (1..=width + 2).contains(&at.column),
            "column {} of {width}: {fault}",
            at.column
        );
        let shown = fault.to_string();
        assert!(is_told_well(&shown), "{shown:?}");
        assert!(text.contains(SECRET) || !shown.contains(SECRET), "{shown}");
    }
    assert_eq!(faults.to_string().lines().count(), faults.len());
}

/// As YAML has them: a carriage return alone ends one too. The end of the text is a place as well.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        lines.push(&rest[..at]);
        let end = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[at + end..];
    }
    lines.push(rest);
    lines
}

/// A toolbox that `toolhost new` puts in is there then, and all that was there before is.
fn takes_one_more(text: &str, before: Option<&Config>) {
    let text = with_toolboxes(text);
    let Ok(inserted) = insert(&text, "brand-new", "brand-new:\n  command: [\"true\"]\n") else {
        return;
    };
    let added = inserted.text.lines().nth(inserted.line - 1).unwrap_or_default();
    assert!(added.contains("brand-new"), "line {}: {added}", inserted.line);
    let kept = text.lines().filter(|line| !line.trim().is_empty()).count();
    let now = inserted.text.lines().filter(|line| !line.trim().is_empty()).count();
    assert_eq!(now, kept + 2, "two lines more, and none less");
    let Some(before) = before else { return };
    let after = load(&inserted.text).unwrap_or_else(|faults| panic!("{faults}\n{}", inserted.text));
    let mut ids: Vec<_> = after.toolboxes.iter().map(|toolbox| toolbox.id.as_str()).collect();
    assert_eq!(ids.pop(), Some("brand-new"));
    let mut rest = after.clone();
    rest.toolboxes.pop();
    assert_eq!(&rest, before);
}
