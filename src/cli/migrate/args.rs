//! What can be typed after `toolhost migrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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

/// The commands of `toolhost migrate`.
#[derive(Debug, Subcommand)]
pub enum MigrateCommand {
    /// Find callers and hosts of the predecessor topics in source code
    Scan(ScanArgs),
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
