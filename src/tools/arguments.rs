//! The arguments of a call on their way from the bus to a tool.

use serde_json::Value;

use super::schema::{self, Plan, Schema};

/// What messages call the arguments as a whole.
const WHOLE: &str = "arguments";

/// What a tool takes.
#[derive(Debug, Default)]
pub struct Arguments {
    /// Absent: any object.
    schema: Option<Schema>,
    plan: Plan,
}

impl Arguments {
    /// Compiles the raw `argument_schema`; `coerce` as in the configuration.
    ///
    /// # Errors
    /// Why the schema cannot be one, in plain words.
    pub fn compile(schema: Option<&str>, coerce: bool) -> Result<Self, String> {
        let Some(raw) = schema else {
            return Ok(Self::default());
        };
        let schema = Schema::compile(raw)?;
        let plan = schema.plan(coerce);
        Ok(Self {
            schema: Some(schema),
            plan,
        })
    }

    /// What the schema's author should know although it compiled.
    pub fn warning(&self) -> Option<&str> {
        self.schema.as_ref().and_then(Schema::warning)
    }

    /// Whether checking even small arguments may take long.
    pub fn is_heavy(&self) -> bool {
        self.schema.as_ref().is_some_and(Schema::is_heavy)
    }

    /// The object a tool gets for the raw `kwargs`; absent means `{}`.
    ///
    /// It is written anew from what was checked: a repeated key in the raw text could otherwise
    /// show one value to the check and another to the tool (F020).
    ///
    /// # Errors
    /// Every fault as `<where>: <why>`, joined by `; `.
    pub fn prepare(&self, kwargs: Option<&str>) -> Result<String, String> {
        let mut value = parse(kwargs.unwrap_or("{}"))?;
        self.plan.apply(&mut value);
        if let Some(schema) = &self.schema {
            schema.check(&value, WHOLE)?;
        }
        Ok(value.to_string())
    }
}

/// `null` is no object either: absent is how "no arguments" is said (F068).
fn parse(kwargs: &str) -> Result<Value, String> {
    let value = schema::parse(kwargs).map_err(|why| format!("{WHOLE}: {why}"))?;
    if value.is_object() {
        return Ok(value);
    }
    Err(format!("{WHOLE}: expected an object, got {}", with_article(&value)))
}

/// The kind of a value in words.
pub(crate) fn with_article(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
