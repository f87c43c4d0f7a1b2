//! `toolhost check`: replays the protocol's transcripts at real toolboxes and says what is wrong
//! with them before their users find out.
//!
//! It speaks to processes directly, without a supervisor: a fault is to be shown, not mended.

mod asked;
mod bash;
mod diagnose;
mod hints;
mod lint;
mod plain;
mod play;
mod report;
mod silence;
mod whole;

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;

use crate::adapter::script::Language;
use crate::adapter::{Adapter, Commands};
use crate::config::{self, Config, Kind, Mode, ToolboxConfig};
use crate::error::Error;
use crate::process::confine::kernel;
use crate::process::guard::Guard;
use crate::process::spawn::Program;
use crate::protocol::transcript::{self, Step};
use crate::tools::tool::ToolSet;

pub use report::{Finding, Report};

/// Time for an answer that needs no work: an unknown tool, an unknown operation.
const ANSWER: Duration = Duration::from_secs(10);

/// How a check is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// How long every answer may take, in place of ten seconds, and of `describe_timeout` in a configuration.
    pub timeout: Option<Duration>,
    /// Whether a command is run once a request.
    pub oneshot: bool,
}

/// What the check of a configuration comes to.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// One a toolbox, and one of the file where that as a whole has something.
    pub reports: Vec<Report>,
    /// The toolboxes of other hosts whose calls it forwards.
    pub forwarded: Vec<String>,
}

/// Checks every toolbox of a configuration, side by side.
///
/// # Errors
/// A file that cannot be read or has faults.
pub async fn configuration(file: Option<&Path>, options: Options) -> Result<Checked, Error> {
    let file = config::find(file, &config::process_env).map_err(|error| Error::usage(error.to_string()))?;
    if let Some(why) = whole::program_in_place_of_file(&file) {
        return Err(Error::usage(why));
    }
    let config = Config::load(&file, &config::process_env).map_err(|faults| Error::failed(faults.to_string()))?;
    let checks = config
        .toolboxes
        .iter()
        .map(|config| toolbox(config, options, transcript::GENERIC));
    let mut reports = join_all(checks).await;
    whole::warn(&config, &config::look_over(&file), &mut reports);
    let forwarded = config.migrate.carried.into_iter().map(|carry| carry.toolbox_id);
    Ok(Checked {
        reports,
        forwarded: forwarded.collect(),
    })
}

/// Checks one command, started in this folder.
///
/// # Errors
/// A working folder that is gone.
pub async fn command(argv: &[String], options: Options) -> Result<Report, Error> {
    let cwd = std::env::current_dir().map_err(|error| Error::failed(format!("no working folder: {error}")))?;
    let config = ToolboxConfig {
        // Its author is waiting, and nothing is downloaded first.
        describe_timeout: ANSWER,
        mode: if options.oneshot {
            Mode::Oneshot
        } else {
            Mode::Persistent
        },
        ..ToolboxConfig::new("check", Kind::Command(argv.to_vec()), cwd)
    };
    Ok(toolbox(&config, options, transcript::GENERIC).await)
}

/// Replays `transcripts`, pairs of name and text, at one toolbox.
pub async fn replay(config: &ToolboxConfig, transcripts: &[(&str, &str)]) -> Report {
    toolbox(config, Options::default(), transcripts).await
}

/// Told where a sandboxed toolbox could not do something: its programs do not know of walls, Python least of all.
const DENIED: &str = "it runs in a sandbox, which may be the reason: what it has to read, such as modules beside its script \
                      or a Python outside of /usr, stands under 'read'";

