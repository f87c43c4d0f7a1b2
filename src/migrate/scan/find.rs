//! The search itself: every expression of a text that comes to a topic a scan is for.

use super::code::Code;
use super::embedded::{self, Decoded};
use super::finding::{Finding, What};
use super::fix;
use super::fold::{self, Part};
use super::language::Language;
use super::markdown;
use super::payload::{self, Payload};
use super::place::{self, Kind, Place};
use super::token::{Piece, Span, Token, is_hole};
use super::topic::{self, Predecessor};
use super::waits;

/// How deep code inside strings inside code is followed.
pub(super) const DEPTH: usize = 4;

/// Keys of YAML whose text is a script.
const SCRIPTS: [&str; 10] = [
    "run",
    "script",
    "command",
    "cmd",
    "shell",
    "entrypoint",
    "args",
    "exec",
    "before_script",
    "after_script",
];

/// What is found in `text`, in the order of the text.
pub(super) fn findings(text: &str, language: Language, depth: usize) -> Vec<Finding> {
    if depth == 0 || !may_have_any(text) {
        return Vec::new();
    }
    if language == Language::Markdown {
        return markdown::findings(text, depth);
    }
    let code = Code::read(text, language);
    let mut search = Search {
        code: &code,
        depth,
        found: Vec::new(),
        answers_both: false,
    };
    search.all();
    let mut found = search.found;
    for host in found.iter_mut().filter(|finding| finding.kind == Kind::Host) {
        host.answers_both = search.answers_both;
    }
    pair_listeners(&code, &mut found);
    waits::mark(&code, &mut found);
    found.sort_by_key(|finding| (finding.span.start, finding.span.end));
    found.dedup_by(|a, b| a.span == b.span && a.what == b.what);
    found
}

/// Whether it is worth a closer look. Cheap: most files of a tree have none of these words.
fn may_have_any(text: &str) -> bool {
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    has("tools") && (has("persona") || has("invoke")) || has("--predecessor")
}

/// A predecessor topic in prose.
pub(super) fn mention(text: &str, found: &Predecessor) -> Finding {
    let id = text.get(found.id..found.id_end).unwrap_or_default();
    Finding {
        span: found.start..found.end,
        kind: Kind::Mention,
        certain: true,
        answers_both: false,
        takes_first: false,
        what: What::Predecessor { answer: found.answer },
        toolbox_id: topic::is_literal(id).then(|| id.to_owned()),
        shown_id: id.to_owned(),
        fix: Err("prose is left to you".to_owned()),
    }
}

struct Search<'a> {
    code: &'a Code<'a>,
    depth: usize,
    found: Vec<Finding>,
    /// Whether the text has a host of the replacement as well.
    answers_both: bool,
}

