//! `parameters:` and `argument_schema:` of a declared tool.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::config::fault::Position;
use crate::config::read::Reader;
use crate::config::suggest::listed;
use crate::config::yaml::{Entry, Node, Value, below};
use crate::json::push_string;
use crate::protocol::parameters::derive;
use crate::tools::schema::Schema;

/// Every field of a parameter.
pub(in crate::config) const PARAMETER_KEYS: &[&str] = &[
    "type",
    "description",
    "required",
    "default",
    "enum",
    "items",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "format",
    "examples",
    "metadata",
    LEADING_DASH,
];

/// Of toolhost alone; nobody else is told.
const LEADING_DASH: &str = "leading_dash";

/// What a tool takes.
pub(super) struct Parameters {
    /// The member of the describe answer, and its JSON.
    pub(super) told: (&'static str, String),
    /// The parameters, `None` where not all can be known.
    pub(super) known: Option<Vec<Parameter>>,
    pub(super) leading_dash: BTreeSet<String>,
    /// Those whose numbers are integers, or arrays of them.
    pub(super) integers: BTreeSet<String>,
    /// Those that are written here, others may be known elsewhere.
    pub(super) names: BTreeSet<String>,
}

/// A parameter that templates can name.
pub(super) struct Parameter {
    pub(super) name: String,
    /// Its type, where it says one.
    pub(super) kind: Option<String>,
    pub(super) at: Position,
    pub(super) path: String,
}

impl Parameters {
    /// Of a tool that takes nothing.
    pub(super) fn none() -> Self {
        Self {
            told: ("parameters", "{}".to_owned()),
            known: Some(Vec::new()),
            leading_dash: BTreeSet::new(),
            integers: BTreeSet::new(),
            names: BTreeSet::new(),
        }
    }

