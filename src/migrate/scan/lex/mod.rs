//! Text to tokens, a file a language. What they cannot read is passed over: a scan never fails.

mod javascript;
mod python;
mod quoted;
mod rust;
mod shell;
mod yaml;

use super::language::Language;
use super::token::Token;

/// The tokens of `text`.
pub(super) fn tokens(text: &str, language: Language) -> Vec<Token> {
    match language {
        Language::Python => python::tokens(text),
        Language::JavaScript | Language::Json | Language::Embedded => javascript::tokens(text, language),
        Language::Rust => rust::tokens(text),
        Language::Shell => shell::tokens(text),
        Language::Yaml => yaml::tokens(text),
        // Its prose has no tokens, and its code has a language of its own.
        Language::Markdown => Vec::new(),
    }
}
