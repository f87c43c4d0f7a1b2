//! Declarative parameters: the fifteen fields of a toolspec parameter as JSON Schema (contract §1).
//!
//! Two forms are read: the list `[{"name": "path", "type": "string"}]` and the map
//! `{"path": {"type": "string"}}` of the configuration (contract §2). The schema is
//! `{"type": "object", "properties", "required", "additionalProperties": false}`. Closed, because a
//! parameter list is complete by nature: a name that is not in it is a slip of the model, which it
//! can only mend when told. Who wants an open object writes `argument_schema`.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::describe::json_kind;
use crate::json::{self, Kind, Members, push_string};

/// A schema made from parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// The raw JSON Schema. Values (`default`, `enum`, limits) are the text they came as.
    pub schema: String,
    /// What was ignored; each reads on after "has a".
    pub warnings: Vec<String>,
}

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// The fields that go into the schema under the same name, and what each must be.
const COPIED: [(&str, Expect); 10] = [
    ("description", Expect::String),
    ("default", Expect::Any),
    ("enum", Expect::Choices),
    ("pattern", Expect::String),
    ("minimum", Expect::Number),
    ("maximum", Expect::Number),
    ("minLength", Expect::Length),
    ("maxLength", Expect::Length),
    ("format", Expect::String),
    ("examples", Expect::Array),
];

#[derive(Debug, Clone, Copy)]
enum Expect {
    Any,
    String,
    Number,
    Length,
    Array,
    Choices,
    Object,
}

impl Expect {
    fn holds(self, raw: &RawValue) -> bool {
        let kind = json::kind(raw);
        match self {
            Self::Any => true,
            Self::String => json::string(raw).is_some(),
            Self::Number => kind == Kind::Number,
            Self::Length => raw.get().parse::<u32>().is_ok(),
            Self::Array => kind == Kind::Array,
            Self::Choices => kind == Kind::Array && raw.get()[1..].trim_start() != "]",
            Self::Object => kind == Kind::Object,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Length => "a whole number, 0 or more",
            Self::Array => "an array",
            Self::Choices => "an array with at least one value",
            Self::Object => "an object",
        }
    }
}

/// Makes a schema of the raw `parameters`, list or map.
///
/// # Errors
/// Every fault; each reads on after "has a".
pub fn derive(parameters: &str) -> Result<Derived, Vec<String>> {
    let mut schema = Schema::default();
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(parameters) {
        for (index, raw) in list.into_iter().enumerate() {
            schema.add_listed(index + 1, raw);
        }
    } else if let Ok(map) = Members::parse(parameters) {
        for (name, raw) in map.iter() {
            schema.add(name, raw);
        }
    } else {
        schema
            .faults
            .push("'parameters' that is neither a list nor an object".to_owned());
    }
    schema.finish()
}

/// The schema as far as it is written.
#[derive(Default)]
struct Schema {
    properties: String,
    required: String,
    names: HashSet<String>,
    faults: Vec<String>,
    warnings: Vec<String>,
}

impl Schema {
    fn add_listed(&mut self, number: usize, raw: &RawValue) {
        let name = Members::parse(raw.get()).ok().and_then(|members| members.get("name"));
        match name.and_then(json::string) {
            Some(name) => self.add(&name, raw),
            None => self.faults.push(format!("parameter {number} without a name")),
        }
    }

    fn add(&mut self, name: &str, raw: &RawValue) {
        let Ok(members) = Members::parse(raw.get()) else {
            let kind = json_kind(raw);
            self.fault(name, &format!("is {kind}, expected an object"));
            return;
        };
        if name.is_empty() || !self.names.insert(name.to_owned()) {
            let why = if name.is_empty() { "without a name" } else { "twice" };
            self.faults.push(format!("parameter '{name}' {why}"));
            return;
        }
        let mut out = String::with_capacity(raw.get().len());
        self.push_type(name, &members, &mut out);
        for (field, expect) in COPIED {
            self.copy(name, &members, (field, field, expect), &mut out);
        }
        // JSON Schema has no place for it; a name no validator knows keeps it for who reads the tool.
        self.copy(name, &members, ("metadata", "x-metadata", Expect::Object), &mut out);
        self.push_required(name, &members);
        self.note_unknown(name, &members);
        separate(&mut self.properties);
        push_string(&mut self.properties, name);
        self.properties.push_str(&format!(":{{{out}}}"));
    }

