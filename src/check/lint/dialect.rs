//! A schema written for an older JSON Schema that does not say so. Pure.

use serde_json::{Map, Value, json};

use super::{Remark, pair, walk};

const DRAFT_04: &str = "http://json-schema.org/draft-04/schema#";
const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

/// The dialect whose spelling a subschema has, and the sign of it.
fn sign(pointer: &str, schema: &Map<String, Value>) -> Option<(&'static str, String)> {
    let is = |key: &str, test: fn(&Value) -> bool| schema.get(key).is_some_and(test);
    for key in ["exclusiveMinimum", "exclusiveMaximum"] {
        if is(key, Value::is_boolean) {
            return Some((DRAFT_04, format!("'{key}' as a boolean")));
        }
    }
    if is("id", Value::is_string) {
        return Some((DRAFT_04, "'id' in place of '$id'".to_owned()));
    }
    if is("items", Value::is_array) {
        return Some((DRAFT_07, "'items' as a list".to_owned()));
    }
    for key in ["additionalItems", "dependencies"] {
        if schema.contains_key(key) {
            return Some((DRAFT_07, format!("'{key}'")));
        }
    }
    (pointer.is_empty() && schema.contains_key("definitions")).then(|| (DRAFT_07, "'definitions'".to_owned()))
}

/// Signs of an undeclared dialect.
pub(super) fn of(place: &str, schema: &Value) -> Option<Remark> {
    if schema.get("$schema").is_some() {
        return None;
    }
    let mut signs: Vec<(&str, String)> = Vec::new();
    walk::each(schema, &mut |pointer, members| {
        if let Some((dialect, sign)) = sign(pointer, members) {
            let at = if pointer.is_empty() {
                String::new()
            } else {
                format!(" at {pointer}")
            };
            signs.push((dialect, format!("{sign}{at}")));
        }
    });
    let (first, _) = signs
        .iter()
        .find(|(dialect, _)| *dialect == DRAFT_04)
        .or(signs.first())?;
    let name = if *first == DRAFT_04 { "draft 4" } else { "draft 7" };
    let listed: Vec<&str> = signs.iter().map(|(_, sign)| sign.as_str()).take(3).collect();
    let mut declared = Map::from_iter([("$schema".to_owned(), json!(first))]);
    declared.extend(schema.as_object().cloned().unwrap_or_default());
    Some(Remark::warning(format!(
        "{place} is spelled as in {name} ({}) and does not say so: it is read as 2020-12, where that means something else or \
         nothing. Add \"$schema\": \"{first}\"{}",
        listed.join(", "),
        pair(schema, &Value::Object(declared))
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_spelling_is_told_by_its_keywords_and_not_by_the_names_of_properties() {
        for (schema, dialect) in [
            (
                json!({"properties": {"n": {"minimum": 0, "exclusiveMinimum": true}}}),
                DRAFT_04,
            ),
            (json!({"id": "http://x/y"}), DRAFT_04),
            (json!({"definitions": {"a": {}}}), DRAFT_07),
            (json!({"properties": {"pair": {"items": [{}, {}]}}}), DRAFT_07),
            (
                json!({"definitions": {"a": {}}, "properties": {"id": {"id": "#a"}}}),
                DRAFT_04,
            ),
        ] {
            let remark = of("tool 1", &schema).unwrap();
            assert!(
                remark.what.contains(&format!("\"$schema\": \"{dialect}\"")),
                "{remark:?}"
            );
        }
        for schema in [
            json!({"properties": {"id": {"type": "string"}, "definitions": {}, "dependencies": {}}}),
            json!({"$schema": DRAFT_07, "definitions": {}}),
            json!({"properties": {"n": {"exclusiveMinimum": 3}}}),
            json!({"default": {"id": "x", "items": []}}),
        ] {
            assert_eq!(of("tool 1", &schema), None, "{schema}");
        }
    }
}
