//! `toolhost new`: what it writes works as it is, and what is there already stays as it was.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "common/scratch.rs"]
mod scratch;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use scratch::Scratch;

/// The languages, the endings of their files, and what a caller of `birthday` reads.
const LANGUAGES: [(&str, &str, &str); 3] = [
    ("python", "py", "LookupError: nobody called Bob is in the book"),
    ("bash", "sh", "LookupError: nobody called Bob is in the book"),
    ("node", "mjs", "Error: nobody called Bob is in the book"),
];

/// What one run of the program came to.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs `line` in `folder`, with nobody's configuration but that of the folder.
fn toolhost(folder: &Path, line: &str) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The same where it must succeed; gives what it printed.
fn good(folder: &Path, line: &str) -> String {
    let ran = toolhost(folder, line);
    assert_eq!(ran.code, Some(0), "toolhost {line}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// The names and texts of the files in `folder`.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), text(&path)))
        .collect()
}

/// The toolbox `greet` of `toolhost.yaml` is good, without a warning, and its tools answer.
fn greets(folder: &Path, fails_with: &str, in_output: bool) {
    assert_eq!(
        good(folder, "check toolhost.yaml"),
        "ok   greet: 2 tools, hello, birthday\n"
    );
    let shown = |text: &str| match in_output {
        true => format!("{{\"output\":\"{text}\\n\"}}\n"),
        false => format!("\"{text}\"\n"),
    };
    for (call, answer) in [
        ("hello", "Hello, world!"),
        ("hello name=Ada", "Hello, Ada!"),
        ("birthday name=Ada", "10 December"),
    ] {
        assert_eq!(
            good(folder, &format!("call --config toolhost.yaml greet {call}")),
            shown(answer)
        );
    }
    let failed = toolhost(folder, "call --config toolhost.yaml greet birthday name=Bob");
    assert_eq!(failed.code, Some(1));
    assert_eq!(
        failed.stderr.lines().next(),
        Some(format!("error: {fails_with}").as_str())
    );
}

#[test]
fn what_is_written_passes_the_check_as_it_is_and_its_entry_can_be_pasted() {
    for (language, ending, fails_with) in LANGUAGES {
        let scratch = Scratch::new();
        let folder = scratch.path();
        let entry = good(folder, &format!("new {language} greet"));
        assert_eq!(entry, format!("  greet:\n    command: [./greet.{ending}]\n"));
        let written: Vec<String> = files(folder).into_keys().collect();
        assert_eq!(written, [format!("greet.{ending}"), format!("toolhost.{ending}")]);
        let checked = good(folder, &format!("check -- ./greet.{ending}"));
        assert_eq!(checked, "ok   check: 2 tools, hello, birthday\n");
        fs::write(folder.join("toolhost.yaml"), format!("toolboxes:\n{entry}")).unwrap();
        greets(folder, fails_with, false);
    }
}

#[test]
fn a_plain_script_knows_nothing_of_toolhost_and_works_as_well() {
    for (language, ending, fails_with) in [LANGUAGES[0], LANGUAGES[2]] {
        let scratch = Scratch::new();
        let folder = scratch.path();
        assert_eq!(good(folder, &format!("new {language} greet --plain --add")), "");
        let written: Vec<String> = files(folder).into_keys().collect();
        assert_eq!(written, [format!("greet.{ending}"), "toolhost.yaml".to_owned()]);
        assert_eq!(
            files(folder)["toolhost.yaml"],
            format!("toolboxes:\n  greet:\n    script: ./greet.{ending}\n")
        );
        greets(folder, fails_with, false);
    }
}

#[test]
fn a_plain_bash_script_has_its_tools_in_comments() {
    let scratch = Scratch::new();
    let folder = scratch.path();
    good(folder, "new bash greet --plain --add");
    assert_eq!(
        files(folder)["toolhost.yaml"],
        "toolboxes:\n  greet:\n    script: ./greet.sh\n"
    );
    let fails_with = "CommandError: exit status 1: nobody called Bob is in the book";
    greets(folder, fails_with, true);
}

#[test]
fn commands_need_no_file() {
    let scratch = Scratch::new();
    let folder = scratch.path();
    let entry = good(folder, "new command greet");
    assert!(files(folder).is_empty());
    good(folder, "new command greet --add");
    assert_eq!(files(folder)["toolhost.yaml"], format!("toolboxes:\n{entry}"));
    assert_eq!(good(folder, "check"), "ok   greet: 2 tools, hello, weekday\n");
    let call = |call: &str| toolhost(folder, &format!("call --config toolhost.yaml greet {call}"));
    assert_eq!(call("hello").stdout, "{\"output\":\"Hello, world!\\n\"}\n");
    assert_eq!(call("hello name=Ada").stdout, "{\"output\":\"Hello, Ada!\\n\"}\n");
    assert!(call("weekday date=1815-12-10").stdout.starts_with("{\"output\":\"Sun"));
    assert!(
        call("weekday date=never")
            .stderr
            .starts_with("error: CommandError: exit status 1: date: ")
    );
}

#[test]
fn every_name_of_a_language_is_understood_and_another_is_told_which_there_are() {
    let scratch = Scratch::new();
    for (alias, ending) in [("py", "py"), ("sh", "sh"), ("js", "mjs"), ("javascript", "mjs")] {
        good(scratch.path(), &format!("new {alias} a_{alias} --plain"));
        assert!(scratch.path().join(format!("a_{alias}.{ending}")).exists());
    }
    let ran = toolhost(scratch.path(), "new pyton greet");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("[possible values: python, bash, node, command]"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("a similar value exists: 'python'"),
        "{}",
        ran.stderr
    );
}

#[test]
fn two_toolboxes_of_a_folder_share_the_helper() {
    for (language, ending, _) in LANGUAGES {
        let scratch = Scratch::new();
        good(scratch.path(), &format!("new {language} one --add"));
        let second = toolhost(scratch.path(), &format!("new {language} two --add"));
        let said = format!("wrote two.{ending}; toolhost.{ending} was there already\n");
        assert!(second.stderr.starts_with(&said), "{}", second.stderr);
        let checked = good(scratch.path(), "check");
        let fine = "ok   one: 2 tools, hello, birthday\nok   two: 2 tools, hello, birthday\n";
        assert!(checked.starts_with(fine), "{checked}");
        // Two of a kind have the same tools until one is edited, which is worth a word.
        let told = checked[fine.len()..].lines();
        assert!(
            told.clone().count() == 2 && told.clone().all(|line| line.contains("is published by 'one'")),
            "{checked}"
        );
    }
}

#[test]
fn the_commands_it_names_next_work() {
    let scratch = Scratch::new();
    for (line, commands) in [("new python greet", 1), ("new node greet --dir sub/it --add", 2)] {
        let said = toolhost(scratch.path(), line).stderr;
        let next: Vec<&str> = said
            .lines()
            .filter_map(|line| line.strip_prefix("  toolhost "))
            .collect();
        assert_eq!(next.len(), 2, "{said}");
        for command in &next[..commands] {
            good(scratch.path(), command);
        }
    }
}

#[test]
fn an_entry_finds_the_program_wherever_the_two_are() {
    for (line, entry) in [
        ("new py greet --dir tools/en --add", "./tools/en/greet.py"),
        ("new py greet --add conf/toolhost.yaml", "../greet.py"),
        ("new py greet --dir tools --add conf/toolhost.yaml", "../tools/greet.py"),
        (
            "new py greet --dir conf/../conf/in --add ./conf/toolhost.yaml",
            "./in/greet.py",
        ),
        (
            "new py greet --dir linked --add conf/toolhost.yaml",
            "../really/there/greet.py",
        ),
    ] {
        let scratch = Scratch::new();
        let folder = scratch.path();
        fs::create_dir(folder.join("conf")).unwrap();
        fs::create_dir_all(folder.join("really/there")).unwrap();
        symlink("really/there", folder.join("linked")).unwrap();
        good(folder, line);
        let config = if line.contains("conf/t") {
            "conf/toolhost.yaml"
        } else {
            "toolhost.yaml"
        };
        let text = fs::read_to_string(folder.join(config)).unwrap();
        assert_eq!(
            text,
            format!("toolboxes:\n  greet:\n    command: [{entry}]\n"),
            "{line}"
        );
        assert_eq!(
            good(folder, &format!("call --config {config} greet hello")),
            "\"Hello, world!\"
"
        );
    }
    let scratch = Scratch::new();
    let printed = good(scratch.path(), "new py greet --dir ./a/b/");
    assert_eq!(printed, "  greet:\n    command: [./a/b/greet.py]\n");
}

#[test]
fn a_name_that_is_a_python_module_takes_nothing_from_python() {
    for name in ["calendar", "json", "toolhost"] {
        let scratch = Scratch::new();
        let entry = good(scratch.path(), &format!("new python {name} --add"));
        assert_eq!(entry, "");
        assert!(scratch.path().join(format!("{name}_toolbox.py")).exists());
        assert_eq!(
            good(scratch.path(), "check"),
            format!("ok   {name}: 2 tools, hello, birthday\n")
        );
    }
}

/// A file with everything that could get lost.
const MINE: &str = "# My tools\r\nbus: embedded   # for now\r\n\r\ntoolboxes:\r\n\r\n    # The first\r\n    old: {tools: \
                    {hi: {description: Greets., run: [echo, hi]}}}   # old\r\n    # no: {command: [no]}\r\n\r\n\r\n# Further keys\r\ntool_service: auto";

#[test]
fn adding_changes_nothing_else_in_the_file_and_keeps_its_mode_and_its_links() {
    let scratch = Scratch::new();
    let folder = scratch.path();
    fs::create_dir(folder.join("real")).unwrap();
    let real = folder.join("real/mine.yaml");
    fs::write(&real, MINE).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/mine.yaml", folder.join("toolhost.yaml")).unwrap();
    let ran = toolhost(folder, "new bash greet --add");
    assert!(
        ran.stderr.contains("\ntoolhost.yaml:10: added 'greet'\n"),
        "{}",
        ran.stderr
    );
    let entry = "\r\n    greet:\r\n        command: [./greet.sh]\r\n";
    let (above, below) = MINE.split_at(MINE.find("\r\n\r\n# Further").unwrap());
    assert_eq!(fs::read_to_string(&real).unwrap(), format!("{above}{entry}{below}"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(folder.join("toolhost.yaml").is_symlink());
    assert_eq!(files(&folder.join("real")).len(), 1, "no draft is left behind");
    assert_eq!(
        good(folder, "check"),
        "ok   old: 1 tool, hi\nok   greet: 2 tools, hello, birthday\n"
    );
}

#[test]
fn what_cannot_be_done_is_told_with_the_way_out_and_leaves_everything_as_it_was() {
    let greet = "toolboxes:\n  greet: {command: [x]}\n";
    let flow = "toolboxes: {old: {command: [x]}}\n";
    let faulty = "toolboxes:\n  old: {comand: [x]}\n  two: {}\n";
    for (name, text, line, told) in [
        (
            "greet.py",
            "mine",
            "new py greet",
            "greet.py is there already, and nothing is overwritten",
        ),
        (
            "toolhost.py",
            "mine",
            "new py greet",
            "remove toolhost.py to get the one of this version",
        ),
        ("tools", "mine", "new py greet --dir tools", "tools is no folder"),
        (
            "toolhost.yaml",
            greet,
            "new py greet --add",
            "toolhost.yaml has a toolbox 'greet' already, on line 2",
        ),
        (
            "toolhost.yaml",
            flow,
            "new py greet --add",
            "greet: {command: [./greet.py]}",
        ),
        (
            "toolhost.yaml",
            faulty,
            "new py greet --add",
            "toolhost.yaml:2:9: toolboxes.old.comand: unknown key",
        ),
        (
            "other.yaml",
            "a: b: c",
            "new command greet --add other.yaml",
            "other.yaml has faults already",
        ),
        (
            "x",
            "",
            "new py greet --add no/such/toolhost.yaml",
            "no/such/toolhost.yaml cannot be written",
        ),
        ("x", "", "new --add py greet", "is a language here; write --add last"),
        ("x", "", "new py gre.et", "'.' cannot stand in a toolbox_id"),
        ("x", "", "new py \u{e9}", "cannot stand in a toolbox_id"),
        ("x", "", "new command greet --plain", "a command has no file of its own"),
    ] {
        let scratch = Scratch::new();
        fs::write(scratch.path().join(name), text).unwrap();
        let before = files(scratch.path());
        let ran = toolhost(scratch.path(), line);
        assert!(matches!(ran.code, Some(1 | 2)), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{line}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{line}");
        assert_eq!(files(scratch.path()), before, "{line}");
    }
}

#[test]
fn what_is_written_in_bash_is_bash() {
    let scratch = Scratch::new();
    good(scratch.path(), "new bash one");
    good(scratch.path(), "new bash two --plain");
    for file in ["one.sh", "two.sh", "toolhost.sh"] {
        let read = Command::new("bash")
            .arg("-n")
            .arg(scratch.path().join(file))
            .output()
            .unwrap();
        assert!(read.status.success() && read.stderr.is_empty(), "{file}: {read:?}");
    }
    for (file, mode) in [("one.sh", 0o111), ("two.sh", 0o111), ("toolhost.sh", 0)] {
        let found = fs::metadata(scratch.path().join(file)).unwrap().permissions().mode();
        assert_eq!(found & 0o111, mode, "{file}");
    }
}
