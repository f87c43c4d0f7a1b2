//! What an answer on the bus says. Pure.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{Members, string};

use super::wire::Silence;

/// The `result` of a call, as it came, or its `error`.
///
/// # Errors
/// The tool's error, or that the answer is none.
pub(crate) fn result(data: &str) -> Result<&str, Error> {
    let members = checked(data)?;
    match members.get("result") {
        Some(result) => Ok(result.get()),
        None => Err(odd("it carries neither result nor error")),
    }
}

/// The whole `data` of an answer that is its own result, such as that of `ovos.tools.get`.
///
/// # Errors
/// The host's error.
pub(crate) fn whole(data: &str) -> Result<&str, Error> {
    checked(data).map(|_| data)
}

/// The `tools` of an answer, as they came.
///
/// # Errors
/// The host's error, or that the answer is none.
pub(crate) fn tools(data: &str) -> Result<&str, Error> {
    match checked(data)?.get("tools") {
        Some(tools) => Ok(tools.get()),
        None => Err(odd("it carries no tools")),
    }
}

/// A JSON array of definitions, as values.
///
/// # Errors
/// That it is none.
pub(crate) fn definitions(tools: &str) -> Result<Vec<Value>, Error> {
    serde_json::from_str(tools).map_err(|error| odd(&error.to_string()))
}

/// Who offers what, of one answer to `ovos.persona.tools.discover`.
///
/// # Errors
/// That it is no such answer.
pub(crate) fn toolbox(data: &str) -> Result<(String, Vec<Value>), Error> {
    #[derive(Deserialize)]
    struct Toolbox {
        toolbox_id: String,
        tools: Vec<Value>,
    }
    let toolbox: Toolbox = serde_json::from_str(data).map_err(|error| odd(&error.to_string()))?;
    Ok((toolbox.toolbox_id, toolbox.tools))
}

fn checked(data: &str) -> Result<Members<'_>, Error> {
    let members = Members::parse(data).map_err(|error| odd(&error.to_string()))?;
    match members.get("error") {
        Some(error) => Err(failed(error_text(error))),
        None => Ok(members),
    }
}

