//! toolhost: the toolbox host of OpenVoiceOS.

pub mod bus;
pub mod cli;
pub mod config;
pub mod control;
pub mod error;
pub mod json;
pub mod logging;
pub mod tools;
