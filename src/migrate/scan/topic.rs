//! The topics a scan is for, found in text.
//!
//! The toolbox_id in them may be a name, a hole, or what people write for "any": `<toolbox_id>`, `{id}`, `%s`, `*`, and
//! the groups and classes of a regular expression.

use super::token::is_hole;

/// What all topics of a toolbox host begin with (OVOS-TOOLS-1 §4, §6).
pub(super) const PREFIX: &str = "ovos.persona.tools.";
/// The topic that replaces the predecessor (§4.2).
pub(super) const CALL: &str = "ovos.persona.tools.call";
/// The topic of its answer.
pub(super) const ANSWER: &str = "ovos.persona.tools.call.response";
/// The call to a tool service (§5).
pub(super) const INVOKE: &str = "ovos.tools.invoke";

/// A predecessor topic in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Predecessor {
    /// Where it begins.
    pub(super) start: usize,
    /// Where its toolbox_id begins.
    pub(super) id: usize,
    /// Where that ends.
    pub(super) id_end: usize,
    /// Where the topic ends.
    pub(super) end: usize,
    /// Whether it is the topic of the answer.
    pub(super) answer: bool,
}

/// Whether `id` is a toolbox_id as it stands (§3), and not what stands for one.
pub(super) fn is_literal(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// Every predecessor topic in `text`.
pub(super) fn find(text: &str) -> Vec<Predecessor> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find("ovos")).map(|at| from + at) {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let stands_alone = before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.') || is_hole(c)));
        match at(text, start).filter(|_| stands_alone) {
            Some(predecessor) => {
                from = predecessor.end;
                found.push(predecessor);
            }
            None => from = start + "ovos".len(),
        }
    }
    found
}

/// The predecessor topic that `text` is, all of it.
pub(super) fn whole(text: &str) -> Option<Predecessor> {
    at(text, 0).filter(|predecessor| predecessor.end == text.len())
}

/// Whether `text`, with holes of unknown contents, may come to a predecessor topic.
pub(super) fn may_be(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(PREFIX) else {
        return false;
    };
    // The toolbox, a dot, and what is not known.
    if let Some((id, end)) = rest.split_once('.')
        && is_literal(id)
        && !matches!(id, "call" | "discover")
    {
        return end.chars().all(is_hole);
    }
    let bare = rest.trim_end_matches(is_hole);
    rest.contains(is_hole) && bare.trim_end_matches('.').trim_end_matches(is_hole).is_empty()
}

/// Whether `text` is what predecessor topics begin with, and nothing more.
pub(super) fn is_prefix(text: &str) -> bool {
    text == PREFIX || text == PREFIX.trim_end_matches('.')
}

fn at(text: &str, start: usize) -> Option<Predecessor> {
    let id = dotted(text, start, PREFIX)?;
    let id_end = segment(text, id)?;
    let call = dotted(text, id_end, ".call")?;
    let (end, answer) = match dotted(text, call, ".response") {
        Some(end) => (end, true),
        None => (call, false),
    };
    let rest = text.get(end..)?;
    // `.` may end a sentence; with a letter behind it, it is another topic.
    let behind = rest.trim_start_matches('\\').strip_prefix('.').unwrap_or(rest);
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || is_hole(c));
    (!goes_on(rest) && !goes_on(behind)).then_some(Predecessor {
        start,
        id,
        id_end,
        end,
        answer,
    })
}

/// Where `what` ends, of which each `.` may be escaped as in a regular expression.
fn dotted(text: &str, start: usize, what: &str) -> Option<usize> {
    let mut at = start;
    for c in what.chars() {
        if c == '.' {
            at += text.get(at..)?.chars().take_while(|c| *c == '\\').count().min(2);
        }
        at += text.get(at..)?.strip_prefix(c).map(|_| c.len_utf8())?;
    }
    Some(at)
}

/// Where the part for the toolbox_id ends that begins at `start`.
fn segment(text: &str, start: usize) -> Option<usize> {
    let mut at = start;
    while let Some(length) = unit(text.get(at..)?) {
        at += length;
    }
    (at > start).then_some(at)
}

