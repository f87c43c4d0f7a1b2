//! JSON Schemas of arguments and results, compiled once a describe (contract §4).
//!
//! A schema comes from a toolbox and an instance from the bus, so neither may hurt the host:
//! nothing is ever fetched, references that lead in circles are refused (`graph`), patterns have a
//! bounded number of steps, and how deep a check can recurse is known before it starts. What a check
//! finds is told in words of this crate (`faults`) that name the rule and never the value.
//!
//! `format` is checked where its draft says so (4, 6, 7) and is a remark otherwise (2019-09, 2020-12).

mod coerce;
mod document;
mod faults;
mod graph;
pub(crate) mod plan;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::json;
use document::Document;
pub(crate) use plan::Plan;

/// Steps one pattern may take on one string, about a millisecond. Beyond it the string is refused.
/// The validator stops after some dozens of such strings, so that one message is bounded as well.
const BACKTRACK_LIMIT: usize = 50_000;

/// Bytes one compiled pattern may take.
const PATTERN_SIZE: usize = 4 << 20;

/// Schemas applied one inside the other while one value is checked: its depth times the longest
/// chain of `$ref`, `allOf` and their kind. Each takes stack.
const MAX_RECURSION: usize = 1_000;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    /// The schema itself, for what messages quote from it.
    root: Value,
    draft: Draft,
    /// The longest chain of schemas that apply to one and the same value.
    chain: usize,
    heavy: bool,
    warning: Option<String>,
}

impl Schema {
    /// Compiles a raw schema: an object, `true` or `false`.
    ///
    /// # Errors
    /// Why it cannot be one, in plain words.
    pub fn compile(raw: &str) -> Result<Self, String> {
        let mut root = parse(raw)?;
        if !root.is_object() && !root.is_boolean() {
            return Err("expected an object or a boolean".to_owned());
        }
        let (draft, warning) = take_dialect(&mut root);
        let chain = graph::check(&Document::new(&root, draft)?)?;
        let validator = jsonschema::options()
            .with_draft(draft)
            .offline()
            .with_pattern_options(
                PatternOptions::fancy_regex()
                    .backtrack_limit(BACKTRACK_LIMIT)
                    .size_limit(PATTERN_SIZE),
            )
            .build(&root)
            .map_err(|error| faults::of_schema(&error))?;
        Ok(Self {
            validator,
            root,
            draft,
            chain,
            heavy: may_be_heavy(raw),
            warning,
        })
    }

    /// What its author should know although it compiled.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Whether checking even a small value may take long: a pattern that backtracks, alternatives that recur.
    pub fn is_heavy(&self) -> bool {
        self.heavy
    }

    /// Checks a value that the messages call `whole` ("arguments", "result").
    ///
    /// # Errors
    /// Every fault as `<where>: <why>`, joined by `; `, clipped, without any value.
    pub fn check(&self, value: &Value, whole: &str) -> Result<(), String> {
        if self.chain > MAX_RECURSION / json::PARSE_DEPTH && self.chain * depth(value) > MAX_RECURSION {
            return Err(format!("{whole}: nested too deeply for the schema"));
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        Err(faults::of_value(self.validator.iter_errors(value), &self.root, whole))
    }

    /// What to fill in and, if `coerce`, to convert before a check.
    pub(crate) fn plan(&self, coerce: bool) -> Plan {
        Document::new(&self.root, self.draft).map_or_else(|_| Plan::default(), |document| Plan::new(&document, coerce))
    }
}

/// The dialect `$schema` names, which the copy that is compiled loses: the compiler knows fewer
/// spellings of it. None means 2020-12, and so does an unknown one, with a warning.
fn take_dialect(root: &mut Value) -> (Draft, Option<String>) {
    let named = root.as_object_mut().and_then(|members| members.shift_remove("$schema"));
    let Some(named) = named else {
        return (Draft::Draft202012, None);
    };
    let name = named.as_str().unwrap_or_default().trim();
    let bare = name.trim_end_matches('#').trim_end_matches('/');
    match Draft::from_schema_uri(bare) {
        Draft::Unknown => {
            let shown: String = name.chars().take(100).collect();
            let warning = format!("unknown $schema '{shown}': read as 2020-12");
            (Draft::Draft202012, Some(warning))
        }
        draft => (draft, None),
    }
}

/// Reads a value, refusing what would not reach a receiver as it is.
///
/// # Errors
/// In plain words.
pub(crate) fn parse(raw: &str) -> Result<Value, String> {
    json::fit_to_send(raw).map_err(|unfit| unfit.to_string())?;
    let value: Value = serde_json::from_str(raw).map_err(|error| format!("not JSON: {error}"))?;
    // serde_json has private keys that stand for JSON in a string, which can nest anew.
    if depth(&value) > json::PARSE_DEPTH + 1 {
        return Err(json::Unfit::TooDeep.to_string());
    }
    Ok(value)
}

/// How deep `value` nests; a scalar is 1.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}

/// Errs on the side of yes.
fn may_be_heavy(raw: &str) -> bool {
    let has = |part: &str| raw.contains(part);
    has("\"pattern") || (has("Of\"") && (has("$ref") || has("Ref\"")))
}

#[cfg(test)]
mod tests;
