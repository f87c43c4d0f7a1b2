//! The lines of the protocol, without a host: what is no request, how a request may be spelled, and how it all ends.

use std::process::Command;

use serde_json::{Value, json};

use crate::common::scratch::Scratch;
use crate::exchange;
use crate::exchange::Exchange;

#[test]
fn lines_are_read_however_they_are_ended_and_whatever_stands_round_them() {
    let input = b"\xef\xbb\xbf{\"id\":1,\"op\":\"call\",\"name\":\"echo\",\"kwargs\":{\"a\":\"na\xc3\xafve\"}}\r\n\n \r\n  \
        {\"op\" : \"call\" , \"kwargs\":{ \"b\" : [ 1 ] }, \"more\":{\"id\":7}, \"n\\u0061me\":1, \"name\":\"ech\\u006f\",\"id\":2}  \n\
        \xef\xbb\xbf{\"id\":3,\"op\":\"call\",\"name\":\"echo\",\"kwargs\":{}}";
    let exchange = exchange(input);
    assert_eq!(exchange.result(1), json!({"a": "naïve"}));
    assert_eq!(exchange.result(2), json!({"b": [1]}));
    assert_eq!(exchange.result(3), json!({}), "the last line needs no end");
    assert_eq!(exchange.status, Some(0));
    assert_eq!(
        exchange.lines.len(),
        3,
        "and stdout has nothing but answers: {exchange:?}"
    );
    assert!(exchange.stderr.contains("on stdout before the first request"));
}

#[test]
fn what_is_no_request_is_answered_as_far_as_it_can_be() {
    let exchange = exchange(
        b"not json\n[1]\n{\"id\":1,\"op\":\"nope\"}\n{\"op\":\"nope\"}\n{\"op\":\"cancel\",\"target\":1}\n\
          {\"id\":2,\"op\":\"call\",\"name\":\"a \\\" $(id)\",\"kwargs\":{}}\n{\"id\":3,\"op\":\"call\",\"name\":\"serve\",\"kwargs\":{}}\n\
          {\"id\":4,\"op\":\"call\",\"name\":\"divide\",\"kwargs\":{\"a\":\"x[$(touch ran)]\",\"b\":2}}\n\
          {\"id\":5,\"op\":\"call\",\"name\":\"text\",\"kwargs\":{\"value\":\"\\ud83d half\"}}\n\
          {\"id\":6,\"op\":\"call\",\"name\":\"text\",\"kwargs\":{\"value\":\"\\q\"}}\n",
    );
    assert_eq!(exchange.answer(1)["error"], "Unknown op: 'nope'");
    assert_eq!(exchange.answer(2)["error"], "Unknown tool: 'a \" $(id)'");
    assert_eq!(exchange.answer(3)["error"], "Unknown tool: 'serve'");
    assert_eq!(exchange.answer(4)["error"], "TypeError: 'a' is no integer");
    assert_eq!(exchange.result(5), "\u{fffd} half");
    assert_eq!(exchange.answer(6)["error"], "ValueError: 'value' is a broken string");
    let to_nobody = exchange.lines.iter().filter(|line| {
        let answer: Value = serde_json::from_str(line).unwrap();
        answer["id"].is_null() && answer["error"].as_str().unwrap().starts_with("ProtocolError: ")
    });
    assert_eq!(to_nobody.count(), 2, "{exchange:?}");
    assert_eq!(exchange.lines.len(), 8, "{exchange:?}");
    assert_eq!(exchange.status, Some(0));
}

#[test]
fn at_the_end_of_the_input_the_call_is_finished_first() {
    let exchange = exchange(
        b"{\"id\":1,\"op\":\"call\",\"name\":\"run\",\"kwargs\":{\"code\":\"sleep 0.1; echo logged >&2; echo done\"}}\n",
    );
    assert_eq!(exchange.result(1), "done");
    assert!(exchange.stderr.contains("logged"), "{exchange:?}");
    assert_eq!(exchange.status, Some(0));
}

/// A toolbox of this text, with the helper beside it.
fn toolbox(text: &str) -> Exchange {
    let folder = Scratch::new();
    let helper = concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/toolhost.sh");
    std::fs::copy(helper, folder.path().join("toolhost.sh")).unwrap();
    std::fs::write(
        folder.path().join("box.sh"),
        format!("source ./toolhost.sh\n{text}\nserve\n"),
    )
    .unwrap();
    let mut command = Command::new("bash");
    command.arg("box.sh").current_dir(folder.path());
    Exchange::of(command, b"{\"id\":1,\"op\":\"describe\"}\n")
}

