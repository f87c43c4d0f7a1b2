//! The tools of one toolbox as the bus sees them (OVOS-TOOLS-1 §3).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::arguments::Arguments;
use super::glob;
use super::outcome::CallError;
use super::schema::{self, Schema};
use crate::config::Publish;
use crate::json::{self, Text, push_string};
use crate::protocol::describe::{Description, Hints, ToolDescription};

/// What messages call a result as a whole.
const WHOLE: &str = "result";

/// One published tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name on the bus: renamed and with the namespace, where the configuration says so.
    pub name: String,
    /// Its name in the toolbox, which calls to the toolbox use.
    pub own_name: String,
    /// The five fields of OVOS-TOOLS-1 §3 and no others: readers may refuse what they do not know.
    pub definition: Text,
    /// How long one call may take, where the tool itself says so.
    pub timeout: Option<Duration>,
    /// What it does to the world, where the tool says so.
    pub hints: Hints,
    arguments: Arguments,
    output: Option<Schema>,
    /// Why a schema of the tool does not compile: it is listed, and never runs.
    broken: Option<String>,
}

impl Tool {
    fn new(toolbox_id: &str, name: String, described: &ToolDescription, coerce: bool) -> Self {
        let mut broken = Vec::new();
        let arguments = Arguments::compile(described.argument_schema.as_deref(), coerce);
        let arguments = arguments.unwrap_or_else(|why| {
            broken.push(format!("argument_schema: {why}"));
            Arguments::default()
        });
        let output = described.output_schema.as_deref().filter(|raw| !accepts_all(raw));
        let output = output.map(Schema::compile).transpose().unwrap_or_else(|why| {
            broken.push(format!("output_schema: {why}"));
            None
        });
        let mut definition = definition(toolbox_id, &name, described);
        // Inside a Message it stands in three more levels.
        if let Err(unfit) = json::fit_to_send(&format!("[[[{definition}]]]")) {
            broken.push(unfit.to_string());
            let bare = ToolDescription {
                description: described.description.clone(),
                ..ToolDescription::default()
            };
            definition = self::definition(toolbox_id, &name, &bare);
        }
        Self {
            name,
            own_name: described.name.clone(),
            definition: Text::from(definition),
            timeout: described.timeout,
            hints: described.hints,
            arguments,
            output,
            broken: (!broken.is_empty()).then(|| broken.join("; ")),
        }
    }

    /// Why its schemas do not compile, if they do not.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Whether checking even small arguments or results may take long.
    pub fn is_heavy(&self) -> bool {
        self.arguments.is_heavy() || self.output.as_ref().is_some_and(Schema::is_heavy)
    }

    /// The object the toolbox gets for the raw `kwargs`; absent means `{}`.
    ///
    /// # Errors
    /// A schema that does not compile, or arguments that do not fit.
    pub fn prepare(&self, kwargs: Option<&str>) -> Result<String, CallError> {
        self.sound()?;
        self.arguments
            .prepare(kwargs)
            .map_err(|faults| CallError::InvalidArguments {
                name: self.name.clone(),
                faults,
            })
    }

    /// Checks the raw result. A tool without an output schema takes any, unparsed.
    ///
    /// # Errors
    /// A schema that does not compile, or a result that does not fit.
    pub fn check_output(&self, raw: &str) -> Result<(), CallError> {
        self.sound()?;
        let Some(output) = &self.output else {
            return Ok(());
        };
        let checked = match schema::parse(raw) {
            Ok(value) => output.check(&value, WHOLE),
            Err(why) => Err(format!("{WHOLE}: {why}")),
        };
        checked.map_err(|faults| CallError::InvalidOutput {
            name: self.name.clone(),
            faults,
        })
    }

    fn sound(&self) -> Result<(), CallError> {
        match &self.broken {
            None => Ok(()),
            Some(why) => Err(CallError::InvalidSchema {
                name: self.name.clone(),
                why: why.clone(),
            }),
        }
    }

    /// What its author should know although it works.
    fn warnings(&self) -> impl Iterator<Item = String> {
        let of = |place: &str, warning: Option<&str>| {
            warning.map(|warning| format!("tool '{}': {place}: {warning}", self.own_name))
        };
        let output = self.output.as_ref().and_then(Schema::warning);
        [
            of("argument_schema", self.arguments.warning()),
            of("output_schema", output),
            self.broken
                .as_ref()
                .map(|why| format!("tool '{}' cannot be called: {why}", self.own_name)),
        ]
        .into_iter()
        .flatten()
    }
}

