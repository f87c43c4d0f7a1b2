//! `toolhost check CONFIG`: what works today and will bite later, each with its place.

use super::scratch::Scratch;
use super::{check_in, check_with};

/// A toolbox of these tools, as a Python program.
fn toolbox(tools: &str) -> String {
    format!(
        "#!/usr/bin/env python3\nimport json, sys\nfor line in sys.stdin:\n  if line.strip():\n    request = json.loads(line)\n    good = \
         {{'result': {{'tools': [{tools}]}}}} if request['op'] == 'describe' else {{'error': 'Unknown: no'}}\n    \
         print(json.dumps({{'id': request['id'], **good}}), flush=True)\n"
    )
}

#[test]
fn what_will_bite_later_is_a_warning_with_its_place_and_no_fault() {
    let folder = Scratch::new();
    folder.program(
        "a.py",
        &toolbox("{'name': 'define', 'description': 'A.', 'parameters': [{'name': 'word', 'type': 'string'}]}"),
    );
    folder.program("b.py", &toolbox("{'name': 'define'}"));
    folder.program("none.py", &toolbox(""));
    folder.file(
        "toolhost.yaml",
        "toolboxes:\n  a:\n    command: [./a.py, --token, \"${MY_TOKEN:-x}\"]\n  b:\n    command: [./b.py, --api-key=hunter2]\n  \
         none:\n    command: [./none.py]\n",
    );
    let checked = check_in(folder.path(), &["toolhost.yaml"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.report, checked.stderr);
    for line in [
        "ok   a: 1 tool, define",
        "warning in configuration: tool 'define' has a parameter 'word' without a description",
        "warning in configuration: toolhost.yaml:3:32: toolboxes.a.command: ${MY_TOKEN} is visible to every user",
        "ok   b: 1 tool, define",
        "warning in describe: tool 1 ('define') has no description",
        "warning in configuration: tool 'define' takes anything",
        "warning in configuration: tool 'define' is published by 'a' (toolhost.yaml:2) and 'b' (toolhost.yaml:4)",
        "warning in configuration: toolhost.yaml:5:23: toolboxes.b.command: the value of --api-key is visible",
        "ok   none",
        "warning in configuration: the toolbox has no tools (toolhost.yaml:6)",
    ] {
        checked.shows(&[line]);
    }
    assert!(!checked.report.contains("hunter2"), "{}", checked.report);
    assert_eq!(checked.report.matches("warning").count(), 7, "{}", checked.report);
}

#[test]
fn a_namespace_tells_equal_names_apart() {
    let folder = Scratch::new();
    folder.program(
        "a.py",
        &toolbox("{'name': 'define', 'description': 'A.', 'parameters': []}"),
    );
    folder.file(
        "toolhost.yaml",
        "toolboxes:\n  a: {command: ./a.py}\n  b: {command: ./a.py, namespace: b}\n",
    );
    let checked = check_in(folder.path(), &[]);
    assert_eq!(
        checked.report, "ok   a: 1 tool, define\nok   b: 1 tool, b_define\n",
        "{}",
        checked.stderr
    );
}

#[test]
fn a_file_without_toolboxes_is_worth_a_warning() {
    let folder = Scratch::new();
    folder.file("toolhost.yaml", "toolboxes:\n");
    let checked = check_in(folder.path(), &["toolhost.yaml"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    checked.shows(&[
        "ok   toolhost.yaml",
        "warning in configuration: toolhost.yaml:1:1: toolboxes: is empty: nothing is hosted",
    ]);
}

#[test]
fn declared_commands_and_scripts_are_looked_over_with_the_lines_they_stand_on() {
    let folder = Scratch::new();
    folder.file("bad.sh", "#!/usr/bin/env bash\n# @cmd Greets.\nhello() {\n  if true; then\n}\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n");
    folder.file(
        "toolhost.yaml",
        "toolboxes:\n  disk:\n    tools:\n      free:\n        parameters:\n          path: {type: string, default: /}\n          n: \
         {type: integer, examples: [many], description: How many.}\n        run: [df, \"{path}\", \"{n}\"]\n      gone:\n        \
         description: A.\n        run: [no-such-program, --token, \"${MY_TOKEN:-x}\"]\n  sh: {script: ./bad.sh}\n",
    );
    let checked = check_in(folder.path(), &["toolhost.yaml"]);
    assert_eq!(checked.code, Some(1), "{}{}", checked.report, checked.stderr);
    checked.shows(&["fault in start: tool 'gone' needs 'no-such-program'"]);
    checked.shows(&[
        "fault in describe: tool 1 ('free'): parameter 'n': its example 1 does not fit its own schema",
        r#"wrote:  {"examples":["many"]}"#,
        r#"should: {"examples":[1]}"#,
    ]);
    checked.shows(&["warning in configuration: tool 'free' has no description: a model cannot tell when to use it (toolhost.yaml:4)"]);
    checked.shows(&["warning in configuration: tool 'free' has a parameter 'path' without a description: a model has to guess its meaning (toolhost.yaml:6)"]);
    checked.shows(&[
        "warning in configuration: toolhost.yaml:11:41: toolboxes.disk.tools.gone.run: ${MY_TOKEN} is visible",
    ]);
    assert!(
        checked.report.contains("bad.sh:5: syntax error near"),
        "{}",
        checked.report
    );
}

#[test]
fn a_slip_in_a_bash_script_is_placed_whatever_language_the_system_speaks() {
    let folder = Scratch::new();
    // In place of Bash, as no test can count on its messages in another language being installed.
    folder.program(
        "bash",
        "#!/bin/sh\necho \"$3: ${LC_ALL:-zeile} 7: what it says\" | sed 's/ C / line /' >&2\nexit 2\n",
    );
    folder.file("a.sh", "# @cmd A\na() { :; }\n");
    folder.file("toolhost.yaml", "toolboxes: {sh: {script: ./a.sh}}\n");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let checked = check_with(folder.path(), &["toolhost.yaml"], |command| {
        command.env("PATH", path).env("LC_ALL", "de_DE.UTF-8");
    });
    assert!(checked.report.contains("a.sh:7: what it says"), "{}", checked.report);
}

#[test]
fn what_is_only_forwarded_is_counted() {
    let folder = Scratch::new();
    let text = |migrate: &str| {
        folder.file("toolhost.yaml", &format!("migrate: {migrate}\ntoolboxes: {{}}\n"));
        let checked = check_in(folder.path(), &["toolhost.yaml"]);
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""));
        checked.report
    };
    assert_eq!(
        text("{to_predecessor: [old], to_static: [new]}"),
        "forwards 2 toolboxes of other hosts, which are not checked: old, new\n"
    );
    assert_eq!(
        text("{to_static: [new]}"),
        "forwards 1 toolbox of another host, which is not checked: new\n"
    );
    assert_eq!(text("{}"), "no toolboxes\n");
}