#[test]
fn a_toolbox_that_is_put_together_wrongly_says_so_before_it_serves() {
    for (text, why) in [
        ("tool a \"A.\"", "tool a: there is no function 'a'"),
        ("tool a", "tool NAME \"DESCRIPTION\""),
        ("tool a \"A.\" x", "what is 'x'? A parameter is name:type"),
        ("tool a \"A.\" x:text", "what is 'x:text'?"),
        ("tool a \"A.\" x:string \"X.\" \"Y.\"", "what is 'Y.'?"),
        ("tool a \"A.\" --loud", "what is '--loud'?"),
        ("tool a \"A.\" --schema '{'", "--schema is no JSON: {"),
        ("tool a \"A.\" x:integer=two", "is no JSON: two"),
        (
            "tool a \"A.\" x:integer --schema '{}'",
            "--schema is instead of parameters",
        ),
        ("tool read \"A.\"", "a function 'read' would stand in the way"),
        ("toolbox \"A.\" --loud", "toolbox: what is '--loud'?"),
        ("reply early", "an answer outside of a tool"),
    ] {
        let exchange = toolbox(text);
        assert!(exchange.stderr.contains(why), "{text}: {exchange:?}");
        assert_eq!((exchange.status, exchange.lines.len()), (Some(2), 0), "{text}");
    }
}

#[test]
fn everything_a_tool_may_be_declared_with_is_described() {
    let exchange = toolbox(
        "toolbox 'A \"box\".' --version 2 --context\n\
         tool 'a-b' 'Does\nit.' --run it --title T --category C --version 3 --timeout '1m 30s' --read-only --idempotent \\\n\
         --open-world --destructive --output '{\"type\": \"string\"}' \\\n\
         x:string=\"a 'b'\" 'The x.' enum=\"a 'b',c\" y:number! minimum=0 maximum=9.5 z:integer[]='[1]' o:object p:string \
         pattern='^[a-z]*$' examples='[\"a,b\"]' items:array items='{\"type\":\"null\"}'\n\
         it() { :; }",
    );
    assert_eq!(
        exchange.result(1),
        json!({
            "protocol": 1, "description": "A \"box\".", "version": "2", "capabilities": ["context"],
            "tools": [{
                "name": "a-b", "description": "Does\nit.", "title": "T", "category": "C", "version": "3", "timeout": "1m 30s",
                "output_schema": {"type": "string"},
                "hints": {"readOnly": true, "idempotent": true, "openWorld": true, "destructive": true},
                "parameters": [
                    {"name": "x", "type": "string", "default": "a 'b'", "description": "The x.", "enum": ["a 'b'", "c"]},
                    {"name": "y", "type": "number", "required": true, "minimum": 0, "maximum": 9.5},
                    {"name": "z", "type": "array", "items": "integer", "default": [1]},
                    {"name": "o", "type": "object"},
                    {"name": "p", "type": "string", "pattern": "^[a-z]*$", "examples": ["a,b"]},
                    {"name": "items", "type": "array", "items": {"type": "null"}},
                ],
            }],
        })
    );
}

/// Bash 4.2 has no `${var@Q}` and the like, no `local -`, no `read`-only `wait -n`, no `mapfile -d`, no `declare -n`: the helper
/// must not begin to use what the Bash of these tests has.
#[test]
fn the_helper_keeps_to_what_bash_4_2_has() {
    let helper = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/toolhost.sh")).unwrap();
    let code: Vec<&str> = helper
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .collect();
    for newer in [
        "@Q}",
        "@E}",
        "@A}",
        "@P}",
        "@U}",
        "@L}",
        "@K}",
        "local -n",
        "declare -n",
        "typeset -n",
        "nameref",
        "local -\n",
        "mapfile -d",
        "readarray -d",
        "wait -n",
        "wait -p",
        "EPOCHSECONDS",
        "EPOCHREALTIME",
        "SRANDOM",
        "inherit_errexit",
        "[-1]",
        "test -v",
        "[[ -v ",
        "-R ",
        "read -e",
        "globasciiranges",
        "BASH_ARGV0",
        "${| ",
        "${ ",
    ] {
        let found = code.iter().find(|line| format!("{line}\n").contains(newer));
        assert_eq!(found, None, "{newer}");
    }
}