impl Search<'_> {
    fn all(&mut self) {
        let mut at = 0;
        while at < self.code.tokens.len() {
            at = self.expression(at).unwrap_or_else(|| {
                self.inside(at);
                at + 1
            });
        }
        for comment in &self.code.comments {
            self.within(&comment.span, embedded::mentions);
        }
        if self.code.language == Language::Shell {
            self.flags();
        }
    }

    /// What `look` finds in a part of the text.
    fn within(&mut self, span: &Span, look: impl Fn(&str) -> Vec<Finding>) {
        let found = look(self.code.text.get(span.clone()).unwrap_or_default());
        self.found
            .extend(found.into_iter().map(|finding| shifted(finding, span.start)));
    }

    /// Looks at the expression that begins at `at`; says where it ends if it is one that a scan is for.
    fn expression(&mut self, at: usize) -> Option<usize> {
        let code = self.code;
        if let Some(added) = code.defined_at(at).filter(|definition| definition.added) {
            let parts = added.parts.as_ref()?;
            topic::whole(&fold::flat(parts))?;
            self.topic(parts, at, added.tokens.end)?;
            return Some(added.tokens.end);
        }
        let begins = code.is_string(at) || code.is_name(at) || code.is(at, "(") || code.is(at, "[");
        if !begins || matches!(code.before(at), "." | "?." | "::") || self.is_behind_a_name(at) {
            return None;
        }
        if code.before(at) == "+" && !self.begins(at) {
            return None;
        }
        let folded = fold::expression(code, at).filter(|folded| folded.is_made)?;
        let end = folded.end;
        // What stands alone in parentheses is found without them.
        if code.is(at, "(") && code.pair(at).is_some_and(|close| close + 1 == end) {
            return None;
        }
        if code.is_string(at) && self.is_documentation(at, end) {
            return None;
        }
        let parts = folded.value.text()?;
        if self.topic(&parts, at, end).is_none() {
            self.larger(&parts, at, end)?;
        }
        Some(end)
    }

    /// Looks for a topic in a larger text that is put together: `'{"type": "ovos.persona.tools.' + id + '.call"}'`.
    fn larger(&mut self, parts: &[Part], start: usize, end: usize) -> Option<()> {
        let code = self.code;
        let flat = fold::flat(parts);
        let found = topic::find(&flat);
        let strings = (start..end).filter_map(|at| code.tokens.get(at)?.pieces());
        let in_one: usize = strings
            .map(|pieces| topic::find(&fold::flat(&fold::parts_of(code.text, pieces))).len())
            .sum();
        let source = code.source(&(start..end));
        let id = |found: &Predecessor| {
            let id = flat.get(found.id..found.id_end).unwrap_or_default();
            let shown = shown(parts, id, found.id);
            // Where it comes with a name, it is found where that is given.
            (id.contains(is_hole) && source.contains(&shown)).then_some(shown)
        };
        let split: Vec<_> = found.iter().filter_map(|found| Some((found, id(found)?))).collect();
        if found.len() <= in_one || split.is_empty() {
            return None;
        }
        for at in start..end {
            self.inside(at);
        }
        for (found, shown_id) in split {
            let is_sent = flat.get(..found.start).is_some_and(|before| before.contains("type\""));
            let kind = match (is_sent, found.answer) {
                (true, true) => Kind::Host,
                (true, false) => Kind::Caller,
                (false, _) => Kind::Mention,
            };
            self.found.push(Finding {
                span: code.span(&(start..end)),
                kind,
                certain: false,
                toolbox_id: None,
                shown_id,
                fix: Err("it stands in a text that is put together, which is left to you".to_owned()),
                ..mention(&flat, found)
            });
        }
        Some(())
    }

    /// Whether a topic may begin with what stands at `at`, in the middle of a sum that is none from its start.
    fn begins(&self, at: usize) -> bool {
        let code = self.code;
        let mut last = at;
        while code.is(last + 1, ".") && code.is_name(last + 2) {
            last += 2;
        }
        let parts = code
            .definition(code.word(last), at)
            .and_then(|named| named.parts.as_ref());
        code.word(at).contains("ovos")
            || !code.is_string(at) && matches!(code.word(last + 1), "(" | "!" | "[")
            || parts.is_some_and(|parts| fold::flat(parts).starts_with("ovos"))
    }

    /// Whether a bracket belongs to a call or an index.
    fn is_behind_a_name(&self, at: usize) -> bool {
        let bracket = self.code.is(at, "(") || self.code.is(at, "[");
        let before = at.checked_sub(1).filter(|_| bracket);
        before.is_some_and(|at| {
            let is_word = matches!(
                self.code.word(at),
                "in" | "return" | "not" | "and" | "or" | "if" | "else" | "await"
            );
            (self.code.is_name(at) && !is_word) || matches!(self.code.word(at), ")" | "]" | "!")
        })
    }

    fn is_documentation(&self, start: usize, end: usize) -> bool {
        matches!(place::of(self.code, start, end), Place::Statement)
    }

    /// Takes in the text that the tokens from `start` to `end` make, if a scan is for it.
    fn topic(&mut self, parts: &[Part], start: usize, end: usize) -> Option<()> {
        let flat = fold::flat(parts);
        if let Some(found) = topic::whole(&flat) {
            if self.is_template(parts, &flat, &found, start, end) {
                return Some(());
            }
            self.predecessor(parts, &flat, &found, start, end);
            return Some(());
        }
        if flat == topic::CALL && place::kind(self.code, start, end, false) == (Kind::Host, true) {
            self.answers_both = true;
        }
        if flat == topic::INVOKE || flat == topic::CALL {
            self.arguments(&flat, start, end);
            for at in self.uses(start, end) {
                self.arguments(&flat, self.code.path_start(at), at + 1);
            }
            return Some(());
        }
        let is_begun = topic::may_be(&flat) && !self.is_used(start, end);
        if is_begun || (topic::is_prefix(&flat) && self.is_passed_on(start, end)) {
            self.found.push(Finding {
                span: self.code.span(&(start..end)),
                kind: Kind::Mention,
                certain: true,
                answers_both: false,
                takes_first: false,
                what: What::Unfinished,
                toolbox_id: None,
                shown_id: String::new(),
                fix: Err("what it is joined with is not to be seen here".to_owned()),
            });
            return Some(());
        }
        None
    }

    /// Whether it is a text with a gap for the toolbox_id, and filled in elsewhere in this file, where it is found.
    fn is_template(&self, parts: &[Part], flat: &str, found: &Predecessor, start: usize, end: usize) -> bool {
        let code = self.code;
        let id = flat.get(found.id..found.id_end).unwrap_or_default();
        let is_open = !topic::is_literal(id) && fold::text_of(parts).is_some();
        let Place::Named(name) = place::of(code, start, end) else {
            return false;
        };
        let is_filled = |at: usize| {
            let method = code.is(at + 1, ".") && matches!(code.word(at + 2), "format" | "format_map");
            method || code.is(at + 1, "%")
        };
        is_open && code.named(&name).iter().copied().any(is_filled)
    }

    /// Where the name is used that what stands from `start` to `end` is given.
    fn uses(&self, start: usize, end: usize) -> Vec<usize> {
        let code = self.code;
        let Place::Named(name) = place::of(code, start, end) else {
            return Vec::new();
        };
        let stands_for_it = |at: &usize| {
            let definition = code.definition(&name, *at);
            definition.is_some_and(|definition| definition.tokens == (start..end))
        };
        let named = code.named(&name).iter().copied();
        named
            .filter(|at| code.defined_at(*at).is_none())
            .filter(stands_for_it)
            .collect()
    }

    /// Whether a text is given a name, and nothing else in the file uses that.
    fn is_passed_on(&self, start: usize, end: usize) -> bool {
        let code = self.code;
        // What is compared or looked up is no beginning of anything.
        let ends = code.is_newline(end) || [",", ";", ")", "]", "}"].iter().any(|sign| code.is(end, sign));
        let is_kept = matches!(place::of(code, start, end), Place::Named(_) | Place::Member { .. });
        ends && is_kept && !self.is_used(start, end)
    }

    /// Whether a text is given a name that the file uses again. Then it is looked at there.
    fn is_used(&self, start: usize, end: usize) -> bool {
        let code = self.code;
        let name = match place::of(code, start, end) {
            Place::Named(name) => name,
            Place::Member { key, .. } => key,
            _ => return false,
        };
        if code.named(&name).len() > 1 {
            return true;
        }
        let in_strings = code.tokens.iter().filter_map(Token::pieces).flatten();
        let held = in_strings.filter(|piece| match piece {
            Piece::Hole { inner, .. } => code
                .text
                .get(inner.clone())
                .is_some_and(|hole| hole.contains(name.as_str())),
            Piece::Text { .. } => false,
        });
        held.count() > 0
    }

    fn predecessor(&mut self, parts: &[Part], flat: &str, found: &Predecessor, start: usize, end: usize) {
        let code = self.code;
        let (kind, certain) = place::kind(code, start, end, found.answer);
        let id = flat.get(found.id..found.id_end).unwrap_or_default();
        let shown_id = shown(parts, id, found.id);
        let fix = match kind {
            Kind::Caller => fix::caller(code, start, end, parts),
            Kind::Host => Err("what answers it has to compare data.toolbox_id".to_owned()),
            Kind::Listener => Err("what takes the answer has to compare data.toolbox_id".to_owned()),
            _ => Err("it is only spoken of".to_owned()),
        };
        self.found.push(Finding {
            span: code.span(&(start..end)),
            kind,
            certain,
            answers_both: false,
            takes_first: false,
            what: What::Predecessor { answer: found.answer },
            toolbox_id: topic::is_literal(id).then(|| id.to_owned()),
            shown_id,
            fix,
        });
        if kind == Kind::Caller {
            self.arguments(flat, start, end);
        }
    }

    /// Looks whether the arguments that go with a topic stand under the right key.
    fn arguments(&mut self, topic: &str, start: usize, end: usize) {
        let code = self.code;
        let (found, wanted) = if topic == topic::INVOKE {
            ("kwargs", "args")
        } else {
            ("args", "kwargs")
        };
        let (entries, here) = match payload::of(code, start, end) {
            Payload::Object { open, here } => (payload::entries(code, open), here),
            Payload::Lines(keys) => {
                let entry = |at: usize| super::code::Argument {
                    key: code.literal(at),
                    key_at: at,
                    value: at + 2..at + 2,
                    spread: false,
                };
                (keys.into_iter().map(entry).collect(), true)
            }
            _ => return,
        };
        let has = |key: &str| entries.iter().find(|entry| entry.key.as_deref() == Some(key));
        let Some(entry) = has(found).filter(|_| has(wanted).is_none()) else {
            return;
        };
        let topic = match topic == topic::INVOKE || topic == topic::CALL {
            true => topic,
            false => topic::CALL,
        };
        let fix = if here {
            fix::rename(code, entry, wanted)
        } else {
            Err("the payload is made elsewhere and may be used twice".to_owned())
        };
        self.found.push(Finding {
            span: code.span(&(entry.key_at..entry.key_at + 1)),
            kind: Kind::Arguments,
            certain: true,
            answers_both: false,
            takes_first: false,
            what: What::Arguments {
                topic: topic.to_owned(),
                found,
                wanted,
            },
            toolbox_id: None,
            shown_id: String::new(),
            fix,
        });
    }

    /// Looks into a string that is no topic itself.
    fn inside(&mut self, at: usize) {
        let code = self.code;
        let Some(token) = code.tokens.get(at) else { return };
        let Some(pieces) = token.pieces() else { return };
        let source = code.text.get(token.span.clone()).unwrap_or_default();
        if !may_have_any(source) {
            return;
        }
        let depth = self.depth - 1;
        if code.language == Language::Yaml && self.is_script(at) {
            return self.within(&token.span, |text| findings(text, Language::Shell, depth));
        }
        for piece in pieces {
            if let Piece::Hole { inner, .. } = piece {
                self.within(inner, |text| findings(text, code.language, depth));
            }
        }
        let decoded = Decoded::of(code.text, pieces, token.span.end - token.quotes.1);
        if place::of(code, at, at + 1) == Place::Statement {
            let found = embedded::mentions(&decoded.text).into_iter();
            self.found.extend(found.map(|finding| Finding {
                span: decoded.span(&finding.span),
                ..finding
            }));
            return;
        }
        self.found.extend(embedded::findings(&decoded, depth));
    }

    fn is_script(&self, at: usize) -> bool {
        let Place::Member { key, .. } = place::of(self.code, at, at + 1) else {
            return false;
        };
        SCRIPTS.contains(&key.as_str())
    }

    /// `toolhost call --predecessor`
    fn flags(&mut self) {
        let code = self.code;
        let word = |at: usize| code.literal(at).unwrap_or_default();
        for flag in (0..code.tokens.len()).filter(|at| word(*at) == "--predecessor") {
            let ends = |at: usize| !code.is_string(at);
            let first = (0..flag).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
            let Some(call) = (first..flag).find(|at| word(*at) == "call") else {
                continue;
            };
            let is_ours = (first..call).any(|at| word(at).rsplit('/').next() == Some("toolhost"));
            if !is_ours {
                continue;
            }
            let words = (call + 1..code.tokens.len()).take_while(|at| !ends(*at));
            let id = words
                .map(code_word(code))
                .find(|word| !word.starts_with('-'))
                .unwrap_or_default();
            let span = code.span(&(flag..flag + 1));
            let from = code.tokens.get(flag - 1).map_or(span.start, |before| before.span.end);
            self.found.push(Finding {
                kind: Kind::Caller,
                certain: true,
                answers_both: false,
                takes_first: false,
                what: What::Flag,
                toolbox_id: topic::is_literal(id).then(|| id.to_owned()),
                shown_id: id.to_owned(),
                fix: Ok(vec![super::finding::Edit {
                    range: from..span.end,
                    text: String::new(),
                }]),
                span,
            });
        }
    }
}

