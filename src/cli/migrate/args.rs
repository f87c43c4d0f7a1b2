//! What can be typed after `toolhost migrate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::address;
use crate::cli::args::ShowArgs;

/// `toolhost migrate`
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct MigrateArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: MigrateCommand,
}

impl MigrateArgs {
    /// Whether it listens to a bus.
    pub fn listens(&self) -> bool {
        matches!(self.command, MigrateCommand::Watch(_))
    }
}

/// The commands of `toolhost migrate`.
#[derive(Debug, Subcommand)]
pub enum MigrateCommand {
    /// Find callers and hosts of the predecessor topics in source code
    Scan(ScanArgs),
    /// Say who still calls on predecessor topics of a running host, and since when nobody does
    Report(ReportArgs),
    /// Listen to a bus and tell which predecessor topics are used on it, by whom, and what their hosts answer
    Watch(WatchArgs),
}

/// How findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScanFormat {
    /// For people: the line, where in it, and what replaces it
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, as code scanners exchange it
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines
    Github,
}

/// `toolhost migrate scan`
#[derive(Debug, Args)]
#[command(
    after_help = "Reads Python, JavaScript and TypeScript, Rust, shell, YAML, JSON and Markdown, and leaves out what .gitignore does. \
    Finds who calls, hosts or awaits `ovos.persona.tools.TOOLBOX.call`, however the topic is put together in one file, and calls whose \
    arguments stand under `kwargs` where `args` belongs, or the reverse. Comments, documentation and prose are mentions.\n\n\
    --fix shows what it changes and then writes it. It needs --force for a file with changes that are not committed, and for one that \
    git does not have.\n\n\
    Exit codes: 0 nothing found, 1 something found or a file that could not be read, 2 usage or a path that does not exist.\n\n\
    Examples:\n  \
    toolhost migrate scan .\n  \
    toolhost migrate scan src scripts --no-mentions\n  \
    toolhost migrate scan . --fix --dry-run            only show what would change\n  \
    toolhost migrate scan . --format sarif > scan.sarif"
)]
pub struct ScanArgs {
    /// Files, and folders to look through
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// How to write what is found
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ScanFormat::Text)]
    pub format: ScanFormat,
    /// Leave out what only speaks of a topic: comments, documentation, prose
    #[arg(long)]
    pub no_mentions: bool,
    /// Rewrite what is certain; the rest stays a list
    #[arg(long)]
    pub fix: bool,
    /// Show what --fix would change, and change nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// Rewrite files as well that have changes git does not have, or that git does not know
    #[arg(long, requires = "fix")]
    pub force: bool,
}

/// `toolhost migrate report`
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: nobody has called on a predecessor topic for so long, and the host has counted all that time. 1: \
    somebody has, it has not counted for so long, or no host was heard of a toolbox that it forwards. 2: usage. 3: the question was not answered: no host is there, it hung up, or what \
    it said cannot be understood or printed.\n\n\
    Only the time counts in which the host ran and was on its bus; it is kept over restarts.\n\n\
    Examples:\n  \
    toolhost migrate report\n  \
    toolhost migrate report --quiet 30d && echo 'the older topics can go'"
)]
pub struct ReportArgs {
    /// How long nobody must have called on a predecessor topic, such as 12h or 14d; the unit cannot be left out
    #[arg(long, value_name = "DURATION", default_value = "14d", value_parser = quiet_period)]
    pub quiet: Duration,
    /// How the report is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// The control socket of the host [default: $XDG_RUNTIME_DIR/toolhost.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// `toolhost migrate watch`
#[derive(Debug, Args)]
#[command(
    after_help = "It asks every host what it offers and listens; it never calls a tool. A topic is told when it is first seen, and again when \
    another caller comes, its host turns out to answer something else, or a toolhost to forward its calls; at the end, all of them. With \
    --json, or in a pipe, each is a JSON object on a line of its own.\n\n\
    `host` in it is what the host of the toolbox answers itself, whoever answers in its place:\n  \
    both      both topics\n  \
    old_only  the predecessor only\n  \
    new_only  the replacement only: several calls on the predecessor stayed unanswered while it lived\n  \
    old, new  the one, and nothing has shown yet whether the other too\n  \
    nothing   no sign of a host\n\
    `forwarded` lists how a toolhost forwards its calls: to_predecessor, to_static.\n\n\
    Exit codes: 0 the time is over or somebody ended it, 2 usage, 3 the bus cannot be reached.\n\n\
    Examples:\n  \
    toolhost migrate watch\n  \
    toolhost migrate watch --for 10m --json | jq -r 'select(.host == \"old_only\") | .toolbox_id'"
)]
pub struct WatchArgs {
    /// How long to listen, such as 10s or 1h [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = crate::config::time)]
    pub time: Option<Duration>,
    /// Print JSON on a terminal too; a pipe always gets JSON
    #[arg(long)]
    pub json: bool,
    /// The message bus [default: the one in the OVOS mycroft.conf, else ws://127.0.0.1:8181/core]
    #[arg(long, value_name = "URL", value_parser = address::bus_url)]
    pub bus: Option<String>,
    /// Certificates (PEM) to trust beside the system's, for a wss:// bus
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
}

/// A time with its unit: what is said in days elsewhere would be taken for seconds here, and be over at once.
fn quiet_period(text: &str) -> Result<Duration, String> {
    let time = crate::config::time(text)?;
    let is_bare = text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_bare && !time.is_zero() {
        let number = text.trim();
        return Err(format!("of which unit? Write {number}d for days, {number}h for hours"));
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_period_names_its_unit() {
        let table = [
            ("14d", 1_209_600),
            ("12h", 43_200),
            ("1d 12h", 129_600),
            ("14 days", 1_209_600),
            ("0", 0),
            ("0.0", 0),
            ("0s", 0),
        ];
        for (text, seconds) in table {
            assert_eq!(quiet_period(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for (text, said) in [
            ("14", "14d for days"),
            (" 14 ", "14d for days"),
            ("0.5", "0.5d for days"),
        ] {
            assert!(quiet_period(text).unwrap_err().contains(said), "{text}");
        }
        assert!(quiet_period("soon").is_err());
    }
}
