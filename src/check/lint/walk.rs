//! Every subschema of a schema, and no property that only has the name of a keyword. Pure.

use serde_json::{Map, Value};

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords whose value has a schema under each name.
const NAMED: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Calls `visit` with every subschema that is an object, and its pointer.
pub(super) fn each<'a>(schema: &'a Value, visit: &mut impl FnMut(&str, &'a Map<String, Value>)) {
    below(schema, "", visit);
}

fn below<'a>(schema: &'a Value, pointer: &str, visit: &mut impl FnMut(&str, &'a Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    visit(pointer, members);
    for (key, value) in members {
        let pointer = format!("{pointer}/{key}");
        match value {
            Value::Object(inner) if NAMED.contains(&key.as_str()) => {
                for (name, schema) in inner {
                    below(schema, &format!("{pointer}/{name}"), visit);
                }
            }
            Value::Array(items) if SCHEMAS.contains(&key.as_str()) => {
                for (index, schema) in items.iter().enumerate() {
                    below(schema, &format!("{pointer}/{index}"), visit);
                }
            }
            _ if SCHEMAS.contains(&key.as_str()) => below(value, &pointer, visit),
            _ => {}
        }
    }
}
