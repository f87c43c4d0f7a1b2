//! How the topics of a toolbox host are spelled (OVOS-TOOLS-1 §4 and §6), for all who write one. Pure.
//!
//! What a topic that was read stands for tells [`Topic::of`](crate::bus::topic::Topic::of).

/// What each of them begins with.
pub const PREFIX: &str = "ovos.persona.tools.";

/// Asks every host what it has (§4.1).
pub const DISCOVER: &str = "ovos.persona.tools.discover";

/// Calls a tool; which toolbox is meant says the payload (§4.2).
pub const CALL: &str = "ovos.persona.tools.call";

/// The topic on which a tool of `toolbox_id` was called before there was [`CALL`] (§6).
pub fn predecessor(toolbox_id: &str) -> String {
    format!("{PREFIX}{toolbox_id}.call")
}
