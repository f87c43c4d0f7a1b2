//! shim
#![allow(missing_docs)]
use super::outcome::CallError;
use crate::json::Text;
use std::sync::Arc;
#[derive(Debug)]
pub struct Tool {
    name: String,
    definition: Text,
}
impl Tool {
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn own_name(&self) -> &str {
        &self.name
    }
    pub fn timeout(&self) -> Option<std::time::Duration> {
        None
    }
    pub fn definition(&self) -> &Text {
        &self.definition
    }
    pub fn prepare(&self, k: Option<&str>) -> Result<String, CallError> {
        Ok(k.unwrap_or("{}").to_owned())
    }
    pub fn check_output(&self, _: &str) -> Result<(), CallError> {
        Ok(())
    }
}
#[derive(Debug)]
pub struct ToolSet {
    tools: Vec<Arc<Tool>>,
    listing: Text,
}
impl Default for ToolSet {
    fn default() -> Self {
        Self {
            tools: vec![],
            listing: Text::from("[]".to_owned()),
        }
    }
}
impl ToolSet {
    pub fn publish(
        id: &str,
        d: &crate::protocol::describe::Description,
        _: &crate::config::Publish,
        _: bool,
    ) -> Result<Self, String> {
        let tools: Vec<Arc<Tool>> = d
            .tools
            .iter()
            .map(|t| {
                let mut t = t.clone();
                t["toolbox_id"] = id.into();
                Arc::new(Tool {
                    name: t["name"].as_str().unwrap_or("").into(),
                    definition: Text::from(&t),
                })
            })
            .collect();
        let l = serde_json::Value::Array(
            tools
                .iter()
                .map(|t| serde_json::from_str(t.definition.as_str()).unwrap_or_default())
                .collect(),
        );
        Ok(Self {
            tools,
            listing: Text::from(&l),
        })
    }
    pub fn get(&self, n: &str) -> Option<&Arc<Tool>> {
        self.tools.iter().find(|t| t.name == n)
    }
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.iter()
    }
    pub fn len(&self) -> usize {
        self.tools.len()
    }
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
    pub fn listing(&self) -> &Text {
        &self.listing
    }
    pub fn warnings(&self) -> impl Iterator<Item = String> + use<> {
        std::iter::empty()
    }
}
