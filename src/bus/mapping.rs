//! From a Message to what is asked of the toolboxes, and from what they say to the payload of the answer.
//!
//! OVOS-TOOLS-1 §4 to §6, without a bus and without a toolbox.

use std::borrow::Cow;

use super::message::Payload;
use super::toolboxes::Listing;
use super::topic::Topic;
use crate::json::{self, Kind, Members, Text};
use crate::tools::outcome::{CallError, Outcome};

/// The name of the tool a request is for, or what to answer where it names none.
pub type Name = Result<String, CallError>;

/// What a Message asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Every toolbox, each in an answer of its own.
    Discover,
    /// One tool of one toolbox.
    Call {
        /// The toolbox, perhaps hosted elsewhere.
        toolbox_id: Cow<'a, str>,
        /// The tool.
        name: Name,
        /// The arguments, of whatever type: the tool's schema judges them.
        kwargs: Option<&'a str>,
    },
    /// Every definition.
    List,
    /// One definition by its flat name.
    Get(Name),
    /// One tool by its flat name.
    Invoke {
        /// The tool.
        name: Name,
        /// The arguments, of whatever type.
        args: Option<&'a str>,
    },
    /// The configuration read anew, then every definition.
    Reload,
    /// Whether toolhost runs.
    IsAlive,
    /// Whether every toolbox has come up or failed.
    IsReady,
}

/// What a Message with `topic` and `data` asks for; `None` where the answer is silence.
pub fn map<'a>(topic: Topic<'a>, data: &Members<'a>) -> Option<Request<'a>> {
    Some(match topic {
        Topic::Discover => Request::Discover,
        // A call naming no toolbox is answered by nobody (OVOS-TOOLS-1 §4.2).
        Topic::Call => call(data.get("toolbox_id").and_then(json::string)?, data),
        // The topic alone addresses: a toolbox_id in the payload says nothing here (§6).
        Topic::Predecessor(toolbox_id) => call(Cow::Borrowed(toolbox_id), data),
        Topic::List => Request::List,
        Topic::Get => Request::Get(name(data)),
        Topic::Invoke => Request::Invoke {
            name: name(data),
            args: data.get("args").map(|raw| raw.get()),
        },
        Topic::Reload => Request::Reload,
        Topic::IsAlive => Request::IsAlive,
        Topic::IsReady => Request::IsReady,
        Topic::DiscoverAnswer
        | Topic::CallAnswer
        | Topic::PredecessorAnswer(_)
        | Topic::ServiceAnswer
        | Topic::Foreign => return None,
    })
}

fn call<'a>(toolbox_id: Cow<'a, str>, data: &Members<'a>) -> Request<'a> {
    Request::Call {
        toolbox_id,
        name: name(data),
        kwargs: data.get("kwargs").map(|raw| raw.get()),
    }
}

/// `null` names no tool; a number or an object names one that cannot exist.
fn name(data: &Members<'_>) -> Name {
    let raw = data.get("name").ok_or(CallError::MissingName)?;
    match (json::kind(raw), json::string(raw)) {
        (Kind::Null, _) => Err(CallError::MissingName),
        (_, Some(name)) => Ok(name.into_owned()),
        (_, None) => Err(CallError::UnknownTool(compact(raw.get()))),
    }
}

/// A JSON text without the white space between its tokens.
fn compact(text: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    text.chars()
        .filter(|&character| {
            let keep = quoted || !character.is_ascii_whitespace();
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = !quoted,
                _ => {}
            }
            keep
        })
        .collect()
}

/// The name an invoke answer carries beside its result or error (OVOS-TOOLS-1 §5): the one asked
/// for, empty where there was none.
pub fn echo(name: &Name) -> &str {
    match name {
        Ok(name) | Err(CallError::UnknownTool(name)) => name,
        Err(_) => "",
    }
}

