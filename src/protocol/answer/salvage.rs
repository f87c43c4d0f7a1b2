//! What can be told of a line no parser takes: whose answer it was meant to be, and why it failed.
//!
//! The scan is tolerant on purpose. It looks for the top-level keys of an answer and skips
//! everything else, so that a call ends at once with a reason instead of at its timeout without.

use super::{Id, Line, Noise};

/// A line that starts as an object and is no JSON.
pub(super) fn broken<'a>(text: &str, error: &serde_json::Error) -> Line<'a> {
    let scan = Scan::of(text.as_bytes());
    if !scan.is_answer {
        return Line::Noise(noise(text));
    }
    Line::Faulty {
        id: scan.id,
        why: scan.why(error),
    }
}

/// A line that is no UTF-8.
pub(super) fn not_utf8<'a>(line: &[u8]) -> Line<'a> {
    let scan = Scan::of(line);
    if !scan.is_answer {
        return Line::Noise(Noise::NotUtf8);
    }
    Line::Faulty {
        id: scan.id,
        why: "invalid UTF-8".to_owned(),
    }
}

/// The id in the beginning of an answer whose rest was not kept. A word that reaches the end of it may have gone on:
/// of `"id":123` it could be the `12`, which is another request's.
pub(super) fn id_in(head: &[u8]) -> Option<u64> {
    let end = head.iter().rposition(|byte| !is_word(*byte)).map_or(0, |at| at + 1);
    Scan::of(&head[..end]).id
}

/// What kind of noise a line without an answer is.
pub(super) fn noise(text: &str) -> Noise {
    if is_header(text) {
        Noise::HeaderFraming
    } else if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        Noise::NotAnObject
    } else if is_piece(text) {
        Noise::Spread
    } else {
        Noise::NotJson
    }
}

fn is_header(text: &str) -> bool {
    ["content-length:", "content-type:"].iter().any(|header| {
        text.get(..header.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(header))
    })
}

/// Whether `text` is a line as pretty printers break them: a lone bracket, or a member.
fn is_piece(text: &str) -> bool {
    let body = text.trim_end_matches(',').trim_end();
    let lone = !body.is_empty() && body.bytes().all(|byte| b"{}[]".contains(&byte));
    let member = || {
        let key = body.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        key.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
    };
    lone || member()
}

/// What the scan of a broken line found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Scan<'a> {
    /// The last top-level `id` that can be one.
    id: Option<u64>,
    /// Whether there is a top-level `result` or `error`.
    is_answer: bool,
    /// The first word that is a number in some languages and none in JSON.
    not_a_number: Option<&'a str>,
    /// Whether a string stands in single quotes, as Python prints a dict.
    single_quotes: bool,
    /// What follows the end of the object.
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn of(line: &'a [u8]) -> Self {
        let mut scan = Self::default();
        let (mut at, mut depth) = (0, 0usize);
        let mut key: Option<&[u8]> = None;
        while let Some(&byte) = line.get(at) {
            match byte {
                b'"' | b'\'' => {
                    let Some(end) = string_end(line, at) else {
                        scan.single_quotes |= byte == b'\'';
                        break;
                    };
                    let inner = line.get(at + 1..end - 1).unwrap_or_default();
                    scan.single_quotes |= byte == b'\'';
                    if depth == 1 && line[end..].trim_ascii_start().starts_with(b":") {
                        scan.is_answer |= inner == b"result" || inner == b"error";
                        key = Some(inner);
                    } else if depth == 1 && key == Some(b"id") {
                        scan.set_id(inner);
                    }
                    at = end;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        scan.rest = line[at + 1..].trim_ascii();
                        break;
                    }
                }
                b',' if depth == 1 => key = None,
                byte if is_word(byte) => {
                    let end = line[at..].iter().position(|byte| !is_word(*byte));
                    let word = &line[at..end.map_or(line.len(), |length| at + length)];
                    if depth == 1 && key == Some(b"id") {
                        scan.set_id(word);
                    }
                    scan.note_word(word);
                    at += word.len();
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        scan
    }

    fn set_id(&mut self, word: &[u8]) {
        let text = std::str::from_utf8(word).unwrap_or_default();
        self.id = Id::from_text(text.trim()).known().or(self.id);
    }

    fn note_word(&mut self, word: &'a [u8]) {
        let text = std::str::from_utf8(word).unwrap_or_default();
        let bare = text.trim_start_matches(['-', '+']).to_ascii_lowercase();
        if matches!(bare.as_str(), "nan" | "inf" | "infinity") {
            self.not_a_number = self.not_a_number.or(Some(text));
        }
    }

    fn why(&self, error: &serde_json::Error) -> String {
        if let Some(word) = self.not_a_number {
            return format!("{word} is not JSON: send null or a string in its place");
        }
        if self.single_quotes {
            return "strings in single quotes are not JSON: this looks like a Python dict, send json.dumps of it"
                .to_owned();
        }
        if std::str::from_utf8(self.rest).is_ok_and(is_header) {
            return "looks like header framing (Content-Length): send one JSON object per line instead".to_owned();
        }
        if !self.rest.is_empty() {
            return "something follows the object: end each answer with a line feed".to_owned();
        }
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        format!("not JSON: {reason} at byte {}", error.column())
    }
}

/// The index after the string that opens at `at`; `None` where it never closes.
fn string_end(line: &[u8], at: usize) -> Option<usize> {
    let quote = line[at];
    let mut end = at + 1;
    while let Some(&byte) = line.get(end) {
        end += match byte {
            b'\\' => 2,
            byte if byte == quote => return Some(end + 1),
            _ => 1,
        };
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._".contains(&byte)
}