async fn toolbox(config: &ToolboxConfig, options: Options, transcripts: &[(&str, &str)]) -> Report {
    let mut report = Report::new(&config.id);
    if !config.confinement.is_none() {
        report.here = Some(kernel::summary());
    }
    if let Some(what) = kernel::not_held(&config.confinement) {
        report.add(Finding::warning("limits", what.to_owned()));
    }
    let guard = Guard::of_this_process();
    if let Some(fault) = bash::fault(config, &guard).await {
        report.fault("start", fault);
    }
    let program = match Adapter::of(config) {
        Adapter::Speaks(speaker) => speaker.program(),
        Adapter::Runs(commands) => {
            look_over(config, commands, &mut report);
            return report;
        }
    };
    let program = match program {
        Ok(program) => program,
        Err(why) => {
            report.fault("start", why);
            return report;
        }
    };
    let mut config = config.clone();
    config.describe_timeout = options.timeout.unwrap_or(config.describe_timeout);
    let subject = Subject {
        language: hints::language(&program.argv, &program.cwd),
        program,
        guard,
        patience: options.timeout.unwrap_or(ANSWER),
        config: &config,
    };
    for (name, text) in transcripts.iter().filter(|(name, _)| suits(name, config.mode)) {
        // Ours: a transcript that cannot be read fails the tests.
        let mut steps = transcript::parse(text).unwrap_or_default();
        if report.findings.iter().any(|finding| finding.kind == play::STAYS) {
            // Waiting for it again would only say the same again.
            steps.retain(|step| *step != Step::Exits);
        }
        let played = play::play(&subject, name, &steps).await;
        let lost = played.lost;
        report.take(played);
        if lost {
            // The rest would say the same again.
            break;
        }
    }
    if config.confinement.sandbox.is_some() && report.shows_a_denial() {
        report.add(Finding::warning("sandbox", DENIED.to_owned()));
    }
    publish(&config, &mut report);
    report
}

/// Looks at a toolbox that runs a command for each call, and runs none.
fn look_over(config: &ToolboxConfig, mut commands: Box<dyn Commands>, report: &mut Report) {
    match commands.describe() {
        Ok(described) => report.described = Some(described.as_str().to_owned()),
        Err(why) => return report.fault("start", why),
    }
    for missing in commands.missing() {
        report.fault("start", missing);
    }
    publish(config, report);
}

/// A process of its own for each request cannot be asked two at once.
fn suits(transcript: &str, mode: Mode) -> bool {
    mode == Mode::Persistent || transcript != "two_at_once"
}

/// What is played at.
struct Subject<'a> {
    program: Program,
    guard: Guard,
    config: &'a ToolboxConfig,
    /// Time for an answer to all but describe.
    patience: Duration,
    /// What the program is written in, where that shows.
    language: Option<Language>,
}

impl Subject<'_> {
    /// The line of a step, which asks for this toolbox with its own `config:`.
    fn request(&self, step: &Step) -> Option<Vec<u8>> {
        let (Step::Host(text) | Step::Raw(text)) = step else {
            return None;
        };
        let mut line = Vec::new();
        match described_by(text) {
            Some(id) => crate::protocol::request::Request::Describe {
                id,
                toolbox_id: &self.config.id,
                config: self.config.config.as_str(),
            }
            .write(&mut line),
            None => {
                line.extend_from_slice(text.as_bytes());
                line.push(b'\n');
            }
        }
        Some(line)
    }
}

/// The id of a describe request.
fn described_by(text: &str) -> Option<u64> {
    let request: serde_json::Value = serde_json::from_str(text).ok()?;
    (request.get("op")? == "describe")
        .then(|| request.get("id")?.as_u64())
        .flatten()
}

/// What the describe answer promises: schemas that compile, names that can be published.
fn publish(config: &ToolboxConfig, report: &mut Report) {
    let Some(raw) = report.described.clone() else { return };
    let (description, remarks) = lint::look_over(&raw, matches!(config.kind, Kind::Command(_)));
    for lint::Remark { is_fault, what } in remarks {
        let finding = if is_fault { Finding::fault } else { Finding::warning };
        report.add(finding("describe", what));
    }
    let Some(description) = description else { return };
    match ToolSet::publish(&config.id, &description, &config.publish, config.coerce) {
        Ok(tools) => {
            for tool in tools.iter() {
                report.tools.push(tool.name.clone());
                if let Some(why) = tool.broken() {
                    report.fault("describe", format!("Invalid schema of '{}': {why}", tool.name));
                }
            }
            let broken = |warning: &&String| !warning.contains("cannot be called");
            report.warn_all("describe", tools.warnings().iter().filter(broken));
        }
        Err(why) => report.fault("describe", why),
    }
}