/// The payload of an answer.
#[derive(Debug)]
pub enum Answer<'a> {
    /// To a call, on either topic: `toolbox_id` and exactly one of `result` and `error` (§4.2).
    Call {
        /// The toolbox.
        toolbox_id: &'a str,
        /// How the call ended.
        outcome: &'a Outcome,
    },
    /// `name` and exactly one of `result` and `error` (§5).
    Invoke {
        /// The flat name.
        name: &'a str,
        /// How the call ended.
        outcome: &'a Outcome,
    },
    /// The bare definition, or `error` (§5).
    Get(&'a Result<Text, CallError>),
    /// One toolbox and its `tools` (§4.1).
    Discover(&'a Listing),
    /// The `tools` of every toolbox; beside them, after a refused reload, the `error` (§5).
    Tools {
        /// A JSON array.
        tools: &'a Text,
        /// Why the new configuration was refused: `tools` are those that go on.
        error: Option<&'a str>,
    },
    /// `status`, as every OVOS service answers.
    Status(bool),
}

/// Characters of a name that an answer too large to be sent still echoes.
const ECHOED: usize = 200;

impl Answer<'_> {
    /// What `write` makes of `error` in the place of this answer, which is too large to be sent.
    pub fn refused<T>(&self, error: CallError, write: impl FnOnce(&Answer<'_>) -> T) -> T {
        let text = error.to_string();
        let nothing = Text::from("[]".to_owned());
        match self {
            Self::Call { toolbox_id, .. } => write(&Answer::Call {
                toolbox_id,
                outcome: &Err(error),
            }),
            Self::Invoke { name, .. } => {
                let name: String = name.chars().take(ECHOED).collect();
                write(&Answer::Invoke {
                    name: &name,
                    outcome: &Err(error),
                })
            }
            Self::Get(_) => write(&Answer::Get(&Err(error))),
            Self::Discover(listing) => write(&Answer::Discover(&Listing {
                toolbox_id: listing.toolbox_id.clone(),
                tools: nothing,
            })),
            Self::Tools { .. } => write(&Answer::Tools {
                tools: &nothing,
                error: Some(&text),
            }),
            Self::Status(status) => write(&Answer::Status(*status)),
        }
    }
}

impl Payload for Answer<'_> {
    fn length(&self) -> usize {
        40 + match self {
            Self::Call {
                toolbox_id: of,
                outcome,
            }
            | Self::Invoke { name: of, outcome } => of.len() + outcome.as_ref().map_or(100, Text::len),
            Self::Get(definition) => definition.as_ref().map_or(100, Text::len),
            Self::Discover(listing) => listing.toolbox_id.len() + listing.tools.len(),
            Self::Tools { tools, error } => tools.len() + error.map_or(0, str::len),
            Self::Status(_) => 0,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Get(Ok(definition)) => return out.push_str(definition.as_str()),
            Self::Get(Err(error)) => push(out, "{\"error\":", Value::String(&error.to_string())),
            Self::Call { toolbox_id, outcome } => {
                push(out, "{\"toolbox_id\":", Value::String(toolbox_id));
                push_outcome(out, outcome);
            }
            Self::Invoke { name, outcome } => {
                push(out, "{\"name\":", Value::String(name));
                push_outcome(out, outcome);
            }
            Self::Discover(listing) => {
                push(out, "{\"toolbox_id\":", Value::String(&listing.toolbox_id));
                push(out, ",\"tools\":", Value::Json(listing.tools.as_str()));
            }
            Self::Tools { tools, error } => {
                push(out, "{\"tools\":", Value::Json(tools.as_str()));
                if let Some(error) = error {
                    push(out, ",\"error\":", Value::String(error));
                }
            }
            Self::Status(status) => push(out, "{\"status\":", Value::Json(if *status { "true" } else { "false" })),
        }
        out.push('}');
    }
}

