//! Every value makes the way from the caller through Bash and back byte for byte, and none is ever run.

use serde_json::{Value, json};

use crate::common::raw::Raw;
use crate::{Hosted, ok};

/// Texts that have made trouble, in shells and in JSON.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "  two  words ",
        "a\nb",
        "\n",
        "a\n",
        "a\n\n\n",
        "\r\n",
        "\ttab\t",
        "$(touch ran)",
        "`touch ran`",
        ";touch ran",
        "\n touch ran",
        "&& touch ran",
        "| touch ran",
        "'; touch ran; '",
        "\"; touch ran; \"",
        "${HOME}",
        "$HOME",
        "a[$(touch ran)]",
        "*",
        "?[a-z]*",
        "~",
        "!!",
        "--version",
        "-n",
        "-e",
        "-v",
        "--",
        "-",
        "\\",
        "\\\\",
        "\\n",
        "\\u0041",
        "\\ud83d",
        "\\x41",
        "%s",
        "%s%n%d",
        "'",
        "\"",
        "a\"b\\\"c\\\\",
        "{}",
        "[1]",
        "null",
        "true",
        "12",
        "a=b",
        "a:=b",
        "/",
        "</script>",
        "héllo",
        "日本語",
        "🎉",
        "👩‍👩‍👧 e\u{301}",
        "\u{feff}bom",
        "\u{fffd}",
        "\u{2028}\u{2029}",
        "\u{7f}\u{1b}[31m",
        "\u{202e}abc",
        "\u{10ffff}",
        "\u{e000}",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push((1..32).map(char::from).collect());
    // The helper works in pieces of 2,048 bytes: what stands on a border must not be cut.
    for long in 2_035..2_052 {
        texts.push(format!("{}\"\\é🎉\n\u{1}{}", "a".repeat(long), "🎉\\".repeat(700)));
    }
    texts.push("x".repeat(100_000));
    texts.push("é\"\\\n🎉".repeat(10_000));
    texts
}

/// As they are, and as Python sends them: with an escape for each character that is not ASCII, pairs of them for emoji.
fn ascii(value: &Value) -> String {
    let escaped = |c: char| match u32::from(c) {
        0..128 => c.to_string(),
        _ => c
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04X}"))
            .collect(),
    };
    value.to_string().chars().map(escaped).collect()
}

#[tokio::test]
async fn a_text_arrives_and_leaves_byte_for_byte() {
    let mut hosted = Hosted::start().await;
    for text in texts() {
        let shown: String = text.chars().take(40).collect();
        let answer = hosted.call("text", json!({ "value": text })).await;
        assert!(answer == ok(text.as_str()), "{shown:?}: {}", clipped(&answer));
        // What a tool prints has no newlines at its end, as in $(tool); nothing at all is no text.
        let printed = match text.trim_end_matches('\n') {
            "" => Value::Null,
            printed => json!(printed),
        };
        let answer = hosted.call("printed", json!({ "value": text })).await;
        assert!(answer == Ok(printed), "{shown:?} printed: {}", clipped(&answer));
    }
    let answer = hosted.call("list", json!({ "values": texts() })).await;
    assert!(answer == Ok(json!(texts())), "{}", clipped(&answer));
    let nothing_ran = !hosted.host.folder().join("ran").exists();
    assert!(nothing_ran);
    hosted.stop().await;
}

fn clipped(answer: &Result<Value, String>) -> String {
    format!("{answer:?}").chars().take(300).collect()
}

