//! The syntax of a Bash script, as Bash itself sees it: a script that is run once a call shows a slip of the pen only when
//! it is called.

use std::future::poll_fn;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use crate::adapter::script::Language;
use crate::config::{Kind, ToolboxConfig};
use crate::process::ProcessEvent;
use crate::process::capture::Stdout;
use crate::process::guard::Guard;
use crate::process::spawn::{Environment, Program, spawn, windows_line_ends};

/// Far more than reading a script takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lines of it that are shown; the first names the one to mend.
const SHOWN: usize = 3;

/// What `bash -n` says of the script of a toolbox, if that is one of Bash.
pub(super) async fn fault(config: &ToolboxConfig, guard: &Guard) -> Option<String> {
    let Kind::Script(script) = &config.kind else {
        return None;
    };
    if Language::of(&script.path) != Some(Language::Bash) || !script.path.is_file() {
        return None;
    }
    // Bash that cannot be started is told where the script is.
    message(&script.path, config, guard).await
}

async fn message(script: &Path, config: &ToolboxConfig, guard: &Guard) -> Option<String> {
    let argv = ["bash", "-n", "--", script.to_str()?].map(str::to_owned).to_vec();
    let program = Program {
        argv,
        cwd: config.cwd.clone(),
        // Without the toolbox's own: BASH_ENV names a script that would be run.
        // In English, whatever the host speaks, for `in_place`.
        environment: Environment::of_toolbox(&config.id, std::env::vars_os(), &[], &Default::default())
            .with([("LC_ALL", "C")]),
        stdout: Stdout::Whole(0),
        input: Bytes::new(),
        requires: Vec::new(),
        confinement: None,
    };
    let mut process = spawn(&program, guard).await.ok()?;
    process.close_stdin();
    let mut said = Vec::new();
    let mut windows = false;
    let ended = async {
        loop {
            match poll_fn(|cx| process.poll_event(cx)).await {
                ProcessEvent::Stderr(line) => {
                    let line = String::from_utf8_lossy(&line).into_owned();
                    windows |= line.contains('\r') || line.contains("\\r");
                    said.push(line);
                }
                ProcessEvent::Exited(exit) => return exit,
                _ => {}
            }
        }
    };
    let exit = timeout(PATIENCE, ended).await.ok()?;
    if exit.is_success() {
        return None;
    }
    let hint = if windows { windows_line_ends() } else { "" };
    said.truncate(SHOWN);
    let (first, rest) = said.split_first()?;
    let mut fault = format!("{}{hint}", in_place(first, script));
    for line in rest {
        fault.push_str(&format!("\n{}", in_place(line, script)));
    }
    Some(fault)
}

/// `x.sh: line 3: syntax error` as `x.sh:3: syntax error`, the way every other place is written.
fn in_place(message: &str, script: &Path) -> String {
    let script = script.display().to_string();
    let rest = message.strip_prefix(&format!("{script}: line "));
    match rest.and_then(|rest| rest.split_once(": ")) {
        Some((line, what)) => format!("{script}:{line}: {what}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Output, Script};

    #[tokio::test]
    async fn a_slip_in_a_bash_script_is_named_with_its_line() {
        let folder = std::env::temp_dir().join(format!("toolhost-bash-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let of = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            let script = Script {
                path,
                python: None,
                concurrent: None,
                output: Output::Text,
            };
            ToolboxConfig::new("x", Kind::Script(script), &folder)
        };
        let guard = Guard::of_this_process();
        let good = of("good.sh", "#!/bin/bash\n# @cmd Greets.\nhello() { echo hi; }\n");
        assert_eq!(fault(&good, &guard).await, None);
        let bad = of("bad.sh", "#!/bin/bash\nhello() {\n  if true; then\n}\n");
        let said = fault(&bad, &guard).await.unwrap();
        assert!(said.contains("bad.sh:4: syntax error"), "{said}");
        let python = of("bad.py", "def f(:\n");
        assert_eq!(fault(&python, &guard).await, None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
