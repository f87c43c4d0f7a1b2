//! Scripts, hosted.

use serde_json::{Map, Value, json};

use crate::common::caller::{Caller, LIST};
use crate::common::embedded::Embedded;
use crate::common::host::Host;
use crate::common::scratch::Scratch;

/// Scripts in a folder of their own, hosted.
pub(crate) struct Scripts {
    pub(crate) scripts: Scratch,
    _bus: Embedded,
    pub(crate) host: Host,
    pub(crate) caller: Caller,
}

impl Scripts {
    /// Hosts files of these names and texts, each as the toolbox of its name without the ending.
    pub(crate) async fn host(files: &[(&str, &str)]) -> Self {
        Self::host_with(files, &json!({})).await
    }

    /// The same, with further keys for each toolbox.
    pub(crate) async fn host_with(files: &[(&str, &str)], keys: &Value) -> Self {
        Self::host_beside(&[], files, keys).await
    }

    /// The same, beside files that are no toolboxes.
    pub(crate) async fn host_beside(others: &[(&str, &str)], files: &[(&str, &str)], keys: &Value) -> Self {
        let scripts = Scratch::new();
        for (name, text) in others.iter().chain(files) {
            let path = scripts.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        Self::host_in(scripts, &names, keys).await
    }

    /// Hosts files of these names, which lie in the folder.
    pub(crate) async fn host_in(scripts: Scratch, names: &[&str], keys: &Value) -> Self {
        let mut toolboxes = Map::new();
        for name in names {
            let path = scripts.path().join(name);
            let mut toolbox = keys.clone();
            toolbox["script"] = json!(path);
            let id: String = name.trim_end_matches(".py").replace(['.', ' '], "_");
            toolboxes.insert(id, toolbox);
        }
        let bus = Embedded::start().await;
        let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
        let caller = Caller::connect(&bus.url).await;
        Self {
            scripts,
            _bus: bus,
            host,
            caller,
        }
    }

    pub(crate) async fn call(&mut self, toolbox_id: &str, name: &str, kwargs: Value) -> Result<Value, String> {
        self.caller.call(toolbox_id, name, &kwargs).await
    }

    /// The tools of a toolbox.
    pub(crate) async fn tools(&mut self, toolbox_id: &str) -> Vec<String> {
        let listed = self.caller.ask(LIST, &json!({})).await;
        let tools = listed["tools"].as_array().unwrap().iter();
        let own = tools.filter(|tool| tool["toolbox_id"] == toolbox_id);
        own.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The one tool of a toolbox.
    pub(crate) async fn tool(&mut self, toolbox_id: &str) -> Value {
        let listed = self.caller.ask(LIST, &json!({})).await;
        let mut tools = listed["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["toolbox_id"] == toolbox_id).unwrap().clone()
    }
}
