//! JavaScript files: how Node gets the runner.

use bytes::Bytes;

use super::shebang::Shebang;
use super::{Language, argument};
use crate::config::Script;
use crate::process::spawn::Program;

/// Reads the runner from the pipe and lets it serve the script. Short, because `ps` shows it.
const BOOT: &str = include_str!("boot.js");

const RUNNER: &str = include_str!("../../../protocol/toolhost.mjs");

/// Node cannot move its own descriptors. The shell does before it becomes Node: the protocol is on 3 and 4, and a script
/// that reads stdin or prints, itself or through a child, finds nothing and the log.
const APART: &str = r#"exec "$@" 3<&0 4>&1 </dev/null 1>&2"#;

/// Starts the interpreter with the runner as its first input.
pub(super) fn program(script: &Script, bare: &Program) -> Program {
    let asked = Shebang::asking_for(Language::Node, &script.path);
    let mut requires = bare.requires.clone();
    // The shell would say no more than "not found".
    requires.push(asked.as_ref().map_or("node", Shebang::program).to_owned());
    let node = asked.map_or_else(|| vec!["node".to_owned()], |shebang| shebang.argv().to_vec());
    let mut argv: Vec<String> = ["/bin/sh", "-c", APART, "sh"].map(str::to_owned).to_vec();
    argv.extend(node);
    argv.extend(["-e".to_owned(), BOOT.trim_end().to_owned(), "--".to_owned()]);
    argv.extend([RUNNER.len().to_string(), argument(&script.path)]);
    argv.extend(script.concurrent.map(|calls| calls.to_string()));
    Program {
        argv,
        input: Bytes::from_static(RUNNER.as_bytes()),
        requires,
        ..bare.clone()
    }
}