    fn push_type(&mut self, name: &str, members: &Members<'_>, out: &mut String) {
        let kind = present(members, "type").map(|raw| (json::string(raw), raw));
        match kind {
            Some((Some(kind), _)) if TYPES.contains(&kind.as_ref()) => {
                out.push_str(&format!("\"type\":\"{kind}\""));
                self.push_items(name, members, &kind, out);
            }
            Some((_, raw)) => {
                let text: String = raw.get().chars().take(40).collect();
                self.fault(
                    name,
                    &format!("has the type {text}, expected one of {}", TYPES.join(", ")),
                );
            }
            None => self.fault(name, &format!("has no type, expected one of {}", TYPES.join(", "))),
        }
    }

    /// `items`: the name of a type, or a schema.
    fn push_items(&mut self, name: &str, members: &Members<'_>, kind: &str, out: &mut String) {
        let Some(raw) = present(members, "items").filter(|raw| raw.get() != "\"\"") else {
            return;
        };
        if kind != "array" {
            self.warnings.push(format!(
                "parameter '{name}' with 'items', which only an array has: ignored"
            ));
            return;
        }
        match (json::kind(raw), json::string(raw)) {
            (Kind::Object | Kind::Bool, _) => out.push_str(&format!(",\"items\":{}", raw.get())),
            (_, Some(kind)) if TYPES.contains(&kind.as_ref()) => {
                out.push_str(&format!(",\"items\":{{\"type\":\"{kind}\"}}"));
            }
            _ => self.fault(name, "has 'items' that are neither the name of a type nor a schema"),
        }
    }

    fn copy(
        &mut self,
        name: &str,
        members: &Members<'_>,
        (field, keyword, expect): (&str, &str, Expect),
        out: &mut String,
    ) {
        let Some(raw) = present(members, field) else {
            return;
        };
        if expect.holds(raw) {
            separate(out);
            out.push_str(&format!("\"{keyword}\":{}", raw.get()));
        } else {
            let (kind, words) = (json_kind(raw), expect.words());
            self.fault(name, &format!("has a '{field}' that is {kind}, expected {words}"));
        }
    }

    fn push_required(&mut self, name: &str, members: &Members<'_>) {
        match present(members, "required").map(RawValue::get) {
            Some("true") => {
                separate(&mut self.required);
                push_string(&mut self.required, name);
            }
            None | Some("false") => {}
            Some(_) => self.fault(name, "has a 'required' that is no boolean"),
        }
    }

    fn note_unknown(&mut self, name: &str, members: &Members<'_>) {
        let known = |field: &str| {
            ["name", "type", "required", "items", "metadata"].contains(&field)
                || COPIED.iter().any(|(copied, _)| *copied == field)
        };
        for (field, _) in members.iter().filter(|(field, _)| !known(field)) {
            self.warnings
                .push(format!("parameter '{name}' with an unknown field '{field}': ignored"));
        }
    }

    fn fault(&mut self, name: &str, why: &str) {
        self.faults.push(format!("parameter '{name}' that {why}"));
    }

    fn finish(self) -> Result<Derived, Vec<String>> {
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let Self {
            properties, required, ..
        } = self;
        let mut schema = format!(r#"{{"type":"object","properties":{{{properties}}}"#);
        // Draft 4, which some callers still read, forbids an empty list.
        if !required.is_empty() {
            schema.push_str(&format!(r#","required":[{required}]"#));
        }
        schema.push_str(r#","additionalProperties":false}"#);
        Ok(Derived {
            schema,
            warnings: self.warnings,
        })
    }
}

/// A field that says something. Null is an absent one: the authors' structures write every field.
fn present<'a>(members: &Members<'a>, field: &str) -> Option<&'a RawValue> {
    members.get(field).filter(|raw| json::kind(raw) != Kind::Null)
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push(',');
    }
}

#[cfg(test)]
mod tests;
