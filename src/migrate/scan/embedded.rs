//! Code inside a string: JSON that a shell sends, a jq program, a line of Python.

use std::ops::Range;

use super::find;
use super::finding::{Edit, Finding};
use super::language::Language;
use super::place::Kind;
use super::token::{HOLE, Piece, Quoting, is_hole};
use super::topic;

/// The text of a string as the program has it, and where it comes from.
pub(super) struct Decoded {
    pub(super) text: String,
    /// For each byte: where it comes from. One more for the end.
    at: Vec<usize>,
    /// For each byte: how it is quoted. One more for the end.
    quoting: Vec<Quoting>,
    /// The source of each hole, in order.
    holes: Vec<(String, Quoting)>,
}

impl Decoded {
    /// Takes the pieces of a string of `source` together, which ends before the byte `end`.
    pub(super) fn of(source: &str, pieces: &[Piece], end: usize) -> Self {
        let mut decoded = Self {
            text: String::new(),
            at: Vec::new(),
            quoting: Vec::new(),
            holes: Vec::new(),
        };
        for piece in pieces {
            match piece {
                Piece::Text { value, at, quoting } => {
                    decoded.text.push_str(value);
                    decoded.at.extend(at);
                    decoded.quoting.extend(at.iter().map(|_| *quoting));
                }
                Piece::Hole { outer, quoting, .. } => {
                    let number = u32::try_from(decoded.holes.len()).unwrap_or_default() % 6000;
                    let c = char::from_u32(u32::from(HOLE) + number).unwrap_or(HOLE);
                    decoded.text.push(c);
                    decoded.at.extend([outer.start; 3]);
                    decoded.quoting.extend([*quoting; 3]);
                    let hole = source.get(outer.clone()).unwrap_or_default();
                    decoded.holes.push((hole.to_owned(), *quoting));
                }
            }
        }
        decoded.at.push(end);
        decoded.quoting.push(Quoting::Other);
        decoded
    }

    /// Where the byte `at` comes from.
    pub(super) fn source(&self, at: usize) -> usize {
        self.at.get(at).or(self.at.last()).copied().unwrap_or_default()
    }

    /// Where the bytes come from.
    pub(super) fn span(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.source(span.start);
        let last = span.end.checked_sub(1).map_or(start, |last| self.source(last) + 1);
        start..last.max(start)
    }

    fn hole(&self, c: char) -> Option<&(String, Quoting)> {
        let number = u32::from(c).checked_sub(u32::from(HOLE))?;
        self.holes.get(usize::try_from(number).ok()?)
    }

    /// `text` with the sources of its holes.
    pub(super) fn shown(&self, text: &str) -> String {
        let mut shown = String::new();
        for c in text.chars() {
            match self.hole(c).filter(|_| is_hole(c)) {
                Some((source, _)) => shown.push_str(source),
                None => shown.push(c),
            }
        }
        shown
    }

    /// An edit of the text as one of the source, where its quotes allow one.
    fn edit(&self, edit: &Edit) -> Option<Edit> {
        let Range { start, end } = edit.range.clone();
        let quoting = *self.quoting.get(start)?;
        let before = start.checked_sub(1).and_then(|before| self.quoting.get(before));
        let alike = self
            .quoting
            .get(start..=end)?
            .iter()
            .chain(before)
            .all(|other| *other == quoting);
        if !alike || quoting == Quoting::Other {
            return None;
        }
        let mut text = String::new();
        for c in edit.text.chars() {
            match self.hole(c).filter(|_| is_hole(c)) {
                Some((source, here)) if *here == quoting => text.push_str(source),
                Some(_) => return None,
                None => {
                    match quoting {
                        Quoting::Raw if c == '\'' => return None,
                        Quoting::Double if "\"$`\\".contains(c) => text.push('\\'),
                        Quoting::Heredoc if "$`\\".contains(c) => text.push('\\'),
                        _ => {}
                    }
                    text.push(c);
                }
            }
        }
        Some(Edit {
            range: self.source(start)..self.source(end),
            text,
        })
    }
}

/// What is found in the string.
pub(super) fn findings(decoded: &Decoded, depth: usize) -> Vec<Finding> {
    let mut found = read(&decoded.text, depth);
    for finding in &mut found {
        outward(decoded, finding);
    }
    found
}

/// What is found in a text of no known language, read as code; what only looks so is a mention.
pub(super) fn read(text: &str, depth: usize) -> Vec<Finding> {
    let mut found = Vec::new();
    if text.contains(['"', '\'', '(']) {
        found = find::findings(text, Language::Embedded, depth);
        found.retain(|finding| finding.certain && finding.kind != Kind::Mention);
    }
    for mention in mentions(text) {
        let known = found
            .iter()
            .any(|finding| finding.span.start <= mention.span.start && mention.span.end <= finding.span.end);
        if !known {
            found.push(mention);
        }
    }
    found
}

fn outward(decoded: &Decoded, finding: &mut Finding) {
    if let Ok(edits) = &finding.fix {
        let edits: Option<Vec<_>> = edits.iter().map(|edit| decoded.edit(edit)).collect();
        finding.fix = edits.ok_or_else(|| "it stands in a string, whose quotes are left to you".to_owned());
    }
    finding.span = decoded.span(&finding.span);
    finding.shown_id = decoded.shown(&finding.shown_id);
    if finding.toolbox_id.as_deref().is_some_and(|id| id.contains(is_hole)) {
        finding.toolbox_id = None;
    }
}

/// Every predecessor topic in prose.
pub(super) fn mentions(text: &str) -> Vec<Finding> {
    let found = topic::find(text).into_iter();
    found.map(|found| find::mention(text, &found)).collect()
}
