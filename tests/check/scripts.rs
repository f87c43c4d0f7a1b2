//! `toolhost check` of plain scripts: what is no tool, and why; what does not start.

use super::scratch::Scratch;
use super::{Checked, check_in};

/// Checks a configuration of one toolbox, `a`, whose `keys` name what is in `files`.
fn check_toolbox(files: &[(&str, &str)], keys: &str) -> Checked {
    let folder = Scratch::new();
    for (name, text) in files {
        folder.program(name, text);
    }
    folder.file("toolhost.yaml", &format!("toolboxes:\n  a: {{{keys}}}\n"));
    check_in(folder.path(), &["toolhost.yaml"])
}

#[test]
fn functions_of_a_python_script_that_are_no_tools_are_named_with_the_reason() {
    let text = "from __future__ import annotations\nclass Helper:\n  def __init__(self, a, b): pass\ndef good(n: int) -> int:\n  \
                'Good.'\n  return n\ndef human(n): pass\ndef b(x: Helper): pass\ndef c(x: Nope): pass\ndef main(): pass\n\
                def _own(n): pass\n";
    let checked = check_toolbox(&[("some.py", text)], "script: ./some.py");
    assert_eq!(checked.code, Some(0), "{}{}", checked.report, checked.stderr);
    for line in [
        "ok   a: 1 tool, good",
        "warning in describe: no tool: human: it has no type hint; give it one, or name it in TOOLS",
        "warning in describe: no tool: b: the parameter 'x': Helper",
        "warning in describe: no tool: c: the parameter 'x': Nope (NameError",
    ] {
        checked.shows(&[line]);
    }
    assert_eq!(checked.report.matches("no tool:").count(), 3, "{}", checked.report);
}

#[test]
fn functions_of_a_javascript_file_that_are_no_tools_are_named_with_the_reason() {
    let text = "/** Good. */\nexports.good = (n) => n\nexports.human = (n) => n\nexports.main = () => 0\n\
                /** Bad.\n * @param {Symbol} s A symbol. */\nexports.bad = (s) => 1\n";
    let checked = check_toolbox(&[("some.js", text)], "script: ./some.js");
    assert_eq!(checked.code, Some(0), "{}{}", checked.report, checked.stderr);
    checked.shows(&["ok   a: 1 tool, good"]);
    checked.shows(&["warning in describe: no tool: human: it has no JSDoc comment right before it; give it one, or"]);
    checked.shows(&["warning in describe: no tool: bad: 's': a Symbol cannot be written as JSON"]);
    assert_eq!(checked.report.matches("no tool:").count(), 2, "{}", checked.report);
}

#[test]
fn a_script_that_says_itself_which_functions_are_tools_is_not_told_of_the_others() {
    for (name, text) in [
        ("listed.py", "TOOLS = ['a']\ndef a(n: int): 'A.'\ndef b(n): pass\n"),
        ("all.py", "__all__ = ['a']\ndef a(n: int): 'A.'\ndef b(n): pass\n"),
        (
            "listed.js",
            "exports.a = (n) => n\nexports.b = (n) => n\nexports.TOOLS = ['a']\n",
        ),
    ] {
        let checked = check_toolbox(&[(name, text)], &format!("script: ./{name}"));
        checked.shows(&["ok   a: 1 tool, a"]);
        assert!(!checked.report.contains("no tool"), "{}", checked.report);
    }
}

#[test]
fn a_script_that_does_not_start_is_told_by_its_own_last_line_without_a_word_of_the_protocol() {
    let long = format!("def f(n: int): pass\nraise ValueError('{}')\n", "x".repeat(500));
    for (name, text, reason) in [
        ("syntax.py", "def f(:\n", "syntax.py, line 1"),
        (
            "import.py",
            "import no_such_module_at_all\n",
            "No module named 'no_such_module_at_all'",
        ),
        (
            "none.py",
            "def f(n): pass\n",
            "none.py has no tools: a tool is a public function with a type hint",
        ),
        ("long.py", &long, "(long.py, line 2)"),
        (
            "import.js",
            "require('no-such-package')\n",
            "Cannot find module 'no-such-package' (import.js:1)",
        ),
        (
            "none.js",
            "exports.f = (n) => n\n",
            "no tools: none of the exported functions (f) has a JSDoc comment",
        ),
    ] {
        let checked = check_toolbox(&[(name, text)], &format!("script: ./{name}"));
        assert_eq!(checked.code, Some(1), "{}{}", checked.report, checked.stderr);
        let first = checked.report.lines().nth(1).unwrap_or_default();
        assert!(
            first.starts_with("  fault in ") && first.contains(reason),
            "{name}: {}",
            checked.report
        );
        for useless in ["asked:", "wrote:", "should:", "exited instead"] {
            assert!(!checked.report.contains(useless), "{name}: {}", checked.report);
        }
    }
}

