//! The first line of a script: which interpreter it asks for.

use std::io::Read;
use std::path::Path;

use super::Language;

/// No longer first line is read; the kernel itself stops at 256 bytes.
const LONGEST: u64 = 1024;

/// What stands behind `#!`, as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shebang(Vec<String>);

impl Shebang {
    /// The one of `script`; `None` where it has none, or cannot be read.
    pub(super) fn of(script: &Path) -> Option<Self> {
        let mut start = Vec::new();
        crate::regular_file::open(script)
            .ok()?
            .0
            .take(LONGEST)
            .read_to_end(&mut start)
            .ok()?;
        let line = start.split(|byte| *byte == b'\n').next()?;
        Self::parse(&String::from_utf8_lossy(line))
    }

    fn parse(line: &str) -> Option<Self> {
        let words = line.trim_start_matches('\u{feff}').strip_prefix("#!")?;
        let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        // `env -S` is there to split words, which is done here.
        let splits = |word: &String| word == "-S" || word == "--split-string";
        if words.first().is_some_and(|first| base(first) == "env") && words.get(1).is_some_and(splits) {
            words.remove(1);
        }
        (!words.is_empty()).then_some(Self(words))
    }

    /// The words that start the interpreter: itself, or `env` before it, and its options.
    pub(super) fn argv(&self) -> &[String] {
        &self.0
    }

    /// The interpreter as it is written, without an `env` before it: `python3`, `/bin/bash`.
    pub(super) fn program(&self) -> &str {
        let program = |word: &&String| !word.starts_with('-') && !word.contains('=');
        let mut words = self.0.iter().skip_while(|word| base(word) == "env").filter(program);
        words.next().map_or("", String::as_str)
    }

    /// Its name without the folder: `python3`, `bash`, `node`.
    pub(super) fn interpreter(&self) -> &str {
        base(self.program())
    }

    /// The one of `script`, where it asks for `language`.
    pub(super) fn asking_for(language: Language, script: &Path) -> Option<Self> {
        Self::of(script).filter(|shebang| Language::of_interpreter(shebang.interpreter()) == Some(language))
    }

    /// Whether it names the system's usual interpreter rather than a particular one: `env python3`, `/usr/bin/python3`.
    pub(super) fn is_usual(&self) -> bool {
        let [first, rest @ ..] = &self.0[..] else { return false };
        let usual = matches!(
            self.interpreter(),
            "python" | "python3" | "node" | "nodejs" | "bash" | "sh"
        );
        let folder = first.rsplit_once('/').map(|(folder, _)| folder);
        let through_env = base(first) == "env" && rest.first().is_some_and(|program| !program.contains('/'));
        usual && (through_env || matches!(folder, Some("/bin" | "/usr/bin" | "/usr/local/bin")))
    }
}

fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_told_from_what_is_around_them() {
        for (line, argv, interpreter, usual) in [
            ("#!/usr/bin/env python3", "/usr/bin/env python3", "python3", true),
            ("#! /usr/bin/python3 -s\r", "/usr/bin/python3 -s", "python3", true),
            (
                "#!/usr/bin/env -S python3 -X dev",
                "/usr/bin/env python3 -X dev",
                "python3",
                true,
            ),
            (
                "#!/usr/bin/env -S A=1 node --no-warnings",
                "/usr/bin/env A=1 node --no-warnings",
                "node",
                true,
            ),
            ("#!/usr/bin/python3 -S", "/usr/bin/python3 -S", "python3", true),
            ("#!/opt/venv/bin/python", "/opt/venv/bin/python", "python", false),
            (
                "#!/usr/bin/env python3.12",
                "/usr/bin/env python3.12",
                "python3.12",
                false,
            ),
            ("#!/bin/bash", "/bin/bash", "bash", true),
        ] {
            let shebang = Shebang::parse(line).unwrap();
            assert_eq!(shebang.argv().join(" "), argv);
            assert_eq!(
                (shebang.interpreter(), shebang.is_usual()),
                (interpreter, usual),
                "{line}"
            );
        }
        for line in ["", "#", "# python", "#!", "import os"] {
            assert_eq!(Shebang::parse(line), None, "{line}");
        }
    }
}
