//! Commands declared in the YAML (`tools:`): a template filled in for each call.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;

use super::{Commands, Job, Reading, Refusal};
use crate::config::{DeclaredTool, Run};
use crate::json::Text;
use crate::process::capture::Stdout;
use crate::process::spawn::{Program, SpawnError, check_confinement, check_needs};
use crate::tools::template::{LONGEST_ARGUMENT, Values, variable};

/// The shell of `shell:`.
const SHELL: [&str; 2] = ["/bin/sh", "-c"];

/// The commands of one toolbox.
#[derive(Debug)]
pub(super) struct Declared {
    tools: HashMap<String, DeclaredTool>,
    describe: Text,
    /// Folder, environment and needs of the toolbox.
    bare: Program,
    max_result: usize,
}

impl Declared {
    pub(super) fn new(tools: &[DeclaredTool], bare: Program, max_result: usize) -> Self {
        let described: Vec<&str> = tools.iter().map(|tool| tool.described.as_str()).collect();
        Self {
            describe: Text::from(format!(r#"{{"tools":[{}],"protocol":1}}"#, described.join(","))),
            tools: tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect(),
            bare,
            max_result,
        }
    }
}

impl Commands for Declared {
    fn describe(&mut self) -> Result<Text, String> {
        let bare = &self.bare;
        check_needs(&bare.requires, &bare.environment, &bare.cwd).map_err(|error| error.to_string())?;
        check_confinement(bare).map_err(|error| error.to_string())?;
        Ok(self.describe.clone())
    }

    fn job(&self, tool: &str, kwargs: &str) -> Result<Job, Refusal> {
        let Some(tool) = self.tools.get(tool) else {
            return Err(Refusal::Other(format!("no command is declared for '{tool}'")));
        };
        let values = Values::parse(kwargs, &tool.integers).map_err(Refusal::Arguments)?;
        let argv = match &tool.run {
            Run::Argv(argv) => argv.fill(&values, &tool.leading_dash).map_err(Refusal::Arguments)?,
            Run::Shell(script) => [SHELL[0], SHELL[1], script].map(str::to_owned).to_vec(),
        };
        let input = match &tool.stdin {
            Some(stdin) => stdin.fill(&values).map_err(Refusal::Arguments)?.unwrap_or_default(),
            None => String::new(),
        };
        let mut environment = self.bare.environment.with(&tool.env.0);
        if matches!(tool.run, Run::Shell(_)) {
            environment = environment.with(variables(&values, &tool.parameters).map_err(Refusal::Arguments)?);
        }
        Ok(Job {
            program: Program {
                argv,
                cwd: tool.cwd.clone().unwrap_or_else(|| self.bare.cwd.clone()),
                environment,
                stdout: Stdout::Whole(self.max_result),
                input: Bytes::from(input),
                requires: Vec::new(),
                confinement: self.bare.confinement.clone(),
            },
            reading: Reading {
                output: tool.output,
                accept_exit: tool.accept_exit.clone(),
                channel: None,
                limit: self.max_result,
            },
        })
    }

    fn missing(&self) -> Vec<String> {
        let mut missing: Vec<String> = self.tools.values().filter_map(|tool| self.fault_of(tool)).collect();
        missing.sort();
        missing
    }
}

impl Declared {
    /// Why the program of `tool` cannot be started.
    fn fault_of(&self, tool: &DeclaredTool) -> Option<String> {
        let Run::Argv(argv) = &tool.run else { return None };
        let environment = self.bare.environment.with(&tool.env.0);
        let cwd = tool.cwd.as_ref().unwrap_or(&self.bare.cwd);
        let found = check_needs(&[argv.program().to_owned()], &environment, cwd);
        let error = found.err()?;
        let colon = if matches!(error, SpawnError::Missing { .. }) {
            ""
        } else {
            ":"
        };
        Some(format!("tool '{}'{colon} {error}", tool.name))
    }
}

/// The arguments as variables, the one way in which `shell:` gets them. `declared` are the parameters: another
/// argument must not take the variable of one, which its schema would not have looked at.
fn variables(values: &Values, declared: &BTreeSet<String>) -> Result<Vec<(String, String)>, String> {
    let mut faults = Vec::new();
    let mut variables = Vec::new();
    let mut owners: BTreeMap<String, &str> = declared.iter().map(|name| (variable(name), name.as_str())).collect();
    for (name, text) in values.iter() {
        let variable = variable(name);
        let owner = *owners.entry(variable.clone()).or_insert(name);
        if owner != name {
            faults.push(format!("{name}: becomes the same variable as {owner}"));
        } else if text.contains('\0') {
            faults.push(format!("{name}: holds a NUL character, which no variable can"));
        } else if variable.len() + 1 + text.len() > LONGEST_ARGUMENT {
            let most = LONGEST_ARGUMENT - variable.len() - 1;
            faults.push(format!(
                "{name}: is {} bytes long, a variable holds {most}; stdin has no such limit",
                text.len()
            ));
        } else {
            variables.push((variable, text.to_owned()));
        }
    }
    if faults.is_empty() {
        Ok(variables)
    } else {
        Err(faults.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_argument_takes_the_variable_of_another() {
        let declared = BTreeSet::from(["max_size".to_owned()]);
        for (kwargs, expected) in [
            (
                r#"{"max_size":1,"max~size":9}"#,
                Err("max~size: becomes the same variable as max_size"),
            ),
            (
                r#"{"max~size":9,"max_size":1}"#,
                Err("max~size: becomes the same variable as max_size"),
            ),
            (
                r#"{"MAX-SIZE":9}"#,
                Err("MAX-SIZE: becomes the same variable as max_size"),
            ),
            (r#"{"a.b":1,"a_b":2}"#, Err("a_b: becomes the same variable as a.b")),
            (r#"{"a_b":1,"max_size":2}"#, Ok(2)),
            (r#"{"a.b":1,"a_b":null}"#, Ok(1)),
        ] {
            let values = Values::parse(kwargs, &BTreeSet::new()).unwrap();
            let got = variables(&values, &declared).map(|variables| variables.len());
            assert_eq!(got, expected.map_err(str::to_owned), "{kwargs}");
        }
    }
}
