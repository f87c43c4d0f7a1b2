//! JSON Schemas from toolboxes against values from the bus: no cycle, pattern or depth hurts, and what was checked is
//! what a tool gets.

use serde_json::Value;
use toolhost::tools::arguments::Arguments;
use toolhost::tools::schema::Schema;

use super::{SECRET, two_parts, value};

/// The first part is a schema, the second a value.
pub fn hold(data: &[u8]) {
    let Some((schema, instance)) = two_parts(data) else {
        return;
    };
    let compiled = match Schema::compile(schema) {
        Ok(compiled) => compiled,
        Err(why) => {
            assert!(!why.trim().is_empty());
            return assert!(
                Arguments::compile(Some(schema), true).is_err(),
                "one reads it, the other does not"
            );
        }
    };
    if let Some(instance) = value(instance) {
        told_well(
            schema,
            instance.to_string().as_str(),
            &compiled.check(&instance, "result"),
        );
    }
    for coerce in [false, true] {
        let arguments = Arguments::compile(Some(schema), coerce).expect("it compiled");
        prepared(schema, instance, coerce, &compiled, &arguments);
    }
}

/// A fault names the rule and the place, and the value of nobody.
fn told_well(schema: &str, instance: &str, checked: &Result<(), String>) {
    let Err(faults) = checked else { return };
    assert!(
        !faults.trim().is_empty() && faults.len() < 20_000,
        "{} bytes",
        faults.len()
    );
    // Keys of the value are places in it.
    let tree: Option<Value> = value(instance);
    if !schema.contains(SECRET) && tree.is_some_and(|tree| !has_secret_key(&tree)) {
        assert!(!faults.contains(SECRET), "{faults}");
    }
}

fn has_secret_key(tree: &Value) -> bool {
    match tree {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| key.contains(SECRET) || has_secret_key(value)),
        Value::Array(items) => items.iter().any(has_secret_key),
        _ => false,
    }
}

/// What a tool gets passed the check, and passes it again unchanged.
fn prepared(schema: &str, kwargs: &str, coerce: bool, compiled: &Schema, arguments: &Arguments) {
    let ready = match arguments.prepare(Some(kwargs)) {
        Ok(ready) => ready,
        Err(why) => return assert!(!why.trim().is_empty()),
    };
    let tree: Value = serde_json::from_str(&ready).expect("JSON");
    assert!(tree.is_object(), "{ready}");
    if ready.contains("$serde_json") {
        return;
    }
    assert_eq!(
        compiled.check(&tree, "arguments"),
        Ok(()),
        "coerce {coerce}: {ready} by {schema}"
    );
    assert_eq!(
        arguments.prepare(Some(&ready)).as_ref(),
        Ok(&ready),
        "coerce {coerce}, by {schema}"
    );
}
