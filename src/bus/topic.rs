//! What a Message is about, told from its `type` alone.
//!
//! Every host on the bus sees every Message, and nearly all are for others: a look at the topic has
//! to settle those, however long the payload behind it is.

use std::borrow::Cow;

use crate::json::{self, Members};

/// The topics toolhost answers, those that betray another host, and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic<'a> {
    /// `ovos.persona.tools.discover` (OVOS-TOOLS-1 §4.1).
    Discover,
    /// `ovos.persona.tools.call` (§4.2).
    Call,
    /// `ovos.persona.tools.<toolbox_id>.call` (§6).
    Predecessor(&'a str),
    /// `ovos.tools.list` (§5).
    List,
    /// `ovos.tools.get` (§5).
    Get,
    /// `ovos.tools.invoke` (§5).
    Invoke,
    /// `ovos.tools.reload` (§5).
    Reload,
    /// `mycroft.toolhost.is_alive`, the status topic every OVOS service has.
    IsAlive,
    /// `mycroft.toolhost.is_ready`.
    IsReady,
    /// `ovos.persona.tools.discover.response`: some host speaks of a toolbox of its own.
    DiscoverAnswer,
    /// `ovos.persona.tools.call.response`: some host answers a call.
    CallAnswer,
    /// `ovos.persona.tools.<toolbox_id>.call.response`.
    PredecessorAnswer(&'a str),
    /// `ovos.tools.{list,get,invoke,reload}.response`: some tool service speaks.
    ServiceAnswer,
    /// Not for a toolbox host.
    Foreign,
}

impl<'a> Topic<'a> {
    /// What `topic` stands for.
    pub fn of(topic: &'a str) -> Self {
        if let Some(rest) = topic.strip_prefix("ovos.") {
            match rest.strip_prefix("persona.tools.") {
                Some(rest) => Self::of_toolbox_host(rest),
                None => rest.strip_prefix("tools.").map_or(Self::Foreign, Self::of_tool_service),
            }
        } else {
            match topic {
                "mycroft.toolhost.is_alive" => Self::IsAlive,
                "mycroft.toolhost.is_ready" => Self::IsReady,
                _ => Self::Foreign,
            }
        }
    }

    fn of_toolbox_host(rest: &'a str) -> Self {
        match rest {
            "discover" => Self::Discover,
            "call" => Self::Call,
            "discover.response" => Self::DiscoverAnswer,
            "call.response" => Self::CallAnswer,
            _ => Self::of_predecessor(rest).unwrap_or(Self::Foreign),
        }
    }

    fn of_predecessor(rest: &'a str) -> Option<Self> {
        // A toolbox_id has no `.` and no `:` (OVOS-TOOLS-1 §3).
        let fit = |toolbox_id: &&str| !toolbox_id.is_empty() && !toolbox_id.contains(['.', ':']);
        match rest.strip_suffix(".response") {
            None => rest.strip_suffix(".call").filter(fit).map(Self::Predecessor),
            Some(rest) => rest.strip_suffix(".call").filter(fit).map(Self::PredecessorAnswer),
        }
    }

    fn of_tool_service(rest: &str) -> Self {
        match rest {
            "list" => Self::List,
            "get" => Self::Get,
            "invoke" => Self::Invoke,
            "reload" => Self::Reload,
            "list.response" | "get.response" | "invoke.response" | "reload.response" => Self::ServiceAnswer,
            _ => Self::Foreign,
        }
    }

    /// Whether it is one of the four requests a tool service answers (OVOS-TOOLS-1 §5).
    pub fn is_service_request(self) -> bool {
        matches!(self, Self::List | Self::Get | Self::Invoke | Self::Reload)
    }
}

/// What a look at a frame finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Peek<'a> {
    /// A well-formed `type`.
    Topic(Cow<'a, str>),
    /// No object, or none with a well-formed `type`: [`Message::parse`](super::message::Message::parse) says what it is.
    Malformed,
}

/// Finds the top-level `type` without looking at the payload where it stands first, as nearly
/// every producer writes it, and without parsing the payload where it does not.
///
/// What is broken behind a leading `type` is left to those the Message is for.
/// Of a repeated `type` only the first is seen. A parser takes the last, so such a frame at worst
/// passes unanswered.
pub fn peek(frame: &str) -> Peek<'_> {
    if let Some(topic) = leading_type(frame) {
        return Peek::Topic(Cow::Borrowed(topic));
    }
    let topic = Members::parse(frame)
        .ok()
        .and_then(|members| members.get("type"))
        .and_then(json::string);
    match topic {
        Some(topic) if valid_type(&topic) => Peek::Topic(topic),
        _ => Peek::Malformed,
    }
}