    /// Notes one, by its fields.
    fn note(&mut self, name: &str, fields: &[Entry]) {
        self.names.insert(name.to_owned());
        if integers(fields) {
            self.integers.insert(name.to_owned());
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Parameter> {
        self.known.iter().flatten().find(|parameter| parameter.name == name)
    }
}

/// The type a parameter or a schema says it has.
fn kind(entries: &[Entry]) -> Option<String> {
    let entry = entries.iter().find(|entry| entry.key == "type")?;
    match &entry.value.value {
        Value::Scalar(scalar) => Some(scalar.text().to_owned()),
        _ => None,
    }
}

/// Whether the numbers of a parameter, or of the array that it is, are integers.
fn integers(fields: &[Entry]) -> bool {
    let field = |key: &str| {
        fields
            .iter()
            .find(|field| field.key == key)
            .map(|field| &field.value.value)
    };
    let is_integer = |value: &Value| match value {
        Value::Scalar(scalar) => scalar.text() == "integer",
        Value::Sequence(kinds) => {
            let is = |kind: &str| {
                let named = |node: &Node| matches!(&node.value, Value::Scalar(scalar) if scalar.text() == kind);
                kinds.iter().any(named)
            };
            is("integer") && !is("number")
        }
        Value::Mapping(fields) => integers(fields),
        Value::Broken => false,
    };
    field("type").is_some_and(is_integer) || field("items").is_some_and(is_integer)
}

impl Reader<'_> {
    pub(super) fn parameters(&mut self, node: &Node, path: &str) -> Parameters {
        let mut parameters = Parameters::none();
        let expected = "a mapping of names to parameters: {path: {type: string, description: ...}}";
        let Some(entries) = self.entries(node, path, expected) else {
            parameters.known = None;
            return parameters;
        };
        let mut members = Vec::new();
        for entry in entries {
            let json = self.parameter(entry, &below(path, &entry.key), &mut parameters);
            let mut member = String::new();
            push_string(&mut member, &entry.key);
            members.push(format!("{member}:{json}"));
        }
        parameters.told.1 = format!("{{{}}}", members.join(","));
        parameters
    }

    /// The JSON of one parameter.
    fn parameter(&mut self, entry: &Entry, path: &str, parameters: &mut Parameters) -> String {
        let faults = self.faults.len();
        let fields = self.entries(&entry.value, path, "a mapping such as {type: string, description: ...}");
        let fields = fields.unwrap_or_default();
        parameters.known.get_or_insert_default().push(Parameter {
            name: entry.key.clone(),
            kind: kind(fields),
            at: entry.at,
            path: path.to_owned(),
        });
        parameters.note(&entry.key, fields);
        let told = self.without_dash(fields, path, &entry.key, &mut parameters.leading_dash);
        for field in told
            .iter()
            .filter(|field| !PARAMETER_KEYS.contains(&field.key.as_str()))
        {
            self.unknown(field, &below(path, &field.key), PARAMETER_KEYS);
        }
        let mut json = String::new();
        self.object(&told, path, &mut json);
        if self.faults.len() == faults {
            self.derivable(entry, fields, path, &json);
        }
        json
    }

    /// `fields` without `leading_dash`, which is noted.
    fn without_dash(&mut self, fields: &[Entry], path: &str, name: &str, dashes: &mut BTreeSet<String>) -> Vec<Entry> {
        let (dash, told): (Vec<&Entry>, Vec<&Entry>) = fields.iter().partition(|field| field.key == LEADING_DASH);
        for field in dash {
            if self.boolean(&field.value, &below(path, LEADING_DASH)) == Some(true) {
                dashes.insert(name.to_owned());
            }
        }
        told.into_iter().cloned().collect()
    }

    /// Tells what the makers of schemas find wrong with one parameter.
    fn derivable(&mut self, entry: &Entry, fields: &[Entry], path: &str, json: &str) {
        let mut named = String::new();
        push_string(&mut named, &entry.key);
        let (schema, told) = match derive(&format!("{{{named}:{json}}}")) {
            Ok(derived) => (Some(derived.schema), derived.warnings),
            Err(faults) => (None, faults),
        };
        for what in told {
            let subject = format!("parameter '{}' ", entry.key);
            let what = what.strip_prefix(&subject).unwrap_or(&what);
            let what = what.strip_prefix("that ").unwrap_or(what);
            // A warning there: nothing is ignored in this file.
            let what = match what.strip_suffix(": ignored") {
                Some(warning) => format!("does not go {warning}"),
                None => what.to_owned(),
            };
            self.fault_of_field(entry, fields, path, what);
        }
        let property = schema
            .and_then(|schema| serde_json::from_str::<Json>(&schema).ok())
            .and_then(|mut schema| Some(schema.get_mut("properties")?.get_mut(&entry.key)?.take()));
        if let Some(property) = property {
            self.fitting(entry, fields, path, &property);
        }
    }

    /// A default or a choice that no call could use is a slip: `enum: [1, 2]` of a string.
    fn fitting(&mut self, entry: &Entry, fields: &[Entry], path: &str, property: &Json) {
        let schema = match Schema::compile(&property.to_string()) {
            Ok(schema) => schema,
            Err(why) => {
                let field = fields
                    .iter()
                    .find(|field| field.key == "pattern" && why.contains("pattern"));
                let (at, path) = match field {
                    Some(field) => (field.value.at, below(path, &field.key)),
                    None => (entry.value.at, path.to_owned()),
                };
                self.fault(at, &path, format!("is no schema: {why}"));
                return;
            }
        };
        let choices = property.get("enum").and_then(Json::as_array);
        for (index, choice) in choices.into_iter().flatten().enumerate() {
            if let Err(why) = schema.check(choice, "the value") {
                let number = index + 1;
                let why = format!("the value {number} of 'enum' is none a call could send: {why}");
                self.fault_of_field(entry, fields, path, why);
            }
        }
        if let Some(default) = property.get("default")
            && let Err(why) = schema.check(default, "the value")
        {
            let why = format!("'default' does not fit the parameter: {why}");
            self.fault_of_field(entry, fields, path, why);
        }
    }

    /// A fault that stands where the field it quotes does.
    fn fault_of_field(&mut self, entry: &Entry, fields: &[Entry], path: &str, what: String) {
        let quoted = |field: &&Entry| {
            what.contains(&format!("'{}'", field.key)) || (field.key == "type" && what.starts_with("has the type"))
        };
        match fields.iter().find(quoted) {
            Some(field) => self.fault(field.value.at, &below(path, &field.key), what),
            None => self.fault(entry.at, path, what),
        }
    }

    pub(super) fn argument_schema(&mut self, node: &Node, path: &str) -> Parameters {
        let mut parameters = Parameters {
            told: ("argument_schema", "{}".to_owned()),
            known: None,
            ..Parameters::none()
        };
        let mut node = node.clone();
        if let Value::Mapping(entries) = &mut node.value {
            self.properties(entries, path, &mut parameters);
        }
        if let Some(json) = self.schema(&node, path) {
            parameters.told.1 = json;
        }
        parameters
    }

    /// Takes `leading_dash` out of the properties, and notes them where they are all there is.
    fn properties(&mut self, entries: &mut [Entry], path: &str, parameters: &mut Parameters) {
        const MORE: [&str; 7] = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "patternProperties",
            "dependentSchemas",
        ];
        let open = entries.iter().any(|entry| MORE.contains(&entry.key.as_str()));
        let properties = entries.iter_mut().find(|entry| entry.key == "properties");
        let Some(Value::Mapping(properties)) = properties.map(|entry| &mut entry.value.value) else {
            return;
        };
        let mut known = Vec::new();
        for entry in properties {
            let path = format!("{path}.properties.{}", entry.key);
            let mut kind_of = None;
            parameters.names.insert(entry.key.clone());
            if let Value::Mapping(fields) = &mut entry.value.value {
                kind_of = kind(fields);
                parameters.note(&entry.key, fields);
                *fields = self.without_dash(fields, &path, &entry.key, &mut parameters.leading_dash);
            }
            known.push(Parameter {
                name: entry.key.clone(),
                kind: kind_of,
                at: entry.at,
                path,
            });
        }
        parameters.known = (!open).then_some(known);
    }

    /// The names of the parameters, for the end of a fault.
    pub(super) fn named(parameters: &[Parameter]) -> String {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        match names.len() {
            0 => "the tool has none: declare it under 'parameters'".to_owned(),
            1..=10 => format!("the tool has {}", listed(&names, "and")),
            _ => "declare it under 'parameters'".to_owned(),
        }
    }
}
