//! `toolhost migrate scan`: what it finds, what it says, what it rewrites.

#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod files;
mod fixing;
mod formats;
mod peers;
mod scan;
