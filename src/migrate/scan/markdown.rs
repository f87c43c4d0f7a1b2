//! Markdown: prose speaks of topics, code in fences uses them.

use std::ops::Range;

use super::embedded;
use super::find::{self, shifted};
use super::finding::Finding;
use super::language::Language;

/// What is found in `text`.
pub(super) fn findings(text: &str, depth: usize) -> Vec<Finding> {
    let fences = fences(text);
    let mut found = Vec::new();
    let mut from = 0;
    for fence in &fences {
        found.extend(prose(text, from..fence.code.start));
        let code = text.get(fence.code.clone()).unwrap_or_default();
        let inside = match fence.language {
            // A diagram, a log, a language that is not read.
            Language::Embedded => embedded::read(code, depth - 1),
            language => find::findings(code, language, depth - 1),
        };
        found.extend(inside.into_iter().map(|mut finding| {
            finding.fix = Err("examples in Markdown are left to you".to_owned());
            shifted(finding, fence.code.start)
        }));
        from = fence.code.end;
    }
    found.extend(prose(text, from..text.len()));
    found
}

fn prose(text: &str, range: Range<usize>) -> Vec<Finding> {
    let start = range.start;
    let found = embedded::mentions(text.get(range).unwrap_or_default()).into_iter();
    found.map(|finding| shifted(finding, start)).collect()
}

struct Fence {
    code: Range<usize>,
    language: Language,
}

/// The blocks of code between fences.
fn fences(text: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, String, Language)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        // A block in a list or a quotation is indented or marked.
        let bare = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (&open, mark) {
            (None, Some(mark)) => {
                let fence = bare.chars().take_while(|c| mark.starts_with(*c)).collect::<String>();
                let info = bare.trim_start_matches(['`', '~']).trim_start_matches([' ', '{', '.']);
                let word = info.split(|c: char| c.is_whitespace() || "{},:".contains(c)).next();
                let language = word.and_then(Language::of_word).unwrap_or(Language::Embedded);
                open = Some((end, fence, language));
            }
            (Some((start, fence, language)), Some(_))
                if bare.starts_with(fence.as_str()) && bare.trim_matches(['`', '~']).is_empty() =>
            {
                fences.push(Fence {
                    code: *start..at,
                    language: *language,
                });
                open = None;
            }
            _ => {}
        }
        at = end;
    }
    if let Some((start, _, language)) = open {
        fences.push(Fence {
            code: start..text.len(),
            language,
        });
    }
    fences
}
