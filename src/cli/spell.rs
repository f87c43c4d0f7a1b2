//! JSON for eyes and pipes: new spacing around the same tokens. Pure.
//!
//! Numbers and strings keep their spelling, since a value that went through a parser may come out
//! as another one. Only characters that steer a terminal are escaped: JSON itself escapes those
//! below U+0020, but lets DEL, the C1 controls and the marks that turn the writing direction through.

use std::fmt::Write as _;

/// `json`, which must be valid, without any space between its tokens.
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for token in Tokens(json) {
        push_token(&mut out, token);
    }
    out
}

/// `json`, which must be valid, with one member a line, indented by two spaces.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut tokens = Tokens(json).peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                // An empty object or array stays on its line.
                if let Some(close) = tokens.next_if(|next| matches!(*next, "}" | "]")) {
                    out.push_str(close);
                } else {
                    depth += 1;
                    push_line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                push_line(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                push_line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            _ => push_token(&mut out, token),
        }
    }
    out
}

/// `text` as it may be shown on a terminal: line ends and tabs stay, other control characters are escaped.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => out.push(character),
            _ if steers(character) => push_escape(&mut out, character),
            _ => out.push(character),
        }
    }
    out
}

/// Whether a terminal would act on `character` rather than show it.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_escape(out: &mut String, character: char) {
    // Writing into a `String` cannot fail.
    write!(out, "\\u{:04x}", u32::from(character)).unwrap_or_default();
}

fn push_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

fn push_token(out: &mut String, token: &str) {
    for character in token.chars() {
        if steers(character) {
            push_escape(out, character);
        } else {
            out.push(character);
        }
    }
}

/// The tokens of a valid JSON text, spaces left out.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        let length = match rest.as_bytes().first()? {
            b'"' => string_length(rest.as_bytes()),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => rest
                .find(['{', '}', '[', ']', ',', ':', '"', ' ', '\t', '\n', '\r'])
                .unwrap_or(rest.len()),
        };
        let (token, rest) = rest.split_at(length);
        self.0 = rest;
        Some(token)
    }
}

/// How many bytes the string at the start of `bytes` has, quotes included.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ \"a\" : [1.50e3,\t123456789012345678901234567890, \"x, \\\"y\\\\\"],\n \"b\":{ }, \"c\" : [ ], \"d\": [{}, null]}";

    #[test]
    fn compact_only_takes_the_spaces() {
        assert_eq!(
            compact(TEXT),
            r#"{"a":[1.50e3,123456789012345678901234567890,"x, \"y\\"],"b":{},"c":[],"d":[{},null]}"#
        );
        assert_eq!(compact(" \"a b\" "), "\"a b\"");
    }

    #[test]
    fn pretty_puts_a_member_on_each_line() {
        let expected = r#"{
  "a": [
    1.50e3,
    123456789012345678901234567890,
    "x, \"y\\"
  ],
  "b": {},
  "c": [],
  "d": [
    {},
    null
  ]
}"#;
        assert_eq!(pretty(TEXT), expected);
        assert_eq!(compact(&pretty(TEXT)), compact(TEXT));
        assert_eq!(pretty("true"), "true");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(compact("\"\u{9b}31m\u{7f}\u{202e}é\""), "\"\\u009b31m\\u007f\\u202eé\"");
        assert_eq!(plain("a\u{1b}[31m\nb\r"), "a\\u001b[31m\nb\\u000d");
    }
}
