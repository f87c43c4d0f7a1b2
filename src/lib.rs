//! toolhost: the toolbox host of OpenVoiceOS.
//!
//! # Theory of operation
//!
//! A *toolbox* is a program that offers *tools*. toolhost starts it as a child process, asks it what
//! it offers and publishes that on the OVOS message bus. A Message that asks for a tool becomes one
//! line of JSON on the stdin of a child; the line that comes back becomes the answer.
//!
//! The [`bus`] knows Messages and no process, the [`supervisor`] processes and no Message; between
//! them stands the [`registry`], which finds the toolbox a call is for. Each toolbox is one task that
//! owns all its state. A call's answer is owed by whoever holds its [`ReplyTo`], which answers even
//! when it is dropped: every call is answered exactly once, whatever its toolbox does.
//!
//! # Map
//!
//! | module | holds |
//! |---|---|
//! | [`json`] | JSON as text: looked at, passed on, not rebuilt |
//! | [`protocol`] | the lines of the stdio protocol |
//! | [`tools`] | tools as published: names, schemas, how a call ends |
//! | [`config`] | the YAML file and `mycroft.conf` as values |
//! | [`confinement`] | what a program is held to: limits, a user, a sandbox |
//! | [`adapter`] | how each kind of toolbox is run |
//! | [`process`] | child processes: bytes, signals, exits |
//! | [`supervisor`] | one task a toolbox: processes, queue, deadlines, restarts |
//! | [`registry`] | the toolboxes of this host by id and by flat name |
//! | [`regular_file`] | files that others named: no pipe, no device |
//! | [`state_folder`] | what is kept from one run to the next |
//! | [`topics`] | how the topics of a toolbox host are spelled |
//! | [`bus`] | Messages and topics, the OVOS client, the embedded bus, the bridge |
//! | [`control`] | the control socket |
//! | [`migrate`] | off the predecessor topics: who uses them, who answers them, which source code still does |
//! | [`check`] | transcripts played at a toolbox |
//! | [`daemon`] | joins it all: start, signals, ordered stop |
//! | [`cli`] | what was typed, what is printed |
//! | [`logging`], [`log_limit`] | the log and a bound on it |
//! | [`error`] | what a command ends with |
//!
//! `ARCHITECTURE.md` follows one call through these files, and says where new things go.
//!
//! [`ReplyTo`]: tools::outcome::ReplyTo

pub mod adapter;
pub mod bus;
pub mod check;
pub mod cli;
pub mod config;
pub mod confinement;
pub mod control;
pub mod daemon;
pub mod error;
pub mod json;
pub mod log_limit;
pub mod logging;
pub mod migrate;
pub mod process;
pub mod protocol;
pub mod registry;
pub mod regular_file;
pub mod state_folder;
pub mod supervisor;
pub mod tools;
pub mod topics;