/// A member's value.
enum Value<'a> {
    String(&'a str),
    Json(&'a str),
}

fn push(out: &mut String, before: &str, value: Value<'_>) {
    out.push_str(before);
    match value {
        Value::String(text) => json::push_string(out, text),
        Value::Json(text) => out.push_str(text),
    }
}

fn push_outcome(out: &mut String, outcome: &Outcome) {
    match outcome {
        Ok(result) => push(out, ",\"result\":", Value::Json(result.as_str())),
        Err(error) => push(out, ",\"error\":", Value::String(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(name: &str) -> Name {
        Err(CallError::UnknownTool(name.to_owned()))
    }

    #[test]
    fn a_call_is_addressed_by_a_string_or_by_its_topic() {
        let toolbox_id = |topic, data: &str| match map(topic, &Members::parse(data).unwrap()) {
            Some(Request::Call { toolbox_id, .. }) => Some(toolbox_id.into_owned()),
            None => None,
            other => panic!("{other:?}"),
        };
        let table = [
            (Topic::Call, r#"{"toolbox_id":"wn"}"#, Some("wn")),
            (Topic::Call, r#"{"toolbox_id":"\u0077n"}"#, Some("wn")),
            (Topic::Call, r#"{"toolbox_id":" wn"}"#, Some(" wn")),
            (Topic::Call, r#"{"toolbox_id":"a","toolbox_id":"b"}"#, Some("b")),
            (Topic::Call, r#"{"toolbox_id":5}"#, None),
            (Topic::Call, r#"{"toolbox_id":null}"#, None),
            (Topic::Call, r#"{"toolbox_id":["wn"]}"#, None),
            (Topic::Call, r#"{"toolbox_id":"\ud800"}"#, None),
            (Topic::Call, r#"{"name":"x"}"#, None),
            (Topic::Predecessor("wn"), r#"{"toolbox_id":"other"}"#, Some("wn")),
            (Topic::Predecessor("wn"), "{}", Some("wn")),
        ];
        for (topic, data, expected) in table {
            assert_eq!(toolbox_id(topic, data).as_deref(), expected, "{data}");
        }
    }

    #[test]
    fn a_name_is_a_string_or_an_error_in_the_words_of_the_contract() {
        let table = [
            (r#"{"name":"define"}"#, Ok("define".to_owned())),
            (r#"{"name":""}"#, Ok(String::new())),
            (r#"{"name":"é\n"}"#, Ok("é\n".to_owned())),
            (r#"{"name":"__proto__"}"#, Ok("__proto__".to_owned())),
            ("{}", Err(CallError::MissingName)),
            (r#"{"name":null}"#, Err(CallError::MissingName)),
            (r#"{"name":5}"#, unknown("5")),
            (r#"{"name":1.0}"#, unknown("1.0")),
            (r#"{"name":false}"#, unknown("false")),
            (r#"{"name":[ "a b" , 1 ]}"#, unknown(r#"["a b",1]"#)),
            (r#"{"name":{ "a \" b" : { } }}"#, unknown(r#"{"a \" b":{}}"#)),
            (r#"{"name":"\ud800"}"#, unknown(r#""\ud800""#)),
            (r#"{"name":"a","name":"b"}"#, Ok("b".to_owned())),
        ];
        for (data, expected) in table {
            let members = Members::parse(data).unwrap();
            assert_eq!(map(Topic::Get, &members), Some(Request::Get(expected)), "{data}");
        }
    }

    #[test]
    fn arguments_are_passed_on_as_they_came() {
        for value in ["{}", r#"{ "a" : 1.0, "a":2 }"#, "null", "[]", "3", r#""{}""#] {
            let data = format!(r#"{{"toolbox_id":"wn","name":"x","kwargs":{value},"args":{value}}}"#);
            let members = Members::parse(&data).unwrap();
            let Some(Request::Call { kwargs, .. }) = map(Topic::Call, &members) else {
                panic!("{data}")
            };
            assert_eq!(kwargs, Some(value));
            let Some(Request::Invoke { args, .. }) = map(Topic::Invoke, &members) else {
                panic!("{data}")
            };
            assert_eq!(args, Some(value));
        }
        let none = Members::parse(r#"{"toolbox_id":"wn","name":"x"}"#).unwrap();
        assert!(matches!(
            map(Topic::Call, &none),
            Some(Request::Call { kwargs: None, .. })
        ));
        assert!(matches!(
            map(Topic::Invoke, &none),
            Some(Request::Invoke { args: None, .. })
        ));
    }

    #[test]
    fn topics_without_a_payload_of_their_own_map_to_themselves() {
        let data = Members::parse(r#"{"toolbox_id":5,"name":null}"#).unwrap();
        let table = [
            (Topic::Discover, Some(Request::Discover)),
            (Topic::List, Some(Request::List)),
            (Topic::Reload, Some(Request::Reload)),
            (Topic::IsAlive, Some(Request::IsAlive)),
            (Topic::IsReady, Some(Request::IsReady)),
            (Topic::DiscoverAnswer, None),
            (Topic::ServiceAnswer, None),
            (Topic::Foreign, None),
        ];
        for (topic, expected) in table {
            assert_eq!(map(topic, &data), expected);
        }
    }

    #[test]
    fn answers_have_the_payloads_of_the_specification() {
        let text = |text: &str| Text::from(text.to_owned());
        let listing = Listing {
            toolbox_id: "wn".into(),
            tools: text(r#"[{"name":"x"}]"#),
        };
        let (result, error): (Outcome, Outcome) =
            (Ok(text("{\"a\":1.0}")), Err(CallError::UnknownTool("\"x\"".into())));
        let missing: Outcome = Err(CallError::MissingName);
        let tools = &listing.tools;
        let table = [
            (
                Answer::Call {
                    toolbox_id: "wn",
                    outcome: &result,
                },
                r#"{"toolbox_id":"wn","result":{"a":1.0}}"#,
            ),
            (
                Answer::Call {
                    toolbox_id: "wn",
                    outcome: &error,
                },
                r#"{"toolbox_id":"wn","error":"Unknown tool: '\"x\"'"}"#,
            ),
            (
                Answer::Invoke {
                    name: "é\n",
                    outcome: &result,
                },
                r#"{"name":"é\n","result":{"a":1.0}}"#,
            ),
            (
                Answer::Invoke {
                    name: echo(&Err(CallError::MissingName)),
                    outcome: &missing,
                },
                r#"{"name":"","error":"Missing required field: 'name'"}"#,
            ),
            (Answer::Get(&Ok(text(r#"{"name":"x"}"#))), r#"{"name":"x"}"#),
            (Answer::Get(&missing), r#"{"error":"Missing required field: 'name'"}"#),
            (
                Answer::Discover(&listing),
                r#"{"toolbox_id":"wn","tools":[{"name":"x"}]}"#,
            ),
            (Answer::Tools { tools, error: None }, r#"{"tools":[{"name":"x"}]}"#),
            (
                Answer::Tools {
                    tools,
                    error: Some("line 3: \"no\""),
                },
                r#"{"tools":[{"name":"x"}],"error":"line 3: \"no\""}"#,
            ),
            (Answer::Status(true), r#"{"status":true}"#),
            (Answer::Status(false), r#"{"status":false}"#),
        ];
        for (answer, expected) in table {
            let mut out = String::new();
            answer.write(&mut out);
            assert_eq!(out, expected);
            assert!(Members::parse(&out).is_ok());
        }
    }

    #[test]
    fn an_invoke_answer_repeats_the_name_it_was_asked_for() {
        assert_eq!(echo(&Ok("x".into())), "x");
        assert_eq!(echo(&unknown("5")), "5");
        assert_eq!(echo(&Err(CallError::MissingName)), "");
    }
}
