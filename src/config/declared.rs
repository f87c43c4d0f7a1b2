//! `tools:`: commands declared in the file, each a tool that is run once a call, as toolboxes/README.md has it.
//!
//! All that can be told without a call is told here: placeholders that name no parameter, values that
//! would become shell text or code, schemas that do not compile. What is published of a tool is written as the
//! describe answer of a toolbox would have it, so that from there on it is a tool like any other.

mod parameters;
mod run;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Env;
use super::fault::Position;
use super::read::Reader;
use super::suggest::nearest;
use super::yaml::{Entry, Node, Value, below};
use crate::json::{Text, push_string};
use crate::protocol::describe::Description;
use crate::tools::schema::Schema;
use crate::tools::template::{Argv, Template};
#[cfg(test)]
pub(super) use parameters::PARAMETER_KEYS;
use parameters::Parameters;
use run::Use;

/// A command that is a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// Its name.
    pub name: String,
    /// What a describe answer says of it: a JSON object.
    pub described: Text,
    /// What is started.
    pub run: Run,
    /// What it reads from stdin; without it, stdin is empty.
    pub stdin: Option<Template>,
    /// What its stdout becomes.
    pub output: Output,
    /// The exit codes that are no error; never empty.
    pub accept_exit: Vec<i32>,
    /// The folder it starts in, absolute, where it is not that of the toolbox.
    pub cwd: Option<PathBuf>,
    /// Variables it gets beside those of the toolbox, and over them. Secret: never shown.
    pub env: Env,
    /// The parameters whose value may begin with a `-`.
    pub leading_dash: BTreeSet<String>,
    /// The parameters whose numbers are integers, or arrays of them.
    pub integers: BTreeSet<String>,
    /// The parameters; there may be others where the schema leaves them open.
    pub parameters: BTreeSet<String>,
}

/// What a declared tool starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// A program with arguments, and no shell.
    Argv(Argv),
    /// A script for `/bin/sh -c`. Arguments reach it as variables only
    /// ([`variable`](crate::tools::template::variable)).
    Shell(String),
}

/// What the stdout of a declared tool becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// `{"output": "..."}`
    #[default]
    Text,
    /// The JSON value it is.
    Json,
    /// `{"lines": [...]}`
    Lines,
}

impl Output {
    /// The schema of what it becomes.
    fn schema(self) -> Option<&'static str> {
        match self {
            Self::Text => Some(r#"{"type":"object","properties":{"output":{"type":"string"}},"required":["output"]}"#),
            Self::Lines => Some(
                r#"{"type":"object","properties":{"lines":{"type":"array","items":{"type":"string"}}},"required":["lines"]}"#,
            ),
            Self::Json => None,
        }
    }
}

/// Every key of a declared tool.
pub(super) const TOOL_KEYS: &[&str] = &[
    "description",
    "title",
    "category",
    "version",
    "parameters",
    "argument_schema",
    "run",
    "shell",
    "stdin",
    "output",
    "output_schema",
    "accept_exit",
    "timeout",
    "cwd",
    "env",
    "hints",
];

pub(super) const HINT_KEYS: &[&str] = &["readOnly", "destructive", "idempotent", "openWorld"];

pub(super) const OUTPUTS: &[(&str, Output)] =
    &[("text", Output::Text), ("json", Output::Json), ("lines", Output::Lines)];

/// A tool while its keys are read.
#[derive(Default)]
struct Draft {
    parameters: Option<Parameters>,
    run: Option<Run>,
    /// Where `run` or `shell` stands.
    command: Option<(Position, String)>,
    /// The template, where it stands, and its path.
    stdin: Option<(Template, Position, String)>,
    /// The placeholders of `run` and `stdin`.
    uses: Vec<Use>,
    output: Output,
    accept_exit: Option<Vec<i32>>,
    cwd: Option<PathBuf>,
    env: Env,
    /// Members of the describe answer, JSON texts.
    told: Vec<(&'static str, String)>,
}

impl Draft {
    fn tell(&mut self, member: &'static str, json: Option<String>) {
        self.told.extend(json.map(|json| (member, json)));
    }

