//! What can be typed: one table for the arguments, `--help`, the man pages and the completions. Pure.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::address;
use super::migrate::args::MigrateArgs;
use crate::logging::{Format, Level};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "toolhost",
    version,
    about = "Host tools written in any language on the OpenVoiceOS message bus",
    long_about = "Host tools written in any language on the OpenVoiceOS message bus.\n\n\
        A toolbox is what offers tools: a script of yours (Python, Bash or JavaScript) whose functions are the tools, \
        commands declared in the YAML, or a program in any language that reads lines of JSON and answers with lines of \
        JSON. \
        `toolhost run` starts the toolboxes a YAML file names, keeps them running and answers for them on the bus \
        (OVOS-TOOLS-1). The other commands ask whatever toolbox hosts are on that bus.",
    after_help = "Examples:\n  \
        toolhost new python greet --add                      write a toolbox to start from\n  \
        toolhost run toolhost.yaml                           host the toolboxes of a file\n  \
        toolhost list                                        which tools are there\n  \
        toolhost call wordnet define_word word=serendipity   call one\n\n\
        Exit codes: 0 done, 1 the tool or the check answered an error, 2 usage or configuration,\n\
        3 the bus or the host could not be reached or nobody answered in time.",
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to log.
    #[command(flatten)]
    pub log: LogArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Host the toolboxes of a configuration file
    Run(RunArgs),
    /// Validate a configuration, start each toolbox and try the protocol on it
    Check(CheckArgs),
    /// Call a tool of one toolbox and print its result
    Call(CallArgs),
    /// Call a tool by its name alone, through the tool service
    Invoke(InvokeArgs),
    /// List the tools of the tool service
    List(ListArgs),
    /// Show the definition of one tool
    Get(GetArgs),
    /// Ask every toolbox host on the bus what it offers
    Discover(DiscoverArgs),
    /// Have a running host read its configuration again
    Reload(ReloadArgs),
    /// Stop toolboxes of a running host until they are started
    #[command(
        after_help = "The calls in hand have the time of --grace to end first; others are refused at once. It stays down, whoever reloads, until it is \
        started, its entry in the configuration is changed or the host is started anew.\n\n\
        Example:\n  toolhost stop wordnet"
    )]
    Stop(StopArgs),
    /// Start toolboxes of a running host that are stopped or down
    #[command(
        after_help = "Waits until they are up. What failed before is forgiven: one that was given up is tried again.\n\n\
        Example:\n  toolhost start wordnet"
    )]
    Start(OrderArgs),
    /// Give toolboxes of a running host new processes, as after a change of their programs
    #[command(
        after_help = "Calls that come wait for the new process, and those in hand have the time of --grace to end first. Toolboxes \
        without a process (declared commands, Bash scripts) have their tools read again.\n\n\
        Examples:\n  toolhost restart notes\n  toolhost restart --all --grace 1m"
    )]
    Restart(StopArgs),
    /// Serve a message bus alone, for trying things without OpenVoiceOS
    Bus(BusArgs),
    /// Show what a running host supervises
    Status(StatusArgs),
    /// Print what a running host counts, for Prometheus
    Metrics(MetricsArgs),
    /// Write a toolbox to start from
    New(NewArgs),
    /// Move callers and hosts off the predecessor topics
    Migrate(MigrateArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  toolhost completions bash > ~/.local/share/bash-completion/completions/toolhost"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a man page
    #[command(after_help = "Example:\n  toolhost man call | man -l -")]
    Man {
        /// The command whose page it is, such as call or migrate scan; without it the page of toolhost
        command: Vec<String>,
    },
}

/// How to log.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Logging")]
pub struct LogArgs {
    /// Log as lines for people (text) or as a JSON object a line (json), always on stderr
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub log_format: Format,
    /// Log this and worse: error, warn, info, debug, trace or off [env: TOOLHOST_LOG, then OVOS_DEFAULT_LOG_LEVEL]
    /// [default: info for run, check and bus, else error]
    #[arg(long, value_name = "LEVEL", global = true)]
    pub log_level: Option<Level>,
}

/// `toolhost run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    toolhost run\n  \
    toolhost run toolhost.yaml --embedded-bus        no OpenVoiceOS needed\n  \
    toolhost run /etc/toolhost/toolhost.yaml --log-format json\n\n\
    SIGTERM and Ctrl-C stop it in order, SIGHUP reads the configuration again.")]
pub struct RunArgs {
    /// The configuration [default: ./toolhost.yaml, then $XDG_CONFIG_HOME/toolhost/toolhost.yaml, then
    /// /etc/toolhost/toolhost.yaml]
    pub config: Option<PathBuf>,
    /// The message bus, instead of the one the file names, such as ws://127.0.0.1:8181/core
    #[arg(long, value_name = "URL", value_parser = address::bus_url)]
    pub bus: Option<String>,
    /// Serve a bus here instead of joining one [default address: 127.0.0.1:8181]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true,
        default_missing_value = address::DEFAULT_BUS_ADDRESS, value_parser = address::bus_address, conflicts_with = "bus")]
    pub embedded_bus: Option<SocketAddr>,
    /// Where `toolhost status`, `restart` and the like reach this host [default: $XDG_RUNTIME_DIR/toolhost.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// `toolhost check`
