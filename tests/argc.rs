//! Real Bash scripts that call `argc`, where that is toolhost under another name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use toolhost::adapter::script::argc;

use common::scratch::Scratch;

/// A folder in which toolhost is called `argc`, and scripts that find it.
struct Desk {
    scratch: Scratch,
}

impl Desk {
    fn new() -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path().join("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolhost"), scratch.path().join("bin/argc")).unwrap();
        Self { scratch }
    }

    fn path(&self) -> &Path {
        self.scratch.path()
    }

    #[allow(clippy::disallowed_methods, reason = "a test starts programs as a user does")]
    fn program(&self, program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path().join("bin").display());
        command
            .args(args)
            .env_clear()
            .env("PATH", path)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a fixture.
    fn script(&self, name: &str, args: &[&str]) -> Command {
        let mut command = self.program("bash", &[]);
        command.arg(fixture(name)).args(args);
        command
    }

    /// Runs a script of this text.
    fn written(&self, text: &str, args: &[&str]) -> Output {
        let path = self.path().join("own.sh");
        std::fs::write(&path, text).unwrap();
        self.program("bash", &[]).arg(path).args(args).output().unwrap()
    }

    fn argc(&self, args: &[&str]) -> Output {
        self.program(self.path().join("bin/argc"), args).output().unwrap()
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/bash")
        .join(name)
}

/// What a program that went well printed.
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(text(&output.stderr), "", "{command:?}");
    assert!(output.status.success(), "{command:?}: {}", output.status);
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_script_with_main_gets_its_variables_and_defaults() {
    let desk = Desk::new();
    assert_eq!(
        printed(desk.script("weather.sh", &["Berlin"])),
        "place=Berlin units=metric days=1 verbose=0\nfirst=Berlin fn=main\n"
    );
    assert_eq!(
        printed(desk.script(
            "weather.sh",
            &["-v", "--verbose", "--units", "imperial", "--days=3", "New York"]
        )),
        "place=New York units=imperial days=3 verbose=2\nfirst=New York fn=main\n"
    );
}

#[test]
fn commands_get_flags_arrays_variables_of_the_environment_and_hooks() {
    let desk = Desk::new();
    let mut add = desk.script(
        "notes.sh",
        &[
            "a",
            "--pin",
            "--label=x y",
            "--label",
            "z",
            "--tag=p,q",
            "--span",
            "1",
            "9",
            "Title",
            "one",
            "two words",
        ],
    );
    add.env("NOTES_USER", "ada");
    let expected = "before\nuser=ada color=off pin=1\nlabels=2:x y z tags=2:p q span=1 9\n\
        title=Title lines=2:one|two words\nexported=off\nafter\n";
    assert_eq!(printed(add), expected);
    let mut set = desk.script("notes.sh", &["shelf", "set", "-Dcolor=dark red", "-Dwide=1", "top"]);
    set.env("NOTES_USER", "ada");
    assert_eq!(printed(set), "before\ntop.color=dark red\ntop.wide=1\nafter\n");
}

