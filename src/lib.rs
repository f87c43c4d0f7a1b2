//! toolhost: the toolbox host of OpenVoiceOS.

pub mod bus;
pub mod config;
pub mod json;
pub mod protocol;
pub mod tools;