    fn described(&self, name: &str) -> String {
        let mut out = String::from("{\"name\":");
        push_string(&mut out, name);
        for (member, json) in &self.told {
            out.push_str(&format!(",\"{member}\":{json}"));
        }
        let schema = self.output.schema();
        let told = self.told.iter().any(|(member, _)| *member == "output_schema");
        if let Some(schema) = schema.filter(|_| !told) {
            out.push_str(&format!(",\"output_schema\":{schema}"));
        }
        out.push('}');
        out
    }
}

impl Reader<'_> {
    /// The tools of `tools:`.
    pub(super) fn tools(&mut self, node: &Node, path: &str) -> Option<Vec<DeclaredTool>> {
        let entries = self.entries(
            node,
            path,
            "a mapping of names to tools: {free_space: {run: [df, \"{path}\"], ...}}",
        )?;
        if entries.is_empty() {
            let what = "declares no tool; expected a mapping of names to tools: {uptime: {run: [uptime]}}";
            self.fault(node.at, path, what);
            return None;
        }
        let shallow = self.too_shallow(entries, path, TOOL_KEYS);
        let tools = entries
            .iter()
            .filter(|entry| !shallow.contains(&entry.at))
            .filter_map(|entry| self.tool(entry, &below(path, &entry.key)))
            .collect();
        Some(tools)
    }

    fn tool(&mut self, entry: &Entry, path: &str) -> Option<DeclaredTool> {
        let faults = self.faults.len();
        let expected = "a mapping such as {description: ..., run: [program, argument, ...]}";
        let entries = self.entries(&entry.value, path, expected)?;
        let mut draft = Draft::default();
        for key in entries {
            self.tool_key(key, &below(path, &key.key), &mut draft);
        }
        // A misspelled one has been told already.
        let meant = |key: &Entry| {
            let near = nearest(&key.key, TOOL_KEYS).unwrap_or(&key.key);
            matches!(near, "run" | "shell" | "command")
        };
        if !entries.iter().any(meant) {
            let what = "needs 'run', an argv such as [df, \"{path}\"], or 'shell', a script for /bin/sh";
            self.fault(entry.at, path, what);
        }
        let parameters = draft.parameters.take().unwrap_or_else(Parameters::none);
        self.placeholders(&draft, &parameters);
        let (member, json) = &parameters.told;
        draft.tell(member, Some(json.clone()));
        let described = draft.described(&entry.key);
        if self.faults.len() == faults {
            self.describable(entry, path, &described);
        }
        Some(DeclaredTool {
            name: entry.key.clone(),
            described: Text::from(described),
            run: draft.run?,
            stdin: draft.stdin.map(|(template, ..)| template),
            output: draft.output,
            accept_exit: draft.accept_exit.unwrap_or_else(|| vec![0]),
            cwd: draft.cwd,
            env: draft.env,
            leading_dash: parameters.leading_dash,
            integers: parameters.integers,
            parameters: parameters.names,
        })
    }

    /// What a describe answer must not hold, the file must not either: an unfit name, most of all.
    fn describable(&mut self, entry: &Entry, path: &str, described: &str) {
        if let Err(why) = Description::parse(&format!("{{\"tools\":[{described}]}}")) {
            let named = format!("tool 1 ('{}') ", entry.key);
            let why = why.strip_prefix(&named).or_else(|| why.strip_prefix("tool 1 "));
            self.fault(entry.at, path, why.unwrap_or("cannot be published").to_owned());
        }
    }

