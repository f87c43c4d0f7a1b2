//! How each kind of toolbox is run.
//!
//! A toolbox either has processes that speak the protocol ([`Adapter::Speaks`]): programs made for it, and plain
//! Python and JavaScript files behind the runner that toolhost gives their interpreter. Or it has none, and each call
//! runs a command ([`Adapter::Runs`]): commands declared in the YAML, and annotated Bash scripts. The supervisor sees
//! these two and no more.
//!
//! Nothing here starts a program; what is to be started is a [`Program`].

mod channel;
mod command;
mod confine;
mod reading;
pub mod script;

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::config::{Kind, ToolboxConfig};
use crate::json::Text;
use crate::process::capture::Stdout;
use crate::process::spawn::{Environment, Program};
use crate::tools::outcome::CallError;

pub use reading::Reading;

/// How one toolbox is run.
#[derive(Debug)]
pub enum Adapter {
    /// By processes that speak the protocol.
    Speaks(Speaker),
    /// By a command for each call.
    Runs(Box<dyn Commands>),
}

/// What a toolbox that runs commands has to say.
pub trait Commands: std::fmt::Debug + Send {
    /// Its account of itself, read anew: the `result` of a describe answer.
    ///
    /// # Errors
    /// Why it cannot be used now, in words for its owner.
    fn describe(&mut self) -> Result<Text, String>;

    /// What the call of `tool` (its own name) with `kwargs`, an object that fits its schema, is to start.
    ///
    /// # Errors
    /// Arguments that no command line can carry, as `<where>: <why>`.
    fn job(&self, tool: &str, kwargs: &str) -> Result<Job, Refusal>;

    /// What its calls would fail for, whatever their arguments: programs that are not there.
    fn missing(&self) -> Vec<String>;
}

/// What one call starts, and how its end is read.
#[derive(Debug)]
pub struct Job {
    /// The command.
    pub program: Program,
    /// How its end is read.
    pub reading: Reading,
}

/// Why a call starts nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its arguments: `<where>: <why>`.
    Arguments(String),
    /// Anything else.
    Other(String),
}

impl Refusal {
    /// The error for the caller of the tool published as `name`.
    pub fn into_error(self, name: &str) -> CallError {
        match self {
            Self::Arguments(faults) => CallError::InvalidArguments {
                name: name.to_owned(),
                faults,
            },
            Self::Other(why) => CallError::Command(why),
        }
    }
}

/// What starts a process that speaks the protocol.
#[derive(Debug)]
pub enum Speaker {
    /// Always the same program.
    Program(Program),
    /// A script, whose interpreter is looked up at each start.
    Script(Box<script::Runner>),
}

impl Speaker {
    /// What is to be started.
    ///
    /// # Errors
    /// Why nothing can be, in words for the owner of the configuration.
    pub fn program(&self) -> Result<Program, String> {
        match self {
            Self::Program(program) => Ok(program.clone()),
            Self::Script(runner) => runner.program(),
        }
    }
}

impl Adapter {
    /// The adapter of a toolbox.
    pub fn of(config: &ToolboxConfig) -> Self {
        let bare = bare_program(config);
        match &config.kind {
            Kind::Command(argv) => Self::Speaks(Speaker::Program(Program {
                argv: argv.clone(),
                ..bare
            })),
            Kind::Tools(tools) => Self::Runs(Box::new(command::Declared::new(tools, bare, config.max_result))),
            Kind::Script(script) => script::adapter(script, bare, config),
        }
    }
}

/// A program of this toolbox, apart from its argv.
fn bare_program(config: &ToolboxConfig) -> Program {
    Program {
        argv: Vec::new(),
        cwd: config.cwd.clone(),
        environment: environment(config, &config.env.0),
        stdout: Stdout::Lines(config.max_line),
        input: Bytes::new(),
        requires: config.requires.clone(),
        confinement: confine::of(config),
    }
}

fn environment(config: &ToolboxConfig, own: &BTreeMap<String, String>) -> Environment {
    let mut all = confine::variables_of_user(config);
    all.extend(own.clone());
    Environment::of_toolbox(&config.id, confine::inherited(config), &config.inherit_env, &all)
}
