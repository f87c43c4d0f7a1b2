//! Bash scripts annotated for argc: any text is read as tools or refused in words, and a value becomes an argument or is refused.

use serde_json::{Map, Value};
use toolhost::adapter::script::argc::{self, Annotated};
use toolhost::protocol::describe::Description;
use toolhost::tools::schema::Schema;

use super::{two_parts, value};

/// The first part is a script, the second the arguments of a call.
pub fn hold(data: &[u8]) {
    let Some((source, kwargs)) = two_parts(data) else {
        return;
    };
    let script = match argc::read(source, "script") {
        Ok(script) => script,
        Err(why) => return assert!(!why.trim().is_empty()),
    };
    let described = script.describe();
    let tree = value(&described).expect("JSON");
    let names: Vec<&str> = tree["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(!names.is_empty());
    match Description::read(&described) {
        Ok(description) => assert_eq!(description.tools.len(), names.len()),
        Err(faults) => assert!(
            faults.iter().all(|fault| is_about_a_name(fault)),
            "{faults:?}\n{source}"
        ),
    }
    for tool in tree["tools"].as_array().expect("tools") {
        let schema = tool["argument_schema"].to_string();
        if let Err(why) = Schema::compile(&schema) {
            panic!("{why}: {schema}\n{source}");
        }
    }
    for warning in script.warnings() {
        assert!(!warning.is_empty());
    }
    for name in names {
        called(&script, name, kwargs, &tree);
    }
}

/// A script may call a command what no tool can be called.
fn is_about_a_name(fault: &str) -> bool {
    fault.contains("name")
}

fn called(script: &Annotated, name: &str, kwargs: &str, tree: &Value) {
    let invocation = match script.invocation(name, kwargs) {
        Ok(invocation) => invocation,
        Err(why) => return assert!(!why.trim().is_empty()),
    };
    assert!(invocation.env.is_empty());
    assert!(
        invocation.args.iter().all(|argument| !argument.contains('\0')),
        "{:?}",
        invocation.args
    );
    let kwargs: Map<String, Value> = serde_json::from_str(kwargs).expect("it was read");
    let tool = tree["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|tool| tool["name"] == *name)
        .expect("it is there");
    for (key, value) in &kwargs {
        assert!(
            tool["argument_schema"]["properties"].get(key).is_some(),
            "'{key}' is no parameter of {tool}"
        );
        if let Value::String(text) = value {
            let arrives = invocation.args.iter().any(|argument| argument.ends_with(text.as_str()));
            assert!(
                arrives,
                "{key} is {text:?}, and the arguments are {:?}",
                invocation.args
            );
        }
    }
}
