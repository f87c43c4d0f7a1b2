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
pub struct ScanArgs {
    /// Files, and folders to look through
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// How to write what is found
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ScanFormat::Text)]
    pub format: ScanFormat,
}
