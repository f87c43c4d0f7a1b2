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
