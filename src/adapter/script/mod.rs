//! Scripts of their owners, as tools.

pub mod argc;
