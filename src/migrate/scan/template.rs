//! Templates filled in: `"{}".format(...)`, `"%s" % ...`, and the text that `replace` changes.

use super::fold::{Hole, How, Part};

/// What a template is filled with: names, where they have one, and texts.
pub(super) type Given = Vec<(Option<String>, Vec<Part>)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// `{}`, `{0}`, `{name}`
    Brace,
    /// `%s`, `%(name)s`
    Percent,
}

/// A template, filled in.
pub(super) fn filled(template: &str, given: &Given, marks: Marks) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = template;
    let mut next = 0;
    let (open, doubled) = match marks {
        Marks::Brace => ('{', "{{"),
        Marks::Percent => ('%', "%%"),
    };
    while let Some(at) = rest.find(open) {
        let (before, mark) = rest.split_at(at);
        parts.push(Part::Text(before.replace("}}", "}")));
        if let Some(behind) = mark.strip_prefix(doubled) {
            parts.push(Part::Text(open.to_string()));
            rest = behind;
            continue;
        }
        let (name, behind) = match marks {
            Marks::Brace => mark.strip_prefix('{')?.split_once('}')?,
            Marks::Percent => percent_mark(mark)?,
        };
        let (name, format) = name.split_once([':', '!']).unwrap_or((name, ""));
        let value = if name.is_empty() {
            next += 1;
            given
                .iter()
                .filter(|(key, _)| key.is_none())
                .nth(next - 1)
                .map(|(_, value)| value)
        } else if let Ok(index) = name.parse::<usize>() {
            given.get(index).map(|(_, value)| value)
        } else {
            given
                .iter()
                .find(|(key, _)| key.as_deref() == Some(name))
                .map(|(_, value)| value)
        };
        match value {
            Some(value) if format.is_empty() => parts.extend(value.iter().cloned()),
            _ => parts.push(Part::Hole(Hole {
                source: name.to_owned(),
                how: How::Elsewhere,
            })),
        }
        rest = behind;
    }
    parts.push(Part::Text(rest.replace("}}", "}")));
    Some(parts)
}

/// The name in `%(name)s` or the nothing in `%s`, and what comes behind it.
fn percent_mark(mark: &str) -> Option<(&str, &str)> {
    let mark = mark.strip_prefix('%')?;
    let (name, behind) = match mark.strip_prefix('(') {
        Some(named) => named.split_once(')')?,
        None => ("", mark),
    };
    let conversion = behind.find(|c: char| c.is_ascii_alphabetic())?;
    Some((name, behind.get(conversion + 1..)?))
}

/// `text` with `new` where `old` stood, once.
pub(super) fn replaced(text: &str, old: &str, new: &[Part]) -> Option<Vec<Part>> {
    let (before, behind) = text.split_once(old).filter(|_| !old.is_empty())?;
    if behind.contains(old) {
        return None;
    }
    let mut parts = vec![Part::Text(before.to_owned())];
    parts.extend(new.iter().cloned());
    parts.push(Part::Text(behind.to_owned()));
    Some(parts)
}
