//! The control socket: how the commands for one running host reach it.
//!
//! It is a Unix socket only its owner can use, since whoever reaches the bus, which is everyone,
//! is not to see or steer processes. It speaks lines of JSON, one verb a line: `{"verb": "status"}`
//! is answered `{"status": {...}}`, or `{"error": "why"}`.
//!
//! [`socket`] knows where it is and makes it, [`server`] answers on it, [`client`] asks,
//! [`verb`] is what can be asked, [`status`] and [`order`] are what is told.

pub mod client;
pub mod order;
pub mod server;
pub mod socket;
pub mod status;
pub mod verb;
