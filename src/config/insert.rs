//! A new toolbox into the text of a file, and nothing else changed: comments, blank lines, order, line ends.
//!
//! Pure: text in, text out. The tree says where things stand, a scan of the lines where the block of `toolboxes:` ends.
//! What comes out is read again, and given back only if its tree is the old one and the new toolbox.

use super::yaml::{self, Entry, Node, Value};

/// Levels are indented by this in what is to be put in, and in a file that shows no other way.
const STEP: usize = 2;

/// A text with a toolbox put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inserted {
    /// The new text.
    pub text: String,
    /// The line the toolbox begins on.
    pub line: usize,
}

/// `text` with an empty `toolboxes:` at its end, where it has none.
pub fn with_toolboxes(text: &str) -> String {
    let root = yaml::parse(text).0;
    let entries = root.as_ref().map_or(&[][..], entries_of);
    let is_unfit = root.as_ref().is_some_and(|root| !is_null(root) && entries.is_empty());
    if is_unfit || entries.iter().any(|entry| entry.key == "toolboxes") {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let last_key = entries.iter().map(|entry| entry.at.line).max().unwrap_or(0);
    let end = document_end(&lines, last_key);
    let margin = entries.first().map_or(0, |entry| entry.at.column - 1);
    let is_after_text = end > 0 && !is_blank(lines[end - 1].trim_start_matches('\u{feff}'));
    let mut key = vec![format!("{:margin$}toolboxes:", "")];
    if is_after_text && !lines[end - 1].trim().starts_with("---") {
        key.insert(0, String::new());
    }
    spliced(&lines, end, &key)
}

/// `text` with `entry` as a further toolbox, behind the others. `entry` is YAML in block style, indented by two.
///
/// # Errors
/// Why it must be written in by hand, in words that follow the name of the file.
pub fn insert(text: &str, id: &str, entry: &str) -> Result<Inserted, String> {
    if text.replace("\r\n", "").contains('\r') {
        return Err("has line ends of a bare carriage return".to_owned());
    }
    let unusual = || "is laid out in a way that toolhost cannot add to without disturbing it".to_owned();
    let (Some(root), _) = yaml::parse(text) else {
        return Err("is empty".to_owned());
    };
    let Some(toolboxes) = entries_of(&root).iter().find(|entry| entry.key == "toolboxes") else {
        return Err("has no 'toolboxes'".to_owned());
    };
    if let Some(taken) = entries_of(&toolboxes.value).iter().find(|entry| entry.key == id) {
        return Err(format!("has a toolbox '{id}' already, on line {}", taken.at.line));
    }
    let block = Block::of(text, &root, toolboxes)?;
    let (margin, step) = block.style().ok_or_else(unusual)?;
    let new = indented(entry, margin, step);
    let spaced = [&[String::new()], &new[..]].concat();
    let is_spaced = block.own.last().is_some_and(|last| block.has_blank_above(last));
    let put_in = |place: usize, new: &[String]| Inserted {
        text: spliced(&block.lines, place, new),
        line: place + 1 + new.iter().take_while(|line| line.is_empty()).count(),
    };
    let candidates = [
        put_in(block.after_content(margin), if is_spaced { &spaced } else { &new }),
        put_in(block.after_blanks(), &new),
    ];
    let is_good = |inserted: &Inserted| match yaml::parse(&inserted.text) {
        (Some(after), mistakes) => mistakes.is_empty() && is_addition(&root, &after, id),
        (None, _) => false,
    };
    candidates.into_iter().find(is_good).ok_or_else(unusual)
}

/// `entry`, its lines moved right by `margin` and its levels `step` apart.
pub fn indented(entry: &str, margin: usize, step: usize) -> Vec<String> {
    let line = |line: &str| {
        let level = indent(line) / STEP;
        format!("{:width$}{}", "", line.trim_start(), width = margin + level * step)
    };
    entry.lines().map(line).collect()
}

/// The lines of a file, and the part of them that is `toolboxes:`.
struct Block<'t> {
    lines: Vec<String>,
    root: &'t [Entry],
    /// The toolboxes that stand here themselves, brought by no alias.
    own: Vec<&'t Entry>,
    /// Index of the line with the key `toolboxes`.
    key: usize,
    /// Spaces before that key.
    margin: usize,
    /// Index of the first line behind the block.
    end: usize,
    /// Whether that line holds a further key.
    is_followed: bool,
}

