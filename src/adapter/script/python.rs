//! Python scripts: which interpreter, and how it gets the runner.

use bytes::Bytes;

use super::shebang::Shebang;
use super::{Language, argument, kit};
use crate::config::Script;
use crate::process::spawn::Program;

/// Imports the runner from the folder where it lies: Python compiles it once, and not at each start.
const IMPORT: &str = include_str!("import.py");

/// Reads the runner from stdin, where it can lie nowhere.
const BOOT: &str = include_str!("boot.py");

/// Starts the interpreter with the runner, and the runner with the script. The texts are short, because `ps` shows them.
pub(super) fn program(script: &Script, bare: &Program) -> Program {
    // Behind a wall, or as another user, it may not get at the folder.
    let folder = match &bare.confinement {
        None => kit::folder(),
        Some(_) => Err("it is confined".to_owned()),
    };
    let (text, place, input) = match folder {
        Ok(folder) => (IMPORT, argument(&folder), Bytes::new()),
        Err(why) => {
            tracing::debug!(why, "Python gets its runner through stdin");
            (
                BOOT,
                kit::PYTHON.len().to_string(),
                Bytes::from_static(kit::PYTHON.as_bytes()),
            )
        }
    };
    let mut argv = interpreter(script);
    argv.extend(["-c".to_owned(), text.trim_end().to_owned(), place]);
    argv.push(argument(&script.path));
    argv.extend(script.concurrent.map(|calls| calls.to_string()));
    Program {
        argv,
        input,
        ..bare.clone()
    }
}

/// A particular interpreter in the first line is what the script needs. The usual one gives way to `python:`, which
/// somebody wrote for this installation.
fn interpreter(script: &Script) -> Vec<String> {
    let asked = Shebang::asking_for(Language::Python, &script.path);
    match (asked, &script.python) {
        (Some(shebang), Some(_)) if !shebang.is_usual() => shebang.argv().to_vec(),
        (_, Some(python)) if python.is_dir() => vec![argument(&python.join("bin/python"))],
        (_, Some(python)) => vec![argument(python)],
        (Some(shebang), None) => shebang.argv().to_vec(),
        (None, None) => vec!["python3".to_owned()],
    }
}

/// What is wrong with the path that `python:` names.
pub(super) fn fault(script: &Script) -> Option<String> {
    let python = script.python.as_ref().filter(|python| python.is_absolute())?;
    let shown = python.display();
    let made = "python3 -m venv";
    if !python.exists() {
        return Some(format!(
            "python: {shown} does not exist; it is a Python, or the folder of a virtual environment, which `{made} {shown}` \
             makes"
        ));
    }
    (python.is_dir() && !python.join("bin/python").exists()).then(|| {
        format!("python: {shown} is a folder without bin/python, no virtual environment; `{made} {shown}` makes it one")
    })
}