#[test]
fn functions_of_the_script_name_choices_and_defaults() {
    let desk = Desk::new();
    assert_eq!(
        printed(desk.script("light.sh", &["desk"])),
        "desk is as it was at 40 \n"
    );
    assert_eq!(
        printed(desk.script("light.sh", &["--color=warm white", "--mood=blue", "--level=5", "shelf"])),
        "shelf is warm white at 5 blue\n"
    );
    let output = desk.script("light.sh", &["--color=blue", "desk"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "error: invalid value `blue` for `<COLOR>`\n  [possible values: red, warm white]\n"
    );
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn what_is_wrong_or_missing_ends_the_script_with_words() {
    let desk = Desk::new();
    let cases: [(&str, &[&str], &str); 5] = [
        (
            "weather.sh",
            &[],
            "error: the following required arguments were not provided:\n  <PLACE>\n",
        ),
        (
            "weather.sh",
            &["--days", "1", "--dayz=2", "x"],
            "error: unexpected argument `--dayz` found\n",
        ),
        (
            "weather.sh",
            &["--units=feet", "x"],
            "error: invalid value `feet` for `<UNITS>`\n  [possible values: metric, imperial]\n",
        ),
        (
            "notes.sh",
            &["add", "x"],
            "error: the following required environments were not provided:\n  NOTES_USER\n",
        ),
        (
            "notes.sh",
            &["remove"],
            "error: `notes` requires a subcommand but 'remove' is not one of them\n  [subcommands: add, a, shelf]\n",
        ),
    ];
    for (script, args, expected) in cases {
        let output = desk.script(script, args).output().unwrap();
        assert_eq!(text(&output.stderr), expected, "{script} {args:?}");
        assert_eq!(output.status.code(), Some(1), "{script} {args:?}");
        assert_eq!(text(&output.stdout), "", "{script} {args:?}");
    }
}

#[test]
fn help_and_version_are_told_and_nothing_runs() {
    let desk = Desk::new();
    let help = desk.script("weather.sh", &["--help"]).output().unwrap();
    assert_eq!(help.status.code(), Some(0));
    assert_eq!(text(&help.stdout), "");
    for expected in [
        "The weather of a place",
        "USAGE: weather [OPTIONS] <PLACE>",
        "--units <UNITS>",
        "[possible values: metric, imperial]",
        "[default: 1]",
    ] {
        assert!(text(&help.stderr).contains(expected), "{}", text(&help.stderr));
    }
    let of_command = desk.script("notes.sh", &["add", "--help"]).output().unwrap();
    assert!(text(&of_command.stderr).contains("One line, or several."));
    let version = desk.script("notes.sh", &["--version"]).output().unwrap();
    assert_eq!(
        (version.status.code(), text(&version.stderr).as_str()),
        (Some(0), "notes 2.1.0\n")
    );
}

#[test]
fn a_program_the_script_requires_and_does_not_find_is_named() {
    let desk = Desk::new();
    let script =
        "# @meta require-tools sed,no-such-program\nmain() { echo ran; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";
    let output = desk.written(script, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "error: missing tools: no-such-program\n");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_script_never_goes_on_without_its_arguments() {
    let desk = Desk::new();
    let behind = "eval \"$(argc --argc-eval \"$0\" \"$@\")\"\necho went on\n";
    let output = desk.written(&format!("# @optoin --x\n{behind}"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(text(&output.stderr), "error: @optoin(line 1) is unknown tag\n");

    let path = desk.path().join("own.sh");
    std::fs::write(&path, format!("# @arg x\n{behind}")).unwrap();
    let bytes = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff");
    let output = desk.program("bash", &[]).arg(&path).arg(bytes).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""));
    assert!(
        text(&output.stderr).contains("is not UTF-8"),
        "{}",
        text(&output.stderr)
    );

    // A variable that is no text is nobody's fault.
    let output = desk.program("bash", &[]).arg(&path).env("ODD", bytes).output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(0), "went on\n")
    );
}

#[test]
fn a_runner_works_in_its_own_folder() {
    let desk = Desk::new();
    let folder = desk.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    let script = "# @cmd Where\nwhere() { echo \"$PWD $ARGC_PWD\"; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";
    std::fs::write(folder.join("Argcfile.sh"), script).unwrap();
    let command = desk.program("bash", &["project/Argcfile.sh", "where"]);
    let (inner, outer) = (folder.canonicalize().unwrap(), desk.path().canonicalize().unwrap());
    assert_eq!(printed(command), format!("{} {}\n", inner.display(), outer.display()));
}

/// Texts that would run, split or vanish if they were anything but one value.
fn hostile() -> Vec<String> {
    let texts = [
        "$(touch canary)",
        "`touch canary`",
        ";touch canary",
        "a\nb\n",
        "x\nEOF\ntouch canary\n",
        "'",
        "\"",
        "'; touch canary; '",
        "*",
        "$HOME",
        "",
        "  ",
        "--version",
        "-oFile",
        "-",
        "--",
        "+x",
        "a=b",
        "ü€𝄞",
        "\\",
        "\\n",
        "!!",
        "~",
        "\t",
        "\r\n",
        "argc_one=1",
        "\u{7f}\u{1b}[0m",
    ];
    texts
        .iter()
        .map(|text| (*text).to_owned())
        .chain(["x".repeat(100_000)])
        .collect()
}

/// What `mirror.sh` prints for a call, or why the call is refused.
fn mirrored(desk: &Desk, tool: &str, kwargs: &Value) -> Result<Vec<String>, String> {
    let source = std::fs::read_to_string(fixture("mirror.sh")).unwrap();
    let invocation = argc::read(&source, "mirror")
        .unwrap()
        .invocation(tool, &kwargs.to_string())?;
    let args: Vec<_> = invocation.args.iter().map(String::as_str).collect();
    let values = printed(desk.script("mirror.sh", &args));
    Ok(values.split_terminator('\0').map(str::to_owned).collect())
}

#[test]
fn values_reach_the_script_byte_for_byte_and_run_nothing() {
    let desk = Desk::new();
    for text in hostile() {
        let got = |tool, kwargs: Value| mirrored(&desk, tool, &kwargs);
        assert_eq!(got("options", json!({"one": text})).as_deref(), Ok(&[text.clone()][..]));
        let many = [text.clone(), "m".to_owned(), text.clone()];
        if text.len() < 50_000 {
            assert_eq!(got("options", json!({"many": many})).as_deref(), Ok(&many[..]));
            assert_eq!(got("everything", json!({"all": many})).as_deref(), Ok(&many[..]));
        }
        assert_eq!(
            got("options", json!({"define": {"k": text}})).as_deref(),
            Ok(&[text.clone()][..])
        );
        assert_eq!(
            got("places", json!({"first": text, "rest": ["-r", text]})).as_deref(),
            Ok(&[text.clone(), "-r".to_owned(), text.clone()][..])
        );
        match got("options", json!({"pair": ["p", text]})) {
            Ok(values) => assert_eq!(values, ["p", text.as_str()]),
            Err(why) => assert!(
                text.starts_with(['-', '+']) && why.starts_with("pair: "),
                "{text:?}: {why}"
            ),
        }
    }
    assert!(!desk.path().join("canary").exists());
}

#[test]
fn a_list_of_ten_thousand_reaches_the_script() {
    let desk = Desk::new();
    let many: Vec<_> = (0..10_000).map(|number| format!("-{number}")).collect();
    assert_eq!(mirrored(&desk, "options", &json!({"many": many})).as_ref(), Ok(&many));
}

#[test]
fn a_value_the_script_refuses_is_shown_and_not_run() {
    let desk = Desk::new();
    for value in ["x\nEOF\ntouch canary\n", "$(touch canary)", "'; touch canary; '"] {
        let output = desk
            .script("light.sh", &[&format!("--color={value}"), "desk"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(value), "{}", text(&output.stderr));
    }
    let keys = desk
        .script("mirror.sh", &["options", "--definex$(touch${IFS}canary)=1"])
        .output()
        .unwrap();
    assert_eq!(keys.status.code(), Some(1), "{keys:?}");
    let said = text(&keys.stderr);
    let (_, signs) = said.split_once("may hold letters, digits and ").expect("the rule");
    // What the rule allows is let through.
    for sign in signs.trim().trim_end_matches(" only").split(' ') {
        let output = desk
            .script("mirror.sh", &["options", &format!("--define-k{sign}=1")])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{sign}: {output:?}");
    }
    assert!(!desk.path().join("canary").exists());
}

#[test]
fn the_rest_of_argc_is_left_to_argc() {
    let desk = Desk::new();
    let version = desk.argc(&["--argc-version"]);
    assert!(text(&version.stdout).starts_with("argc 1.24.0 "), "{version:?}");
    let export = desk.argc(&["--argc-export", fixture("weather.sh").to_str().unwrap()]);
    let exported: Value = serde_json::from_slice(&export.stdout).unwrap();
    assert_eq!(
        (&exported["name"], &exported["positionals"][0]["id"]),
        (&json!("weather"), &json!("place"))
    );

    // Nobody knows whether this machine has the real one, so a PATH without it.
    let mut alone = desk.program(desk.path().join("bin/argc"), &["--argc-build", "x.sh"]);
    alone.env("PATH", desk.path().join("bin"));
    let alone = alone.output().unwrap();
    assert_eq!(alone.status.code(), Some(1));
    assert!(
        text(&alone.stderr).contains("--argc-eval, --argc-export and --argc-version"),
        "{alone:?}"
    );

    std::fs::create_dir(desk.path().join("real")).unwrap();
    let real = desk.path().join("real/argc");
    std::fs::write(&real, "#!/bin/sh\necho \"real: $*\"\n").unwrap();
    std::fs::set_permissions(&real, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut both = desk.program(desk.path().join("bin/argc"), &["--argc-build", "x.sh"]);
    let path = [desk.path().join("bin"), desk.path().join("real"), "/bin".into()];
    both.env("PATH", std::env::join_paths(path).unwrap());
    assert_eq!(printed(both), "real: --argc-build x.sh\n");
}
