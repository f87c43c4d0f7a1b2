//! A text with the certain findings rewritten, and the difference as a unified diff.

use std::ops::Range;

use super::finding::{Edit, Finding};
use super::{Language, scan};

/// Lines around a change that a diff shows.
const CONTEXT: usize = 3;

/// A text that was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The whole text.
    pub text: String,
    /// The changes, as `patch` reads them, without the names of the files.
    pub hunks: String,
}

/// Rewrites what is certain in `text`.
///
/// # Errors
/// Why nothing may be rewritten: the result would not hold still under a second look, which a scan takes to be its own mistake.
pub fn rewrite(text: &str, language: Language, findings: &[Finding]) -> Result<Option<Rewritten>, String> {
    let mut edits: Vec<&Edit> = findings
        .iter()
        .filter_map(|finding| finding.fix.as_ref().ok())
        .flatten()
        .collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    edits.dedup();
    if edits.is_empty() {
        return Ok(None);
    }
    let overlap = edits.windows(2).any(|pair| match pair {
        [first, second] => second.range.start < first.range.end,
        _ => false,
    });
    let fits = |edit: &&Edit| text.get(edit.range.clone()).is_some();
    if overlap || !edits.iter().all(fits) {
        return Err("the changes get into each other's way".to_owned());
    }
    let new = applied(text, &edits, 0..text.len());
    let certain = |findings: &[Finding]| findings.iter().filter(|finding| finding.fix.is_ok()).count();
    // Some may be certain by themselves and left alone all the same, for the sake of another file.
    let left = certain(&scan(text, language)).saturating_sub(certain(findings));
    if certain(&scan(&new, language)) != left {
        return Err("a second run would change it again".to_owned());
    }
    Ok(Some(Rewritten {
        hunks: hunks(text, &edits),
        text: new,
    }))
}

/// The part of `text` in `range` with its edits made.
fn applied(text: &str, edits: &[&Edit], range: Range<usize>) -> String {
    let mut new = String::new();
    let mut at = range.start;
    for edit in edits
        .iter()
        .filter(|edit| range.start <= edit.range.start && edit.range.end <= range.end)
    {
        new.push_str(text.get(at..edit.range.start).unwrap_or_default());
        new.push_str(&edit.text);
        at = edit.range.end;
    }
    new.push_str(text.get(at..range.end).unwrap_or_default());
    new
}

/// A line and where it stands.
type Line = Range<usize>;

fn lines(text: &str) -> Vec<Line> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at - line.len()..at
    });
    lines.collect()
}

/// Lines that are changed together: the first, and the one behind the last.
fn blocks(lines: &[Line], edits: &[&Edit]) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for edit in edits {
        let line = |at: usize| {
            lines
                .partition_point(|line| line.end <= at)
                .min(lines.len().saturating_sub(1))
        };
        let first = line(edit.range.start);
        let end = line(edit.range.end.max(edit.range.start + 1) - 1) + 1;
        match blocks.last_mut() {
            Some(last) if first <= last.end => last.end = last.end.max(end),
            _ => blocks.push(first..end),
        }
    }
    blocks
}

fn hunks(text: &str, edits: &[&Edit]) -> String {
    let lines = lines(text);
    let mut out = String::new();
    let mut grown = 0isize;
    let blocks = blocks(&lines, edits);
    for group in grouped(&blocks) {
        out.push_str(&hunk(text, &lines, group, edits, &mut grown));
    }
    out
}

/// Blocks so near to each other that they share their context.
fn grouped(blocks: &[Range<usize>]) -> Vec<&[Range<usize>]> {
    blocks
        .chunk_by(|first, second| second.start <= first.end + 2 * CONTEXT)
        .collect()
}

