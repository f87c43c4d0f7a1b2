//! The OVOS message bus: Messages, the topics of OVOS-TOOLS-1, a client and an embedded bus.
//!
//! Nothing here knows a process. What is called is behind [`toolboxes::Toolboxes`].

mod batch;
pub mod bridge;
pub mod client;
mod derive;
pub mod embedded;
pub mod link;
pub mod log_limit;
mod malformed;
pub mod mapping;
pub mod message;
pub mod service;
pub mod status;
pub mod toolboxes;
pub mod topic;
mod wire;
