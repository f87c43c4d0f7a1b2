//! A command of the script as a tool.

use ::argc::{ChoiceValue, CommandValue};
use serde_json::{Map, Value, json};

use super::parameter::Parameter;

/// A variable of the environment the script reads (`@env`).
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    /// There is no default.
    pub(super) required: bool,
    pub(super) choices: Option<Vec<String>>,
}

/// A function a call can run, or the script itself.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    /// The names of the commands that lead to it; none for the script itself.
    pub(super) path: Vec<String>,
    /// The function argc calls. A script without `main` goes on behind its eval line.
    pub(super) function: Option<String>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) variables: Vec<Variable>,
    /// What stands for `$0`.
    pub(super) script: String,
    /// Written by `argc --argc-build`.
    pub(super) is_built: bool,
}

impl Tool {
    pub(super) fn parameter(&self, key: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.key == key)
    }

    /// As it stands in a describe answer.
    pub(super) fn described(&self) -> Value {
        let mut tool = Map::new();
        tool.insert("name".into(), self.name.as_str().into());
        if !self.description.is_empty() {
            tool.insert("description".into(), self.description.as_str().into());
        }
        tool.insert("argument_schema".into(), self.argument_schema());
        Value::Object(tool)
    }

    fn argument_schema(&self) -> Value {
        let properties = self.parameters.iter().map(|each| (each.key.clone(), each.schema()));
        let properties: Map<_, _> = properties.collect();
        let required: Vec<_> = self.parameters.iter().filter(|each| each.must_be_given()).collect();
        let required: Vec<_> = required.into_iter().map(|each| each.key.as_str()).collect();
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
        });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        schema
    }
}

/// The commands from the script itself down to one.
#[derive(Clone)]
pub(super) struct Way<'a> {
    pub(super) commands: Vec<&'a CommandValue>,
    pub(super) source: &'a str,
}

impl<'a> Way<'a> {
    pub(super) fn further(&self, command: &'a CommandValue) -> Self {
        let mut commands = self.commands.clone();
        commands.push(command);
        Self { commands, ..*self }
    }

    fn last(&self) -> Option<&'a CommandValue> {
        self.commands.last().copied()
    }

    /// The function that runs at its end.
    pub(super) fn function(&self) -> Option<String> {
        let function = self.last()?.extra.get("command_fn")?;
        function.as_str().map(str::to_owned)
    }

    /// The tool at its end, under `name`.
    ///
    /// # Errors
    /// Two parameters would have one name.
    pub(super) fn tool(&self, name: String, script: &str) -> Result<Tool, String> {
        let parameters = self.parameters();
        for (index, parameter) in parameters.iter().enumerate() {
            if let Some(other) = parameters[..index].iter().find(|other| other.key == parameter.key) {
                return Err(format!(
                    "'{name}' has {} and {}, which are both $argc_{} in the script; rename one",
                    other.name, parameter.name, parameter.key
                ));
            }
        }
        Ok(Tool {
            name,
            description: self.last().map(|command| command.describe.clone()).unwrap_or_default(),
            path: self
                .commands
                .iter()
                .skip(1)
                .map(|command| command.name.clone())
                .collect(),
            function: self.function(),
            parameters,
            variables: self.last().map(variables).unwrap_or_default(),
            script: script.to_owned(),
            is_built: self.source.contains("# ARGC-BUILD {"),
        })
    }

    /// Those of the command, and the options of the commands above it, which argc takes before its name.
    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        for (level, command) in self.commands.iter().enumerate() {
            for option in command
                .flag_options
                .iter()
                .filter(|option| !asks(command, level, &option.id))
            {
                let mut parameter = Parameter::of_option(option, self.source, level);
                let above = parameters.iter().position(|above| above.id == parameter.id);
                if let Some(above) = above.map(|above| parameters.remove(above)) {
                    parameter.defaults.extend(above.defaults);
                    // argc wants an inherited one from both, and the last has its way.
                    if option.inherited {
                        parameter.levels.extend(above.levels);
                    }
                }
                parameters.push(parameter);
            }
        }
        let level = self.commands.len().saturating_sub(1);
        let positionals = self.last().into_iter().flat_map(|command| &command.positionals);
        parameters.extend(positionals.map(|positional| Parameter::of_positional(positional, self.source, level)));
        parameters
    }
}

/// Whether an option only asks for the help or the version, whatever the script declares.
fn asks(command: &CommandValue, level: usize, id: &str) -> bool {
    id == "help" || (id == "version" && (level == 0 || command.version.is_some()))
}

fn variables(command: &CommandValue) -> Vec<Variable> {
    let variable = |env: &::argc::EnvValue| Variable {
        name: env.id.clone(),
        required: env.required,
        choices: match &env.choice {
            Some(ChoiceValue::Values(values)) => Some(values.clone()),
            Some(ChoiceValue::Fn(..)) | None => None,
        },
    };
    command.envs.iter().map(variable).collect()
}
