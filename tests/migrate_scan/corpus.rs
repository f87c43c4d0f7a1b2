//! The snippets of `corpus/`, each against what a person finds in it (`corpus/expected.txt`).
#![allow(clippy::expect_used)] // The allowance for tests ends at their own functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toolhost::migrate::scan::report::Located;
use toolhost::migrate::scan::rewrite::rewrite;
use toolhost::migrate::scan::{Finding, Kind, Language, What, scan};

/// File, `line:column`, kind, `toolbox_id`, what `--fix` does.
type Row = [String; 5];

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/migrate_scan/corpus")
}

/// Every snippet by its path in the corpus.
pub(crate) fn snippets() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for language in std::fs::read_dir(folder()).expect("the corpus") {
        let language = language.expect("an entry").path();
        if !language.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&language).expect("snippets") {
            let path = file.expect("an entry").path();
            let name = path.strip_prefix(folder()).expect("below it").display().to_string();
            found.insert(name, std::fs::read_to_string(&path).expect("a snippet"));
        }
    }
    found
}

/// What is expected: those that are to be found, those that are known to be missed, and the files that are named.
fn expected() -> (BTreeSet<Row>, BTreeSet<Row>, BTreeSet<String>) {
    let text = std::fs::read_to_string(folder().join("expected.txt")).expect("expected.txt");
    let (mut wanted, mut missed, mut files) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<String> = line.split("  ").map(str::to_owned).collect();
        files.insert(words[0].clone());
        if words[1] == "-" {
            continue;
        }
        let row: Row = words.try_into().expect("five columns");
        if row[4] == "missed" {
            missed.insert(row);
        } else {
            wanted.insert(row);
        }
    }
    (wanted, missed, files)
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

#[test]
fn what_a_person_finds_is_found_at_its_line_and_column_and_nothing_else() {
    let (wanted, missed, files) = expected();
    let snippets = snippets();
    assert_eq!(
        snippets.keys().cloned().collect::<BTreeSet<_>>(),
        files,
        "every snippet is judged"
    );
    assert!(snippets.len() >= 40);
    let found: BTreeSet<Row> = snippets.iter().flat_map(|(path, text)| found_in(path, text)).collect();
    let right = found.intersection(&wanted).count() as f64;
    let precision = right / found.len() as f64;
    let recall = right / (wanted.len() + missed.len()) as f64;
    println!(
        "{} snippets, {} findings expected, {} found: precision {precision:.3}, recall {recall:.3}",
        snippets.len(),
        wanted.len() + missed.len(),
        found.len()
    );
    let lost: Vec<_> = wanted.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&wanted).collect();
    assert!(lost.is_empty(), "not found: {lost:#?}\nfound instead: {wrong:#?}");
    assert!(wrong.is_empty(), "found, and not expected: {wrong:#?}");
    // With all of the above this is the share of what is known to be missed.
    assert!(recall >= 0.98, "{recall}");
    assert!(!missed.is_empty(), "the corpus is honest about what cannot be found");
}

#[test]
fn true_and_false_ones_are_both_in_the_corpus_and_so_is_every_language() {
    let (wanted, _, files) = expected();
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
    for (path, text) in snippets() {
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
    assert!(rewritten >= 25, "{rewritten}");
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
