//! toolhost: the toolbox host of OpenVoiceOS.

pub mod bus;
pub mod config;
pub mod json;
pub mod log_limit;
pub mod process;
pub mod protocol;
pub mod registry;
pub mod supervisor;
pub mod tools;