/// Schemas that need no look at the result.
fn accepts_all(raw: &str) -> bool {
    let bare = raw.trim();
    bare == "true" || bare.strip_prefix('{').is_some_and(|rest| rest.trim() == "}")
}

fn definition(toolbox_id: &str, name: &str, described: &ToolDescription) -> String {
    let mut out = String::with_capacity(256);
    out.push_str(r#"{"name":"#);
    push_string(&mut out, name);
    out.push_str(r#","description":"#);
    push_string(&mut out, &described.description);
    out.push_str(r#","argument_schema":"#);
    out.push_str(as_object(described.argument_schema.as_deref(), r#"{"type":"object"}"#));
    out.push_str(r#","output_schema":"#);
    out.push_str(as_object(described.output_schema.as_deref(), "{}"));
    out.push_str(r#","toolbox_id":"#);
    push_string(&mut out, toolbox_id);
    out.push('}');
    out
}

/// OVOS-TOOLS-1 §3 asks for an object where JSON Schema has `true` and `false` as well.
fn as_object<'a>(raw: Option<&'a str>, absent: &'a str) -> &'a str {
    match raw {
        None => absent,
        Some("true") => "{}",
        Some("false") => r#"{"not":{}}"#,
        Some(raw) if raw.starts_with('{') => raw,
        Some(_) => absent,
    }
}

/// The published tools of one toolbox.
#[derive(Debug, Default)]
pub struct ToolSet {
    tools: Vec<Arc<Tool>>,
    by_name: HashMap<String, usize>,
    listing: Option<Text>,
    warnings: Vec<String>,
}

impl ToolSet {
    /// Publishes what `publish` lets through of a description, under the names it says.
    ///
    /// # Errors
    /// Two tools under one name.
    pub fn publish(
        toolbox_id: &str,
        description: &Description,
        publish: &Publish,
        coerce: bool,
    ) -> Result<Self, String> {
        let mut set = Self {
            warnings: idle_rules(description, publish),
            ..Self::default()
        };
        for described in description.tools.iter().filter(|tool| published(&tool.name, publish)) {
            let name = public_name(&described.name, publish);
            if let Some(other) = set.get(&name) {
                return Err(format!(
                    "'{}' and '{}' would both be published as '{name}': rename one of them",
                    other.own_name, described.name
                ));
            }
            let tool = Tool::new(toolbox_id, name.clone(), described, coerce);
            set.warnings.extend(tool.warnings());
            set.by_name.insert(name, set.tools.len());
            set.tools.push(Arc::new(tool));
        }
        let definitions: Vec<&str> = set.iter().map(|tool| tool.definition.as_str()).collect();
        set.listing = Some(Text::from(format!("[{}]", definitions.join(","))));
        Ok(set)
    }

    /// The tool published as `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    /// Every tool, in the toolbox's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Tool>> {
        self.tools.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The definitions as one JSON array.
    pub fn listing(&self) -> Text {
        self.listing.clone().unwrap_or_else(|| Text::from("[]".to_owned()))
    }

    /// What should be mended although the toolbox works, for the log and for `toolhost check`.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

fn published(own_name: &str, publish: &Publish) -> bool {
    let any = |globs: &[String]| globs.iter().any(|pattern| glob::matches(pattern, own_name));
    (publish.allow.is_empty() || any(&publish.allow)) && !any(&publish.deny)
}

fn public_name(own_name: &str, publish: &Publish) -> String {
    let name = publish.rename.get(own_name).map_or(own_name, String::as_str);
    match &publish.namespace {
        Some(namespace) => format!("{namespace}_{name}"),
        None => name.to_owned(),
    }
}

/// Rules about tools the toolbox does not have: most likely slips of the pen.
fn idle_rules(description: &Description, publish: &Publish) -> Vec<String> {
    let has_match = |pattern: &str| description.tools.iter().any(|tool| glob::matches(pattern, &tool.name));
    let has_name = |name: &str| description.tools.iter().any(|tool| tool.name == name);
    let rename = publish.rename.keys().filter(|name| !has_name(name));
    let allow = publish.allow.iter().filter(|pattern| !has_match(pattern));
    let deny = publish.deny.iter().filter(|pattern| !has_match(pattern));
    let rules = rename
        .map(|name| ("rename", name))
        .chain(allow.map(|glob| ("allow", glob)));
    rules
        .chain(deny.map(|glob| ("deny", glob)))
        .map(|(key, name)| format!("{key}: the toolbox has no tool '{name}'"))
        .collect()
}

#[cfg(test)]
mod tests;
