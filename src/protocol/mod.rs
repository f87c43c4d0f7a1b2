//! The wire of the stdio protocol, version 1: what the host writes, what a toolbox answers.
//!
//! The authority is the text in the top-level folder `protocol/`; these types follow it, and a
//! test fails when one changes without the other. Pure: text in, values out. Nothing here reads,
//! writes, waits or keeps state, so that transcripts exercise all of it.

pub mod answer;
pub mod describe;
pub mod parameters;
pub mod request;
pub mod transcript;

/// The version of the protocol the host speaks.
pub const VERSION: u32 = 1;
