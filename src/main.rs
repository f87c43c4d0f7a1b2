//! argv to one command to an exit code; nothing else.

fn main() {}
