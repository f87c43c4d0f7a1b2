//! The OVOS message bus: Messages, the topics of OVOS-TOOLS-1, a client and an embedded bus.
//!
//! Nothing here knows a process. What is called is behind [`toolboxes::Toolboxes`].

pub mod client;
pub mod embedded;
pub mod link;
pub mod toolboxes;
mod wire;
