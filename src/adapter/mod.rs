//! What stands before a program that does not speak the protocol.

pub mod script;
