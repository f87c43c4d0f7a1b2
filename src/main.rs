//! argv to one command to an exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolhost::cli::main(std::env::args_os(), &toolhost::daemon::Daemon)
}
