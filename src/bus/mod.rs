//! The OVOS message bus: Messages, the topics of OVOS-TOOLS-1, a client and an embedded bus.
//!
//! Nothing here knows a process. What is called is behind [`toolboxes::Toolboxes`].
//!
//! A frame's way: [`topic`] tells whether it is for this host at all, [`message`] reads it once,
//! [`mapping`] says what it asks for, [`bridge`] asks the toolboxes and sends what [`mapping`] makes of
//! their answer. `topic`, `message`, `mapping`, [`mark`] and [`service`] do no IO, know no task and no clock.

mod batch;
pub mod bridge;
pub mod client;
mod derive;
pub mod embedded;
pub mod link;
mod malformed;
pub mod mapping;
pub mod mark;
pub mod message;
mod queue;
pub mod service;
pub mod status;
pub mod toolboxes;
pub mod topic;
pub mod who;
mod wire;
