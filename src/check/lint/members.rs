//! Members of a description that toolhost has no use for, and what was meant by them. Pure.

use serde_json::{Map, Value, json};

use super::{Remark, clipped};
use crate::config::nearest;
use crate::protocol::answer::sample;

const RESULT: &[&str] = &[
    "tools",
    "protocol",
    "version",
    "description",
    "capabilities",
    "warnings",
];

const TOOL: &[&str] = &[
    "name",
    "description",
    "argument_schema",
    "parameters",
    "output_schema",
    "hints",
    "timeout",
    "title",
    "category",
    "version",
];

const CAPABILITIES: &[&str] = &["context", "cancel", "concurrent"];

/// The longest name every model takes.
const MODEL_NAME: usize = 64;

/// What other protocols call a member of a tool, and whose word it is.
const HABITS: &[(&str, &str, &str)] = &[
    ("inputSchema", "argument_schema", "MCP's"),
    ("input_schema", "argument_schema", "a model API's"),
    ("args_schema", "argument_schema", "LangChain's"),
    ("argumentSchema", "argument_schema", "no"),
    ("schema", "argument_schema", "no"),
    ("outputSchema", "output_schema", "MCP's"),
    ("params", "parameters", "JSON-RPC's"),
    ("arguments", "parameters", "MCP's"),
    ("args", "parameters", "no"),
    ("kwargs", "parameters", "a call's"),
    ("annotations", "hints", "MCP's"),
    ("function", "name", "OpenAI's"),
];

/// Members of the describe result itself.
pub(super) fn of_result(result: &Value) -> Vec<Remark> {
    let members = result.as_object().into_iter().flat_map(Map::keys);
    let unknown = members.filter(|key| !RESULT.contains(&key.as_str()));
    let slips = unknown.filter_map(|key| Some((key, nearest(key, RESULT)?)));
    let mut remarks: Vec<Remark> = slips
        .map(|(key, meant)| {
            Remark::warning(format!(
                "the describe result has a member '{}': did you mean '{meant}'?",
                shown(key)
            ))
        })
        .collect();
    let capabilities = result.get("capabilities").and_then(Value::as_array);
    let names = capabilities.into_iter().flatten().filter_map(Value::as_str);
    for name in names.filter(|name| !CAPABILITIES.contains(name)) {
        if let Some(meant) = nearest(name, CAPABILITIES) {
            remarks.push(Remark::warning(format!(
                "the capability '{}': did you mean '{meant}'?",
                shown(name)
            )));
        }
    }
    remarks
}

/// Members of one tool.
pub(super) fn of_tool(number: usize, tool: &Value) -> Vec<Remark> {
    let Some(members) = tool.as_object() else {
        return Vec::new();
    };
    let place = match members.get("name").and_then(Value::as_str) {
        Some(name) => format!("tool {number} ('{}')", shown(name)),
        None => format!("tool {number}"),
    };
    let unknown = members
        .iter()
        .filter(|(key, _)| !TOOL.contains(&key.as_str()) && !key.starts_with("x-"));
    let mut remarks: Vec<Remark> = unknown
        .filter_map(|(key, value)| of_member(&place, number, tool, key, value))
        .collect();
    let schema = members.get("parameters").filter(|parameters| is_schema(parameters));
    if schema.is_some() && !members.contains_key("argument_schema") {
        let should = mended(number, tool, "");
        remarks.push(Remark::fault(format!(
            "{place} has a JSON Schema as 'parameters', which is OpenAI's way: it belongs under 'argument_schema'{}",
            super::pair(tool, &should)
        )));
    }
    remarks
}

fn of_member(place: &str, number: usize, tool: &Value, key: &str, value: &Value) -> Option<Remark> {
    let has = |name: &str| tool.get(name).is_some();
    let habit = HABITS.iter().find(|(theirs, ..)| *theirs == key);
    if let Some((_, ours, whose)) = habit {
        let schemas = has("argument_schema") || has("parameters");
        // A toolbox that speaks two protocols says it twice.
        let said = has(ours) || (schemas && matches!(*ours, "argument_schema" | "parameters"));
        if said {
            return None;
        }
        let word = match *whose {
            "no" => "no word of this protocol".to_owned(),
            whose => format!("{whose} word"),
        };
        return Some(Remark {
            is_fault: *ours != "hints",
            what: format!(
                "{place} has '{key}', {word}: toolhost reads '{ours}', and nothing of this{}",
                super::pair(tool, &mended(number, tool, ""))
            ),
        });
    }
    let meant = nearest(key, TOOL).filter(|meant| !has(meant));
    let what = match meant {
        Some(meant) => format!(
            "{place} has an unknown member '{}': did you mean '{meant}'?",
            shown(key)
        ),
        None => format!("{place} has an unknown member '{}', which is ignored", shown(key)),
    };
    let mut what = format!("{what}\nwrote:  {}", sample(clipped(&json!({key: value})).as_bytes()));
    if let Some(meant) = meant {
        what.push_str(&format!("\nshould: {}", clipped(&json!({meant: value}))));
    }
    Some(Remark::warning(what))
}