    fn tool_key(&mut self, entry: &Entry, path: &str, draft: &mut Draft) {
        let value = &entry.value;
        match entry.key.as_str() {
            "description" => {
                let text = self.told(value, path, "what it does, in words");
                draft.tell("description", text);
            }
            "title" => draft.tell("title", self.told(value, path, "a name for people")),
            "category" => draft.tell("category", self.told(value, path, "a group for people")),
            "version" => draft.tell("version", self.told(value, path, "a version")),
            "parameters" | "argument_schema" => self.parameters_once(entry, path, draft),
            "run" | "shell" => self.run_once(entry, path, draft),
            "stdin" => {
                let template = self.template(value, path, "a text such as \"{text}\"", &mut draft.uses);
                draft.stdin = template.map(|template| (template, value.at, path.to_owned()));
            }
            "output" => draft.output = self.choice(value, path, OUTPUTS).unwrap_or_default(),
            "output_schema" => {
                let schema = self.schema(value, path);
                draft.tell("output_schema", schema);
            }
            "accept_exit" => draft.accept_exit = self.accept_exit(value, path),
            "timeout" => {
                let time = self.duration(value, path);
                draft.tell("timeout", time.map(|time| time.as_secs_f64().to_string()));
            }
            "cwd" => draft.cwd = self.path(value, path, "a folder"),
            "env" => draft.env = Env(self.env(value, path)),
            "hints" => draft.tell("hints", self.hints(value, path)),
            "command" | "args" => self.fault(entry.at, path, "unknown key; did you mean 'run'?"),
            _ => self.unknown(entry, path, TOOL_KEYS),
        }
    }

    fn parameters_once(&mut self, entry: &Entry, path: &str, draft: &mut Draft) {
        let parameters = match entry.key.as_str() {
            "parameters" => self.parameters(&entry.value, path),
            _ => self.argument_schema(&entry.value, path),
        };
        if draft.parameters.is_some() {
            self.fault(entry.at, path, "a tool has 'parameters' or 'argument_schema', not both");
        }
        draft.parameters = Some(parameters);
    }

    fn run_once(&mut self, entry: &Entry, path: &str, draft: &mut Draft) {
        if draft.command.is_some() {
            self.fault(entry.at, path, "a tool has 'run' or 'shell', not both");
        }
        draft.command = Some((entry.value.at, path.to_owned()));
        draft.run = match entry.key.as_str() {
            "run" => self.run(&entry.value, path, &mut draft.uses).map(Run::Argv),
            _ => {
                let expected = "a script for /bin/sh such as 'df -h | sort'";
                self.text(&entry.value, path, expected).map(Run::Shell)
            }
        };
    }

    /// A text, as JSON.
    fn told(&mut self, node: &Node, path: &str, expected: &str) -> Option<String> {
        let text = self.text(node, path, expected)?;
        let mut json = String::new();
        push_string(&mut json, &text);
        Some(json)
    }

    /// A JSON Schema that compiles.
    fn schema(&mut self, node: &Node, path: &str) -> Option<String> {
        let entries = self.entries(node, path, "a JSON Schema: a mapping such as {type: object}")?;
        let (mut json, faults) = (String::new(), self.faults.len());
        self.object(entries, path, &mut json);
        if self.faults.len() > faults {
            return None;
        }
        if let Err(why) = Schema::compile(&json) {
            self.fault(node.at, path, format!("is no schema: {why}"));
        }
        Some(json)
    }

    /// One number or a list of them.
    fn accept_exit(&mut self, node: &Node, path: &str) -> Option<Vec<i32>> {
        let Value::Sequence(items) = &node.value else {
            return Some(vec![self.exit(node, path)?]);
        };
        if items.is_empty() {
            self.fault(node.at, path, "expected at least one exit code; 0 is success: [0]");
            return None;
        }
        let exits = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.exit(item, &format!("{path}[{index}]")));
        Some(exits.collect())
    }

    fn exit(&mut self, node: &Node, path: &str) -> Option<i32> {
        let code = self.count(node, path, 0..=255)?;
        i32::try_from(code).ok()
    }

    fn hints(&mut self, node: &Node, path: &str) -> Option<String> {
        let mut members = Vec::new();
        for entry in self.entries(node, path, "a mapping such as {readOnly: true}")? {
            let path = below(path, &entry.key);
            if HINT_KEYS.contains(&entry.key.as_str()) {
                let given = self.boolean(&entry.value, &path);
                members.extend(given.map(|given| format!("\"{}\":{given}", entry.key)));
            } else {
                self.unknown(entry, &path, HINT_KEYS);
            }
        }
        Some(format!("{{{}}}", members.join(",")))
    }
}

#[cfg(test)]
mod tests;