impl<'t> Block<'t> {
    fn of(text: &str, root: &'t Node, toolboxes: &'t Entry) -> Result<Self, String> {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let (key, margin) = (toolboxes.at.line - 1, toolboxes.at.column - 1);
        let here = entries_of(&toolboxes.value).iter();
        let own: Vec<&Entry> = here.filter(|entry| entry.at > toolboxes.at).collect();
        if own.is_empty() {
            lines[key] = emptied(&lines[key]).ok_or("has its toolboxes in one piece with 'toolboxes:'")?;
        } else if opens_flow(&lines[key..own[0].at.line], own[0].at.column) {
            return Err("has its toolboxes between { and }".to_owned());
        }
        let root = entries_of(root);
        let next_key = root
            .iter()
            .map(|entry| entry.at.line - 1)
            .filter(|line| *line > key)
            .min();
        // A merge key leaves no entry of its own.
        let merge =
            (key + 1..lines.len()).find(|at| indent(&lines[*at]) == margin && lines[*at].trim().starts_with("<<:"));
        let followed = next_key.into_iter().chain(merge).min();
        let last_key = own.iter().map(|entry| entry.at.line).max().unwrap_or(key + 1);
        Ok(Self {
            end: followed.unwrap_or_else(|| document_end(&lines, last_key)),
            is_followed: followed.is_some(),
            lines,
            root,
            own,
            key,
            margin,
        })
    }

    /// How far the toolboxes are indented, and how far a level is; `None` where they are no plain block.
    fn style(&self) -> Option<(usize, usize)> {
        let within = |entry: &&Entry| {
            entries_of(&entry.value)
                .first()
                .is_some_and(|inner| inner.at.line > entry.at.line)
        };
        let depth = |entry: &Entry| {
            let inner = entries_of(&entry.value).first()?;
            inner.at.column.checked_sub(entry.at.column)
        };
        let others = || self.root.iter().filter(|entry| entry.key != "toolboxes");
        let own_step = self.own.iter().copied().find(within).and_then(depth);
        let step = own_step.or_else(|| others().find(within).and_then(depth));
        let Some(first) = self.own.first() else {
            let step = step.filter(|step| *step > 0).unwrap_or(STEP);
            return Some((self.margin + step, step));
        };
        let margin = first.at.column - 1;
        let begins_line =
            |entry: &&Entry| indent(&self.lines[entry.at.line - 1]) == margin && entry.at.column == margin + 1;
        let is_plain = margin > self.margin && self.own.iter().all(begins_line);
        let step = step
            .filter(|step| *step > 0)
            .unwrap_or(margin.saturating_sub(self.margin));
        is_plain.then_some((margin, step))
    }

    /// Whether toolboxes are set apart by blank lines, as the one of `entry` is.
    fn has_blank_above(&self, entry: &Entry) -> bool {
        let mut above = self.lines[..entry.at.line - 1].iter().rev();
        above.find(|line| !is_comment(line)).is_some_and(|line| is_blank(line))
    }

    /// Behind the last line of the last toolbox, and the comments that touch it.
    fn after_content(&self, margin: usize) -> usize {
        let is_inside = |line: &str| !is_blank(line) && (!is_comment(line) || indent(line) > margin);
        let inside = (self.key..self.end).rev().find(|at| is_inside(&self.lines[*at]));
        let content = inside.unwrap_or(self.key).max(self.key) + 1;
        let touching = self.lines[content..self.end].iter().take_while(|line| is_comment(line));
        let mut place = content + touching.count();
        // A comment that touches the next key is about that.
        if self.is_followed && place == self.end {
            let above = self.lines[content..place].iter().rev();
            place -= above.take_while(|line| indent(line) <= self.margin).count();
        }
        place
    }

