//! What a toolbox says of itself, be it a program or the runner of a Python or JavaScript file: tools that can be
//! published, or an error in words.

use serde_json::Value;
use toolhost::config::Publish;
use toolhost::json;
use toolhost::protocol::describe::Description;
use toolhost::tools::outcome::CallError;
use toolhost::tools::tool::{Tool, ToolSet};

use super::{two_parts, value};

/// The first part is the result of a describe, the second the arguments of a call.
pub fn hold(data: &[u8]) {
    let Some((result, kwargs)) = two_parts(data) else {
        return;
    };
    let description = match Description::read(result) {
        Ok(description) => description,
        Err(faults) => return told_well(result, &faults),
    };
    assert!(value(result).is_none_or(|tree| {
        tree["tools"]
            .as_array()
            .is_some_and(|tools| tools.len() == description.tools.len())
    }));
    for coerce in [false, true] {
        match ToolSet::publish("box", &description, &Publish::default(), coerce) {
            Ok(tools) => published(&tools, &description, kwargs),
            Err(why) => panic!("names are looked at before: {why}"),
        }
    }
}

fn told_well(result: &str, faults: &[String]) {
    assert!(!faults.is_empty() && faults.iter().all(|fault| !fault.trim().is_empty()));
    let joined = Description::parse(result).expect_err("both refuse it");
    assert!(joined.starts_with(faults[0].as_str()));
}

fn published(tools: &ToolSet, description: &Description, kwargs: &str) {
    assert_eq!(tools.len(), description.tools.len());
    // In the frame of an answer it stands three levels deeper, and what is sent must not break a receiver.
    let listing = format!(
        "[[[{}]]]",
        tools
            .iter()
            .map(|tool| tool.definition.as_str())
            .collect::<Vec<_>>()
            .join(",")
    );
    assert_eq!(
        json::fit_to_send(&listing).map_err(|why| why.to_string()),
        Ok(()),
        "{listing}"
    );
    assert!(serde_json::from_str::<Vec<&serde_json::value::RawValue>>(tools.listing().as_str()).is_ok());
    for (tool, described) in tools.iter().zip(&description.tools) {
        assert_eq!(tool.own_name, described.name);
        assert!(
            tools
                .get(&tool.name)
                .is_some_and(|found| found.own_name == tool.own_name)
        );
        fields(tool);
        called(tool, kwargs, tools.warnings());
    }
}

/// The five fields of OVOS-TOOLS-1 §3 and no other.
fn fields(tool: &Tool) {
    let Some(Value::Object(definition)) = value(tool.definition.as_str()) else {
        return;
    };
    let names: Vec<&str> = definition.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["name", "description", "argument_schema", "output_schema", "toolbox_id"]
    );
    assert!(definition["name"] == *tool.name && definition["description"].is_string());
    assert!(definition["argument_schema"].is_object() && definition["output_schema"].is_object());
}

/// A schema compiles, or its tool never runs and its owner is told.
fn called(tool: &Tool, kwargs: &str, warnings: &[String]) {
    let given = (!kwargs.is_empty()).then_some(kwargs);
    let prepared = tool.prepare(given);
    let told = warnings
        .iter()
        .any(|warning| warning.starts_with(&format!("tool '{}' cannot be called: ", tool.own_name)));
    let refused = matches!(prepared, Err(CallError::InvalidSchema { .. }));
    assert_eq!(refused, told, "{prepared:?}, {warnings:?}");
    let checked = tool.check_output(if kwargs.is_empty() { "null" } else { kwargs });
    assert_eq!(matches!(checked, Err(CallError::InvalidSchema { .. })), refused);
    match prepared {
        Ok(ready) => assert!(
            serde_json::from_str::<Value>(&ready).is_ok_and(|ready| ready.is_object()),
            "{ready}"
        ),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
