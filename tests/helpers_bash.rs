//! The Bash helper `protocol/toolhost.sh` at work: a real toolbox written with it, hosted by the real program, and spoken
//! to line by line where several calls must meet one process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "common/bash_toolbox.rs"]
mod bash_toolbox;
#[path = "common/scratch.rs"]
mod scratch;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Output, Stdio};

use bash_toolbox::{Toolbox, fixtures};
use scratch::Scratch;
use serde_json::{Value, json};
use toolhost::config::{Kind, ToolboxConfig};
use toolhost::protocol::transcript;

/// `toolhost call` with the toolbox in a configuration of its own.
fn toolhost_call(options: &str, tool: &str, kwargs: &Value) -> Output {
    let scratch = Scratch::new();
    let file = scratch.path().join("toolhost.yaml");
    let toolbox = json!({"toolboxes": {"shell": {
        "command": ["bash", "toolbox.sh"], "cwd": fixtures(), "env": {"TOOLBOX_OPTIONS": options}, "timeout": "2m",
        "describe_timeout": "1m", "config": {"lang": "en"}}}});
    std::fs::write(&file, toolbox.to_string()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["call", "--timeout", "2m", "--config"])
        .arg(&file)
        .args(["shell", tool, "--json", &kwargs.to_string()])
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What the host gave back.
fn result(options: &str, tool: &str, kwargs: &Value) -> Value {
    let output = toolhost_call(options, tool, kwargs);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn values() -> Vec<String> {
    let mut values: Vec<String> = [
        "",
        " ",
        "  two  blanks  ",
        "\n",
        "\n\n",
        "a\nb\n",
        "\r\n",
        "\t",
        "\"",
        "\\",
        "\\\\",
        "\\n",
        "\\\\n",
        "\\\"",
        "\"\"",
        "'",
        "/",
        "</script>",
        "%s%d%%",
        "&",
        "\\&",
        "\u{1f}\u{7f}",
        "naïve",
        "日本語",
        "e\u{301}",
        "😀",
        "👩‍👩‍👧‍👦",
        "\u{feff}",
        "\u{fffd}",
        "\u{10ffff}",
        "$(touch x)",
        "`touch x`",
        ";id",
        "| id",
        "> x",
        "*",
        "?",
        "[a-z]",
        "~",
        "$HOME",
        "${x}",
        "{a,b}",
        "!",
        "#",
        "--version",
        "-n",
        "-e",
        "-",
        "--",
        "\\c",
        "\\0101",
        "\\u0041",
        "\\x41",
        "null",
        "true",
        "1",
        "[]",
        "{}",
        "{\"a\": [1]}",
        "@",
        "a=b",
        "end\\",
    ]
    .map(str::to_owned)
    .to_vec();
    values.push((1_u8..=0x20).map(char::from).collect());
    values.push(values.concat());
    values
}

#[tokio::test]
async fn a_toolbox_written_with_it_passes_the_check_and_holds_the_conversations_it_can() {
    let config = ToolboxConfig::new("example", Kind::Command(vec!["./toolbox.sh".to_owned()]), fixtures());
    let report = toolhost::check::replay(&config, transcript::GENERIC).await;
    assert!(report.is_good(), "{report}");
    assert!(
        report.tools.starts_with(&["echo", "fail", "wait"].map(str::to_owned)),
        "{report}"
    );
    // `capabilities.jsonl` is about `cancel` and `concurrent`, which Bash has not; so is the description in `tools.jsonl`.
    let (name, text) = transcript::EXAMPLE.iter().find(|(name, _)| *name == "tools").unwrap();
    let calls: Vec<_> = text.lines().filter(|line| !line.contains("\"tools\":")).collect();
    assert!(calls.len() >= 7, "{text}");
    let described = r#"{"toolbox": {"id": 1, "result": {"protocol": 1, "version": "1.0", "description": "Tools of the transcripts.", "capabilities": ["context"], "tools": "<array>"}}}"#;
    let steps = [&[calls[0], described], &calls[1..]].concat().join("\n");
    let report = toolhost::check::replay(&config, &[(*name, steps.as_str())]).await;
    assert!(report.is_good(), "{report}");
}

#[test]
fn the_declarations_are_the_description() {
    let mut toolbox = Toolbox::start("");
    let answer = toolbox.line(r#"{"id":1,"op":"describe","protocol":1,"toolbox_id":"x","config":{}}"#);
    let tools = answer["result"]["tools"].as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(
        *tool("echo"),
        json!({"name": "echo", "description": "Answers its arguments.", "argument_schema": {"type": "object"},
            "output_schema": {"type": "object"}, "hints": {"readOnly": true}})
    );
    assert_eq!(
        *tool("wait"),
        json!({"name": "wait", "description": "Answers after some seconds.", "timeout": "2m", "parameters": [
            {"name": "seconds", "type": "number", "default": 1, "minimum": 0, "maximum": 60}]})
    );
    assert_eq!(
        tool("divide")["parameters"][1],
        json!({"name": "b", "type": "integer", "required": true, "description": "By what"})
    );
    assert_eq!(
        tool("list")["parameters"],
        json!([{"name": "values", "type": "array", "items": "string", "required": true}])
    );
}

#[test]
fn every_text_comes_back_byte_for_byte_through_the_host() {
    let values = values();
    for options in ["", "-eu"] {
        assert_eq!(result(options, "list", &json!({"values": values})), json!(values));
    }
    assert_eq!(
        result("", "echo", &json!({"values": values})),
        json!({"values": values})
    );
    for value in ["$(touch x)", "--version", "-n", "\\n", ""] {
        assert_eq!(result("", "text", &json!({"value": value})), value);
    }
    assert!(!fixtures().join("x").exists());
}

#[test]
fn long_texts_and_long_lists_come_back_through_the_host() {
    let long = "naïve \"日本\"\\\n😀 text ".repeat(3_000);
    assert!(long.len() > 80_000);
    assert_eq!(result("", "text", &json!({"value": long})), json!(long));
    let list: Vec<_> = (0..10_000).map(|i| format!("it\\{i}")).collect();
    assert_eq!(result("", "list", &json!({"values": list})), json!(list));
}

#[test]
fn every_text_comes_back_as_argument_and_as_output_of_one_process() {
    for options in ["", "-eu", "-f"] {
        let mut toolbox = Toolbox::start(options);
        for value in values() {
            assert_eq!(
                toolbox.call("text", &json!({"value": value})),
                json!({"result": value}),
                "{options}"
            );
            let printed = match value.trim_end_matches('\n') {
                "" => Value::Null,
                text => text.into(),
            };
            assert_eq!(
                toolbox.call("printed", &json!({"value": value})),
                json!({"result": printed}),
                "{options}"
            );
            // As a key, which goes through other hands.
            let object = toolbox.call("object", &json!({"key": format!("k{value}").replace('=', "")}));
            assert!(
                object["result"].get(format!("k{value}").replace('=', "")).is_some(),
                "{object}"
            );
        }
        assert_eq!(toolbox.end().0, Some(0));
    }
}

#[test]
fn what_other_writers_escape_is_read_as_it_is_meant() {
    let mut toolbox = Toolbox::start("-eu");
    let table = [
        (r"\ud83d\ude00", "😀"),
        (r"\uD83D\uDE00x", "😀x"),
        (r"\/\b\f\n\r\t\u0001\u00e9\u65e5", "/\u{8}\u{c}\n\r\t\u{1}é日"),
        (r"\\u0041\u005cn\u0022", "\\u0041\\n\""),
        (r"\ud83d and \ude00", "\u{fffd} and \u{fffd}"),
        (r"\u0000", "\u{fffd}"),
    ];
    for (escaped, meant) in table {
        let line =
            format!(r#" {{ "op":"call", "kwargs" : {{"value": "{escaped}"}} ,"name":"te\u0078t","id":5}} "#) + "\r";
        assert_eq!(toolbox.line(&line), json!({"id": 5, "result": meant}), "{escaped}");
    }
    // Across every place a long text might be cut at.
    for pad in 2030..2060 {
        let line = format!(
            r#"{{"id":6,"op":"call","name":"text","kwargs":{{"value":"{}\\\ud83d\ude00é\n"}}}}"#,
            "a".repeat(pad)
        );
        let meant = format!("{}\\😀é\n", "a".repeat(pad));
        assert_eq!(toolbox.line(&line), json!({"id": 6, "result": meant}), "{pad}");
    }
}

#[test]
fn errors_name_what_went_wrong() {
    let output = toolhost_call("-eu", "divide", &json!({"a": 7, "b": 0}));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("error: ZeroDivisionError: b is 0"),
        "{output:?}"
    );
    let mut toolbox = Toolbox::start("-eu");
    assert_eq!(
        toolbox.call("divide", &json!({"a": 7.0e0, "b": 2})),
        json!({"result": 3})
    );
    assert_eq!(
        toolbox.call("divide", &json!({"a": "x[$(touch x)]", "b": 2})),
        json!({"error": "TypeError: 'a' is no integer"})
    );
    let table = [
        ("fail Sad 'no \"luck\"'; echo not reached >&2", "Sad: no \"luck\""),
        ("fail only", "Error: only"),
        (
            "echo first >&2; echo; echo second >&2; exit 3",
            "CommandError: exit status 3: first\nsecond",
        ),
        (
            "printf 'no newline' >&2; exit 4",
            "CommandError: exit status 4: no newline",
        ),
        ("exit 5", "CommandError: exit status 5"),
        ("kill -KILL $BASHPID", "CommandError: signal 9 (SIGKILL)"),
        (
            "reply_json '{\"a\": 1'",
            "ValueError: the tool answered what is no JSON: {\"a\": 1",
        ),
        (
            "reply_json $'\"\\xff\"' | cat",
            "ValueError: the tool answered what is no JSON: \"\u{fffd}\"",
        ),
        ("true | fail Deep 'in a pipe'", "Deep: in a pipe"),
    ];
    for (code, error) in table {
        assert_eq!(toolbox.run(code), json!({"error": error}), "{code}");
    }
    for broken in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "01",
        "1.",
        "NaN",
        "'a'",
        "[1 2]",
        "[1]]",
        "{1:2}",
        "\"\\x\"",
        "\"\t\"",
        "\"a",
        "tru",
        "[\"a\" \"b\"]",
    ] {
        let error = format!("ValueError: the tool answered what is no JSON: {broken}");
        assert_eq!(toolbox.call("raw", &json!({"value": broken})), json!({"error": error}));
    }
    for good in [
        "null",
        " [ ] ",
        "{\"a\":\n[1e5, -0.5, {}]\n}",
        "\"\\u00e9\"",
        "-0",
        "[[[\"]\"]],\"{\"]",
    ] {
        let value: Value = serde_json::from_str(good).unwrap();
        assert_eq!(toolbox.call("raw", &json!({"value": good})), json!({"result": value}));
    }
    let (status, log) = toolbox.end();
    assert_eq!(status, Some(0));
    assert!(log.contains("first\nsecond\n") && !log.contains("not reached"), "{log}");
    assert!(!fixtures().join("x").exists());
}

#[test]
fn no_line_and_no_name_is_an_end_of_the_toolbox() {
    let mut toolbox = Toolbox::start("-eu");
    assert_eq!(toolbox.line("no json")["id"], Value::Null);
    assert_eq!(
        toolbox.line(&format!("{{\"id\":1,\"x\":{}", "[".repeat(50_000)))["id"],
        Value::Null
    );
    for name in ["", "nope", "@", "*", "a]b", "$(touch x)", "text "] {
        assert_eq!(
            toolbox.call(name, &json!({})),
            json!({"error": format!("Unknown tool: '{name}'")})
        );
    }
    assert_eq!(
        toolbox.line(r#"{"id":"7","op":"dance"}"#),
        json!({"id": "7", "error": "Unknown op: 'dance'"})
    );
    // Without an id there is no answer: the next one is that of the call.
    assert_eq!(
        toolbox.line("{\"op\":\"cancel\",\"target\":2}\n\n\u{feff}{\"id\":9,\"op\":\"x\"}")["id"],
        9
    );
    let kwargs = json!({"": 1, "@": 2, "*": 3, "a]": "x", "$(touch x)": 5});
    assert_eq!(toolbox.call("echo", &kwargs), json!({"result": kwargs}));
    assert!(!fixtures().join("x").exists());
}

#[test]
fn a_call_leaves_nothing_behind_for_the_next() {
    for options in ["", "-eu"] {
        let mut toolbox = Toolbox::start(options);
        let here = toolbox.run("pwd");
        for code in [
            "cd /; reply x",
            "exit 0",
            "set -e; false; true",
            "set -u; : $no_such_thing",
            "unset args kwargs; reply x",
            "left=over; reply x",
            "IFS=x; set -f; shopt -s nocasematch; LC_ALL=C; reply x",
            "exec >/dev/null; exec 2>&-; reply x",
            "trap 'echo late' EXIT; reply x",
            "reply() { :; }; printf() { :; }",
            "umask 777; reply x",
            "read -r line; cat; reply \"$line\"",
            "cat <&0; echo ok",
        ] {
            let answer = toolbox.run(code);
            assert!(
                answer.get("result").is_some() != answer.get("error").is_some(),
                "{code}: {answer}"
            );
        }
        assert_eq!(
            toolbox.run("read -r line || echo end of input"),
            json!({"result": "end of input"})
        );
        assert_eq!(toolbox.run("pwd"), here);
        assert_eq!(
            toolbox.run("echo \"${left-nothing} ${#args[@]}\""),
            json!({"result": "nothing 1"})
        );
        assert_eq!(toolbox.end().0, Some(0));
    }
}

#[test]
fn the_options_a_script_begins_with_hold_in_its_tools() {
    let failing = "false; echo went on";
    assert_eq!(Toolbox::start("").run(failing), json!({"result": "went on"}));
    assert_eq!(
        Toolbox::start("-eu").run(failing),
        json!({"error": "CommandError: exit status 1"})
    );
    let unset = Toolbox::start("-eu").run("echo \"${args[other]}\"");
    assert!(unset["error"].as_str().unwrap().contains("unbound variable"), "{unset}");
}

#[test]
fn what_a_tool_prints_is_its_result_or_else_goes_to_the_log() {
    let mut toolbox = Toolbox::start("");
    assert_eq!(toolbox.run("echo one; echo two"), json!({"result": "one\ntwo"}));
    assert_eq!(
        toolbox.run("echo noise; reply the answer; echo more noise"),
        json!({"result": "the answer"})
    );
    assert_eq!(toolbox.run("reply first; reply second"), json!({"result": "first"}));
    assert_eq!(
        toolbox.run("echo '{\"id\": 1, \"result\": 2}' >&2"),
        json!({"result": null})
    );
    assert_eq!(toolbox.run("printf 'a\\377b'"), json!({"result": "a\u{fffd}b"}));
    assert_eq!(
        toolbox.run("printf 'x\\ny\\n' | reply_lines"),
        json!({"result": ["x", "y"]})
    );
    assert_eq!(toolbox.run("reply_lines"), json!({"result": []}));
    assert_eq!(
        toolbox.call("piped", &json!({"values": ["b", "a"]})),
        json!({"result": ["a", "b"]})
    );
    let (_, log) = toolbox.end();
    for said in [
        "on stdout before the first request\n",
        "noise\n",
        "more noise\n",
        "answered already",
        "{\"id\": 1, \"result\": 2}\n",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
}

#[test]
fn a_background_job_holds_nothing_up_and_spoils_no_later_call() {
    let scratch = Scratch::new();
    let go = scratch.path().join("go");
    let made = Command::new("mkfifo").arg(&go).status().unwrap();
    assert!(made.success());
    let mut toolbox = Toolbox::start("");
    // It waits at the pipe with stdout and stderr in hand, and so outlives its call for certain.
    let job = format!(
        "{{ read -r _ <'{0}'; echo late; echo late >&2; reply late; echo done >'{0}'; }} & echo started",
        go.display()
    );
    assert_eq!(toolbox.run(&job), json!({"result": "started"}));
    assert_eq!(toolbox.run("echo next"), json!({"result": "next"}));
    let release = format!("echo >'{0}'; read -r word <'{0}'; echo \"$word\"", go.display());
    assert_eq!(toolbox.run(&release), json!({"result": "done"}));
    assert_eq!(toolbox.run("exit 3"), json!({"error": "CommandError: exit status 3"}));
    assert!(toolbox.end().1.contains("late\n"));
}

#[test]
fn context_and_config_are_at_hand() {
    let mut toolbox = Toolbox::start("-eu");
    toolbox.line(
        r#"{"id":1,"op":"describe","protocol":1,"toolbox_id":"x","config":{"lang":"d\u0065","deep":[{"a":"b"}]}}"#,
    );
    let line = r#"{"id":2,"op":"call","name":"session","kwargs":{},"context":{"session":{"session_id":"s \"1\""}}}"#;
    assert_eq!(
        toolbox.line(line),
        json!({"id": 2, "result": {"session": "s \"1\"", "lang": "de"}})
    );
    assert_eq!(toolbox.run("json_get \"$config\" deep 0 a"), json!({"result": "b"}));
    assert_eq!(
        toolbox.run("json_get \"$config\" deep 1 || json_get -v found \"$config\" deep; reply_json \"$found\""),
        json!({"result": [{"a": "b"}]})
    );
    assert_eq!(
        toolbox.run("json_quote -v text $'a\\n\"'; reply_json \"[$text]\""),
        json!({"result": ["a\n\""]})
    );
}

#[test]
fn a_mistake_in_a_declaration_is_named_at_the_start() {
    let table = [
        ("tool a 'A.' x:strnig", "what is 'x:strnig'?"),
        ("tool a 'A.' x:string=1 One y:intger Two", "what is 'y:intger'?"),
        ("tool a 'A.' x:integer=one", "a value of type integer is no JSON: one"),
        ("tool a 'A.' --schema '{'", "--schema is no JSON: {"),
        ("tool a 'A.' --colour red", "what is '--colour'?"),
        ("tool printf 'A.'", "--run FUNCTION"),
        ("tool a 'A.'", "there is no function 'a'"),
    ];
    for (declaration, said) in table {
        let code = format!("source ../../../protocol/toolhost.sh; {declaration}; serve");
        let output = Command::new("bash")
            .args(["-c", &code])
            .current_dir(fixtures())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{declaration}: {log}");
        assert!(log.contains(said), "{declaration}: {log}");
    }
}

#[test]
fn nothing_stays_in_the_folder_for_temporary_files() {
    let scratch = Scratch::new();
    let left = || std::fs::read_dir(scratch.path()).unwrap().count();
    let mut child = Command::new("bash")
        .arg("toolbox.sh")
        .current_dir(fixtures())
        .env("TMPDIR", scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..70 {
        writeln!(
            stdin,
            r#"{{"id":{id},"op":"call","name":"text","kwargs":{{"value":"x"}}}}"#
        )
        .unwrap();
        assert_eq!(
            answers.next().unwrap().unwrap(),
            format!(r#"{{"id":{id},"result":"x"}}"#)
        );
    }
    assert_eq!(left(), 1);
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(left(), 0);
}