/// How long the first thing in `text` is that may be part of a toolbox_id or stand for one.
fn unit(text: &str) -> Option<usize> {
    let c = text.chars().next()?;
    let up_to = |close: char| {
        let inside: usize = text.find(close)?;
        let one_line = text.get(..inside).is_some_and(|inside| !inside.contains('\n'));
        (one_line && inside < 80).then_some(inside + close.len_utf8())
    };
    match c {
        '_' | '-' | '*' | '+' | '?' => Some(c.len_utf8()),
        _ if c.is_alphanumeric() || is_hole(c) => Some(c.len_utf8()),
        '<' => up_to('>'),
        '{' if text.starts_with("{{") => Some(up_to('}')? + usize::from(text.contains("}}"))),
        '{' => up_to('}'),
        '[' => up_to(']'),
        '(' => up_to(')'),
        '$' if text.starts_with("${") => up_to('}'),
        '$' => Some(1),
        '%' if text.starts_with("%(") => Some(up_to(')')? + 1),
        '%' => Some(2).filter(|end| text.is_char_boundary(*end)),
        '.' if text.starts_with(".+") || text.starts_with(".*") => Some(2),
        '\\' if text.starts_with("\\w") || text.starts_with("\\S") => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, &str, bool)> {
        let piece = |from, to| text.get(from..to).unwrap();
        let all = find(text).into_iter();
        all.map(|one| (piece(one.start, one.end), piece(one.id, one.id_end), one.answer))
            .collect()
    }

    #[test]
    fn a_predecessor_topic_is_found_in_whatever_stands_around_it() {
        for (text, topic, id, answer) in [
            (
                "ovos.persona.tools.wordnet.call",
                "ovos.persona.tools.wordnet.call",
                "wordnet",
                false,
            ),
            (
                "(`ovos.persona.tools.a-b_c.call`).",
                "ovos.persona.tools.a-b_c.call",
                "a-b_c",
                false,
            ),
            (
                "on ovos.persona.tools.x.call.response, then",
                "ovos.persona.tools.x.call.response",
                "x",
                true,
            ),
            (
                "ovos.persona.tools.<toolbox_id>.call.",
                "ovos.persona.tools.<toolbox_id>.call",
                "<toolbox_id>",
                false,
            ),
            (
                "ovos.persona.tools.{self.id}.call",
                "ovos.persona.tools.{self.id}.call",
                "{self.id}",
                false,
            ),
            (
                "ovos.persona.tools.{{ tb }}.call",
                "ovos.persona.tools.{{ tb }}.call",
                "{{ tb }}",
                false,
            ),
            (
                "ovos.persona.tools.%(id)s.call",
                "ovos.persona.tools.%(id)s.call",
                "%(id)s",
                false,
            ),
            ("ovos.persona.tools.*.call", "ovos.persona.tools.*.call", "*", false),
            (
                r"^ovos\.persona\.tools\.([^.]+)\.call$",
                r"ovos\.persona\.tools\.([^.]+)\.call",
                "([^.]+)",
                false,
            ),
            (
                "ovos.persona.tools.call.call",
                "ovos.persona.tools.call.call",
                "call",
                false,
            ),
            (
                "ovos.persona.tools.wörter.call",
                "ovos.persona.tools.wörter.call",
                "wörter",
                false,
            ),
        ] {
            assert_eq!(found(text), [(topic, id, answer)], "{text}");
        }
    }

    #[test]
    fn its_neighbors_are_left_alone() {
        for text in [
            "ovos.persona.tools.call",
            "ovos.persona.tools.call.response",
            "ovos.persona.tools.discover",
            "ovos.persona.tools.a.b.call",
            "ovos.persona.tools..call",
            "ovos.persona.tools.a b.call",
            "ovos.persona.tools.x.called",
            "ovos.persona.tools.x.call.handler",
            "ovos.persona.tools.x.call-me",
            "my.ovos.persona.tools.x.call",
            "ovos.tools.x.call",
            "ovos.persona.tools.a:b.call",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn what_holes_may_come_to_is_told() {
        for (text, expected) in [
            ("ovos.persona.tools.\u{E000}", true),
            ("ovos.persona.tools.\u{E000}.\u{E000}", true),
            ("ovos.persona.tools.", false),
            ("ovos.persona.tools.discover", false),
            ("ovos.persona.tools.\u{E000}.discover", false),
            ("ovos.persona.tools.wiki.", true),
            ("ovos.persona.tools.wiki.\u{E000}", true),
            ("ovos.persona.tools.wiki", false),
            ("ovos.persona.tools.call.\u{E000}", false),
            ("ovos.persona.tools.wiki.discover", false),
        ] {
            assert_eq!(may_be(text), expected, "{text}");
        }
    }
}
