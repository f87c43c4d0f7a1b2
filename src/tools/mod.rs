//! Tools as they are published: names, definitions, schemas, and how a call ends. Pure.

pub mod arguments;
pub mod catalog;
mod glob;
pub mod outcome;
pub mod schema;
pub mod template;
pub mod tool;
