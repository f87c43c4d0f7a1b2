//! The table in `tests/README.md`: no case is missing, and no test of it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The cases there are.
const CASES: [u32; 86] = [
    1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41, 43, 44,
    46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73, 74, 76, 77, 79, 80, 82, 83, 85, 86, 88,
    89, 91, 92, 94, 95, 97, 98, 100, 101, 103, 104, 106, 107, 109, 110, 112, 113, 115, 116, 118, 119, 121, 122, 124,
    125, 127, 128,
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Case and tests of each row.
fn rows() -> Vec<(u32, String)> {
    let text = std::fs::read_to_string(root().join("tests/README.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| F")?.splitn(3, " | ");
        let case = cells.next()?.parse().unwrap();
        Some((case, cells.nth(1)?.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// Files that may hold a module: `a::b` of the library, or of a test binary.
fn files(modules: &[&str]) -> Vec<PathBuf> {
    let (folder, below) = match modules {
        ["toolhost", below @ ..] => ("src".to_owned(), below),
        _ => ("tests".to_owned(), modules),
    };
    let named: Vec<&str> = below.iter().copied().filter(|module| *module != "tests").collect();
    let stem = format!("{folder}/{}", named.join("/"));
    let ends = [".rs", "/mod.rs", "/main.rs", "/tests.rs", "/tests/mod.rs"];
    ends.iter().map(|end| root().join(format!("{stem}{end}"))).collect()
}

fn exists(test: &str) -> bool {
    let parts: Vec<&str> = test.split("::").collect();
    let Some((name, modules)) = parts.split_last() else {
        return false;
    };
    let is_there = |file: PathBuf| std::fs::read_to_string(file).is_ok_and(|text| has_test(&text, name));
    files(modules).into_iter().any(is_there)
}

/// Whether `text` has a test of that name, and not a function that tests share.
fn has_test(text: &str, name: &str) -> bool {
    let before = text.split_once(&format!("fn {name}(")).map(|(before, _)| before);
    let attributes = before.and_then(|before| before.rsplit("\n\n").next());
    attributes.is_some_and(|attributes| attributes.contains("test]") || attributes.contains("test("))
}

/// Whether a case of the conformance suite has this title.
fn has_title(title: &str) -> bool {
    let mut cases = std::fs::read_dir(root().join("tests/conformance")).unwrap();
    cases.any(|entry| {
        let path = entry.unwrap().path();
        path.extension().is_some_and(|extension| extension == "py")
            && std::fs::read_to_string(path).unwrap().contains(&format!("\"{title}\""))
    })
}

#[test]
fn every_case_has_a_test_that_exists_or_the_reason_why_not() {
    let rows = rows();
    let cases: Vec<u32> = rows.iter().map(|(case, _)| *case).collect();
    assert_eq!(cases, CASES, "every case once, in order");
    let mut seen = BTreeSet::new();
    for (case, tests) in rows {
        let mut known = 0;
        for word in tests.split('`').skip(1).step_by(2) {
            let there = match word.strip_prefix("conformance: ") {
                Some(title) => has_title(title),
                None if word.contains("::") => exists(word),
                // Another word, such as a key.
                None => continue,
            };
            assert!(there, "F{case:03} names {word}, which is not there");
            seen.insert(word.to_owned());
            known += 1;
        }
        let reason = tests.strip_prefix("left out: ").is_some_and(|reason| reason.len() > 20);
        assert!(known > 0 || reason, "F{case:03} has neither a test nor a reason");
    }
    assert!(seen.len() > 100, "{} tests", seen.len());
}

#[test]
fn a_name_of_no_test_is_found_out() {
    assert!(exists("faults::table::a_name_of_no_test_is_found_out"));
    assert!(exists("toolhost::protocol::answer::tests::answers_and_events"));
    assert!(exists("bus_client::a_half_open_link"));
    for wrong in [
        "faults::table::no_such_test",
        "faults::no_such_module::rows",
        "faults::table::has_test",
        "a_half_open_link",
        "",
    ] {
        assert!(!exists(wrong), "{wrong}");
    }
}

/// Each test of `faults/` is there for a case.
#[test]
fn every_test_of_this_binary_stands_in_the_table() {
    let table: String = rows().into_iter().map(|(_, tests)| tests).collect();
    for entry in std::fs::read_dir(root().join("tests/faults")).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if ["table", "child", "sandbox"].contains(&module.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        while lines.any(|line| line.starts_with("#[tokio::test") || line == "#[test]") {
            let function = lines.find_map(|line| line.trim_start_matches("async ").strip_prefix("fn "));
            let name = function.and_then(|rest| rest.split('(').next()).unwrap();
            assert!(
                table.contains(&format!("`faults::{module}::{name}`")),
                "faults::{module}::{name} stands in no row"
            );
        }
    }
}