/// The error a host answered, with a hint where the words of it are fixed and something can be done about it.
fn failed(text: String) -> Error {
    let hint = if text.starts_with("Unknown tool: ") {
        Some("`toolhost discover` shows which tools there are")
    } else if text.starts_with("Ambiguous tool name: ") {
        Some("`toolhost call TOOLBOX TOOL` says which one")
    } else if text.starts_with("Invalid arguments for ") && text.contains(", got string") {
        Some("key=text is a string; write key:=2 for a number, key:=true, key:=[1,2]")
    } else {
        None
    };
    let error = Error::failed(text);
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// Whether an answer says that there is no such tool.
pub(crate) fn knows_no_such_tool(data: &str) -> bool {
    let members = Members::parse(data).ok();
    let error = members.as_ref().and_then(|members| members.get("error"));
    error.is_some_and(|error| error_text(error).starts_with("Unknown tool: "))
}

/// The names of the tools in an answer of the tool service.
pub(crate) fn names(data: &str) -> Vec<String> {
    let tools = tools(data).and_then(definitions).unwrap_or_default();
    let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// An error of toolboxes that are hosted for this one request, which have the tools `names` where those were asked for:
/// nothing is tried again, and what they print is shown to nobody by default.
pub(crate) fn of_own_hosting(error: &Error, names: &[String]) -> Error {
    let text = error.to_string();
    let end = ["; tried again in ", "; not tried again before "]
        .iter()
        .find_map(|words| text.rfind(words));
    let text = &text[..end
        .filter(|_| text.starts_with("ToolboxUnavailable"))
        .unwrap_or(text.len())];
    let hint = match error.hint() {
        Some(_) if !names.is_empty() => format!("the tools there are: {}", names.join(", ")),
        Some(hint) => hint.to_owned(),
        None if text.starts_with("Invalid arguments ") => return Error::new(error.exit(), text),
        None => "--log-level info shows what the toolbox printed".to_owned(),
    };
    Error::new(error.exit(), text).with_hint(hint)
}

/// `error` is a string by the specification; what else a host puts there is shown as it is.
fn error_text(error: &RawValue) -> String {
    string(error).map_or_else(|| error.get().to_owned(), Into::into)
}

fn odd(why: &str) -> Error {
    Error::failed(format!("the answer cannot be understood: {why}"))
}

/// Who was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom<'a> {
    /// The host of one toolbox.
    Toolbox(&'a str),
    /// The tool service, on this topic.
    Service(&'a str),
    /// Every toolbox host.
    Everybody,
}

/// Why nobody answered, in words that say what to look at.
pub(crate) fn silence(silence: Silence, bus: &str, whom: Whom<'_>, waited: Duration) -> Error {
    match silence {
        Silence::Unreachable(why) => Error::no_answer(format!("the bus at {bus} cannot be reached: {why}"))
            .with_hint("is the message bus running? `toolhost bus` serves one, --bus URL names another"),
        Silence::Lost(why) => {
            Error::no_answer(format!("the connection to {bus} was lost before an answer came: {why}"))
                .with_hint("the request may have been carried out")
        }
        Silence::Timeout => {
            let (asked, hint) = match whom {
                Whom::Toolbox(id) => (
                    format!("for toolbox '{id}'"),
                    "is its toolbox host running? `toolhost discover` shows the toolboxes on the bus",
                ),
                Whom::Service(topic) => (
                    topic.to_owned(),
                    "is a tool service running? `toolhost discover` shows the toolboxes that are there without one",
                ),
                Whom::Everybody => (
                    "with a toolbox".to_owned(),
                    "is a toolbox host running? `toolhost run` starts one",
                ),
            };
            let waited = humantime::format_duration(waited);
            Error::no_answer(format!("nobody on {bus} answered {asked} within {waited}")).with_hint(hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    #[test]
    fn a_result_keeps_its_spelling_and_an_error_its_text() {
        let table = [
            (r#"{"toolbox_id":"a","result": 1.0}"#, Ok("1.0")),
            (r#"{"result":null}"#, Ok("null")),
            (r#"{"error":"ValueError: no \"x\""}"#, Err("ValueError: no \"x\"")),
            (r#"{"result":1,"error":{"a": 1}}"#, Err("{\"a\": 1}")),
            (
                "{}",
                Err("the answer cannot be understood: it carries neither result nor error"),
            ),
        ];
        for (data, expected) in table {
            let got = result(data).map_err(|error| {
                assert_eq!(error.exit(), Exit::Failed);
                error.to_string()
            });
            assert_eq!(got.as_deref().map_err(String::as_str), expected, "{data}");
        }
    }

    #[test]
    fn listings_are_read_and_odd_ones_refused() {
        assert_eq!(tools(r#"{"tools":[ ]}"#).unwrap(), "[ ]");
        assert!(tools(r#"{"loaded":[]}"#).is_err());
        assert_eq!(
            toolbox(r#"{"toolbox_id":"a","tools":[{"name":"x"}]}"#).unwrap().1.len(),
            1
        );
        assert!(toolbox(r#"{"tools":[]}"#).is_err());
        assert!(definitions("{}").is_err());
        assert_eq!(
            whole(r#"{"error":"Unknown tool: 'x'"}"#).unwrap_err().to_string(),
            "Unknown tool: 'x'"
        );
    }

    #[test]
    fn silence_says_who_was_asked_and_what_to_check() {
        let told = |kind| silence(kind, "ws://b", Whom::Toolbox("x"), Duration::from_secs(90)).to_string();
        assert_eq!(
            told(Silence::Timeout),
            "nobody on ws://b answered for toolbox 'x' within 1m 30s"
        );
        assert_eq!(
            told(Silence::Unreachable("refused".to_owned())),
            "the bus at ws://b cannot be reached: refused"
        );
        assert_eq!(
            told(Silence::Lost("reset".to_owned())),
            "the connection to ws://b was lost before an answer came: reset"
        );
    }
}
