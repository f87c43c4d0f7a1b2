//! Values a schema itself names (examples, defaults, choices), held against it. Pure.

use serde_json::{Map, Value, json};

use super::{Remark, pair, walk};
use crate::tools::schema::Schema;

/// Every example, default and choice that its own schema refuses.
pub(super) fn of(place: &str, schema: &Value) -> Vec<Remark> {
    let mut remarks = Vec::new();
    walk::each(schema, &mut |pointer, members| {
        let at = below(place, pointer);
        remarks.extend(values(&at, members, schema));
        remarks.extend(choices(&at, members));
    });
    remarks
}

/// The place of a subschema: a parameter where it is one.
fn below(place: &str, pointer: &str) -> String {
    let property = pointer.strip_prefix("/properties/").filter(|name| !name.contains('/'));
    match property {
        Some(name) if !place.ends_with("output_schema") => {
            let tool = place.rsplit_once(": ").map_or(place, |(tool, _)| tool);
            format!("{tool}: parameter '{name}'")
        }
        _ => format!("{place}{pointer}"),
    }
}

fn values(at: &str, members: &Map<String, Value>, root: &Value) -> Vec<Remark> {
    let listed = members.get("examples").and_then(Value::as_array);
    let examples = listed.into_iter().flatten().enumerate();
    let examples = examples.map(|(index, value)| (format!("example {}", index + 1), value));
    let more = ["default", "example"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), members.get(key)?)));
    let all: Vec<(String, &Value)> = examples.chain(more).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let Some(schema) = compiled(members, root) else {
        return Vec::new();
    };
    let fits = fitting(members, &schema);
    let refused = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value, schema.check(value, "it").err()?)));
    refused
        .map(|(name, value, why)| {
            let shown = |value: &Value| match name.as_str() {
                "default" | "example" => json!({&name: value}),
                _ => json!({"examples": [value]}),
            };
            let mut what = format!("{at}: its {name} does not fit its own schema: {why}");
            match &fits {
                Some(fits) => what.push_str(&pair(&shown(value), &shown(fits))),
                None => what.push_str(&format!("\nwrote:  {}", super::clipped(&shown(value)))),
            }
            Remark::fault(what)
        })
        .collect()
}

/// A subschema by itself, with what its references may name.
fn compiled(members: &Map<String, Value>, root: &Value) -> Option<Schema> {
    let mut alone = members.clone();
    for key in ["$schema", "$defs", "definitions"] {
        if let Some(value) = root.get(key)
            && !alone.contains_key(key)
        {
            alone.insert(key.to_owned(), value.clone());
        }
    }
    // One that does not compile, or refers to what is elsewhere, has been told or cannot be.
    Schema::compile(&Value::Object(alone).to_string()).ok()
}

/// Members of `enum` that the `type` beside it rules out.
fn choices(at: &str, members: &Map<String, Value>) -> Vec<Remark> {
    let (Some(kind), Some(choices)) = (members.get("type"), members.get("enum").and_then(Value::as_array)) else {
        return Vec::new();
    };
    let Ok(schema) = Schema::compile(&json!({"type": kind}).to_string()) else {
        return Vec::new();
    };
    let refused: Vec<&Value> = choices
        .iter()
        .filter(|choice| schema.check(choice, "it").is_err())
        .collect();
    if refused.is_empty() {
        return Vec::new();
    }
    let left: Vec<&Value> = choices.iter().filter(|choice| !refused.contains(choice)).collect();
    let wrote = json!({"type": kind, "enum": choices});
    let should = if left.is_empty() {
        retyped(choices)
    } else {
        json!({"type": kind, "enum": left})
    };
    vec![Remark::fault(format!(
        "{at}: its enum names {} that its type {kind} refuses{}",
        if refused.len() == 1 { "a value" } else { "values" },
        pair(&wrote, &should)
    ))]
}

fn retyped(choices: &[Value]) -> Value {
    let kind = match choices.first() {
        Some(Value::String(_)) => "string",
        Some(Value::Number(_)) => "number",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
        Some(Value::Null) | None => "null",
    };
    json!({"type": kind, "enum": choices})
}

/// A value that fits, where a simple one does.
fn fitting(members: &Map<String, Value>, schema: &Schema) -> Option<Value> {
    let choice = members.get("enum").and_then(|choices| choices.get(0)).cloned();
    let limits = ["minimum", "maximum", "default"]
        .into_iter()
        .filter_map(|key| members.get(key).cloned());
    let simple = [
        json!(1),
        json!("text"),
        json!(true),
        json!([]),
        json!({}),
        json!(0.5),
        Value::Null,
    ];
    let mut all = choice.into_iter().chain(limits).chain(simple);
    all.find(|value| schema.check(value, "it").is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_that_its_own_schema_refuses_is_named_with_one_that_fits() {
        let schema = json!({
            "type": "object",
            "$defs": {"small": {"type": "integer", "maximum": 9}},
            "properties": {
                "n": {"type": "integer", "examples": [3, "many"], "default": "x"},
                "s": {"$ref": "#/$defs/small", "examples": [10]},
                "unit": {"type": "string", "enum": ["C", 5]},
                "fine": {"type": "string", "default": "", "examples": ["a"], "enum": ["", "a"]},
            },
            "examples": [{"n": "no"}],
        });
        let said: Vec<String> = of("tool 1 ('a'): argument_schema", &schema)
            .into_iter()
            .map(|remark| remark.what)
            .collect();
        assert_eq!(said.len(), 5, "{said:#?}");
        for (said, parts) in said.iter().zip([
            [
                "argument_schema: its example 1 does not fit",
                "n: ",
                "wrote:  {\"examples\":[{\"n\":\"no\"}]}",
            ],
            [
                "parameter 'n': its example 2 does not fit",
                "integer",
                "should: {\"examples\":[1]}",
            ],
            [
                "parameter 'n': its default does not fit",
                "integer",
                "should: {\"default\":1}",
            ],
            [
                "parameter 's': its example 1 does not fit",
                "9",
                "should: {\"examples\":[1]}",
            ],
            [
                "parameter 'unit': its enum names a value that its type \"string\" refuses",
                "",
                "\"enum\":[\"C\"]}",
            ],
        ]) {
            for part in parts {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
    }
}
