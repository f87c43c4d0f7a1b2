//! The tools of forwarded toolboxes under their flat names (OVOS-TOOLS-1 §5), as their hosts' answers to discover told them.

use serde_json::value::RawValue;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::{Asked, Asker, Next, Weight};
use crate::bus::bridge::{Bridge, Inner, Outgoing, lock};
use crate::bus::mapping::{Answer, Name, echo};
use crate::bus::message::Message;
use crate::bus::status::count;
use crate::bus::toolboxes::Toolboxes;
use crate::json::{self, Kind, Members, Text, push_string};
use crate::tools::outcome::CallError;

/// The definitions in `tools`, by name, each with its `toolbox_id` (§3), which older hosts leave out.
pub(super) fn definitions(tools: &RawValue, toolbox_id: &str) -> Vec<(String, Text)> {
    let tools: Vec<&RawValue> = serde_json::from_str(tools.get()).unwrap_or_default();
    let objects = tools
        .into_iter()
        .filter(|tool| json::kind(tool) == Kind::Object && json::fit_to_send(tool.get()).is_ok());
    let named = |tool: &RawValue| {
        let definition = Members::parse(tool.get()).ok()?;
        let name = json::string(definition.get("name")?)?.into_owned();
        Some((name, Text::from(owned(&definition, toolbox_id))))
    };
    objects.filter_map(named).collect()
}

fn owned(definition: &Members<'_>, toolbox_id: &str) -> String {
    let mut out = String::from("{");
    for (key, value) in definition.iter().filter(|(key, _)| *key != "toolbox_id") {
        push_string(&mut out, key);
        out.push(':');
        out.push_str(value.get());
        out.push(',');
    }
    out.push_str("\"toolbox_id\":");
    push_string(&mut out, toolbox_id);
    out.push('}');
    out
}

impl<T: Toolboxes, O: Outgoing> Inner<T, O> {
    /// Every definition: of the toolboxes hosted here, then of those forwarded.
    pub(in crate::bus::bridge) fn list_all(&self) -> Text {
        let hosted = self.toolboxes.list();
        let carrier = lock(&self.carrier);
        if carrier.table.values().all(|entry| entry.tools.is_empty()) {
            return hosted;
        }
        let mut ids: Vec<&String> = carrier.table.keys().collect();
        ids.sort();
        let mut out = hosted.as_str().strip_suffix(']').unwrap_or("[").to_owned();
        for (_, definition) in ids.into_iter().flat_map(|id| &carrier.table[id].tools) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(definition.as_str());
        }
        out.push(']');
        Text::from(out)
    }

    /// The forwarded toolbox that owns a flat name; `None` where none does, and the hosted ones are to be asked.
    fn forwarded_owner(&self, name: &str) -> Result<Option<String>, CallError> {
        let mut owners: Vec<String> = {
            let carrier = lock(&self.carrier);
            let owning = carrier
                .table
                .iter()
                .filter(|(_, entry)| entry.tools.iter().any(|(tool, _)| tool == name));
            owning.map(|(id, _)| id.clone()).collect()
        };
        if owners.is_empty() {
            return Ok(None);
        }
        owners.sort();
        let mut all = match self.toolboxes.get(name) {
            Ok(definition) => {
                let owner = json::member(definition.as_str(), "toolbox_id").and_then(json::string);
                vec![owner.unwrap_or_default().into_owned()]
            }
            Err(CallError::UnknownTool(_)) => Vec::new(),
            Err(CallError::Ambiguous { owners, .. }) => owners,
            Err(other) => return Err(other),
        };
        if all.is_empty() && owners.len() == 1 {
            return Ok(owners.pop());
        }
        all.append(&mut owners);
        Err(CallError::Ambiguous {
            name: name.to_owned(),
            owners: all,
        })
    }

    /// One definition by its flat name.
    pub(in crate::bus::bridge) fn get_any(&self, name: &str) -> Result<Text, CallError> {
        let Some(owner) = self.forwarded_owner(name)? else {
            return self.toolboxes.get(name);
        };
        let carrier = lock(&self.carrier);
        let tools = carrier.table.get(&owner).map(|entry| &entry.tools);
        let found = tools.and_then(|tools| tools.iter().find(|(tool, _)| tool == name));
        found
            .map(|(_, definition)| definition.clone())
            .ok_or_else(|| CallError::UnknownTool(name.to_owned()))
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// A call by a flat name that a forwarded toolbox owns; whether it was one.
    pub(in crate::bus::bridge) fn carry_flat(
        &self,
        message: &Message<'_>,
        whole: &Utf8Bytes,
        name: &Name,
        args: Option<&str>,
    ) -> bool {
        let Ok(asked_for) = name else { return false };
        if !self.carries() {
            return false;
        }
        let toolbox_id = match self.0.forwarded_owner(asked_for) {
            Ok(None) => return false,
            Ok(Some(toolbox_id)) => toolbox_id,
            Err(error) => {
                let (name, outcome) = (echo(name), &Err(error));
                self.answer(message, &Answer::Invoke { name, outcome });
                return true;
            }
        };
        let weight = Weight::new(whole.len(), &lock(&self.0.carrier).bytes);
        let asked = Asked {
            weight,
            data: payload(&toolbox_id, asked_for, args),
            name: asked_for.clone(),
            way: None,
            context: message.context_text.map(|text| Text::slice_of(whole.as_ref(), text)),
            asker: Asker::of(message),
            toolbox_id,
        };
        let next = {
            let carrier = lock(&self.0.carrier);
            let entry = carrier.table.get(&asked.toolbox_id);
            entry.map_or(Next::Forward, |entry| entry.carried.flat_call(carrier.now()))
        };
        count(&self.0.counters.handled);
        match next {
            Next::Hold(hold) => self.hold(hold, asked),
            Next::Forward => self.forward([asked]),
        }
        true
    }
}

/// The call that an invoke comes to: its `args` are `kwargs` there.
fn payload(toolbox_id: &str, name: &str, args: Option<&str>) -> String {
    let mut out = String::from("{\"toolbox_id\":");
    push_string(&mut out, toolbox_id);
    out.push_str(",\"name\":");
    push_string(&mut out, name);
    if let Some(args) = args {
        out.push_str(",\"kwargs\":");
        out.push_str(args);
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_older_hosts_get_the_toolbox_they_belong_to() {
        let tools =
            r#"[{"name":"x","argument_schema":{ "n" : 1.0 }},{"toolbox_id":"other","name":"y"},5,{"no":"name"}]"#;
        let raw: &RawValue = serde_json::from_str(tools).unwrap();
        let told: Vec<_> = definitions(raw, "wn")
            .into_iter()
            .map(|(name, text)| (name, text.as_str().to_owned()))
            .collect();
        let expected = [
            ("x", r#"{"name":"x","argument_schema":{ "n" : 1.0 },"toolbox_id":"wn"}"#),
            ("y", r#"{"name":"y","toolbox_id":"wn"}"#),
        ];
        assert_eq!(told, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn an_invoke_becomes_a_call() {
        assert_eq!(
            payload("wn", "x", Some("{\"a\": 1}")),
            r#"{"toolbox_id":"wn","name":"x","kwargs":{"a": 1}}"#
        );
        assert_eq!(payload("wn", "x", None), r#"{"toolbox_id":"wn","name":"x"}"#);
    }
}