#[test]
fn what_a_program_says_on_stderr_is_not_cut_before_its_useful_half() {
    let text = format!("#!/bin/sh\necho '{} the-useful-half' >&2\nexit 3\n", "x".repeat(300));
    let checked = check_toolbox(&[("a.sh", &text)], "command: ./a.sh");
    assert!(checked.report.contains("the-useful-half"), "{}", checked.report);
}

#[test]
fn a_script_of_another_language_is_told_how_it_is_hosted() {
    for (name, text, language) in [
        ("count.pl", "#!/usr/bin/perl\nprint 1;\n", "perl"),
        ("b.ts", "export const a = 1\n", "TypeScript"),
    ] {
        let checked = check_toolbox(&[(name, text)], &format!("script: ./{name}"));
        let what = format!("fault in start: script takes Python, Bash and JavaScript; this is {language}");
        checked.shows(&[what.as_str()]);
        assert!(checked.report.contains(&format!("./{name}")), "{}", checked.report);
    }
}

#[test]
fn a_plain_script_under_command_is_told_to_be_a_script() {
    let text = "#!/usr/bin/env python3\ndef add(a: int, b: int) -> int:\n  return a + b\n";
    let hint = "hint:   a plain script? write `script: ./good.py` instead of `command:`";
    for keys in ["command: [python3, good.py]", "command: ./good.py"] {
        let checked = check_toolbox(&[("good.py", text)], keys);
        let hints: Vec<&str> = checked.report.lines().filter(|line| line.contains("hint:")).collect();
        assert!(
            hints
                .first()
                .is_some_and(|first| first.contains("good.py` instead of `command:`")),
            "{}",
            checked.report
        );
    }
    let folder = Scratch::new();
    folder.program("good.py", text);
    check_in(folder.path(), &["--", "./good.py"]).shows(&[hint]);
}

#[test]
fn a_declared_program_that_is_not_there_or_cannot_be_started_is_named() {
    let keys = "tools: {gone: {description: A., run: [./gone.sh]}, plain: {description: B., run: [./plain.sh]}, good: \
                {description: C., run: [./good.sh]}}";
    let folder = Scratch::new();
    folder.file("plain.sh", "#!/bin/sh\n");
    folder.program("good.sh", "#!/bin/sh\n");
    folder.file("toolhost.yaml", &format!("toolboxes:\n  a: {{{keys}}}\n"));
    let checked = check_in(folder.path(), &["--config", "toolhost.yaml"]);
    assert_eq!(checked.code, Some(1), "{}{}", checked.report, checked.stderr);
    assert!(
        checked.report.contains("/gone.sh' does not exist"),
        "{}",
        checked.report
    );
    assert!(
        checked.report.contains("/plain.sh' is not executable; try chmod +x"),
        "{}",
        checked.report
    );
    assert!(
        !checked.report.contains("good.sh") && !checked.report.contains("PATH"),
        "{}",
        checked.report
    );
}

#[test]
fn the_configuration_can_be_named_as_for_every_other_command() {
    let folder = Scratch::new();
    folder.program("a.py", "def f(n: int):\n  'F.'\n");
    folder.file("other.yaml", "toolboxes: {a: {script: ./a.py}}\n");
    let checked = check_in(folder.path(), &["--config", "other.yaml"]);
    checked.shows(&["ok   a: 1 tool, f"]);
    assert_eq!(
        check_in(folder.path(), &["--config", "other.yaml", "other.yaml"]).code,
        Some(2)
    );
    assert_eq!(
        check_in(folder.path(), &["--config", "other.yaml", "--", "./a.py"]).code,
        Some(2)
    );
}

#[test]
fn a_python_that_is_not_there_is_told_with_its_key_and_how_it_is_made() {
    let files = [("a.py", "def f(n: int): pass\n")];
    let checked = check_toolbox(&files, "script: ./a.py, python: ./noenv");
    checked.shows(&["fault in start: python: "]);
    assert!(
        checked.report.contains("/noenv does not exist") && checked.report.contains("`python3 -m venv /"),
        "{}",
        checked.report
    );
    let checked = check_toolbox(&files, "script: ./a.py, python: ./");
    assert!(
        checked.report.contains("is a folder without bin/python"),
        "{}",
        checked.report
    );
}
