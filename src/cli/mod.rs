//! The command line: from what was typed to an exit code.
//!
//! `args` is the one table of what can be typed. `arguments`, `request`, `answer`, `spell`,
//! `table`, `listing`, `example`, `banner` and `status_view` are pure: text in, text out.
//! `argc` is this program under another name, for the scripts that call one.
//! `output` is the only module that writes to stdout and stderr; `ask` and its `wire` wait for
//! answers, `orders` for a running host, `bus` for a signal, and what hosts is behind `hosting`. `new` and `migrate` write files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::control;
use crate::error::{Error, Exit};
use crate::logging;
use crate::process::confine::launch;
use crate::process::guard::Guard;

use args::{Arguments, Command, StatusArgs};
use hosting::Hosting;
use output::Output;

pub(crate) mod address;
mod answer;
mod argc;
pub mod args;
pub mod arguments;
pub mod ask;
pub mod attach;
pub mod banner;
mod bus;
mod check;
pub mod early;
mod example;
pub mod hosting;
mod listing;
mod metrics;
pub mod migrate;
mod new;
mod orders;
pub mod output;
mod replace;
pub mod request;
mod span;
mod spell;
mod status_view;
mod table;
pub mod wire;

/// Does what was typed, with the help of `hosting`.
pub fn main(typed: impl IntoIterator<Item = OsString>, hosting: &dyn Hosting) -> ExitCode {
    let typed: Vec<_> = typed.into_iter().collect();
    if argc::is_meant(&typed) {
        return argc::main(&typed, Output::from_environment()).into();
    }
    early::close_memory();
    if launch::is_meant(&typed) {
        Output::from_environment().talk(&format!("{}\n", launch::main(&typed)));
        return launch::FAILED.into();
    }
    let held = early::hold();
    let output = Output::from_environment();
    let arguments = match Arguments::try_parse_from(typed) {
        Ok(arguments) => arguments,
        Err(error) => return told(&error, output).into(),
    };
    // While there is one thread: the log's writer is the second.
    if hosts(&arguments.command)
        && let Err(error) = Guard::start()
    {
        output.talk(&format!(
            "the guard over the toolboxes cannot be started ({error}): they may outlive a toolhost that is killed\n"
        ));
    }
    let _log = start_log(&arguments, output);
    let done = dispatch(&arguments.command, output, held, hosting);
    Guard::of_this_process().end_all();
    match done {
        Ok(()) => Exit::Done,
        Err(error) => {
            output.error(&error);
            error.exit()
        }
    }
    .into()
}

/// Shows what clap has to say: help and version are answers, the rest are errors.
fn told(error: &clap::Error, output: Output) -> Exit {
    let mut text = error.render().to_string();
    if asks_for_another_language(error) {
        text.push_str(
            "\ntoolhost writes nothing in other languages, and hosts them all the same: commands declared under 'tools:' \
             (toolhost new command NAME), or a program that speaks the protocol, ten lines in most languages \
             (protocol/README.md)\n",
        );
    }
    if error.use_stderr() {
        output.talk(&text);
        return Exit::Usage;
    }
    match output.data(text.as_bytes()) {
        Ok(()) => Exit::Done,
        Err(error) => {
            output.error(&error);
            error.exit()
        }
    }
}

/// Whether `toolhost new` was asked for a language it has no toolbox for.
fn asks_for_another_language(error: &clap::Error) -> bool {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let argument = error.get(ContextKind::InvalidArg);
    error.kind() == ErrorKind::InvalidValue
        && matches!(argument, Some(ContextValue::String(argument)) if argument == "<LANGUAGE>")
}

/// Whether a command starts toolboxes.
fn hosts(command: &Command) -> bool {
    let asked = match command {
        Command::Run(_) | Command::Check(_) => return true,
        Command::Call(args) => &args.ask,
        Command::Invoke(args) => &args.ask,
        Command::List(args) => &args.ask,
        Command::Get(args) => &args.ask,
        Command::Discover(args) => &args.ask,
        Command::Reload(args) => &args.ask,
        Command::Bus(_)
        | Command::Status(_)
        | Command::Stop(_)
        | Command::Start(_)
        | Command::Restart(_)
        | Command::New(_)
        | Command::Migrate(_)
        | Command::Metrics(_)
        | Command::Completions { .. }
        | Command::Man { .. } => return false,
    };
    asked.config.is_some()
}

