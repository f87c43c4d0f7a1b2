//! The snippets of `corpus/` and `by_others/`, each against what a person finds in it (`expected.txt`).
#![allow(clippy::expect_used, clippy::print_stdout)] // The allowance for tests ends at their own functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toolhost::migrate::scan::report::Located;
use toolhost::migrate::scan::rewrite::rewrite;
use toolhost::migrate::scan::{Finding, Kind, Language, What, scan};

/// File, `line:column`, kind, `toolbox_id`, what `--fix` does.
type Row = [String; 5];

/// Snippets by whoever wrote the scan, and by others.
const OWN: &str = "corpus";
const OTHERS: &str = "by_others";

pub(crate) fn folder() -> PathBuf {
    folder_of(OWN)
}

fn folder_of(corpus: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/migrate_scan")
        .join(corpus)
}

/// Every snippet by its path in the corpus of whoever wrote the scan.
pub(crate) fn snippets() -> BTreeMap<String, String> {
    snippets_of(OWN)
}

/// Every snippet, by its path in its corpus.
pub(crate) fn all_snippets() -> BTreeMap<String, String> {
    [OWN, OTHERS].into_iter().flat_map(snippets_of).collect()
}

fn snippets_of(corpus: &str) -> BTreeMap<String, String> {
    let folder = folder_of(corpus);
    let mut found = BTreeMap::new();
    for group in std::fs::read_dir(&folder).expect("the corpus") {
        let group = group.expect("an entry").path();
        if !group.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&group).expect("snippets") {
            let path = file.expect("an entry").path();
            let name = path.strip_prefix(&folder).expect("below it").display().to_string();
            found.insert(name, std::fs::read_to_string(&path).expect("a snippet"));
        }
    }
    found
}

/// What a person wrote down.
#[derive(Default)]
struct Expected {
    /// Is to be found.
    wanted: BTreeSet<Row>,
    /// Is known to be missed.
    missed: BTreeSet<Row>,
    /// Is found, and known to be a false alarm.
    alarms: BTreeSet<Row>,
    /// All the files that are named.
    files: BTreeSet<String>,
}

fn expected(corpus: &str) -> Expected {
    let text = std::fs::read_to_string(folder_of(corpus).join("expected.txt")).expect("expected.txt");
    let mut expected = Expected::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<String> = line.split("  ").map(str::to_owned).collect();
        expected.files.insert(words[0].clone());
        if words[1] == "-" {
            continue;
        }
        let mut row: Row = words.try_into().expect("five columns");
        if row[4] == "alarm" {
            row[4] = "left".to_owned();
            expected.alarms.insert(row);
        } else if row[4] == "missed" {
            expected.missed.insert(row);
        } else {
            expected.wanted.insert(row);
        }
    }
    expected
}

fn row(path: &str, located: &Located) -> Row {
    let finding = &located.finding;
    let id = match finding.what {
        What::Arguments { .. } | What::Unfinished => "-",
        _ => &finding.shown_id,
    };
    let place = format!("{}:{}", located.region.line, located.region.column);
    let fix = if finding.fix.is_ok() { "fix" } else { "left" };
    [path, &place, finding.kind.name(), id, fix].map(str::to_owned)
}

fn found_in(path: &str, text: &str) -> BTreeSet<Row> {
    let language = Language::of_name(Path::new(path)).expect("a language");
    let found = scan(text, language).into_iter();
    found
        .map(|finding| row(path, &Located::of(path, text, finding)))
        .collect()
}

/// Compares a corpus with what is found in it, prints precision and recall, and gives the recall.
fn compare(corpus: &str, group: &str) -> f64 {
    let mut expected = expected(corpus);
    let mut snippets = snippets_of(corpus);
    assert_eq!(
        snippets.keys().cloned().collect::<BTreeSet<_>>(),
        expected.files,
        "every snippet is judged"
    );
    snippets.retain(|path, _| path.starts_with(group));
    for rows in [&mut expected.wanted, &mut expected.missed, &mut expected.alarms] {
        rows.retain(|row| row[0].starts_with(group));
    }
    let Expected {
        wanted, missed, alarms, ..
    } = expected;
    let found: BTreeSet<Row> = snippets.iter().flat_map(|(path, text)| found_in(path, text)).collect();
    let right = found.intersection(&wanted).count() as f64;
    let precision = right / found.len() as f64;
    let recall = right / (wanted.len() + missed.len()) as f64;
    println!(
        "{corpus}/{group}: {} snippets, {} findings expected, {} found: precision {precision:.3}, recall {recall:.3}",
        snippets.len(),
        wanted.len() + missed.len(),
        found.len()
    );
    let lost: Vec<_> = wanted.difference(&found).collect();
    let wrong: Vec<_> = found
        .iter()
        .filter(|row| !wanted.contains(*row) && !alarms.contains(*row))
        .collect();
    let gained: Vec<_> = found.intersection(&missed).collect();
    let calm: Vec<_> = alarms.difference(&found).collect();
    assert!(lost.is_empty(), "not found: {lost:#?}\nfound instead: {wrong:#?}");
    assert!(wrong.is_empty(), "found, and not expected: {wrong:#?}");
    assert!(
        gained.is_empty() && calm.is_empty(),
        "better than written down: {gained:#?} {calm:#?}"
    );
    recall
}

