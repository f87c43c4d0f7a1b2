//! Tests that cannot be run everywhere.

use std::io::Write as _;

/// Says that something is not tested here, and why. The runner keeps what the macros print of a test that passes to
/// itself; this is shown, by `.config/nextest.toml` too.
pub(crate) fn skipped(why: &str) {
    writeln!(std::io::stderr(), "skipped: {why}").ok();
}
