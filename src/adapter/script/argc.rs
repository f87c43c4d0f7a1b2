//! Bash scripts annotated in the comment language of argc: each command is a tool.
//!
//! A script says what it takes in comments, `# @cmd`, `# @option`, `# @arg` and so on, and ends in
//! `eval "$(argc --argc-eval "$0" "$@")"`. What is read here is what argc reads. A script that has
//! commands offers each of them, a nested one `a::b` as `a_b`; one without is a tool itself, named
//! after its file. See `parameter.rs` for what becomes of the parameters.

use serde_json::{Map, Value, json};

pub use invocation::Invocation;
use tool::{Tool, Way};

mod check;
mod invocation;
mod parameter;
mod tool;

/// How long an annotation with a notation (`<FILE>`) may be: argc's parser uses stack for each character.
const LONGEST_NOTATION: usize = 1_000;

/// What a script without annotations is told to write.
const HOW: &str = "has no annotations; above each function that should be a tool write\n  # @cmd What it does\n  \
    # @option --count <INT> What it is for\n  # @arg path! What it is for\nand as the last line\n  \
    eval \"$(argc --argc-eval \"$0\" \"$@\")\"\n\
    Or leave it as it is and declare it, in place of 'script':\n  \
    tools: {NAME: {run: [./script.sh, \"{argument}\"], parameters: {argument: {type: string}}, description: What it does}}";

/// What is wrong with a script that is not [served](is_served); reads on after its name.
pub const NOT_SERVED: &str = "never runs the function that is called, because it does not hand its arguments to argc: its last \
    line has to be eval \"$(argc --argc-eval \"$0\" \"$@\")\"";

/// Whether `source` lets argc read its arguments, or was built by argc so that it does so itself.
pub fn is_served(source: &str) -> bool {
    is_built(source) || calls_argc(source)
}

fn is_built(source: &str) -> bool {
    source.contains("# ARGC-BUILD {")
}

/// A script, read.
#[derive(Debug, Clone)]
pub struct Annotated {
    source: String,
    tools: Vec<Tool>,
    description: String,
    version: Option<String>,
    requires: Vec<String>,
    has_symbols: bool,
}

/// Reads the annotations of `source`; `stem` is the name of its file without `.sh`.
///
/// # Errors
/// Why it offers no tools, in words for its owner; each reads on after the script's name.
pub fn read(source: &str, stem: &str) -> Result<Annotated, String> {
    let is_long = |line: &&str| line.len() > LONGEST_NOTATION && line.starts_with('#') && line.contains('<');
    if let Some(number) = source.lines().position(|line| is_long(&line)) {
        return Err(format!(
            "has a comment of more than {LONGEST_NOTATION} characters in line {}",
            number + 1
        ));
    }
    if let Some(number) = source.lines().position(|line| line.contains('\0')) {
        return Err(format!(
            "has a NUL character in line {}, which no command and no argument can hold",
            number + 1
        ));
    }
    let exported = unbroken(|| ::argc::export(source, stem).map_err(|error| error.to_string()));
    let root = exported.map_err(|why| format!("has annotations argc cannot read: {why}"))?;
    let way = Way {
        commands: vec![&root],
        source,
    };
    let mut tools = Vec::new();
    if root.subcommands.is_empty() {
        if !is_annotated(&root, source) {
            return Err(HOW.to_owned());
        }
        tools.push(way.tool(callable(stem), stem)?);
    }
    collect(&way, "", stem, &mut tools)?;
    if tools.is_empty() {
        return Err("has commands, but none that can run under a name that does not begin with '_'".to_owned());
    }
    refuse_twins(&tools)?;
    Ok(Annotated {
        source: source.to_owned(),
        tools,
        description: root.describe.clone(),
        version: root.version.clone(),
        requires: required_programs(&root),
        has_symbols: has_symbols(&root),
    })
}

impl Annotated {
    /// The `result` of a describe answer.
    pub fn describe(&self) -> String {
        let tools: Vec<_> = self.tools.iter().map(Tool::described).collect();
        let mut result = as_map(json!({"tools": tools, "protocol": 1}));
        if let Some(version) = &self.version {
            result.insert("version".into(), version.as_str().into());
        }
        if !self.description.is_empty() {
            result.insert("description".into(), self.description.as_str().into());
        }
        Value::Object(result).to_string()
    }

    /// The programs the script says it needs (`@meta require-tools`), for whichever command.
    pub fn requires(&self) -> &[String] {
        &self.requires
    }