#[test]
fn what_a_person_finds_is_found_at_its_line_and_column_and_nothing_else() {
    assert!(snippets().len() >= 40);
    let recall = compare(OWN, "");
    // With all of the above this is the share of what is known to be missed.
    assert!(recall >= 0.98, "{recall}");
    assert!(
        !expected(OWN).missed.is_empty(),
        "the corpus is honest about what cannot be found"
    );
}

#[test]
fn what_others_wrote_who_did_not_write_the_scan_is_found_as_well() {
    assert!(snippets_of(OTHERS).len() >= 60);
    for (group, least) in [("unread", 0.99), ("read", 0.98), ("modeled", 0.97), ("after", 1.0)] {
        let recall = compare(OTHERS, group);
        assert!(recall >= least, "{group}: {recall}");
    }
    let expected = expected(OTHERS);
    assert!(!expected.missed.is_empty() && !expected.alarms.is_empty(), "as honest");
}

#[test]
fn true_and_false_ones_are_both_in_the_corpus_and_so_is_every_language() {
    let Expected { wanted, files, .. } = expected(OWN);
    let with_findings: BTreeSet<_> = wanted.iter().map(|row| row[0].clone()).collect();
    assert!(
        files.difference(&with_findings).count() >= 7,
        "snippets in which nothing is wrong"
    );
    for language in ["python", "javascript", "rust", "shell", "yaml", "json", "markdown"] {
        let has = |path: &&String| path.starts_with(language);
        assert!(with_findings.iter().any(|path| has(&path)), "{language}");
        assert!(
            files.difference(&with_findings).any(|path| has(&path)),
            "{language} without any"
        );
    }
    for kind in [Kind::Caller, Kind::Host, Kind::Listener, Kind::Arguments, Kind::Mention] {
        assert!(wanted.iter().any(|row| row[2] == kind.name()), "{}", kind.name());
    }
}

#[test]
fn a_rewritten_snippet_has_lost_what_was_certain_and_keeps_the_rest() {
    let mut rewritten = 0;
    for (path, text) in all_snippets() {
        let language = Language::of_name(Path::new(&path)).expect("a language");
        let before = scan(&text, language);
        let Some(new) = rewrite(&text, language, &before).expect("it holds still") else {
            continue;
        };
        let after = scan(&new.text, language);
        let titles = |found: &[Finding]| {
            let left = found.iter().filter(|finding| finding.fix.is_err());
            left.map(Finding::title).collect::<Vec<_>>()
        };
        // There may be more than before: a constant that nothing in the file is joined with any longer.
        let mut rest = titles(&after);
        for title in titles(&before) {
            let at = rest.iter().position(|other| *other == title);
            rest.swap_remove(at.unwrap_or_else(|| panic!("{path} has lost {title}:\n{}", new.text)));
        }
        assert!(rest.len() <= 2, "{path}: {rest:?}\n{}", new.text);
        assert_eq!(rewrite(&new.text, language, &after), Ok(None), "{path}");
        assert_eq!(text.contains("\r\n"), new.text.contains("\r\n"), "{path}");
        assert_eq!(
            new.text.replace("\r\n", "").contains('\r'),
            text.replace("\r\n", "").contains('\r'),
            "{path}"
        );
        assert_eq!(text.starts_with('\u{feff}'), new.text.starts_with('\u{feff}'), "{path}");
        rewritten += 1;
    }
    assert!(rewritten >= 50, "{rewritten}");
}

#[test]
fn text_that_is_cut_off_or_in_another_language_never_stops_a_scan() {
    let languages = [
        Language::Python,
        Language::JavaScript,
        Language::Rust,
        Language::Shell,
        Language::Yaml,
        Language::Json,
        Language::Markdown,
    ];
    let mut found = 0;
    for (path, text) in snippets() {
        let cuts = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).step_by(23);
        for cut in cuts {
            let (start, end) = text.split_at(cut);
            // What comes first is closed by nothing, and what comes then was opened by nothing.
            let turned = format!("{end}{start}");
            for part in [start, turned.as_str()] {
                for language in languages {
                    for finding in scan(part, language) {
                        assert!(
                            part.get(finding.span.clone()).is_some(),
                            "{path} as {language:?}: {finding:?}\n{part}"
                        );
                        found += 1;
                    }
                    let findings = scan(part, language);
                    // Told, or done: either is fine for what is no program any more.
                    rewrite(part, language, &findings).ok();
                }
            }
        }
    }
    assert!(found > 10_000, "{found}");
}