fn code_word<'a>(code: &'a Code<'a>) -> impl Fn(usize) -> &'a str {
    |at| code.word(at).trim_matches(['"', '\''])
}

/// The toolbox_id as the source has it: `id` of the flat text, which begins at `start` there.
fn shown(parts: &[Part], id: &str, start: usize) -> String {
    let braces = id.chars().any(|c| !is_hole(c));
    let mut shown = String::new();
    let mut at = 0;
    for part in parts {
        match part {
            Part::Text(text) => {
                for c in text.chars() {
                    if at >= start && at < start + id.len() {
                        shown.push(c);
                    }
                    at += c.len_utf8();
                }
            }
            Part::Hole(hole) => {
                if at >= start && at < start + id.len() {
                    shown.push_str(&if braces {
                        format!("{{{}}}", hole.source)
                    } else {
                        hole.source.clone()
                    });
                }
                at += super::token::HOLE.len_utf8();
            }
        }
    }
    shown
}

/// A wait for the answer that is written in the same call as what it answers is rewritten with it.
fn pair_listeners(code: &Code<'_>, found: &mut [Finding]) {
    for at in 0..found.len() {
        let Some(listener) = found.get(at).filter(|finding| finding.kind == Kind::Listener) else {
            continue;
        };
        let Some(token) = code
            .tokens
            .iter()
            .position(|token| token.span.start == listener.span.start)
        else {
            continue;
        };
        let Some(open) = code.around(token) else { continue };
        let Some(close) = code.pair(open) else { continue };
        let waits = waits::is_wait(code, open);
        let call = code.span(&(open..close + 1));
        let pair = found.iter().any(|caller| {
            caller.kind == Kind::Caller
                && caller.fix.is_ok()
                && caller.shown_id == listener.shown_id
                && call.contains(&caller.span.start)
        });
        if waits && pair {
            let span = listener.span.clone();
            let source = code.text.get(span.clone()).unwrap_or_default();
            let quote = if source.contains('"') { '"' } else { '\'' };
            let edit = super::finding::Edit {
                range: span,
                text: format!("{quote}{}{quote}", topic::ANSWER),
            };
            if let Some(listener) = found.get_mut(at) {
                listener.fix = Ok(vec![edit]);
            }
        }
    }
}

/// The same finding, `by` bytes further on.
pub(super) fn shifted(mut finding: Finding, by: usize) -> Finding {
    finding.span = finding.span.start + by..finding.span.end + by;
    if let Ok(edits) = &mut finding.fix {
        for edit in edits {
            edit.range = edit.range.start + by..edit.range.end + by;
        }
    }
    finding
}