    /// Behind the blank lines as well: they may be the end of a text (`|+`).
    fn after_blanks(&self) -> usize {
        let blank = self.lines[..self.end]
            .iter()
            .rev()
            .take_while(|line| is_blank(line) || is_comment(line));
        let rest = self.end - blank.count();
        let blanks = self.lines[rest..self.end].iter().take_while(|line| is_blank(line));
        rest + blanks.count()
    }
}

/// The line of a key that has no value, where it is one of `{}`, `~` and `null` without it; `None` for another value.
fn emptied(line: &str) -> Option<String> {
    let (key, rest) = line.split_once(':')?;
    let value = rest.trim_start();
    for empty in ["{}", "{ }", "~", "null", "Null", "NULL"] {
        if let Some(behind) = value.strip_prefix(empty) {
            let is_over = behind.trim().is_empty() || behind.starts_with([' ', '\t']) && behind.trim().starts_with('#');
            return is_over.then(|| format!("{key}:{behind}"));
        }
    }
    // An anchor or a tag of what is not there yet may stay.
    let is_bare = value.trim().is_empty() || value.starts_with(['#', '&']);
    is_bare.then(|| line.to_owned())
}

/// Whether a `{` stands between the key on the first line and the entry at `column` of the last.
fn opens_flow(lines: &[String], column: usize) -> bool {
    let last = lines.len() - 1;
    lines.iter().enumerate().any(|(at, line)| {
        let seen: String = line
            .chars()
            .take(if at == last { column } else { usize::MAX })
            .collect();
        seen.split(" #")
            .next()
            .is_some_and(|code| code.contains('{') && !is_comment(code))
    })
}

/// Index of the line that ends the document, no earlier than `from`.
fn document_end<L: AsRef<str>>(lines: &[L], from: usize) -> usize {
    let ends = |line: &str| line.trim_end() == "..." || line.starts_with("... ");
    let found = (from..lines.len()).find(|at| ends(lines[*at].as_ref()));
    found.unwrap_or(lines.len())
}

/// `lines` with `new` before the one at `place`, ended as their neighbors are.
fn spliced<L: AsRef<str>>(lines: &[L], place: usize, new: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    let model = lines[..place]
        .iter()
        .rev()
        .chain(&lines)
        .find(|line| line.ends_with('\n'));
    let end = if model.is_some_and(|line| line.ends_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    let mut text = lines[..place].concat();
    if !text.is_empty() && text != "\u{feff}" && !text.ends_with('\n') {
        text.push_str(end);
    }
    for line in new {
        text.push_str(line);
        text.push_str(end);
    }
    text + &lines[place..].concat()
}

/// Whether `after` is `before` with the toolbox `id` behind the others.
fn is_addition(before: &Node, after: &Node, id: &str) -> bool {
    let (before, after) = (entries_of(before), entries_of(after));
    before.len() == after.len()
        && before.iter().zip(after).all(|(old, new)| match old.key.as_str() {
            "toolboxes" => {
                let (old, new) = (entries_of(&old.value), entries_of(&new.value));
                let kept: Vec<&Entry> = new.iter().filter(|entry| entry.key != id).collect();
                kept.len() + 1 == new.len() && kept.len() == old.len() && old.iter().zip(kept).all(is_same_entry)
            }
            _ => is_same_entry((old, new)),
        })
}

fn is_same_entry((a, b): (&Entry, &Entry)) -> bool {
    a.key == b.key && is_same(&a.value, &b.value)
}

fn is_same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Scalar(a), Value::Scalar(b)) => a.typed == b.typed && a.plain == b.plain,
        (Value::Sequence(a), Value::Sequence(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Mapping(a), Value::Mapping(b)) => a.len() == b.len() && a.iter().zip(b).all(is_same_entry),
        _ => false,
    }
}

fn entries_of(node: &Node) -> &[Entry] {
    match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    }
}

fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.is_null())
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Spaces a line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
#[path = "insert_tests.rs"]
mod tests;
