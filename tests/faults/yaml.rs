//! I. What YAML makes of what was typed, seen by the program that gets it.

use std::process::Command;

use crate::common::scratch::Scratch;

/// The output of a toolbox's only tool, `t`, of the file; or what `toolhost` says instead.
fn called(yaml: &str) -> Result<String, String> {
    let folder = Scratch::new();
    let file = folder.path().join("toolhost.yaml");
    std::fs::write(&file, yaml).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["call", "box", "t", "--config"])
        .arg(&file)
        .env("HOME", folder.path())
        .env("SECONDS_VARIABLE", "5")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if !output.status.success() {
        return Err(text(output.stderr));
    }
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    Ok(result["output"].as_str().unwrap().to_owned())
}

/// The file with `printf` of these words, as they are typed.
fn printing(words: &str) -> String {
    format!("toolboxes:\n  box:\n    tools:\n      t:\n        description: d\n        run: [printf, '%s|', {words}]\n")
}

#[test]
fn words_reach_the_program_as_they_were_typed() {
    let typed =
        "0127, -0127, +0127, 00, 0x10, 1.10, 9007199254740993, no, y, on, 'NULL', 12:30, 1e3, 0o17, 1_000, .5, Yes";
    let seen = "0127|-0127|+0127|00|0x10|1.10|9007199254740993|no|y|on|NULL|12:30|1e3|0o17|1_000|.5|Yes|";
    assert_eq!(called(&printing(typed)), Ok(seen.to_owned()));
    assert_eq!(
        called(&format!("\u{feff}{}", printing("a"))),
        Ok("a|".to_owned()),
        "behind a byte order mark"
    );
    assert_eq!(
        called(&printing("a").replace('\n', "\r\n")),
        Ok("a|".to_owned()),
        "with Windows line ends"
    );
}

#[test]
fn variables_reach_the_program_as_they_were_typed_or_are_refused_with_their_place() {
    let file = |env: &str| {
        let shell = "echo \"$PORT $DEBUG $V $D $O $NO\"";
        format!(
            "toolboxes:\n  box:\n    env: {{{env}}}\n    tools:\n      t:\n        description: d\n        shell: '{shell}'\n"
        )
    };
    let typed = "PORT: 8080, DEBUG: true, V: 1.10, D: 2024-01-01, O: 0o17, NO: no";
    assert_eq!(
        called(&file(typed)),
        Ok("8080 true 1.10 2024-01-01 0o17 no\n".to_owned())
    );
    for nothing in ["N: null", "N: ~", "N: "] {
        let error = called(&file(nothing)).unwrap_err();
        assert!(
            error.contains("toolhost.yaml:3:") && error.contains(".env.N"),
            "{nothing}: {error}"
        );
    }
}

#[test]
fn a_variable_that_holds_a_number_is_a_number_where_one_is_meant_and_text_where_not() {
    let yaml = printing("'${SECONDS_VARIABLE}'").replace(
        "    tools:",
        "    timeout: ${SECONDS_VARIABLE}\n    max_pending: \"${SECONDS_VARIABLE}\"\n    tools:",
    );
    assert_eq!(called(&yaml), Ok("5|".to_owned()));
}

#[test]
fn what_yaml_would_overlook_is_an_error_with_line_and_column() {
    let good = printing("a");
    let table = [
        (
            "a toolbox twice",
            format!("{good}  box:\n    command: [x]\n"),
            "toolhost.yaml:7:3",
        ),
        (
            "a slip in a key",
            good.replace("    tools:", "    comand: [x]\n    tools:"),
            "toolhost.yaml:3:5",
        ),
        ("a tab", good.replace("    tools:", "\ttools:"), "toolhost.yaml:3:"),
        ("a second document", format!("{good}---\n{good}"), "toolhost.yaml:7:"),
        ("a list", "toolboxes:\n  - box\n".to_owned(), "toolhost.yaml:2:3"),
        ("nothing", String::new(), "toolhost.yaml:1:1"),
    ];
    for (what, yaml, place) in table {
        let error = called(&yaml).unwrap_err();
        assert!(error.contains(place), "{what}: {error}");
    }
}
