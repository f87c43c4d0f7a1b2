//! Tools as they are published: names, definitions, schemas, and how a call ends. Pure.

pub mod catalog;
pub mod outcome;
pub mod tool;
