//! Callers and hosts of the predecessor topics (OVOS-TOOLS-1 §6) in source code. Pure: text in, findings and texts out.
//!
//! A text is cut into tokens (`lex`), strings are put together from what is written around them (`fold`, `code`), and what
//! comes to a topic (`topic`) is judged by where it stands (`place`, `payload`). `fix` says how the certain ones are
//! rewritten, `rewrite` does it, `report` writes what was found.

mod code;
mod embedded;
mod find;
mod finding;
mod fix;
mod fold;
mod language;
mod lex;
mod markdown;
mod payload;
mod place;
pub mod report;
pub mod rewrite;
mod template;
mod token;
mod topic;
mod waits;

pub use finding::{Edit, Finding, What};
pub use language::Language;
pub use place::Kind;

/// What is found in `text`, in the order of the text.
pub fn scan(text: &str, language: Language) -> Vec<Finding> {
    find::findings(text, language, find::DEPTH)
}
