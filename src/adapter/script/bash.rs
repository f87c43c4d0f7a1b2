//! Bash scripts annotated for argc: read here, run once a call.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::argc::{self, Annotated};
use super::shebang::Shebang;
use super::{argument, conventions, kit, stem};
use crate::adapter::channel::ResultFile;
use crate::adapter::{Commands, Job, Reading, Refusal};
use crate::config::{Output, Script, ToolboxConfig};
use crate::json::Text;
use crate::process::capture::Stdout;
use crate::process::spawn::{Environment, Program, check_confinement, check_needs, windows_line_ends};

/// One annotated script.
#[derive(Debug)]
pub(super) struct BashScript {
    path: PathBuf,
    output: Output,
    /// Folder, environment and needs of the toolbox.
    bare: Program,
    max_result: usize,
    /// What it said when it was last read.
    read: Option<Source>,
}

#[derive(Debug)]
struct Source {
    annotated: Annotated,
    environment: Environment,
    has_channel: bool,
}

impl BashScript {
    pub(super) fn new(script: &Script, bare: Program, config: &ToolboxConfig) -> Self {
        Self {
            path: script.path.clone(),
            output: script.output,
            bare,
            max_result: config.max_result,
            read: None,
        }
    }

    /// The words that start Bash. What argc answers is Bash, whatever `sh` is on this machine: where the script was
    /// written, it was Bash too.
    fn shell(&self) -> Vec<String> {
        self.asked()
            .map_or_else(|| vec!["bash".to_owned()], |shebang| shebang.argv().to_vec())
    }

    fn asked(&self) -> Option<Shebang> {
        Shebang::of(&self.path).filter(|shebang| shebang.interpreter() == "bash")
    }

    /// The folder with `argc`, also for a user who is not toolhost's.
    fn kit(&self) -> Result<PathBuf, String> {
        match &self.bare.confinement {
            Some(held) if held.user.is_some() => kit::folder_for_others(),
            _ => kit::folder(),
        }
    }

    fn read(&self) -> Result<Source, String> {
        let source = source(&self.path)?;
        let shown = self.path.display();
        let annotated = argc::read(&source, &stem(&self.path)).map_err(|why| format!("{shown}: {why}"))?;
        if !argc::is_served(&source) {
            return Err(format!("{shown}: {}", argc::NOT_SERVED));
        }
        let bare = &self.bare;
        let mut needs = bare.requires.clone();
        needs.push(
            self.asked()
                .map_or_else(|| "bash".to_owned(), |shebang| shebang.program().to_owned()),
        );
        needs.extend(annotated.requires().iter().cloned());
        check_needs(&needs, &bare.environment, &bare.cwd).map_err(|error| format!("{shown} {error}"))?;
        check_confinement(bare).map_err(|error| format!("{shown}: {error}"))?;
        let mut unset = annotated.env_required();
        unset.retain(|name| !bare.environment.has(name));
        if !unset.is_empty() {
            let names = unset.join("', '");
            return Err(format!(
                "{shown} needs the variable '{names}'; set it under 'env', or name it in 'inherit_env'"
            ));
        }
        let kit = self.kit()?;
        Ok(Source {
            annotated,
            environment: conventions::environment(&bare.environment, &self.path, &source)
                .with_path_before(&kit)
                .with([kit::function(&kit)]),
            has_channel: source.contains("LLM_OUTPUT") && !bare.environment.has("LLM_OUTPUT"),
        })
    }
}

impl Commands for BashScript {
    fn describe(&mut self) -> Result<Text, String> {
        let read = self.read()?;
        let described = read.annotated.describe();
        self.read = Some(read);
        Ok(Text::from(described))
    }

    fn job(&self, tool: &str, kwargs: &str) -> Result<Job, Refusal> {
        let Some(read) = &self.read else {
            return Err(Refusal::Other("the script was not read yet".to_owned()));
        };
        // Without its argc the script would go on as if it had no arguments: whatever cleaned up since is made good.
        self.kit().map_err(Refusal::Other)?;
        let invocation = read.annotated.invocation(tool, kwargs).map_err(Refusal::Arguments)?;
        let mut argv = self.shell();
        argv.push(argument(&self.path));
        argv.extend(invocation.args);
        let mut environment = read.environment.with(invocation.env);
        // What its owner has set stays.
        if !self.bare.environment.has("LLM_TOOL_NAME") {
            environment = environment.with([("LLM_TOOL_NAME", tool)]);
        }
        let channel = read
            .has_channel
            .then(ResultFile::create)
            .transpose()
            .map_err(Refusal::Other)?;
        if let Some(channel) = &channel {
            environment = environment.with([("LLM_OUTPUT", channel.path())]);
        }
        let mut confinement = self.bare.confinement.clone();
        if let (Some(held), Some(channel)) = (&mut confinement, &channel) {
            held.given.push(channel.path().to_owned());
        }
        Ok(Job {
            program: Program {
                argv,
                cwd: self.bare.cwd.clone(),
                environment,
                stdout: Stdout::Whole(self.max_result),
                input: Bytes::new(),
                requires: Vec::new(),
                confinement,
            },
            reading: Reading {
                output: self.output,
                accept_exit: vec![0],
                channel,
                limit: self.max_result,
            },
        })
    }

    fn missing(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The text of a script.
fn source(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes = super::read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8"))?;
    // A single CR may be meant; Bash's own words about a whole file of them would name neither cause nor cure.
    if text.lines().count() > 0 && text.split_terminator('\n').all(|line| line.ends_with('\r')) {
        return Err(format!("{shown} cannot be read by Bash{}", windows_line_ends()));
    }
    Ok(text)
}
