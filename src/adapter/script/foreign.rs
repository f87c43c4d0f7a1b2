//! Scripts in a language that toolhost does not read by itself, and the ways in which it still hosts them.

use std::path::Path;

use super::shebang::Shebang;

/// Interpreters of other languages, as they stand in a first line.
const INTERPRETERS: &[&str] = &[
    "perl",
    "ruby",
    "awk",
    "gawk",
    "mawk",
    "php",
    "lua",
    "luajit",
    "deno",
    "bun",
    "ts-node",
    "tsx",
    "tclsh",
    "Rscript",
    "raku",
    "guile",
    "fish",
    "pwsh",
    "julia",
    "elixir",
    "escript",
    "osascript",
    "groovy",
    "sbcl",
];

/// What names of files end in, and what runs such a file.
const ENDINGS: &[(&str, &str)] = &[
    ("pl", "perl"),
    ("rb", "ruby"),
    ("awk", "awk"),
    ("php", "php"),
    ("lua", "lua"),
    ("tcl", "tclsh"),
    ("R", "Rscript"),
    ("r", "Rscript"),
    ("jl", "julia"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("ps1", "pwsh"),
];

/// The name of a foreign interpreter without its version: `ruby` of `ruby3.2`.
pub(super) fn of_interpreter(name: &str) -> Option<&'static str> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|known| **known == bare).copied()
}

/// What to do with `script`, where it is written in a language known here; `cwd` is the folder it is named from.
pub(super) fn why(script: &Path, cwd: &Path) -> Option<String> {
    let within = script.strip_prefix(cwd).map(|inner| format!("./{}", inner.display()));
    let shown = within.unwrap_or_else(|_| script.display().to_string());
    let ending = script
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let asked = Shebang::of(script).and_then(|shebang| of_interpreter(shebang.interpreter()));
    if matches!(ending, "ts" | "mts" | "cts" | "tsx") {
        return Some(typescript(&shown, asked));
    }
    let by_name = || {
        ENDINGS
            .iter()
            .find(|(known, _)| *known == ending)
            .map(|(_, program)| *program)
    };
    let language = asked.or_else(by_name)?;
    // Without a first line that names it, the interpreter has to be.
    let run = if asked.is_some() {
        shown.clone()
    } else {
        format!("{language}, {shown}")
    };
    Some(format!(
        "script takes Python, Bash and JavaScript; this is {language}: declare it under 'tools' as a command (run: [{run}, \
         ...]), or let it speak the protocol and write command: [{run}]"
    ))
}

fn typescript(shown: &str, runner: Option<&str>) -> String {
    let run = match runner {
        Some(_) => shown.to_owned(),
        None => format!("npx, tsx, {shown}"),
    };
    format!(
        "script takes Python, Bash and JavaScript; this is TypeScript: compile it and name the .js it becomes, declare it \
         under 'tools' as a command (run: [{run}, ...]), or let it speak the protocol and write command: [{run}]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::script::Language;

    #[test]
    fn a_script_of_another_language_is_told_how_it_can_be_hosted() {
        let folder = std::env::temp_dir().join(format!("toolhost-foreign-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text, part) in [
            (
                "count.pl",
                "#!/usr/bin/perl -w\n",
                "this is perl: declare it under 'tools' as a command (run: [./count.pl, ...])",
            ),
            (
                "bare.rb",
                "puts 1\n",
                "this is ruby: declare it under 'tools' as a command (run: [ruby, ./bare.rb, ...])",
            ),
            ("count", "#!/usr/bin/env php8.2\n", "this is php"),
            ("d.js", "#!/usr/bin/env -S deno run\n", "write command: [./d.js]"),
            (
                "t.ts",
                "export const a = 1\n",
                "this is TypeScript: compile it and name the .js",
            ),
        ] {
            let script = folder.join(name);
            std::fs::write(&script, text).unwrap();
            assert_eq!(Language::of(&script), None, "{name}");
            let why = why(&script, &folder).unwrap_or_default();
            assert!(why.contains(part), "{name}: {why}");
        }
        std::fs::write(folder.join("x.txt"), "").unwrap();
        assert_eq!(why(&folder.join("x.txt"), &folder), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
