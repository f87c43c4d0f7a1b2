//! What the scripts call when they call `argc`: this program under that name.
//!
//! A script in argc's comment language ends in `eval "$(argc --argc-eval "$0" "$@")"`. Where toolhost
//! is, that line works without argc. The answer is Bash that sets the variables and calls the command;
//! an answer that is missing would let the script go on without its arguments, so that every failure
//! is Bash too, which says so and exits. Everything else argc can do is left to argc.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Exit};

use super::output::Output;

mod bash;
mod runtime;

/// The argc whose library reads the scripts.
const VERSION: &str = "1.24.0";

/// What the real argc hands its own jobs.
const PARALLEL: &str = "___parallel___";

/// Whether the program was started under the name `argc`.
pub(super) fn is_meant(typed: &[OsString]) -> bool {
    typed
        .first()
        .is_some_and(|program| Path::new(program).file_name() == Some(OsStr::new("argc")))
}

/// Does what `argc` was asked for.
pub(super) fn main(typed: &[OsString], output: Output) -> Exit {
    let asked = typed.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let done = match asked {
        "--argc-eval" if typed.get(3).is_some_and(|word| word == PARALLEL) => match hand_over(typed) {
            Ok(never) => match never {},
            Err(error) => output.data(bash::failure(&error.to_string()).as_bytes()),
        },
        "--argc-eval" => output.data(evaluated(typed).as_bytes()),
        "--argc-export" => exported(typed).and_then(|json| output.data(json.as_bytes())),
        "--argc-version" => {
            let own = env!("CARGO_PKG_VERSION");
            output.data(format!("argc {VERSION} (of toolhost {own})").as_bytes())
        }
        _ => hand_over(typed).map(|never| match never {}),
    };
    match done {
        Ok(()) => Exit::Done,
        Err(error) => {
            output.error(&error);
            error.exit()
        }
    }
}

/// The Bash for `--argc-eval SCRIPT ARGS...`.
fn evaluated(typed: &[OsString]) -> String {
    let evaluate = || {
        let script = Script::read(typed)?;
        let values = ::argc::eval(
            runtime::Here::default(),
            &script.source,
            &script.line,
            Some(&script.path),
            None,
        );
        let values = values.map_err(|error| Error::failed(error.to_string()))?;
        Ok(format!("{}{}", bash::folder(&script.path), bash::code(values)))
    };
    // Even a panic must not end in no answer.
    match std::panic::catch_unwind(evaluate) {
        Ok(Ok(code)) => code,
        Ok(Err::<_, Error>(error)) => bash::failure(&error.to_string()),
        Err(_) => bash::failure("argc's parser broke down over this script"),
    }
}

fn exported(typed: &[OsString]) -> Result<String, Error> {
    let script = Script::read(typed)?;
    let name = script.line.first().map_or("", String::as_str);
    let value = ::argc::export(&script.source, name).map_err(|error| Error::failed(error.to_string()))?;
    serde_json::to_string_pretty(&value).map_err(|error| Error::failed(error.to_string()))
}

/// A script as argc gets it.
struct Script {
    source: String,
    path: String,
    /// Its name without `.sh`, and its arguments.
    line: Vec<String>,
}

impl Script {
    fn read(typed: &[OsString]) -> Result<Self, Error> {
        let mut words = Vec::new();
        for word in typed.iter().skip(2) {
            let text = word.to_str();
            words.push(text.ok_or_else(|| Error::usage(format!("{word:?} is not UTF-8, which argc needs")))?);
        }
        let [path, args @ ..] = &words[..] else {
            return Err(Error::usage("no script file provided"));
        };
        let source = std::fs::read_to_string(path)
            .map_err(|error| Error::failed(format!("cannot read the script '{path}': {error}")))?;
        let name = Path::new(path).file_name().and_then(OsStr::to_str).unwrap_or(path);
        let name = name.strip_suffix(".sh").unwrap_or(name);
        let line = std::iter::once(name).chain(args.iter().copied());
        Ok(Self {
            source,
            path: (*path).to_owned(),
            line: line.map(str::to_owned).collect(),
        })
    }
}

/// Becomes the real argc, where there is one.
fn hand_over(typed: &[OsString]) -> Result<std::convert::Infallible, Error> {
    let real = real_argc().ok_or_else(|| {
        Error::failed("this is the part of argc that toolhost brings: --argc-eval, --argc-export and --argc-version")
            .with_hint("for everything else install argc: https://github.com/sigoden/argc")
    })?;
    let as_c = |text: &OsStr| CString::new(text.as_bytes()).map_err(|error| Error::usage(error.to_string()));
    let words = typed.iter().map(|word| as_c(word)).collect::<Result<Vec<_>, _>>()?;
    let path = as_c(real.as_os_str())?;
    nix::unistd::execv(&path, &words)
        .map_err(|error| Error::failed(format!("cannot start {}: {error}", real.display())))
}

/// The first `argc` on the PATH that is not this program.
fn real_argc() -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let path = std::env::var_os("PATH")?;
    let is_program = |file: &PathBuf| {
        let meta = file.metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path)
        .map(|folder| folder.join("argc"))
        .find(|file| is_program(file) && file.canonicalize().ok() != own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_it_says_is_that_of_the_library() {
        let lock = include_str!("../../Cargo.lock");
        assert!(lock.contains(&format!("name = \"argc\"\nversion = \"{VERSION}\"")));
    }

    #[test]
    fn it_is_meant_by_its_name_alone() {
        let meant = |name: &str| is_meant(&[name.into()]);
        assert!(meant("argc") && meant("/run/x/argc"));
        assert!(!meant("toolhost") && !meant("argc/toolhost") && !is_meant(&[]));
    }
}