/// The value of `type` where it is the first member and written without escapes.
fn leading_type(frame: &str) -> Option<&str> {
    let rest = after_space(frame).strip_prefix('{')?;
    let rest = after_space(rest).strip_prefix("\"type\"")?;
    let rest = after_space(rest).strip_prefix(':')?;
    let rest = after_space(rest).strip_prefix('"')?;
    let topic = rest.get(..memchr::memchr(b'"', rest.as_bytes())?)?;
    // A backslash is outside the grammar, so an escaped quote cannot pass for the end.
    valid_type(topic).then_some(topic)
}

/// JSON's own white space only: `trim_start` would take more (RFC 8259 §2).
fn after_space(text: &str) -> &str {
    let space = text
        .bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    text.get(space.count()..).unwrap_or_default()
}

/// The grammar of `type` (OVOS-MSG-1 §2.1): ASCII letters, digits and `. : _ -`; no `.` or `:` at
/// either end or next to another.
pub fn valid_type(topic: &str) -> bool {
    let mut after_separator = true;
    for byte in topic.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => after_separator = false,
            b'.' | b':' if !after_separator => after_separator = true,
            _ => return false,
        }
    }
    !after_separator
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::{CALL, DISCOVER, PREFIX, predecessor};

    #[test]
    fn every_topic_is_told_from_its_neighbors() {
        let table = [
            ("ovos.persona.tools.discover", Topic::Discover),
            ("ovos.persona.tools.call", Topic::Call),
            ("ovos.persona.tools.wordnet.call", Topic::Predecessor("wordnet")),
            ("ovos.persona.tools.call.call", Topic::Predecessor("call")),
            ("ovos.persona.tools.discover.call", Topic::Predecessor("discover")),
            ("ovos.tools.list", Topic::List),
            ("ovos.tools.get", Topic::Get),
            ("ovos.tools.invoke", Topic::Invoke),
            ("ovos.tools.reload", Topic::Reload),
            ("mycroft.toolhost.is_alive", Topic::IsAlive),
            ("mycroft.toolhost.is_ready", Topic::IsReady),
            ("ovos.persona.tools.discover.response", Topic::DiscoverAnswer),
            ("ovos.tools.list.response", Topic::ServiceAnswer),
            ("ovos.tools.get.response", Topic::ServiceAnswer),
            ("ovos.tools.invoke.response", Topic::ServiceAnswer),
            ("ovos.tools.reload.response", Topic::ServiceAnswer),
            ("ovos.persona.tools.call.response", Topic::CallAnswer),
            (
                "ovos.persona.tools.wordnet.call.response",
                Topic::PredecessorAnswer("wordnet"),
            ),
            ("ovos.persona.tools.wordnet.call.response.response", Topic::Foreign),
            ("ovos.persona.tools.a.b.call.response", Topic::Foreign),
            ("ovos.persona.tools.a.b.call", Topic::Foreign),
            ("ovos.persona.tools.a:b.call", Topic::Foreign),
            ("ovos.persona.tools..call", Topic::Foreign),
            ("ovos.persona.tools", Topic::Foreign),
            ("ovos.tools.discover", Topic::Foreign),
            ("ovos.tools.List", Topic::Foreign),
            ("mycroft.toolhost.is_alive.response", Topic::Foreign),
            ("recognizer_loop:utterance", Topic::Foreign),
            ("", Topic::Foreign),
        ];
        for (topic, expected) in table {
            assert_eq!(Topic::of(topic), expected, "{topic}");
        }
    }

    #[test]
    fn a_topic_of_ours_is_read_as_what_it_was_written_for() {
        let predecessor = predecessor("wordnet");
        assert_eq!(Topic::of(&predecessor), Topic::Predecessor("wordnet"));
        assert_eq!(Topic::of(DISCOVER), Topic::Discover);
        assert_eq!(Topic::of(CALL), Topic::Call);
        for topic in [DISCOVER, CALL, &predecessor] {
            assert!(topic.starts_with(PREFIX), "{topic}");
        }
    }

    #[test]
    fn a_type_follows_the_grammar() {
        for good in ["a", "speak", "a.b:c_d-e", "-", "_", "0", "mycroft.mic.listen", "a._.b"] {
            assert!(valid_type(good), "{good}");
        }
        for bad in [
            "", ".", ":", ".a", "a.", ":a", "a:", "a..b", "a.:b", "a::b", "a b", " a", "a\n", "é", "a/b", "a\\b", "a\0",
        ] {
            assert!(!valid_type(bad), "{bad:?}");
        }
    }

    #[test]
    fn the_type_is_found_wherever_it_stands() {
        let topic = |topic: &'static str| Peek::Topic(Cow::Borrowed(topic));
        let table = [
            (r#"{"type":"a.b","data":{"#, topic("a.b")),
            (" \t\r\n{ \"type\"\n:\t\"a.b\" , broken", topic("a.b")),
            (r#"{"type":"a\u002eb"}"#, topic("a.b")),
            (r#"{"\u0074ype":"a.b"}"#, topic("a.b")),
            (r#"{"data":{"type":"x"},"type":"a.b"}"#, topic("a.b")),
            (r#"{"data":{},"context":{},"type":"a.b"}"#, topic("a.b")),
            (r#"{"context":{"a":"\"type\":\"x\""},"type":"a.b"}"#, topic("a.b")),
            (r#"{"type":"a.b","type":"c"}"#, topic("a.b")),
            (r#"{"type":"a b","type":"c"}"#, topic("c")),
            (r#"{"data":{"type":"x"}}"#, Peek::Malformed),
            (r#"{"data":{},"type":"a.b""#, Peek::Malformed),
            (r#"{"type":"a..b"}"#, Peek::Malformed),
            (r#"{"type":"a\"b"}"#, Peek::Malformed),
            (r#"{"type":""}"#, Peek::Malformed),
            (r#"{"type":5}"#, Peek::Malformed),
            (r#"{"type":null}"#, Peek::Malformed),
            (r#"{"type":"a.b"#, Peek::Malformed),
            (r#"{"typ":"a.b"}"#, Peek::Malformed),
            (r#"[{"type":"a.b"}]"#, Peek::Malformed),
            ("\u{feff}{\"type\":\"a.b\"}", Peek::Malformed),
            ("\u{a0}{\"type\":\"a.b\"}", Peek::Malformed),
            ("{}", Peek::Malformed),
            ("null", Peek::Malformed),
            ("", Peek::Malformed),
            ("{", Peek::Malformed),
        ];
        for (frame, expected) in table {
            assert_eq!(peek(frame), expected, "{frame}");
        }
    }

    /// `cargo test --release --lib bus::topic -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn what_a_foreign_message_costs() {
        let tail = format!(r#""data":{{"utterances":["{}"]}},"context":{{}}}}"#, "x".repeat(370));
        let first = format!(r#"{{"type":"recognizer_loop:audio_output_start",{tail}"#);
        let last = format!(
            r#"{{{},"type":"recognizer_loop:audio_output_start"}}"#,
            tail.trim_end_matches('}').to_owned() + "}"
        );
        for (name, frame) in [("type first", &first), ("type last", &last)] {
            let rounds = 1_000_000u32;
            let start = std::time::Instant::now();
            for _ in 0..rounds {
                let Peek::Topic(topic) = peek(std::hint::black_box(frame)) else {
                    panic!("{frame}")
                };
                assert_eq!(std::hint::black_box(Topic::of(&topic)), Topic::Foreign);
            }
            println!("{name}: {:?} each, {} bytes", start.elapsed() / rounds, frame.len());
        }
    }
}