fn hunk(text: &str, lines: &[Line], blocks: &[Range<usize>], edits: &[&Edit], grown: &mut isize) -> String {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return String::new();
    };
    let start = first.start.saturating_sub(CONTEXT);
    let end = (last.end + CONTEXT).min(lines.len());
    let mut body = String::new();
    let (mut old, mut new) = (0usize, 0usize);
    let mut at = start;
    for block in blocks {
        for line in lines.get(at..block.start).unwrap_or_default() {
            push(&mut body, ' ', text.get(line.clone()).unwrap_or_default());
            (old, new) = (old + 1, new + 1);
        }
        let changed = lines.get(block.clone()).unwrap_or_default();
        for line in changed {
            push(&mut body, '-', text.get(line.clone()).unwrap_or_default());
            old += 1;
        }
        let bytes = changed.first().map_or(0, |line| line.start)..changed.last().map_or(0, |line| line.end);
        for line in applied(text, edits, bytes).split_inclusive('\n') {
            push(&mut body, '+', line);
            new += 1;
        }
        at = block.end;
    }
    for line in lines.get(at..end).unwrap_or_default() {
        push(&mut body, ' ', text.get(line.clone()).unwrap_or_default());
        (old, new) = (old + 1, new + 1);
    }
    let moved = isize::try_from(start + 1).unwrap_or_default() + *grown;
    *grown += isize::try_from(new).unwrap_or_default() - isize::try_from(old).unwrap_or_default();
    format!("@@ -{},{old} +{moved},{new} @@\n{body}", start + 1)
}

fn push(body: &mut String, sign: char, line: &str) {
    body.push(sign);
    body.push_str(line);
    if !line.ends_with('\n') {
        body.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> Rewritten {
        let findings = scan(text, Language::Python);
        rewrite(text, Language::Python, &findings).unwrap().unwrap()
    }

    #[test]
    fn a_diff_says_which_lines_change_and_what_stands_around_them() {
        let text = "a\nb\nc\nd\nbus.emit(Message('ovos.persona.tools.x.call', {}))\ne\n";
        let expected = "@@ -2,5 +2,5 @@\n b\n c\n d\n\
            -bus.emit(Message('ovos.persona.tools.x.call', {}))\n\
            +bus.emit(Message('ovos.persona.tools.call', {'toolbox_id': 'x'}))\n e\n";
        assert_eq!(rewritten(text).hunks, expected);
    }

    #[test]
    fn a_line_without_an_end_and_windows_line_ends_stay_as_they_are() {
        let text = "x\r\nm = Message('ovos.persona.tools.x.call', {\r\n    'name': 'a'})";
        let new = rewritten(text);
        let expected = "x\r\nm = Message('ovos.persona.tools.call', {\r\n    'toolbox_id': 'x',\r\n    'name': 'a'})";
        assert_eq!(new.text, expected);
        let expected = "@@ -1,3 +1,4 @@\n x\r\n\
            -m = Message('ovos.persona.tools.x.call', {\r\n\
            -    'name': 'a'})\n\\ No newline at end of file\n\
            +m = Message('ovos.persona.tools.call', {\r\n\
            +    'toolbox_id': 'x',\r\n\
            +    'name': 'a'})\n\\ No newline at end of file\n";
        assert_eq!(new.hunks, expected);
    }

    #[test]
    fn far_changes_have_hunks_of_their_own() {
        let call = "bus.emit(Message('ovos.persona.tools.x.call', {}))\n";
        let text = format!("{call}{}{call}", "#\n".repeat(20));
        let hunks = rewritten(&text).hunks;
        assert_eq!(hunks.matches("@@ -").count(), 2, "{hunks}");
        let near = format!("{call}{}{call}", "#\n".repeat(3));
        assert_eq!(rewritten(&near).hunks.matches("@@ -").count(), 1);
    }

    #[test]
    fn nothing_certain_is_nothing_to_rewrite() {
        let findings = scan("bus.on('ovos.persona.tools.x.call', f)\n", Language::Python);
        assert_eq!(findings.len(), 1);
        assert_eq!(rewrite("", Language::Python, &findings), Ok(None));
    }
}
