//! toolhost: the toolbox host of OpenVoiceOS.

pub mod bus;
pub mod check;
pub mod cli;
pub mod config;
pub mod control;
pub mod daemon;
pub mod error;
pub mod json;
pub mod log_limit;
pub mod logging;
pub mod process;
pub mod protocol;
pub mod registry;
pub mod supervisor;
pub mod tools;
