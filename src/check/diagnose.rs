//! What a line says about the program that wrote it. Pure.

use serde_json::{Map, Value};

use super::asked::Asked;
use super::hints::Hint;
use crate::config::nearest;
use crate::protocol::answer::{self, Line, Noise, sample};
use crate::protocol::describe::Description;
use crate::protocol::transcript::matches_line;
use crate::tools::arguments::with_article;

/// What is wrong with a line, or only odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnosis {
    /// What kind of thing it is, so that it is said once.
    pub(super) kind: &'static str,
    /// In words.
    pub(super) what: String,
    /// What should have been written.
    pub(super) should: String,
    /// What is usually behind it.
    pub(super) hint: Option<Hint>,
}

/// What a line is to who waits for answers.
#[derive(Debug)]
pub(super) enum Judged {
    /// Nothing: a blank line, an event.
    Nothing,
    /// The answer to the request at this index.
    Meets(usize),
    /// Skipped, and worth a warning.
    Noise(Diagnosis),
    /// Meant as an answer, and none that can be used.
    Bad(Diagnosis),
}

/// What should stand on stdout in place of noise.
const ELSEWHERE: &str = "(nothing; what is not an answer goes to stderr)";

/// Judges a line while the answers to `asked` are due and those to `answered` have come.
pub(super) fn judge(line: &[u8], asked: &[Asked], answered: &[u64]) -> Judged {
    match answer::parse(line) {
        Line::Blank | Line::ToolsChanged | Line::Progress { .. } => Judged::Nothing,
        Line::Noise(Noise::HeaderFraming) => Judged::Bad(framing(asked)),
        Line::Noise(Noise::NoId) => Judged::Bad(unusable(line, "", asked, answered)),
        Line::Noise(noise) => Judged::Noise(stray(noise)),
        Line::Faulty { why, .. } => Judged::Bad(unusable(line, &why, asked, answered)),
        Line::NullId { .. } => Judged::Bad(unusable(line, "", asked, answered)),
        Line::Answer { .. } => match asked.iter().position(|asked| meets(asked, line)) {
            Some(index) => Judged::Meets(index),
            None => Judged::Bad(unusable(line, "", asked, answered)),
        },
    }
}

/// A byte order mark is no fault, nor is what a host mends.
fn meets(asked: &Asked, line: &[u8]) -> bool {
    matches_line(&asked.pattern, bare(line))
}

/// A line without what the host drops.
fn bare(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

fn framing(asked: &[Asked]) -> Diagnosis {
    Diagnosis {
        kind: "framing",
        what: "header framing (Content-Length), as LSP and early MCP have it: toolhost takes one JSON object a line, \
               without headers"
            .to_owned(),
        should: should(asked, None),
        hint: None,
    }
}

fn stray(noise: Noise) -> Diagnosis {
    let hint = match noise {
        Noise::NotUtf8 => Some(Hint::Encoding),
        Noise::UnknownEvent => None,
        _ => Some(Hint::Stdout),
    };
    Diagnosis {
        kind: "noise",
        what: format!("wrote noise to stdout: {noise}"),
        should: ELSEWHERE.to_owned(),
        hint,
    }
}

/// The lines that would have answered what is due; the first stands for all where the fault shows which is meant.
fn should(asked: &[Asked], wrote: Option<&Value>) -> String {
    let meant = wrote.and_then(|wrote| meant(asked, wrote));
    match meant.or(if asked.len() == 1 { asked.first() } else { None }) {
        Some(one) => one.should(wrote),
        None => {
            let lines: Vec<String> = asked.iter().map(|asked| asked.should(None)).collect();
            lines.join("\n        ")
        }
    }
}

/// The request whose answer an object is meant to be.
fn meant<'a>(asked: &'a [Asked], wrote: &Value) -> Option<&'a Asked> {
    let id = wrote.get("id")?;
    let text = id
        .as_str()
        .map_or_else(|| id.to_string(), |text| text.trim().to_owned());
    asked.iter().find(|asked| asked.id.to_string() == text)
}

/// An answer that is none; `why` is what the host would say of it.
fn unusable(line: &[u8], why: &str, asked: &[Asked], answered: &[u64]) -> Diagnosis {
    let text = String::from_utf8_lossy(bare(line));
    let wrote: Option<Value> = serde_json::from_str(&text).ok();
    let (kind, what, hint) = match wrote.as_ref().and_then(Value::as_object) {
        Some(members) if !["surrogate", "nested", "UTF-8"].iter().any(|part| why.contains(part)) => {
            of_object(members, why, asked, answered)
        }
        _ => of_text(&text, why),
    };
    Diagnosis {
        kind,
        what,
        should: should(asked, wrote.as_ref().or(first_object(&text).as_ref())),
        hint,
    }
}

