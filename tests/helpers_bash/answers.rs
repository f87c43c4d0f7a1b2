//! The ways a tool answers.

use serde_json::{Value, json};

use crate::{Hosted, ok};

#[tokio::test]
async fn a_tool_answers_with_what_it_prints_or_with_what_it_says_is_the_answer() {
    let mut hosted = Hosted::start().await;
    for (code, result) in [
        ("echo one; echo two", json!("one\ntwo")),
        ("printf 'no newline'", json!("no newline")),
        ("printf 'a\\n\\n'", json!("a")),
        ("true", Value::Null),
        ("reply ''", json!("")),
        ("reply one 'two  three'", json!("one two  three")),
        ("echo logged; reply answer", json!("answer")),
        ("reply first; reply second; fail Error third", json!("first")),
        ("reply answer; exit 3", json!("answer")),
        ("reply_json '{\"a\": [1, 25]}'", json!({"a": [1, 25]})),
        ("reply_json $'[1,\\n\\t2]\\r\\n'", json!([1, 2])),
        ("reply_json null", Value::Null),
        ("reply_lines one 'two\nlines' ''", json!(["one", "two\nlines", ""])),
        ("printf 'a\\n\\nb' | reply_lines", json!(["a", "", "b"])),
        ("true | reply_lines", json!([])),
        (
            "reply_object a=1 b:=2 c= 'd=x=y' 'e f:={\"g\":[]}'",
            json!({"a": "1", "b": 2, "c": "", "d": "x=y", "e f": {"g": []}}),
        ),
        ("reply_object", json!({})),
        ("( reply from a subshell )", json!("from a subshell")),
        ("json_quote -v text $'\"\\n'; reply_json \"[$text]\"", json!(["\"\n"])),
    ] {
        assert_eq!(hosted.run(code).await, Ok(result), "{code}");
    }
    let piped = hosted.call("piped", json!({"values": ["b", "", "a"]})).await;
    assert_eq!(piped, Ok(json!(["", "a", "b"])));
    assert!(hosted.host.log().contains("answered already, this is dropped"));
    assert!(hosted.host.log().contains("logged"));
    hosted.stop().await;
}

#[tokio::test]
async fn an_error_says_what_the_tool_said_or_how_it_ended() {
    let mut hosted = Hosted::start().await;
    for (code, error) in [
        ("fail LookupError 'no such \"word\"'", "LookupError: no such \"word\""),
        ("fail 'only a message'", "Error: only a message"),
        ("fail ValueError two words; echo never", "ValueError: two words"),
        ("exit 3", "CommandError: exit status 3"),
        (
            "echo printed; echo why >&2; return 4",
            "CommandError: exit status 4: why",
        ),
        ("false", "CommandError: exit status 1"),
        (
            "printf '%s\\n' 1 2 3 4 >&2; exit 1",
            "CommandError: exit status 1: 2\n3\n4",
        ),
        ("kill -9 $BASHPID", "CommandError: signal 9 (SIGKILL)"),
        ("kill $BASHPID", "CommandError: signal 15 (SIGTERM)"),
        ("exec false", "CommandError: exit status 1"),
        (
            "reply_object text",
            "ValueError: reply_object takes key=text and key:=json, not 'text'",
        ),
        (
            "reply_object 'a:=nope'",
            "ValueError: the tool answered what is no JSON in 'a': nope",
        ),
    ] {
        assert_eq!(hosted.run(code).await, Err(error.to_owned()), "{code}");
    }
    let divided = hosted.call("divide", json!({"a": 7, "b": 2})).await;
    assert_eq!(divided, ok(3));
    let divided = hosted.call("divide", json!({"a": 7.0, "b": 2e0})).await;
    assert_eq!(divided, ok(3), "JSON has other spellings of an integer");
    let divided = hosted.call("divide", json!({"a": 7, "b": 0})).await;
    assert_eq!(divided, Err("ZeroDivisionError: b is 0".to_owned()));
    hosted.stop().await;
}

#[tokio::test]
async fn what_is_no_json_is_an_error_and_never_a_broken_line() {
    let mut hosted = Hosted::start().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for value in [
        "",
        " ",
        "[1,",
        "[1,]",
        "{\"a\"}",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "01",
        "1.",
        ".5",
        "+1",
        "NaN",
        "Infinity",
        "nul",
        "[1 2]",
        "1 2",
        "[1]]",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"a\nb\"",
        "\"\t\"",
        "[1}",
        "{\"id\":1}\n{\"id\":2}",
        deep.as_str(),
    ] {
        let error = hosted.call("raw", json!({ "value": value })).await.unwrap_err();
        assert!(
            error.starts_with("ValueError: the tool answered what is no JSON"),
            "{value}: {error}"
        );
        let error = hosted.call("object", json!({"key": "k", "value": {}})).await;
        assert_eq!(
            error,
            Ok(json!({"text": "k", "n": 1, "k": {}})),
            "the next call is well"
        );
    }
    let invalid = hosted.run("reply_json $'\"\\377\"'").await.unwrap_err();
    assert!(
        invalid.starts_with("ValueError: the tool answered what is no JSON"),
        "{invalid}"
    );
    assert!(!hosted.host.log().contains("noise"), "{}", hosted.host.log());
    hosted.stop().await;
}

#[tokio::test]
async fn a_tool_knows_the_messages_context_and_the_configuration() {
    let mut hosted = Hosted::start().await;
    let known = hosted.call("session", json!({})).await;
    assert_eq!(known, Ok(json!({"session": "s", "lang": "en"})));
    assert_eq!(hosted.run("json_get \"$context\" source").await, ok("caller"));
    hosted.stop().await;
}
