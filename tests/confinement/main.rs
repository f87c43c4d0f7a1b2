//! What toolboxes are held to: limits, another user, a sandbox. The real program hosts them, real children run into it.
//!
//! What the machine cannot do is skipped, with a line that says so.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic, and one that is skipped says so"
)]

#[path = "../common/mod.rs"]
mod common;

mod escape;
mod escapes;
mod limits;
mod sandbox;
mod users;

use std::path::Path;

use serde_json::{Value, json};

use common::caller::Caller;
use common::embedded::Embedded;
use common::host::Host;
use common::scratch::Scratch;

/// A Python that every user may start, with its library below `/usr`.
const PYTHON: &str = "/usr/bin/python3";

/// A host of some toolboxes, and a caller.
struct Held {
    host: Host,
    caller: Caller,
    _bus: Embedded,
}

impl Held {
    async fn host(toolboxes: Value) -> Self {
        let bus = Embedded::start().await;
        let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
        let caller = Caller::connect(&bus.url).await;
        Self {
            host,
            caller,
            _bus: bus,
        }
    }

    async fn call(&mut self, toolbox_id: &str, tool: &str) -> Result<Value, String> {
        self.caller.call(toolbox_id, tool, &json!({})).await
    }

    /// What the command says, as one text.
    async fn output(&mut self, toolbox_id: &str, tool: &str) -> String {
        let result = self.call(toolbox_id, tool).await;
        let result = result.unwrap_or_else(|error| panic!("{toolbox_id}.{tool}: {error}"));
        result["output"].as_str().expect("an output").to_owned()
    }
}

/// A command that is a tool.
fn run(argv: &[&str]) -> Value {
    json!({"description": "d", "run": argv})
}

fn shell(line: &str) -> Value {
    json!({"description": "d", "shell": line})
}

/// A plain script in a folder of its own, which every user may enter.
fn script(folder: &Scratch, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a script");
    for path in [folder.path(), &path] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("rights for all");
    }
    path.to_str().expect("UTF-8").to_owned()
}

/// Whether a test may go on; else a line says what it needs.
fn can(test: &str, needs: &str, has: bool) -> bool {
    if !has {
        common::skipped::skipped(&format!("{test}: needs {needs}, which is not here"));
    }
    has
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

fn has_python(test: &str) -> bool {
    can(test, PYTHON, Path::new(PYTHON).exists())
}
