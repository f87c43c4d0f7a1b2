//! What a host knows of the two call topics, told from how it answers discover. Pure.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::{self, Kind};

/// What the definitions of a discover answer betray.
///
/// OVOS-TOOLS-1 brought the static topic (§4.2) and the `toolbox_id` of every definition (§3) together, and so did the
/// shipped hosts: ovos-plugin-manager has neither up to 3.0.0a1 and both from 3.0.1a1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// A host from before OVOS-TOOLS-1: it answers the predecessor topic only.
    Old,
    /// A host that answers the replacement, and perhaps the predecessor too.
    New,
}

/// The sign in `tools`, the JSON array of a discover answer; `None` where it holds no definition.
pub fn sign(tools: &RawValue) -> Option<Sign> {
    let tools: Vec<&RawValue> = serde_json::from_str(tools.get()).ok()?;
    let mut definitions = tools.iter().filter(|tool| json::kind(tool) == Kind::Object).peekable();
    definitions.peek()?;
    let has_id = |tool: &&&RawValue| json::member(tool.get(), "toolbox_id").is_some();
    Some(if definitions.all(|tool| has_id(&tool)) {
        Sign::New
    } else {
        Sign::Old
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_by_its_definitions() {
        let table = [
            (r#"[{"name":"x"}]"#, Some(Sign::Old)),
            (r#"[{"name":"x","toolbox_id":"wn"}]"#, Some(Sign::New)),
            (r#"[{"name":"x","toolbox_id":"wn"},{"name":"y"}]"#, Some(Sign::Old)),
            (r#"[{"name":"x","toolbox_id":null}]"#, Some(Sign::New)),
            ("[]", None),
            ("[5]", None),
            ("{}", None),
            ("null", None),
        ];
        for (tools, expected) in table {
            let raw: &RawValue = serde_json::from_str(tools).unwrap();
            assert_eq!(sign(raw), expected, "{tools}");
        }
    }
}