#[derive(Debug, Args)]
#[command(
    override_usage = "toolhost check [OPTIONS] [CONFIG]\n       toolhost check [OPTIONS] -- COMMAND...",
    after_help = "Examples:\n  \
    toolhost check toolhost.yaml\n  \
    toolhost check -- python3 wordnet.py             one program that should speak the protocol\n  \
    toolhost check --oneshot -- ./greet.sh           one that is started for each request"
)]
pub struct CheckArgs {
    /// The configuration [default: as for run]
    #[arg(value_name = "CONFIG")]
    pub file: Option<PathBuf>,
    /// The configuration, as the other commands take it
    #[arg(long, value_name = "CONFIG", conflicts_with = "file")]
    pub config: Option<PathBuf>,
    /// Start the command once for each request, as with `mode: oneshot`
    #[arg(long, requires = "command", conflicts_with_all = ["file", "config"])]
    pub oneshot: bool,
    /// How long to wait for each answer [default: 10s; a describe in a configuration: its describe_timeout]
    #[arg(long, value_name = "DURATION", value_parser = crate::config::time)]
    pub timeout: Option<Duration>,
    /// The toolbox to check, instead of those of a configuration: a program and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["file", "config"])]
    pub command: Vec<String>,
}

/// Whom to ask, and for how long.
#[derive(Debug, Clone, Args)]
pub struct AskArgs {
    /// The message bus [default: the one in the OVOS mycroft.conf, else ws://127.0.0.1:8181/core]
    #[arg(long, value_name = "URL", value_parser = address::bus_url, conflicts_with = "config")]
    pub bus: Option<String>,
    /// Host the toolboxes of this configuration for just this one request; no bus and no running host are needed
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<PathBuf>,
    /// Certificates (PEM) to trust beside the system's, for a wss:// bus
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub ca_file: Option<PathBuf>,
    /// How long to wait for an answer, such as 500ms, 10s or 2m [default: 30s; list and get: 10s; discover: 3s]
    #[arg(long, value_name = "DURATION", value_parser = crate::config::time)]
    pub timeout: Option<Duration>,
}

/// The arguments of a tool.
#[derive(Debug, Clone, Args)]
pub struct ToolArgs {
    /// Arguments of the tool: key=text for a string, key:=json for anything else
    #[arg(value_name = "key=text | key:=json", conflicts_with = "json")]
    pub arguments: Vec<String>,
    /// All arguments as one JSON object; - reads it from stdin, @FILE from a file, where `ps` shows nobody what it says
    #[arg(long, value_name = "OBJECT")]
    pub json: Option<String>,
}

/// `toolhost call`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    toolhost call wordnet define_word word=serendipity lang=en\n  \
    toolhost call ovos-math-tools statistics_summary 'numbers:=[1, 2, 3]'\n  \
    toolhost call notes add --json '{\"text\": \"milk\"}'\n  \
    toolhost call wordnet define_word word=tool --config toolhost.yaml | jq .definitions")]
