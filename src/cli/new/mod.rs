//! `toolhost new`: a toolbox to start from, and its entry in a configuration.
//!
//! `plan` says what is to be there, without touching anything; `files` writes the program, `add` the entry. All that
//! can be refused is refused before anything is written.

mod add;
mod files;
mod plan;

use std::path::Path;

use super::args::NewArgs;
use super::example::quoted;
use super::output::Output;
use super::spell::plain;
use crate::config;
use crate::error::Error;
use add::Addition;
use files::Files;
use plan::Plan;

/// The file of `--add` where none is named and none is found.
const CONFIG: &str = "./toolhost.yaml";

/// `toolhost new`
pub(super) fn run(args: &NewArgs, output: Output) -> Result<(), Error> {
    let plan = Plan::of(args.language, &args.name, args.plain);
    if args.plain && plan.program.is_none() {
        return Err(Error::usage(
            "--plain is for python, bash and node; a command has no file of its own",
        ));
    }
    let folder = args.dir.as_deref().unwrap_or(Path::new("."));
    let files = Files::check(folder, &plan)?;
    let config = match &args.add {
        Some(Some(named)) => named.clone(),
        _ => config::find(None, &config::process_env).unwrap_or_else(|_| CONFIG.into()),
    };
    let told = match args.add {
        None => {
            let entry = plan.entry(&files::path_from_here(folder, &plan)?);
            files.write()?;
            let told = told(&plan, &files, &config, None);
            output.data(config::insert::indented(&entry, 2, 2).join("\n").as_bytes())?;
            told
        }
        Some(_) => {
            let path = files::path_from(&config, folder, &plan)?;
            let addition = Addition::prepare(&config, &plan, &path)?;
            files.write()?;
            if let Err(error) = addition.write() {
                files.undo();
                return Err(error);
            }
            told(&plan, &files, &config, Some(&addition))
        }
    };
    output.talk(&told);
    Ok(())
}

/// What was done, and what to do now.
fn told(plan: &Plan, files: &Files, config: &Path, addition: Option<&Addition>) -> String {
    let file = quoted(&shown(config));
    let mut lines = files.told();
    let checked = match (addition, &files.program) {
        (None, Some(program)) if plan.speaks => format!("-- {}", quoted(&runnable(program))),
        _ => file.clone(),
    };
    match addition {
        Some(addition) => {
            lines.push(addition.told());
            lines.push("next:".to_owned());
        }
        None => lines.push(format!(
            "next, once the entry stands under 'toolboxes:' in {file} (--add puts it there):"
        )),
    }
    lines.push(format!("  toolhost check {checked}"));
    lines.push(format!(
        "  toolhost call --config {file} {} hello name=Ada",
        quoted(&plan.id)
    ));
    lines.join("\n")
}

/// A path for people.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    plain(text.strip_prefix("./").unwrap_or(&text)).to_string()
}

/// A path that a shell runs as a program.
fn runnable(path: &Path) -> String {
    let path = shown(path);
    if path.contains('/') { path } else { format!("./{path}") }
}
