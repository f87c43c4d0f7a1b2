//! Python scripts: which interpreter, and how it gets the runner.

use bytes::Bytes;

use super::shebang::Shebang;
use super::{Language, argument};
use crate::config::Script;
use crate::process::spawn::Program;

/// Reads the runner from stdin and lets it serve the script. Short, because `ps` shows it.
const BOOT: &str = include_str!("boot.py");

const RUNNER: &str = include_str!("../../../protocol/toolhost.py");

/// Starts the interpreter with the runner as its first input.
pub(super) fn program(script: &Script, bare: &Program) -> Program {
    let mut argv = interpreter(script);
    argv.extend(["-c".to_owned(), BOOT.trim_end().to_owned(), RUNNER.len().to_string()]);
    argv.extend([argument(&script.path), script.concurrent.to_string()]);
    Program {
        argv,
        input: Bytes::from_static(RUNNER.as_bytes()),
        ..bare.clone()
    }
}

/// A particular interpreter in the first line is what the script needs. The usual one gives way to `python:`, which
/// somebody wrote for this installation.
fn interpreter(script: &Script) -> Vec<String> {
    let asked = Shebang::of(&script.path);
    let asked = asked.filter(|shebang| Language::of_interpreter(shebang.interpreter()) == Some(Language::Python));
    match (asked, &script.python) {
        (Some(shebang), Some(_)) if !shebang.is_usual() => shebang.argv().to_vec(),
        (_, Some(python)) if python.is_dir() => vec![argument(&python.join("bin/python"))],
        (_, Some(python)) => vec![argument(python)],
        (Some(shebang), None) => shebang.argv().to_vec(),
        (None, None) => vec!["python3".to_owned()],
    }
}