fn start_log(arguments: &Arguments, output: Output) -> logging::Guard {
    let default = match arguments.command {
        Command::Run(_) | Command::Check(_) | Command::Bus(_) => logging::Level::INFO,
        // Their faults are told as errors already, without the log.
        _ => logging::Level::ERROR,
    };
    let level = logging::level(arguments.log.log_level, default, |name| std::env::var(name).ok());
    // The one toolbox that is started for a call answers what is wrong with it: the log would only say it again.
    let asked = matches!(&arguments.command, Command::Call(args) if args.ask.config.is_some());
    let silent = (asked && level == logging::Level::ERROR).then_some("toolhost::supervisor");
    logging::start(arguments.log.log_format, level, output.colors_stderr(), silent)
}

fn dispatch(command: &Command, output: Output, held: early::Held, hosting: &dyn Hosting) -> Result<(), Error> {
    match command {
        Command::Run(args) => runtime(command)?.block_on(hosting.run(args, output, held)),
        Command::Check(args) => runtime(command)?.block_on(check::run(args, output, held)),
        Command::Bus(args) => runtime(command)?.block_on(bus::bus(args, output, held)),
        _ => {
            // Everything else may be ended at once, as any program.
            drop(held);
            dispatch_short(command, output, hosting)
        }
    }
}

fn dispatch_short(command: &Command, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    match command {
        Command::Status(args) => status(args, output),
        Command::Metrics(args) => metrics::run(args, output),
        Command::Stop(args) => orders::stop(args, output),
        Command::Start(args) => orders::start(args, output),
        Command::Restart(args) => orders::restart(args, output),
        Command::Reload(args) if orders::reload(args, output)? => Ok(()),
        Command::New(args) => new::run(args, output),
        Command::Migrate(args) if !args.listens() => migrate::run(args, output),
        Command::Completions { shell } => completions(*shell, output),
        Command::Man { command } => man(command, output),
        _ => runtime(command)?.block_on(dispatch_question(command, output, hosting)),
    }
}

/// The threads a command needs.
///
/// A host does next to nothing for a call but pass it on, so a second worker would be woken for work
/// that is done by the time it looks. What takes long steps aside, see `supervisor::aside`.
fn runtime(command: &Command) -> Result<tokio::runtime::Runtime, Error> {
    let mut builder = match command {
        Command::Run(_) | Command::Check(_) | Command::Bus(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let built = builder.worker_threads(1).enable_all().build();
    built.map_err(|error| Error::failed(format!("cannot start: {error}")))
}

/// The one thread of a command that waits for something and hosts nothing.
fn quiet_runtime() -> Result<tokio::runtime::Runtime, Error> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Error::failed(format!("cannot start: {error}")))
}

async fn dispatch_question(command: &Command, output: Output, hosting: &dyn Hosting) -> Result<(), Error> {
    match command {
        Command::Call(args) => ask::call(args, output, hosting).await,
        Command::Invoke(args) => ask::invoke(args, output, hosting).await,
        Command::List(args) => ask::list(args, output, hosting).await,
        Command::Get(args) => ask::get(args, output, hosting).await,
        Command::Discover(args) => ask::discover(args, output, hosting).await,
        Command::Reload(args) => ask::reload(args, output, hosting).await,
        Command::Migrate(args) => migrate::listen(args, output, hosting).await,
        // Dispatched before.
        _ => Ok(()),
    }
}

/// Where the control socket is: what was typed, or that of this user.
pub fn socket_path(typed: Option<&Path>) -> PathBuf {
    control::socket::path(typed, |name| std::env::var_os(name).map(PathBuf::from))
}

fn status(args: &StatusArgs, output: Output) -> Result<(), Error> {
    let path = socket_path(args.socket.as_deref());
    let text = control::client::ask(&path, &control::verb::Verb::Status)?;
    if args.show.json || !output.stdout_is_terminal {
        return output.json(&text);
    }
    let status = serde_json::from_str(&text)
        .map_err(|error| Error::failed(format!("the status of the host cannot be understood: {error}")))?;
    output.data(status_view::status_view(&status, output.colors_stdout()).as_bytes())
}

fn completions(shell: clap_complete::Shell, output: Output) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "toolhost", &mut script);
    output.data(&script)
}

fn man(command: &[String], output: Output) -> Result<(), Error> {
    let mut page = Arguments::command();
    // Fills the parts of a command's own page that clap derives from the whole, its full name among them.
    page.build();
    for name in command {
        page = match page.find_subcommand(name) {
            Some(found) => found.clone(),
            None => return Err(Error::usage(format!("there is no command '{}'", command.join(" ")))),
        };
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Error::failed(format!("cannot write the page: {error}")))?;
    output.data(&text)
}
