//! Plain scripts (`script:`) of every language: their owners', unchanged; what every value comes to; how Bash ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

#[path = "../common/mod.rs"]
mod common;

mod bash;
mod bash_needs;
mod owners;
mod schemas;
mod values;

use std::path::Path;

use serde_json::{Map, Value, json};

use common::caller::{Caller, DISCOVER, LIST};
use common::embedded::Embedded;
use common::host::Host;
use common::scratch::Scratch;

/// Scripts in a folder of their own, hosted beside a healthy neighbor.
struct Scripts {
    folder: Scratch,
    host: Host,
    caller: Caller,
    _bus: Embedded,
}

const NEIGHBOR: &str = "# @describe Says hello\n# @arg name!\nmain() { echo \"hello $argc_name\"; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";

impl Scripts {
    /// Hosts files of these names and texts, each as the toolbox of its name without the ending, with `keys`.
    async fn host(files: &[(&str, &str)], keys: &Value) -> Self {
        let folder = Scratch::new();
        let mut toolboxes = Map::new();
        for (name, text) in files.iter().chain(&[("neighbor.sh", NEIGHBOR)]) {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let (id, _) = name.rsplit_once('.').unwrap();
            let mut toolbox = if *name == "neighbor.sh" {
                json!({})
            } else {
                keys.clone()
            };
            toolbox["script"] = json!(path);
            toolboxes.insert(id.to_owned(), toolbox);
        }
        Self::start(folder, &json!(toolboxes)).await
    }

    async fn start(folder: Scratch, toolboxes: &Value) -> Self {
        let bus = Embedded::start().await;
        let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
        let caller = Caller::connect(&bus.url).await;
        Self {
            folder,
            host,
            caller,
            _bus: bus,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    async fn call(&mut self, toolbox_id: &str, tool: &str, kwargs: Value) -> Result<Value, String> {
        self.caller.call(toolbox_id, tool, &kwargs).await
    }

    /// The neighbor answers, whatever goes on beside it.
    async fn neighbor_is_well(&mut self) {
        let said = self.call("neighbor", "neighbor", json!({"name": "Ada"})).await;
        assert_eq!(said, Ok(json!({"output": "hello Ada\n"})));
    }

    /// The names of the tools of a toolbox.
    async fn tools(&mut self, toolbox_id: &str) -> Vec<String> {
        let listed = self.caller.ask(LIST, &json!({})).await;
        let tools = listed["tools"].as_array().unwrap().iter();
        let own = tools.filter(|tool| tool["toolbox_id"] == toolbox_id);
        own.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The same, from the answers to the next discover.
    async fn discovered(&mut self, toolbox_id: &str) -> Vec<String> {
        let token = self.caller.send(DISCOVER, &json!({})).await;
        let answers = self.caller.wait(&token, 2).await;
        let own = answers
            .iter()
            .find(|answer| answer["toolbox_id"] == toolbox_id)
            .unwrap();
        let tools = own["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}