type Said = (&'static str, String, Option<Hint>);

/// The object a line begins with.
fn first_object(text: &str) -> Option<Value> {
    objects(text).next()
}

fn objects(text: &str) -> impl Iterator<Item = Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.map_while(Result::ok).filter(Value::is_object)
}

/// A line that is no JSON.
fn of_text(text: &str, why: &str) -> Said {
    if why.contains("invalid UTF-8") {
        return ("utf-8", "an answer that is not UTF-8".to_owned(), Some(Hint::Encoding));
    }
    if why.contains("single quotes") {
        return ("quotes", format!("an answer that is not JSON: {why}"), Some(Hint::Repr));
    }
    if why.contains("is not JSON: send null") {
        return (
            "number",
            format!("an answer that is not JSON: {why}"),
            Some(Hint::NotANumber),
        );
    }
    match objects(text).count() {
        0 => ("json", format!("an answer that cannot be read: {why}"), None),
        1 if why.contains("something follows") => {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            let _first = values.next();
            let rest = text.get(values.byte_offset()..).unwrap_or_default();
            let what = format!(
                "something follows the object on its line: {}",
                sample(rest.trim().as_bytes())
            );
            ("garbage", what, Some(Hint::Stdout))
        }
        1 => ("json", format!("an answer that cannot be read: {why}"), None),
        count => (
            "two on a line",
            format!("{count} JSON objects on one line: each answer ends with a line feed"),
            None,
        ),
    }
}

/// An object that answers nothing.
fn of_object(members: &Map<String, Value>, why: &str, asked: &[Asked], answered: &[u64]) -> Said {
    if let Some(said) = of_another_protocol(members) {
        return said;
    }
    if !members.contains_key("result") && !members.contains_key("error") {
        return without_outcome(members);
    }
    if let Some(said) = of_id(members.get("id"), asked, answered) {
        return said;
    }
    if !why.is_empty() {
        let kind = if why.starts_with("both") { "both" } else { "error" };
        return (kind, why.to_owned(), None);
    }
    let id = Value::Object(members.clone());
    match meant(asked, &id) {
        Some(asked) => of_outcome(members, asked),
        None => ("wrong", "not the answer that was due".to_owned(), None),
    }
}

/// The words of the protocol, for who wrote those of another.
const OURS: &str = "toolhost asks {\"id\":1,\"op\":\"describe\"} and {\"id\":2,\"op\":\"call\",\"name\":...,\"kwargs\":{...}}, and \
                    takes {\"id\":1,\"result\":...} or {\"id\":1,\"error\":...}";

fn of_another_protocol(members: &Map<String, Value>) -> Option<Said> {
    let has = |name: &str| members.contains_key(name);
    let method = members.get("method").and_then(Value::as_str);
    let code = members.get("error").and_then(|error| error.get("code")).is_some();
    let what = match method {
        Some(method) => format!(
            "it seems to speak JSON-RPC (\"method\": \"{}\"), as MCP and LSP do",
            sample(method.as_bytes())
        ),
        None if has("jsonrpc") && code => {
            "it refuses the request as JSON-RPC does: it seems to be an MCP server".to_owned()
        }
        None => return None,
    };
    Some(("json-rpc", format!("{what}; {OURS}"), None))
}

/// Neither result nor error: what may stand for them.
fn without_outcome(members: &Map<String, Value>) -> Said {
    let kind = "neither";
    if members.contains_key("op") {
        return (
            kind,
            "neither result nor error: it looks like the request, echoed".to_owned(),
            None,
        );
    }
    if members.contains_key("tools") {
        let what = "neither result nor error: 'tools' belongs inside 'result'".to_owned();
        return (kind, what, None);
    }
    let habits = [
        ("output", "result"),
        ("response", "result"),
        ("data", "result"),
        ("value", "result"),
        ("exception", "error"),
        ("message", "error"),
    ];
    let slip = members.keys().find_map(|key| {
        let habit = habits.iter().find(|(habit, _)| habit == key).map(|(_, ours)| *ours);
        Some((key, habit.or_else(|| nearest(key, &["result", "error"]))?))
    });
    match slip {
        Some((key, ours)) => (
            kind,
            format!(
                "neither result nor error: is '{}' meant as '{ours}'?",
                sample(key.as_bytes())
            ),
            None,
        ),
        None => (kind, "neither result nor error".to_owned(), None),
    }
}

