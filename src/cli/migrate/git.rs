//! Whether git has what stands in a file, so that a rewriting can be undone.

use std::future::poll_fn;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use crate::process::ProcessEvent;
use crate::process::capture::Stdout;
use crate::process::guard::Guard;
use crate::process::spawn::{Environment, Program, spawn};

/// Far more than git takes for one file.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of its answer that are read: one file is a line.
const LONGEST: usize = 64 * 1024;

/// What keeps `path` from being rewritten; `None` where git has it as it is.
pub(super) async fn obstacle(path: &Path) -> Option<&'static str> {
    let Ok(path) = path.canonicalize() else {
        return Some("it is gone");
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Some("its name is none that git could be asked for");
    };
    let argv = [
        "git",
        // A question runs none of the programs that a repository may name for it.
        "-c",
        "core.fsmonitor=false",
        "--literal-pathspecs",
        "status",
        "--porcelain",
        "--ignored",
        "--untracked-files=all",
        "--",
        name,
    ];
    match run(&argv, folder).await {
        None => Some("git could not be asked whether it has the file as it is"),
        Some((false, _)) => Some("it is in no git repository, so nothing could bring it back"),
        Some((true, said)) if said.is_empty() => None,
        Some((true, said)) if said.starts_with("??") || said.starts_with("!!") => {
            Some("git does not have it, so nothing could bring it back")
        }
        Some(_) => Some("it has changes that are not committed"),
    }
}

/// Whether a program ended well, and what it wrote.
async fn run(argv: &[&str], folder: &Path) -> Option<(bool, String)> {
    let program = Program {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        cwd: folder.to_owned(),
        environment: Environment::of_toolbox("git", std::env::vars_os(), &[], &Default::default())
            // It would write the index, which a question must not.
            .with([("GIT_OPTIONAL_LOCKS", "0"), ("LC_ALL", "C")]),
        stdout: Stdout::Whole(LONGEST),
        input: Bytes::new(),
        requires: Vec::new(),
        confinement: None,
    };
    let mut process = spawn(&program, &Guard::of_this_process()).await.ok()?;
    process.close_stdin();
    let ended = async {
        loop {
            if let ProcessEvent::Exited(exit) = poll_fn(|cx| process.poll_event(cx)).await {
                return exit;
            }
        }
    };
    let exit = timeout(PATIENCE, ended).await.ok()?;
    let said = String::from_utf8_lossy(&process.take_output()).into_owned();
    Some((exit.is_success(), said))
}
