//! One tool of a description.

use std::time::Duration;

use serde_json::value::RawValue;

use super::fields::{Fields, Found};
use super::json_kind;
use crate::json::{self, Kind, Members};
use crate::protocol::parameters;

/// The longest name that travels: it is a dictionary key, a log field and a command line word.
const MAX_NAME: usize = 128;

/// What the model APIs in common use take for a function name.
const MODEL_NAME: usize = 64;

/// One tool as its toolbox describes it. Schemas are the text they came as: key order and the
/// spelling of numbers reach the caller unchanged (F085).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolDescription {
    /// Its place in the list, from 1, for messages.
    pub number: usize,
    /// Its own name, unique in the toolbox.
    pub name: String,
    /// What it does; empty where the toolbox does not say.
    pub description: String,
    /// Raw JSON Schema of the arguments, given or derived from `parameters`; absent: any object.
    pub argument_schema: Option<String>,
    /// Raw JSON Schema of the result; absent: any value.
    pub output_schema: Option<String>,
    /// What it does to the world.
    pub hints: Hints,
    /// How long one call may take, where the tool knows better than the configuration's default.
    pub timeout: Option<Duration>,
    /// A name for people.
    pub title: Option<String>,
    /// A group for people.
    pub category: Option<String>,
    /// The tool's own version.
    pub version: Option<String>,
}

/// What a tool does to the world; `None` where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// What it changes may be lost.
    pub destructive: Option<bool>,
    /// Twice does no more than once.
    pub idempotent: Option<bool>,
    /// It reaches beyond this machine.
    pub open_world: Option<bool>,
}

impl ToolDescription {
    /// Reads the tool `number` (from 1). The tool is there whenever it has a name, also beside faults.
    pub(super) fn parse(number: usize, raw: &RawValue) -> (Option<Self>, Found) {
        let Ok(members) = Members::parse(raw.get()) else {
            let fault = format!("tool {number} is {}, expected an object", json_kind(raw));
            let found = Found {
                faults: vec![fault],
                ..Found::default()
            };
            return (None, found);
        };
        let mut fields = Fields::new(&members, format!("tool {number}"));
        let Some(name) = name(&mut fields) else {
            return (None, fields.finish());
        };
        fields.rename(format!("tool {number} ('{name}')"));
        warn_of_name(&name, &mut fields);
        let tool = Self {
            number,
            description: description(&mut fields),
            argument_schema: argument_schema(&mut fields),
            output_schema: schema(&mut fields, "output_schema"),
            hints: hints(&mut fields),
            timeout: timeout(&mut fields),
            title: fields.decoration("title"),
            category: fields.decoration("category"),
            version: fields.decoration("version"),
            name,
        };
        (Some(tool), fields.finish())
    }
}

/// A name that cannot travel is refused: empty, over [`MAX_NAME`] characters, control characters,
/// or blanks at an end, which nobody would see in a message about it.
fn name(fields: &mut Fields<'_, '_>) -> Option<String> {
    if fields.raw("name").is_none() {
        fields.fault_here("has no name");
    }
    let name = fields.string("name")?;
    let fault = if name.is_empty() {
        "has an empty name".to_owned()
    } else if name.chars().count() > MAX_NAME {
        format!("has a name of over {MAX_NAME} characters")
    } else if name.chars().any(char::is_control) {
        format!("has a control character in its name ({name:?})")
    } else if name.trim() != name {
        format!("has a name that starts or ends with a blank ('{name}')")
    } else {
        return Some(name);
    };
    fields.fault_here(&fault);
    None
}

/// A name the bus carries but models may refuse is worth a warning only.
fn warn_of_name(name: &str, fields: &mut Fields<'_, '_>) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.bytes().all(plain) || name.len() > MODEL_NAME {
        fields.warn_here(&format!(
            "has a name some models cannot call: they take letters, digits, _ and -, at most {MODEL_NAME}"
        ));
    }
}

fn description(fields: &mut Fields<'_, '_>) -> String {
    if fields.raw("description").is_none() {
        fields.warn_here("has no description: a model cannot tell when to use it");
    }
    fields.string("description").unwrap_or_default()
}

/// Both forms at once are refused: they could differ, and nothing says which one is meant.
fn argument_schema(fields: &mut Fields<'_, '_>) -> Option<String> {
    let given = schema(fields, "argument_schema");
    let Some(parameters) = fields.raw("parameters") else {
        return given;
    };
    if given.is_some() {
        fields.fault_here("has both argument_schema and parameters: give one of them");
        return given;
    }
    match parameters::derive(parameters.get()) {
        Ok(derived) => {
            for warning in derived.warnings {
                fields.warn_here(&format!("has a {warning}"));
            }
            Some(derived.schema)
        }
        Err(faults) => {
            for fault in faults {
                fields.fault_here(&format!("has a {fault}"));
            }
            None
        }
    }
}

fn schema(fields: &mut Fields<'_, '_>, name: &str) -> Option<String> {
    let raw = fields.raw(name)?;
    match json::kind(raw) {
        Kind::Object | Kind::Bool => {}
        // It does not compile either, which costs this tool its calls and no other.
        _ => fields.warn_here(&format!("has an {name} that is {}, expected an object", json_kind(raw))),
    }
    Some(raw.get().to_owned())
}

/// The longest time a tool may ask for: a year, so that no clock overflows.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// A duration (`"1m 30s"`), or seconds as a number.
fn timeout(fields: &mut Fields<'_, '_>) -> Option<Duration> {
    let raw = fields.raw("timeout")?;
    let parsed = match json::string(raw) {
        Some(text) => humantime::parse_duration(&text).ok(),
        None => raw.get().parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok()),
    };
    let parsed = parsed.filter(|timeout| !timeout.is_zero() && *timeout <= LONGEST);
    if parsed.is_none() {
        fields.warn_here(
            "has a timeout that is neither a duration such as \"90s\" nor a number of seconds, above 0 and up to a \
             year: it is ignored",
        );
    }
    parsed
}

fn hints(fields: &mut Fields<'_, '_>) -> Hints {
    let Some(raw) = fields.raw("hints") else {
        return Hints::default();
    };
    let Ok(members) = Members::parse(raw.get()) else {
        fields.warn_here(&format!(
            "has hints that are {}, expected an object: ignored",
            json_kind(raw)
        ));
        return Hints::default();
    };
    let mut hint = |name: &str| {
        let raw = members.get(name)?;
        match raw.get() {
            "true" => return Some(true),
            "false" => return Some(false),
            "null" => {}
            _ => fields.warn_here(&format!("has a hint '{name}' that is no boolean: ignored")),
        }
        None
    };
    Hints {
        read_only: hint("readOnly"),
        destructive: hint("destructive"),
        idempotent: hint("idempotent"),
        open_world: hint("openWorld"),
    }
}
