//! What holds for any input whatever: one law a reader, each a function of arbitrary bytes that panics where it is broken.
//!
//! They are used twice. `tests/properties/` plays some thousand mutants of real inputs to them, in every run of the tests;
//! the fuzz targets in `tests/fuzz/` let a fuzzer search for as long as one likes. None of them asserts a time: a fuzzer
//! and the runner of the tests both end what hangs.

pub mod answer;
pub mod bash;
pub mod control;
pub mod describe;
pub mod line;
pub mod message;
pub mod schema;
pub mod template;
pub mod usage;
pub mod yaml;

use serde_json::Value;

/// What stands between two parts of an input that has several: readable in a corpus, and found by a mutation.
pub const BETWEEN: &str = "\n---\n";

/// A value that must not be told: no input has it by chance.
pub const SECRET: &str = "s3cr3t";

/// An input of two parts, text both; the second is empty where there is one only.
fn two_parts(data: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(data).ok()?;
    Some(text.split_once(BETWEEN).unwrap_or((text, "")))
}

/// The value of a JSON text, where serde_json takes it. It has a private key that stands for another value.
fn value(text: &str) -> Option<Value> {
    if text.contains("$serde_json") {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Whether a text in an error is fit to be shown: words, on one line.
fn is_told_well(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}
