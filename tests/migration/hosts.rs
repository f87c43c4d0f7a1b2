//! Hosts of one toolbox `wn` with one tool `shout`, of every kind there is on a bus, and how often the tool has run.

use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::common::caller::Caller;
use crate::common::host::{Host, fixture};
use crate::common::peers::{RealBus, old_python_path, python_command};

pub(crate) const TOOLBOX: &str = "wn";

/// What hosts the toolbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// ovos-plugin-manager 2.12.5a1, which knows the predecessor only.
    Old,
    /// ovos-plugin-manager 3.1.0a1.
    Both,
    /// toolhost.
    Toolhost,
    /// toolhost with `predecessor_topics: ignore`.
    Ignoring,
}

/// One of them, running.
pub(crate) enum Hosting {
    Python(Child),
    Toolhost(Box<Host>),
}

impl Hosting {
    /// Starts it, and waits until it answers.
    pub(crate) async fn start(kind: Kind, bus: &RealBus, caller: &mut Caller) -> Self {
        if let Kind::Old | Kind::Both = kind {
            let mut command = python_command(bus.folder());
            if kind == Kind::Old {
                command.env("PYTHONPATH", old_python_path());
            }
            let runs = runs_file(bus);
            command
                .arg(fixture("toolbox_host.py"))
                .args([&bus.port().to_string(), TOOLBOX, &runs]);
            let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let hosting = Self::Python(child.expect("it starts"));
            // Its own word that it is on the bus.
            caller.hear_topic("test.toolbox_host.ready").await;
            return hosting;
        }
        let config = json!({"bus": {"url": bus.url()}, "toolboxes": {TOOLBOX: toolbox(kind, bus)}});
        Self::Toolhost(Box::new(Host::start(&config).await))
    }

    pub(crate) fn end(&mut self) {
        if let Self::Python(child) = self {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl Drop for Hosting {
    fn drop(&mut self) {
        self.end();
    }
}

/// The toolbox, as toolhost hosts it.
pub(crate) fn toolbox(kind: Kind, bus: &RealBus) -> Value {
    let policy = if kind == Kind::Ignoring { "ignore" } else { "answer" };
    json!({
        "command": ["python3", fixture("shout.py")],
        "config": {"runs_file": runs_file(bus)},
        "predecessor_topics": policy,
    })
}

fn runs_file(bus: &RealBus) -> String {
    bus.folder().join("runs").display().to_string()
}

/// How often the tool has run on this bus.
pub(crate) fn runs(bus: &RealBus) -> usize {
    std::fs::read_to_string(runs_file(bus))
        .unwrap_or_default()
        .lines()
        .count()
}
