//! Which language a file is in, told by its name or its first line.

use std::path::Path;

/// A language that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript, with or without JSX.
    JavaScript,
    /// Rust.
    Rust,
    /// The shells whose quoting is that of POSIX: sh, Bash, Zsh, Ksh.
    Shell,
    /// YAML.
    Yaml,
    /// JSON, with the comments of `mycroft.conf`.
    Json,
    /// Markdown, and the code in its fences.
    Markdown,
    /// What stands inside a string: JSON, a jq program, a line of code.
    Embedded,
}

impl Language {
    /// By the name of the file; `None` where the name says nothing.
    pub fn of_name(path: &Path) -> Option<Self> {
        if path.file_name().is_some_and(|name| name == "mycroft.conf") {
            return Some(Self::Json);
        }
        Self::of_word(path.extension()?.to_str()?)
    }

    /// By the word behind the fence of a block in Markdown, or the extension of a file.
    pub fn of_word(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "py" | "pyi" | "pyw" | "python" | "python3" | "pycon" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "javascript" | "typescript" | "node" => {
                Self::JavaScript
            }
            "rs" | "rust" => Self::Rust,
            "sh" | "bash" | "zsh" | "ksh" | "bats" | "shell" | "console" | "shell-session" | "terminal" => Self::Shell,
            "yaml" | "yml" => Self::Yaml,
            "json" | "jsonc" | "json5" | "jsonl" | "ndjson" | "ipynb" => Self::Json,
            "md" | "markdown" | "mdx" => Self::Markdown,
            _ => return None,
        })
    }

    /// By `#!` in the first line, where the name has no extension.
    pub fn of_first_line(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("#!")?.split_whitespace();
        let program = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let mut name = program(words.next()?);
        if name == "env" {
            name = program(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
        }
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match name {
            "python" => Some(Self::Python),
            "node" | "nodejs" | "deno" | "bun" => Some(Self::JavaScript),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => Some(Self::Shell),
            _ => None,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Rust => "Rust",
            Self::Shell => "shell",
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
            Self::Embedded => "a string",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_name_or_its_first_line() {
        for (name, language) in [
            ("a/b.py", Some(Language::Python)),
            ("x.test.TSX", Some(Language::JavaScript)),
            ("build.rs", Some(Language::Rust)),
            ("mycroft.conf", Some(Language::Json)),
            ("other.conf", None),
            ("README", None),
            (".gitignore", None),
        ] {
            assert_eq!(Language::of_name(Path::new(name)), language, "{name}");
        }
        for (line, language) in [
            ("#!/usr/bin/env python3.11", Some(Language::Python)),
            ("#!/usr/bin/env -S FOO=1 node --x", Some(Language::JavaScript)),
            ("#!/bin/sh -e", Some(Language::Shell)),
            ("#! /usr/bin/perl", None),
            ("#!", None),
            ("import os", None),
        ] {
            assert_eq!(Language::of_first_line(line), language, "{line}");
        }
    }
}