pub struct CallArgs {
    /// The toolbox_id of the toolbox
    pub toolbox: String,
    /// The name of the tool
    pub tool: String,
    /// Its arguments.
    #[command(flatten)]
    pub arguments: ToolArgs,
    /// Call on the predecessor topic, `ovos.persona.tools.TOOLBOX.call`, as callers older than OVOS-TOOLS-1 do
    #[arg(long)]
    pub predecessor: bool,
    /// Whom to ask.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// `toolhost invoke`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  toolhost invoke define_word word=serendipity")]
pub struct InvokeArgs {
    /// The name of the tool
    pub tool: String,
    /// Its arguments.
    #[command(flatten)]
    pub arguments: ToolArgs,
    /// Whom to ask.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// How an answer is shown.
#[derive(Debug, Clone, Copy, Args)]
pub struct ShowArgs {
    /// Print JSON on a terminal too; a pipe always gets JSON
    #[arg(long)]
    pub json: bool,
}

/// `toolhost list`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  toolhost list\n  toolhost list --config toolhost.yaml\n  toolhost list | jq '.[].name'"
)]
pub struct ListArgs {
    /// How the list is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// Whom to ask.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// `toolhost get`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  toolhost get define_word | jq .argument_schema")]
pub struct GetArgs {
    /// The name of the tool
    pub tool: String,
    /// Whom to ask.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// `toolhost discover`
#[derive(Debug, Args)]
#[command(
    after_help = "Every host answers once for each of its toolboxes, so the answers are collected until the \
    time is over.\n\nExamples:\n  toolhost discover\n  toolhost discover --timeout 10s | jq '.[].toolbox_id'"
)]
pub struct DiscoverArgs {
    /// How the answers are shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// Whom to ask.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// `toolhost reload`
#[derive(Debug, Args)]
#[command(
    after_help = "Asks the host on the control socket, and waits until it is done, and prints which toolboxes are added, removed, changed \
    and unchanged, and whether settings of the host itself changed. Without one, or with --bus, asks the tool service on the bus, and prints the tools there are afterwards. A \
    configuration with faults is refused as a whole."
)]
pub struct ReloadArgs {
    /// How the list is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// The control socket of the host [default: $XDG_RUNTIME_DIR/toolhost.sock]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["bus", "config"])]
    pub socket: Option<PathBuf>,
    /// Whom to ask.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// `toolhost bus`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    toolhost bus                     on 127.0.0.1:8181, as OpenVoiceOS does\n  \
    toolhost bus 9000                another port\n  \
    toolhost bus 0.0.0.0:8181        for other machines too\n\n\
    Prints its URL and serves until Ctrl-C. Whoever reaches the bus can run every tool on it.")]
pub struct BusArgs {
    /// Where to listen: ADDRESS:PORT, or a PORT of this machine
    #[arg(value_name = "ADDR", default_value = address::DEFAULT_BUS_ADDRESS, value_parser = address::bus_address)]
    pub address: SocketAddr,
}

/// `toolhost status`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  toolhost status\n  toolhost status --json | jq '.toolboxes[] | select(.state != \"ready\")'"
)]
pub struct StatusArgs {
    /// How the status is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// The control socket of the host [default: $XDG_RUNTIME_DIR/toolhost.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// `toolhost metrics`
#[derive(Debug, Args)]
#[command(
    after_help = "The calls of a caller are a series for as long as the host tells it apart, 64 callers a toolbox. What the others had is \
    in caller=\"others\", and one of them that comes back has another number and begins at 0, so that no series goes down. Rates \
    over all callers are those of toolhost_toolbox_topic_calls_total. A host that was killed may begin a minute back.\n\n\
    Example, from cron or a timer, for the textfile collector of the node exporter:\n  \
    toolhost metrics > /var/lib/node_exporter/toolhost.prom.new && mv /var/lib/node_exporter/toolhost.prom{.new,}"
)]
pub struct MetricsArgs {
    /// The control socket of the host [default: $XDG_RUNTIME_DIR/toolhost.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// `toolhost start`
#[derive(Debug, Args)]
pub struct OrderArgs {
    /// The toolbox_ids of the toolboxes
    #[arg(value_name = "TOOLBOX", required_unless_present = "all", conflicts_with = "all")]
    pub toolboxes: Vec<String>,
    /// Every toolbox of the host
    #[arg(long)]
    pub all: bool,
    /// Return once they are asked, without waiting for what becomes of it
    #[arg(long)]
    pub no_wait: bool,
    /// How the end is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// The control socket of the host [default: $XDG_RUNTIME_DIR/toolhost.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// `toolhost stop`, `toolhost restart`
#[derive(Debug, Args)]
pub struct StopArgs {
    /// Which toolboxes.
    #[command(flatten)]
    pub order: OrderArgs,
    /// How long the calls in hand may take to end, before their process is ended all the same [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = crate::config::time)]
    pub grace: Option<Duration>,
}

/// What a new toolbox is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// A Python program (also: py)
    #[value(alias = "py")]
    Python,
    /// A Bash program (also: sh)
    #[value(aliases = ["sh", "shell"])]
    Bash,
    /// A JavaScript program for Node (also: js, javascript)
    #[value(aliases = ["js", "javascript", "mjs"])]
    Node,
    /// Commands that are there already, declared in the configuration; no file is written
    Command,
}

/// `toolhost new`
#[derive(Debug, Args)]
#[command(
    after_help = "Prints the entry for the configuration, to be pasted under 'toolboxes:'. No file is ever overwritten.\n\n\
    Examples:\n  \
    toolhost new python greet                        a program, its helper, and an entry to paste\n  \
    toolhost new bash backup --plain --add           a plain script, added to the configuration\n  \
    toolhost new command disk --add toolhost.yaml    commands declared in the configuration"
)]
pub struct NewArgs {
    /// What it is written in
    #[arg(value_enum)]
    pub language: Language,
    /// Its toolbox_id, of A-Z a-z 0-9 _ -; the program is called so too
    #[arg(value_parser = toolbox_id)]
    pub name: String,
    /// A plain script without any helper: toolhost makes tools of its functions or commands
    #[arg(long)]
    pub plain: bool,
    /// Write the program into this folder [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Put the entry into this configuration instead of printing it; nothing else in the file changes
    /// [default: as for run, else ./toolhost.yaml]
    #[arg(long, value_name = "CONFIG", num_args = 0..=1, value_parser = configuration_to_add_to)]
    #[allow(clippy::option_option, reason = "clap's way to tell a flag without its value")]
    pub add: Option<Option<PathBuf>>,
}

fn toolbox_id(text: &str) -> Result<String, String> {
    crate::config::unfit_id(text).map_or_else(|| Ok(text.to_owned()), Err)
}

/// A file, and not the next word of a command line that has `--add` before the language.
fn configuration_to_add_to(text: &str) -> Result<PathBuf, String> {
    match Language::from_str(text, false) {
        Ok(_) => Err(format!(
            "is a language here; write --add last, or ./{text} for a file of that name"
        )),
        Err(_) => Ok(text.into()),
    }
}