#[tokio::test]
async fn a_text_in_escapes_is_the_same_text() {
    let mut hosted = Hosted::start().await;
    let mut raw = Raw::connect(&hosted._bus.url).await;
    let all = texts().concat();
    let long = "é".repeat(200_000) + &"🎉".repeat(50_000);
    for text in [all, long] {
        let call = json!({
            "type": "ovos.persona.tools.call",
            "data": {"toolbox_id": "box", "name": "text", "kwargs": {"value": text}},
            "context": {"session": {"session_id": "s"}},
        });
        let frame = ascii(&call);
        assert!(frame.is_ascii() && frame.contains("\\uD83C\\uDF89"));
        raw.send(frame).await;
        let answer = loop {
            let frame: Value = serde_json::from_str(&raw.text().await.unwrap()).unwrap();
            if frame["type"] == "ovos.persona.tools.call.response" {
                break frame;
            }
        };
        assert!(
            answer["data"]["result"] == text.as_str(),
            "{:.300}",
            answer["data"].to_string()
        );
    }
    // And short: one escape of each kind JSON has, with a NUL, which Bash cannot hold.
    let escapes = hosted.call("echo", json!({"x": "\u{8}\u{c}\n\r\t\"\\/\u{1f}"})).await;
    assert_eq!(escapes, Ok(json!({"x": "\u{8}\u{c}\n\r\t\"\\/\u{1f}"})));
    assert_eq!(hosted.call("text", json!({"value": "a\u{0}b"})).await, ok("a\u{fffd}b"));
    hosted.stop().await;
}

#[tokio::test]
async fn a_mebibyte_of_text_and_ten_thousand_elements_arrive_whole() {
    let mut hosted = Hosted::start().await;
    let long = ["x".repeat(1 << 20), "né\n".repeat(1 << 18), "\"\\".repeat(1 << 16)];
    for text in long {
        let answer = hosted.call("text", json!({ "value": text })).await;
        assert!(answer == ok(text.as_str()), "{}", clipped(&answer));
    }
    let items: Vec<String> = (0..10_000).map(|n| format!("item {n} *\n")).collect();
    let answer = hosted.call("list", json!({ "values": items })).await;
    assert!(answer == Ok(json!(items)), "{}", clipped(&answer));
    for few in [json!([]), json!([""]), json!(["", ""])] {
        assert_eq!(hosted.call("list", json!({ "values": few })).await, Ok(few));
    }
    hosted.stop().await;
}

#[tokio::test]
async fn json_is_passed_on_as_it_is_spelled() {
    let mut hosted = Hosted::start().await;
    let numbers = "[18446744073709551616,1.10,-0.0,12345678901234567890.123456789,-9223372036854775809,1E400]";
    let answer = hosted.call("raw", json!({ "value": numbers })).await.unwrap();
    assert_eq!(answer.to_string(), numbers.replace("1E400", "1e+400"));
    let kwargs: Value =
        serde_json::from_str(&format!("{{\"n\": {numbers}, \"é\\n\": {{\"\": [[], {{}}, null]}}}}")).unwrap();
    assert_eq!(hosted.call("echo", kwargs.clone()).await, Ok(kwargs));
    hosted.stop().await;
}

#[tokio::test]
async fn json_get_finds_what_is_nested() {
    let mut hosted = Hosted::start().await;
    let json = r#"{"a":{"b c":[10,{"":"é\n\"","t":true,"n":null,"big":18446744073709551616}]},"a\"":"q","x":1,"x":2}"#;
    for (keys, found) in [
        (r#"a "b c" 0"#, Some("10")),
        (r#"a "b c" 1 """#, Some("é\n\"")),
        (r#"a "b c" 1 t"#, Some("true")),
        (r#"a "b c" 1 big"#, Some("18446744073709551616")),
        ("'a\"'", Some("q")),
        ("x", Some("2")),
        (
            r#"a "b c" 1"#,
            Some(r#"{"":"é\n\"","t":true,"n":null,"big":18446744073709551616}"#),
        ),
        (r#"a "b c" 1 n"#, None),
        (r#"a "b c" 2"#, None),
        (r#"a "b c" x"#, None),
        ("a b", None),
        ("x y", None),
        ("'$(touch ran)'", None),
    ] {
        let code = format!(
            "if json_get -v found \"$(cat <<'JSON'\n{json}\nJSON\n)\" {keys}; then reply \"$found\"; else reply_json null; fi"
        );
        assert_eq!(hosted.run(&code).await, Ok(json!(found)), "{keys}");
    }
    hosted.stop().await;
}
