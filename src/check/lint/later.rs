//! What works today and will bite later. Pure.

use serde_json::{Map, Value};

use crate::protocol::describe::Description;

/// One thing whoever configures a toolbox will regret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct Regret {
    /// Where the YAML says it, below the tool: empty, or `.parameters.name`.
    pub(in crate::check) key: String,
    /// The toolbox's own name of the tool.
    pub(in crate::check) tool: String,
    /// In words, to read on after the tool.
    pub(in crate::check) what: String,
}

/// What models and callers will miss in these tools.
pub(in crate::check) fn regrets(description: &Description) -> Vec<Regret> {
    let mut regrets = Vec::new();
    for tool in &description.tools {
        let mut add = |key: String, what: String| {
            let tool = tool.name.clone();
            regrets.push(Regret { key, tool, what });
        };
        let schema = tool.argument_schema.as_deref().map(serde_json::from_str::<Value>);
        match schema {
            Some(Ok(schema)) if !is_open(&schema) => {
                for name in silent(&schema) {
                    let what =
                        format!("has a parameter '{name}' without a description: a model has to guess its meaning");
                    add(format!(".parameters.{name}"), what);
                }
            }
            // One that is no JSON is a fault, and told as one.
            Some(Err(_)) => {}
            _ => add(
                String::new(),
                "takes anything: it names no argument, so that no caller knows what to send and no mistake is found; \
                 describe them in 'parameters', or say that there are none (parameters: [])"
                    .to_owned(),
            ),
        }
    }
    regrets
}

/// Whether a schema lets everything through.
fn is_open(schema: &Value) -> bool {
    let Value::Object(members) = schema else {
        return *schema == Value::Bool(true);
    };
    let is_empty = |key: &str| members.get(key).and_then(Value::as_object).is_none_or(Map::is_empty);
    let rules = [
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "enum",
        "const",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "required",
        "dependentSchemas",
        "dependentRequired",
        "unevaluatedProperties",
    ];
    let closed = members
        .get("additionalProperties")
        .is_some_and(|more| *more != Value::Bool(true) && more.as_object().is_none_or(|rules| !rules.is_empty()));
    is_empty("properties") && !closed && !rules.iter().any(|rule| members.contains_key(*rule))
}

/// The parameters without a description.
fn silent(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let named = |schema: &Value| {
        schema
            .get("description")
            .and_then(Value::as_str)
            .is_some_and(|text| !text.trim().is_empty())
    };
    // A reference may lead to one.
    let silent = |(_, schema): &(&String, &Value)| schema.get("$ref").is_none() && !named(schema);
    properties
        .into_iter()
        .flatten()
        .filter(silent)
        .map(|(name, _)| name.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_would_miss_is_named() {
        let description = Description::parse(
            r#"{"tools": [
                {"name": "open", "description": "A."},
                {"name": "wide", "description": "A.", "argument_schema": {"type": "object", "properties": {}}},
                {"name": "none", "description": "A.", "parameters": []},
                {"name": "mute", "description": "A.", "parameters": {"a": {"type": "string"}, "b": {"type": "string", "description": "B."}}},
                {"name": "rest", "description": "A.", "argument_schema": {"additionalProperties": {"type": "string"}}}
            ]}"#,
        );
        let said: Vec<_> = regrets(&description.unwrap())
            .into_iter()
            .map(|regret| (regret.tool, regret.key))
            .collect();
        let expected = [("open", ""), ("wide", ""), ("mute", ".parameters.a")];
        assert_eq!(said, expected.map(|(tool, key)| (tool.to_owned(), key.to_owned())));
    }
}