/// Whether `parameters` is a schema of an object in place of a map of parameters.
fn is_schema(parameters: &Value) -> bool {
    parameters.get("type").is_some_and(|kind| kind == "object")
        && parameters.get("properties").is_some_and(Value::is_object)
}

fn shown(text: &str) -> String {
    sample(text.as_bytes())
}

/// The tool as it should be, as far as that can be told; `what` is a remark that was made of it.
pub(super) fn mended(number: usize, tool: &Value, what: &str) -> Value {
    // OpenAI wraps a tool once more.
    let inner = tool
        .get("function")
        .filter(|function| function.is_object())
        .unwrap_or(tool);
    let mut out = Map::new();
    let name = inner.get("name").and_then(Value::as_str).unwrap_or_default();
    out.insert("name".to_owned(), json!(fit_name(name, number, what)));
    let description = inner.get("description").and_then(Value::as_str);
    out.insert(
        "description".to_owned(),
        json!(description.unwrap_or("What it does, said for a model.")),
    );
    for (key, value) in inner.as_object().into_iter().flatten() {
        let habit = HABITS
            .iter()
            .find(|(theirs, ..)| theirs == key)
            .map(|(_, ours, _)| *ours);
        let ours = match habit {
            Some("parameters") if value.get("properties").is_some() => "argument_schema",
            Some(ours) => ours,
            None if key == "parameters" && is_schema(value) => "argument_schema",
            None => key,
        };
        let both =
            ours == "parameters" && (inner.get("argument_schema").is_some() || out.contains_key("argument_schema"));
        let is_new = !out.contains_key(ours) && !both;
        if is_new && TOOL.contains(&ours) && ours != "hints" {
            out.insert(ours.to_owned(), value.clone());
        }
    }
    Value::Object(out)
}

/// A name that travels: the tool's own with what no model takes replaced.
fn fit_name(name: &str, number: usize, what: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "_-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let fit: String = name.trim().chars().map(plain).take(MODEL_NAME).collect();
    match fit.trim_matches('_') {
        "" => format!("tool_{number}"),
        _ if what.contains(" listed twice") => format!("{fit}_{number}"),
        _ => fit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_protocols_are_named_with_the_tool_as_it_should_be() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        for (tool, said, should) in [
            (
                json!({"name": "a", "description": "A.", "inputSchema": schema}),
                "MCP's word",
                "\"argument_schema\":{\"type\"",
            ),
            (
                json!({"name": "a", "description": "A.", "input_schema": schema}),
                "a model API's word",
                "\"argument_schema\":",
            ),
            (
                json!({"name": "a", "description": "A.", "params": []}),
                "reads 'parameters'",
                "\"parameters\":[]",
            ),
            (
                json!({"name": "a", "description": "A.", "parameters": schema}),
                "OpenAI's way",
                "\"argument_schema\":",
            ),
            (
                json!({"type": "function", "function": {"name": "a", "description": "A.", "parameters": schema}}),
                "OpenAI's word",
                "{\"name\":\"a\",\"description\":\"A.\",\"argument_schema\"",
            ),
            (
                json!({"name": "a", "descripton": "A."}),
                "did you mean 'description'?",
                "should: {\"description\":\"A.\"}",
            ),
        ] {
            let remarks = of_tool(1, &tool);
            let has = |part: &str| remarks.iter().any(|remark| remark.what.contains(part));
            assert!(has(said) && has(should), "{tool}: {remarks:#?}");
        }
        for tool in [
            json!({"name": "a", "parameters": {"type": {"type": "string"}}, "x-own": 1}),
            json!({"name": "a", "argument_schema": schema, "inputSchema": schema}),
        ] {
            assert_eq!(of_tool(1, &tool), [], "{tool}");
        }
    }

    #[test]
    fn a_name_is_made_fit_to_travel() {
        for (name, what, fit) in [
            ("get weather", "", "get_weather"),
            (" a\n", "", "a"),
            ("", "", "tool_3"),
            ("a", "'a' is listed twice, as tool 1 and as tool 3", "a_3"),
        ] {
            assert_eq!(fit_name(name, 3, what), fit);
        }
        assert_eq!(fit_name(&"é".repeat(200), 3, "").len(), "tool_3".len());
        assert_eq!(fit_name(&"e".repeat(200), 3, "").len(), MODEL_NAME);
    }
}