/// What is wrong with the id.
fn of_id(id: Option<&Value>, asked: &[Asked], answered: &[u64]) -> Option<Said> {
    let wanted = match asked {
        [] => "nothing is asked now".to_owned(),
        [one] => format!("the request has {}", one.id),
        many => {
            let ids: Vec<String> = many.iter().map(|asked| asked.id.to_string()).collect();
            format!("the requests have {}", ids.join(" and "))
        }
    };
    let said = |kind: &'static str, what: String| Some((kind, what, Some(Hint::Id)));
    let text = match id {
        None => return said("no id", format!("an answer without an id: {wanted}")),
        Some(Value::Null) => return said("null id", format!("an answer whose id is null: {wanted}")),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => {
            return said(
                "odd id",
                format!("an answer whose id is {}: {wanted}", with_article(other)),
            );
        }
    };
    let number = text.parse::<f64>().ok();
    let is = |id: u64| text == id.to_string() || number == Some(id as f64);
    if asked.iter().any(|asked| is(asked.id)) {
        return None;
    }
    match answered.iter().find(|id| is(**id)) {
        Some(id) => Some((
            "twice",
            format!("a second answer to request {id}: each has exactly one"),
            None,
        )),
        None => said(
            "wrong id",
            format!("an answer with the wrong id, {}: {wanted}", sample(text.as_bytes())),
        ),
    }
}

/// An answer to the right request that says the wrong thing.
fn of_outcome(members: &Map<String, Value>, asked: &Asked) -> Said {
    let present = |name: &str| members.get(name).filter(|value| !value.is_null());
    let words = asked.words();
    if asked.wants_error() {
        let inside = present("result").is_some_and(|result| result.get("error").is_some());
        let more = if inside {
            "; its error stands inside 'result', in place of it"
        } else {
            ""
        };
        let what = match present("error") {
            Some(_) => format!("the error that answers {words} says nothing"),
            None => format!("{words} is answered with a result, expected an error{more}"),
        };
        return ("no error", what, Some(Hint::Unknown));
    }
    if let Some(error) = present("error") {
        let error = sample(
            error
                .as_str()
                .map_or_else(|| error.to_string(), str::to_owned)
                .as_bytes(),
        );
        return ("refused", format!("{words} is answered with an error: {error}"), None);
    }
    let result = members.get("result").unwrap_or(&Value::Null);
    let why = match Description::parse(&result.to_string()) {
        Err(why) if asked.is_describe() => why,
        _ => format!("not what {words} should be answered with"),
    };
    let more = match result {
        Value::Array(_) => "; the list belongs under 'tools'",
        Value::String(text) if text.trim_start().starts_with('{') => {
            "; it is JSON written as a string, send it as it is"
        }
        _ => "",
    };
    ("describe", format!("{why}{more}"), None)
}

/// What is odd about a line that is understood all the same.
pub(super) fn oddities(line: &[u8], asked: &Asked) -> Vec<Diagnosis> {
    let wrote: Option<Value> = serde_json::from_slice(bare(line)).ok();
    let mut odd = Vec::new();
    let mut add = |kind: &'static str, what: String, hint| {
        let should = asked.should(wrote.as_ref());
        odd.push(Diagnosis {
            kind,
            what,
            should,
            hint,
        });
    };
    if line.starts_with(b"\xef\xbb\xbf") {
        add(
            "bom",
            "a byte order mark before the answer (the host drops it)".to_owned(),
            Some(Hint::ByteOrderMark),
        );
    }
    if line.ends_with(b"\r") {
        add(
            "crlf",
            "a line that ends with CRLF (the host drops the CR)".to_owned(),
            Some(Hint::LineEnds),
        );
    }
    let text = std::str::from_utf8(bare(line)).unwrap_or_default();
    if let Some(key) = repeated(text) {
        add(
            "repeated",
            format!("the key '{key}' stands twice in the answer: only the last one counts"),
            None,
        );
    }
    let id = wrote.as_ref().and_then(|wrote| wrote.get("id"));
    match id {
        Some(Value::String(_)) => {
            let what = "the id is a string (the host takes it as the number it spells)".to_owned();
            add("id string", what, Some(Hint::Id));
        }
        Some(Value::Number(number)) if number.as_str() != asked.id.to_string() => {
            let what = format!("the id is spelled {number} (the host takes it as {})", asked.id);
            add("id spelling", what, Some(Hint::Id));
        }
        _ => {}
    }
    if wrote.as_ref().is_some_and(|wrote| wrote.get("jsonrpc").is_some()) {
        let what = "'jsonrpc' stands in the answer: toolhost does not speak JSON-RPC, and ignores it".to_owned();
        add("jsonrpc member", what, None);
    }
    odd
}

/// A key that stands twice at the top of an object.
fn repeated(text: &str) -> Option<String> {
    let members = crate::json::Members::parse(text).ok()?;
    let keys: Vec<&str> = members.iter().map(|(key, _)| key).collect();
    let twice = keys
        .iter()
        .enumerate()
        .find(|(index, key)| keys[..*index].contains(key));
    twice.map(|(_, key)| sample(key.as_bytes()))
}

/// An answer that stands on `lines` lines; `whole` is all of it.
pub(super) fn spread(whole: &Value, lines: usize, asked: &[Asked]) -> Diagnosis {
    Diagnosis {
        kind: "spread",
        what: format!("one JSON object over {lines} lines: a line is a message, and a message a line"),
        should: should(asked, Some(whole)),
        hint: Some(Hint::Pretty),
    }
}
