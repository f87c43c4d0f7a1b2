//! What a toolbox says of itself: the result of `describe` (contract §1).
//!
//! What a call depends on (names, schemas, timeouts, the protocol version) is refused when wrong,
//! every fault at once. What only adorns (titles, hints) is dropped with a warning: no toolbox
//! should stay away for its category.

mod fields;
mod tool;

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::json::{self, Kind, Members};
use fields::Fields;
pub use tool::{Hints, ToolDescription};

/// How many faults are listed before the rest is only counted.
const LISTED: usize = 10;

/// Remarks of the toolbox itself that are taken, and characters of one: they are read by a person.
const REMARKS: usize = 50;
const LONGEST_REMARK: usize = 600;

/// The result of `describe`. Two are equal when a caller could not tell them apart, so that a
/// toolbox described again need not be published again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// The tools, in the toolbox's order. Names are unique.
    pub tools: Vec<ToolDescription>,
    /// The toolbox's own version.
    pub version: Option<String>,
    /// What the toolbox is for.
    pub description: Option<String>,
    /// What it can do beyond `describe` and `call`.
    pub capabilities: Capabilities,
    /// Capabilities this version does not know: ignored, for the log.
    pub unknown_capabilities: Vec<String>,
    /// What was tolerated and should be mended, and what the toolbox itself remarks, for the log and for `toolhost check`.
    pub warnings: Vec<String>,
}

/// What a toolbox can do beyond `describe` and `call`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Its calls carry the context of the Message that asks.
    pub context: bool,
    /// It may receive `cancel`.
    pub cancel: bool,
    /// It may have more than one call in flight.
    pub concurrent: bool,
}

impl Description {
    /// Reads the raw result of `describe`.
    ///
    /// # Errors
    /// Every fault, joined by `; `, in words for the toolbox's author.
    pub fn parse(raw: &str) -> Result<Self, String> {
        Self::read(raw).map_err(joined)
    }

    /// Reads the raw result of `describe`.
    ///
    /// # Errors
    /// Every fault by itself, in words for the toolbox's author.
    pub fn read(raw: &str) -> Result<Self, Vec<String>> {
        let Ok(members) = Members::parse(raw) else {
            return Err(vec![format!(
                "the describe result is {}, expected an object with 'tools'",
                kind_of(raw)
            )]);
        };
        let mut fields = Fields::new(&members, "the describe result");
        protocol(&mut fields);
        let mut description = Self {
            version: fields.decoration("version"),
            description: fields.decoration("description"),
            ..Self::default()
        };
        capabilities(&mut fields, &mut description);
        let own = own_warnings(&mut fields);
        let tools = list(&mut fields, "tools");
        let fields::Found {
            mut faults,
            mut warnings,
        } = fields.finish();
        for (index, raw) in tools.into_iter().flatten().enumerate() {
            let (tool, found) = ToolDescription::parse(index + 1, raw);
            description.tools.extend(tool);
            faults.extend(found.faults);
            warnings.extend(found.warnings);
        }
        twice(&description.tools, &mut faults);
        if faults.is_empty() {
            let unknown = description.unknown_capabilities.iter();
            warnings.extend(unknown.map(|name| format!("the capability '{name}' is not known and does nothing")));
            warnings.extend(own);
            description.warnings = warnings;
            return Ok(description);
        }
        Err(faults)
    }
}

fn joined(mut faults: Vec<String>) -> String {
    let more = faults.len().saturating_sub(LISTED);
    faults.truncate(LISTED);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    faults.join("; ")
}

/// Absent means 1: version 1 does not ask for it.
fn protocol(fields: &mut Fields<'_, '_>) {
    let Some(raw) = fields.raw("protocol") else {
        return;
    };
    let text = json::string(raw);
    let text = text.as_deref().unwrap_or(raw.get());
    if text.parse() != Ok(f64::from(super::VERSION)) {
        fields.fault(format!(
            "the toolbox speaks protocol {text:.20} and this toolhost speaks {}: have the toolbox answer \
             \"protocol\": {}, or run a toolhost that knows {text:.20}",
            super::VERSION,
            super::VERSION
        ));
    }
}

fn capabilities(fields: &mut Fields<'_, '_>, description: &mut Description) {
    if fields.raw("capabilities").is_none() {
        return;
    }
    for raw in list(fields, "capabilities").into_iter().flatten() {
        let Some(name) = json::string(raw) else {
            fields.fault(format!(
                "a capability is {}, expected its name as a string",
                json_kind(raw)
            ));
            continue;
        };
        match name.as_ref() {
            "context" => description.capabilities.context = true,
            "cancel" => description.capabilities.cancel = true,
            "concurrent" => description.capabilities.concurrent = true,
            other => description.unknown_capabilities.push(other.to_owned()),
        }
    }
}

/// What the toolbox remarks for its owner. It only adorns: what is no text is dropped with a warning.
fn own_warnings(fields: &mut Fields<'_, '_>) -> Vec<String> {
    let Some(raw) = fields.raw("warnings") else {
        return Vec::new();
    };
    let Ok(listed) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
        let what = json_kind(raw);
        fields.warn_here(&format!(
            "has 'warnings' that are {what}, expected an array of strings: ignored"
        ));
        return Vec::new();
    };
    let texts: Vec<String> = listed
        .iter()
        .filter_map(|raw| json::string(raw))
        .map(|text| clipped(&text))
        .collect();
    if texts.len() < listed.len() {
        fields.warn_here("has a warning that is no string: ignored");
    }
    let more = texts.len().saturating_sub(REMARKS);
    let mut kept: Vec<String> = texts.into_iter().take(REMARKS).collect();
    if more > 0 {
        kept.push(format!("and {more} further warnings"));
    }
    kept
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST_REMARK) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The elements of the array `name`, or `None` with a fault noted.
fn list<'a>(fields: &mut Fields<'_, 'a>, name: &str) -> Option<Vec<&'a RawValue>> {
    let fault = match fields.raw(name) {
        None => format!("the describe result has no '{name}'"),
        Some(raw) if json::kind(raw) == Kind::Array => return serde_json::from_str(raw.get()).ok(),
        Some(raw) => format!("'{name}' is {}, expected an array", json_kind(raw)),
    };
    fields.fault(fault);
    None
}

/// One name twice would leave it to chance which of the two answers (F092).
fn twice(tools: &[ToolDescription], faults: &mut Vec<String>) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for tool in tools {
        match first.get(tool.name.as_str()) {
            Some(earlier) => faults.push(format!(
                "'{}' is listed twice, as tool {earlier} and as tool {}",
                tool.name, tool.number
            )),
            None => {
                first.insert(&tool.name, tool.number);
            }
        }
    }
}

/// The kind of a value with its article, as it stands in a sentence.
pub(crate) fn json_kind(raw: &RawValue) -> &'static str {
    kind_of(raw.get())
}

fn kind_of(raw: &str) -> &'static str {
    match raw.trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests;