    /// The variables without which a command does not run (`@env NAME!`).
    pub fn env_required(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for variable in self.tools.iter().flat_map(|tool| &tool.variables) {
            if variable.required && !names.contains(&variable.name) {
                names.push(variable.name.clone());
            }
        }
        names
    }

    /// The command line of a call of `tool` with the checked object `kwargs`.
    ///
    /// argc's own parser has read it, and each value comes out of it as it went in. Only choices that
    /// a function of the script names are left to the script.
    ///
    /// # Errors
    /// `<parameter>: <why>`, when the script would not take it or the value would not arrive as it is.
    pub fn invocation(&self, tool: &str, kwargs: &str) -> Result<Invocation, String> {
        let found = self.tools.iter().find(|each| each.name == tool);
        let found = found.ok_or_else(|| format!("the script has no tool '{tool}'"))?;
        let kwargs: Map<String, Value> =
            serde_json::from_str(kwargs).map_err(|error| format!("arguments: expected an object: {error}"))?;
        invocation::build(&self.source, found, &kwargs)
    }

    /// What its owner should mend although it works; each reads on after the script's name.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !is_served(&self.source) {
            warnings.push(NOT_SERVED.to_owned());
        }
        if is_built(&self.source) {
            warnings.push(
                "was written by argc --argc-build, whose options lose '='; host the script it was built from"
                    .to_owned(),
            );
        }
        if self.has_symbols {
            warnings.push("has @meta symbol, which callers cannot give".to_owned());
        }
        for tool in &self.tools {
            if tool.description.is_empty() {
                warnings.push(format!("has no description for '{}'", tool.name));
            }
            let bare = |parameter: &&parameter::Parameter| parameter.description.is_empty();
            for parameter in tool.parameters.iter().filter(bare) {
                warnings.push(format!("has no description for '{}' of '{}'", parameter.key, tool.name));
            }
        }
        warnings
    }
}

/// What argc's parser makes of something: it is not ours, and a panic in it must not end a toolbox.
fn unbroken<T>(parse: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(parse))
        .unwrap_or_else(|_| Err("argc's parser broke down over it".to_owned()))
}

/// Every command below `way` that runs a function.
fn collect(way: &Way<'_>, prefix: &str, stem: &str, tools: &mut Vec<Tool>) -> Result<(), String> {
    let Some(parent) = way.commands.last() else {
        return Ok(());
    };
    // Who begins a name with `_` keeps the function to himself.
    for command in parent
        .subcommands
        .iter()
        .filter(|command| !command.name.starts_with('_'))
    {
        let further = way.further(command);
        let name = format!("{prefix}{}", callable(&command.name));
        if further.function().is_some() {
            tools.push(further.tool(name.clone(), stem)?);
        }
        collect(&further, &format!("{name}_"), stem, tools)?;
    }
    Ok(())
}

fn refuse_twins(tools: &[Tool]) -> Result<(), String> {
    for (index, tool) in tools.iter().enumerate() {
        if let Some(twin) = tools[..index].iter().find(|twin| twin.name == tool.name) {
            let (one, other) = (twin.path.join("::"), tool.path.join("::"));
            return Err(format!(
                "has {one} and {other}, which are both the tool '{}'; rename one",
                tool.name
            ));
        }
    }
    Ok(())
}

/// A name as models can call it.
fn callable(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

/// Whether a script without commands says anything about itself to argc.
fn is_annotated(root: &::argc::CommandValue, source: &str) -> bool {
    let own_options = root
        .flag_options
        .iter()
        .any(|option| !["help", "version"].contains(&option.id.as_str()));
    let speaks = !root.describe.is_empty() || root.version.is_some() || root.extra.contains_key("metadata");
    own_options || speaks || !root.positionals.is_empty() || !root.envs.is_empty() || calls_argc(source)
}

fn calls_argc(source: &str) -> bool {
    let code = |line: &&str| !line.trim_start().starts_with('#');
    source.lines().filter(code).any(|line| line.contains("--argc-eval"))
}

fn required_programs(command: &::argc::CommandValue) -> Vec<String> {
    let own = command.extra.get("require_tools").and_then(Value::as_array);
    let own = own
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| name.trim().to_owned());
    let below = command.subcommands.iter().flat_map(required_programs);
    let mut programs: Vec<String> = Vec::new();
    for program in own.chain(below) {
        if !program.is_empty() && !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}

fn has_symbols(command: &::argc::CommandValue) -> bool {
    let own = command
        .extra
        .get("metadata")
        .is_some_and(|metadata| metadata.get("symbol").is_some());
    own || command.subcommands.iter().any(has_symbols)
}

fn as_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
