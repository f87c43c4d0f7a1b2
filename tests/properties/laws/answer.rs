//! A line of a toolbox: whose answer it is, and that it reaches nobody else.

use serde_json::Value;
use serde_json::value::RawValue;

use toolhost::json::{self, Members, Unfit};
use toolhost::protocol::answer::{self, Line};

use super::value;

/// One line, as a toolbox may print it.
pub fn hold(data: &[u8]) {
    let line = answer::parse(data);
    // However it is ended and begun, it is the same.
    for (before, after) in [("", "\r\n"), ("\u{feff}", "\n"), (" \t", " ")] {
        let wrapped = [before.as_bytes(), data, after.as_bytes()].concat();
        let is_marked = data.trim_ascii_start().starts_with("\u{feff}".as_bytes());
        if before != "\u{feff}" || !is_marked {
            assert_eq!(told(&answer::parse(&wrapped)), told(&line));
        }
    }
    if let Line::Answer {
        outcome: Ok(result), ..
    } = &line
    {
        assert!(within(data, result.as_bytes()), "a result is passed on as it stands");
        assert_eq!(json::fit_to_send(result), Ok(()));
    }
    if let Line::Faulty { why, .. } = &line {
        assert!(!why.trim().is_empty());
    }
    agrees_with_the_value(data, &line);
    no_head_is_somebody_elses(data);
    let sample = answer::sample(data);
    assert!(!sample.chars().any(char::is_control), "{sample:?}");
    assert!(sample.len() < 2_000);
}

/// A line without what differs by the place of a fault.
fn told(line: &Line<'_>) -> String {
    match line {
        Line::Faulty { id, .. } => format!("faulty {id:?}"),
        line => format!("{line:?}"),
    }
}

fn within(whole: &[u8], part: &[u8]) -> bool {
    whole.as_ptr_range().start <= part.as_ptr_range().start && part.as_ptr_range().end <= whole.as_ptr_range().end
}

/// What a JSON parser makes of the line, and what it was taken for.
fn agrees_with_the_value(data: &[u8], line: &Line<'_>) {
    let text = std::str::from_utf8(data).unwrap_or_default();
    let bare = text.trim_ascii().trim_start_matches('\u{feff}').trim_ascii();
    let Some(Value::Object(object)) = value(bare) else {
        return;
    };
    let member = |name: &str| object.get(name).filter(|value| !value.is_null());
    match line {
        Line::Answer { id, outcome } => {
            assert_eq!(Some(*id), object.get("id").and_then(id_of), "{bare}");
            match outcome {
                Ok(result) => {
                    assert_eq!(member("error"), None);
                    assert_eq!(value(result).as_ref(), object.get("result"));
                }
                Err(_) => assert!(member("error").is_some() && member("result").is_none()),
            }
        }
        Line::Faulty { id, .. } => assert_eq!(*id, object.get("id").and_then(id_of), "{bare}"),
        Line::NullId { .. } => assert_eq!(object.get("id"), Some(&Value::Null)),
        Line::ToolsChanged => assert_eq!(object.get("event"), Some(&Value::from("tools_changed"))),
        Line::Progress { .. } => assert_eq!(object.get("event"), Some(&Value::from("progress"))),
        Line::Noise(_) => {
            let has_id = object.get("id").and_then(id_of).is_some();
            let is_event = object.contains_key("event") && member("result").or(member("error")).is_none();
            assert!(!has_id || is_event, "an answer went for noise: {bare}");
        }
        Line::Blank => panic!("{bare} is not blank"),
    }
}

/// The id a value means: an integer in any spelling of protocol/README.md §4.
fn id_of(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let exact = |float: &f64| float.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(float);
    text.parse()
        .ok()
        .or_else(|| text.parse::<f64>().ok().filter(exact).map(|float| float as u64))
}

/// Of a line that was too long only the beginning is kept. It tells the id of the whole line, or none.
fn no_head_is_somebody_elses(data: &[u8]) {
    let Line::Answer { id, .. } = answer::parse(data) else {
        return;
    };
    let text = std::str::from_utf8(data).unwrap_or_default().trim_ascii();
    let Ok(members) = Members::parse(text.trim_start_matches('\u{feff}')) else {
        return;
    };
    // Of two the last counts, which the beginning may not hold.
    if members.iter().filter(|(name, _)| *name == "id").count() != 1 {
        return;
    }
    for end in (0..=data.len()).take(600) {
        if let Some(told) = answer::id_in(&data[..end]) {
            assert_eq!(told, id, "{:?} of {text}", String::from_utf8_lossy(&data[..end]));
        }
    }
}

/// `json::fit_to_send` against a parser that recurses: what it lets through, every receiver can read.
pub fn fit(text: &str) {
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
        return;
    };
    if text.contains("$serde_json") {
        return;
    }
    match (json::fit_to_send(raw.get()), serde_json::from_str::<Value>(text)) {
        (Ok(()), Err(error)) => panic!("{error}: {text}"),
        (Err(Unfit::LoneSurrogate), Ok(_)) => panic!("no surrogate in {text}"),
        _ => {}
    }
}
