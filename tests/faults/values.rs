//! A. Odd bytes, numbers, ids and depths: each has a defined outcome, and never a wrong caller's answer.

use serde_json::{Value, json};

use crate::common::eventually::within;
use crate::common::raw::Raw;
use crate::harness::Hosted;
use crate::moods::{Healthy, entry, mood, raw, up};
use crate::world::World;

/// What becomes of a call whose toolbox writes such bytes.
enum End {
    /// This result, spelled like this.
    Is(&'static str),
    /// An error with these words.
    Fails(&'static str),
}
use End::{Fails, Is};

/// A good answer, to be read after bytes that answer nothing.
const THEN: &str = "{\"id\":$ID,\"result\":\"after\"}\n";

/// Bytes on stdout and what comes of them. `$THEN` is a good answer.
const TABLE: [(&str, &[u8], End); 38] = [
    ("a byte", b"x\n$THEN", Is("\"after\"")),
    ("a byte that is no text", b"\xff\n$THEN", Is("\"after\"")),
    ("a NUL", b"\0\n$THEN", Is("\"after\"")),
    ("half a character", b"\xc3\n$THEN", Is("\"after\"")),
    (
        "half a character in the result",
        b"{\"id\":$ID,\"result\":\"\xc3\"}\n",
        Fails("ProtocolError: invalid UTF-8"),
    ),
    (
        "a character of four bytes",
        "{\"id\":$ID,\"result\":\"🚀\"}\n".as_bytes(),
        Is("\"🚀\""),
    ),
    ("a byte order mark", b"\xef\xbb\xbf{\"id\":$ID,\"result\":1}\n", Is("1")),
    ("half a byte order mark", b"\xef\xbb\n$THEN", Is("\"after\"")),
    ("UTF-16", b"\xff\xfe{\0}\0\n$THEN", Is("\"after\"")),
    ("CRLF", b"{\"id\":$ID,\"result\":1}\r\n\r\n", Is("1")),
    ("a lone CR", b"\r{\"id\":$ID,\"result\":1}\r\r\n", Is("1")),
    ("blanks round it", b" \t {\"id\":$ID,\"result\":1} \t \n", Is("1")),
    ("blank lines", b"\n \n\t\n$THEN", Is("\"after\"")),
    (
        "NaN",
        b"{\"id\":$ID,\"result\":{\"mean\":NaN}}\n",
        Fails("ProtocolError: NaN is not JSON"),
    ),
    (
        "infinity",
        b"{\"id\":$ID,\"result\":[-Infinity]}\n",
        Fails("ProtocolError: -Infinity is not JSON"),
    ),
    (
        "a lone surrogate",
        b"{\"id\":$ID,\"result\":\"\\ud800\"}\n",
        Fails("lone surrogate"),
    ),
    (
        "a lone surrogate in an error",
        b"{\"id\":$ID,\"error\":\"E: \\udc00\"}\n",
        Fails("E: \u{fffd}"),
    ),
    (
        "more than 64 bits",
        b"{\"id\":$ID,\"result\":18446744073709551616}\n",
        Is("18446744073709551616"),
    ),
    (
        "less than 64 bits",
        b"{\"id\":$ID,\"result\":-9223372036854775809}\n",
        Is("-9223372036854775809"),
    ),
    ("more than a float", b"{\"id\":$ID,\"result\":1e400}\n", Is("1e400")),
    (
        "an id of more than 64 bits",
        b"{\"id\":18446744073709551617,\"result\":0}\n$THEN",
        Is("\"after\""),
    ),
    ("a result twice", b"{\"id\":$ID,\"result\":1,\"result\":2}\n", Is("2")),
    (
        "an id twice, the last one right",
        b"{\"id\":999999,\"id\":$ID,\"result\":1}\n",
        Is("1"),
    ),
    (
        "an id twice, the first one right",
        b"{\"id\":$ID,\"id\":999999,\"result\":0}\n$THEN",
        Is("\"after\""),
    ),
    (
        "result and error",
        b"{\"id\":$ID,\"result\":1,\"error\":\"E\"}\n",
        Fails("both result and error"),
    ),
    ("neither", b"{\"id\":$ID}\n", Fails("neither result nor error")),
    (
        "an error that is a number",
        b"{\"id\":$ID,\"error\":3}\n",
        Fails("error is a number"),
    ),
    ("an id as a string", b"{\"id\":\"$ID\",\"result\":1}\n", Is("1")),
    ("an id as a float", b"{\"id\":$ID.0,\"result\":1}\n", Is("1")),
    ("an id with an exponent", b"{\"id\":$IDe0,\"result\":1}\n", Is("1")),
    ("half an id", b"{\"id\":$ID.5,\"result\":0}\n$THEN", Is("\"after\"")),
    ("a negative id", b"{\"id\":-$ID,\"result\":0}\n$THEN", Is("\"after\"")),
    (
        "an id in a list",
        b"{\"id\":[$ID],\"result\":0}\n$THEN",
        Is("\"after\""),
    ),
    ("an unknown id", b"{\"id\":999999,\"result\":0}\n$THEN", Is("\"after\"")),
    ("no id", b"{\"result\":0}\n$THEN", Is("\"after\"")),
    (
        "an answer twice",
        b"{\"id\":$ID,\"result\":1}\n{\"id\":$ID,\"result\":0}\n",
        Is("1"),
    ),
    (
        "two answers on a line",
        b"{\"id\":$ID,\"result\":1}{\"id\":$ID,\"result\":0}\n",
        Fails("something follows"),
    ),
    (
        "a control character in a text",
        b"{\"id\":$ID,\"result\":\"\x01\"}\n",
        Fails("not JSON"),
    ),
];

/// A value as `serde_json` spells it, which writes 1e400 as 1e+400 and changes nothing else.
fn spelled(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_string()
}

/// The table, beside a call of another that must get its own answer.
async fn every_odd_line_has_its_outcome(language: &str) {
    let healthy = Healthy::start().await;
    let alone = up(language, &json!({})).await;
    let shared = up(language, &json!({"capabilities": ["concurrent"]})).await;
    for (what, bytes, end) in TABLE {
        let at = bytes
            .windows(5)
            .position(|part| part == b"$THEN")
            .unwrap_or(bytes.len());
        let then = if at < bytes.len() { THEN.as_bytes() } else { b"" };
        let bytes = [&bytes[..at], then].concat();
        // All at once; and byte by byte, beside another call.
        let whole = healthy.beside(alone.call("raw", raw(&bytes, 0))).await;
        let other = shared.send("pair", json!({"mine": what}));
        let bytewise = healthy.beside(shared.call("raw", raw(&bytes, 1))).await;
        let second = shared.call("pair", json!({"second": what})).await;
        assert_eq!(other.get().await, Ok(json!({"mine": what})), "the other caller: {what}");
        assert_eq!(second, Ok(json!({"second": what})), "the next caller: {what}");
        for answer in [whole, bytewise] {
            match (&end, answer) {
                (Is(spelling), Ok(result)) => assert_eq!(result.to_string(), spelled(spelling), "{what}"),
                (Fails(words), Err(error)) => assert!(error.contains(words), "{what}: {error}"),
                (_, answer) => panic!("{what}: {answer:?}"),
            }
        }
    }
    for toolbox in [alone, shared] {
        assert_eq!(
            toolbox.handle.snapshot().await.unwrap().restarts,
            0,
            "it lives through all of it"
        );
    }
    healthy.never_noticed().await;
}

#[tokio::test]
async fn every_odd_line_of_bash_has_its_outcome_and_no_other_caller_gets_it() {
    every_odd_line_has_its_outcome("bash").await;
}

#[tokio::test]
async fn every_odd_line_of_python_has_its_outcome_and_no_other_caller_gets_it() {
    every_odd_line_has_its_outcome("python").await;
}

#[tokio::test]
async fn every_odd_line_of_node_has_its_outcome_and_no_other_caller_gets_it() {
    every_odd_line_has_its_outcome("node").await;
}

#[tokio::test]
async fn every_odd_line_of_rust_has_its_outcome_and_no_other_caller_gets_it() {
    every_odd_line_has_its_outcome("rust").await;
}

#[tokio::test]
async fn an_error_without_an_id_is_that_of_the_only_call_and_of_nobody_where_there_are_two() {
    for language in crate::moods::LANGUAGES {
        let alone = up(language, &json!({})).await;
        let nobodys = raw(b"{\"id\":null,\"error\":\"E: whose?\"}\n", 0);
        assert_eq!(alone.call("raw", nobodys).await, Err("E: whose?".into()), "{language}");
        let shared = up(language, &json!({"capabilities": ["concurrent"]})).await;
        let other = shared.send("pair", json!({"first": 1}));
        let one = shared
            .call(
                "raw",
                raw(b"{\"id\":null,\"error\":\"E: whose?\"}\n{\"id\":$ID,\"result\":1}\n", 0),
            )
            .await;
        assert_eq!(one, Ok(json!(1)), "{language}");
        assert_eq!(
            shared.call("pair", json!({"second": 2})).await,
            Ok(json!({"second": 2})),
            "{language}"
        );
        assert_eq!(other.get().await, Ok(json!({"first": 1})), "{language}");
    }
}

#[tokio::test]
async fn answers_in_the_reverse_order_reach_their_own_callers_in_every_language() {
    for language in crate::moods::LANGUAGES {
        let toolbox = up(language, &json!({"capabilities": ["concurrent"]})).await;
        let calls: Vec<_> = (0..40).map(|n| (n, toolbox.send("pair", json!({"n": n})))).collect();
        for (n, call) in calls {
            assert_eq!(call.get().await, Ok(json!({"n": n})), "{language}");
        }
    }
}

const NUMBERS: [&str; 14] = [
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "1e400",
    "-0",
    "-0.0",
    "1.0",
    "1e2",
    "0.1",
    "117.63331139400017",
    "9007199254740991.0",
    "1.10",
    "1E+2",
];

#[tokio::test]
async fn numbers_keep_their_spelling_from_the_bus_to_the_program_and_back() {
    let mut world = World::start(json!({"python": entry("python", &json!({}))})).await;
    let mut raw = Raw::connect(&world.bus.url).await;
    for number in NUMBERS {
        let request = format!(
            r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"healthy","name":"echo","kwargs":{{"n":{number}}}}},"context":{{"number":"{number}"}}}}"#
        );
        raw.send(request).await;
        let frame = within("the answer", async {
            loop {
                let text = raw.text().await.expect("the bus is there");
                if text.contains("call.response") {
                    return text;
                }
            }
        })
        .await;
        assert!(
            frame.contains(&format!("{{\"n\":{}}}", spelled(number))),
            "{number}: {frame}"
        );
    }
    // What a language makes of a number is its own affair; what it says comes as it was said.
    for (sent, said) in [
        ("1.0", "1.0"),
        ("9007199254740993", "9007199254740993"),
        ("18446744073709551616", "18446744073709551616"),
        ("1", "1"),
    ] {
        let kwargs: Value = serde_json::from_str(&format!("{{\"n\":{sent}}}")).unwrap();
        assert_eq!(
            world.call("python", "echo", kwargs).await.unwrap()["n"].to_string(),
            said
        );
    }
    let kwargs: Value = serde_json::from_str("{\"n\":1e400}").unwrap();
    let error = world.call("python", "echo", kwargs).await.unwrap_err();
    assert!(error.starts_with("ProtocolError: Infinity is not JSON"), "{error}");
    world.stop().await;
}

#[tokio::test]
async fn a_result_of_any_depth_is_told_or_refused_in_words() {
    let healthy = Healthy::start().await;
    let toolbox = up("rust", &json!({})).await;
    let result = toolbox.call("nested", json!({"depth": 127})).await.unwrap();
    assert_eq!(result.to_string(), format!("{}{}", "[".repeat(127), "]".repeat(127)));
    for depth in [128, 129, 1_000, 10_000, 100_000] {
        let error = healthy
            .beside(toolbox.call("nested", json!({"depth": depth})))
            .await
            .unwrap_err();
        assert_eq!(
            error, "ProtocolError: the result is nested too deeply (limit 127)",
            "{depth}"
        );
    }
    // Bash takes seconds to write more.
    for (language, depth) in [("bash", 1_000), ("python", 10_000), ("node", 10_000)] {
        let toolbox = up(language, &json!({})).await;
        let deep = format!("{{\"id\":$ID,\"result\":{}{}}}\n", "[".repeat(depth), "]".repeat(depth));
        let error = toolbox.call("raw", raw(deep.as_bytes(), 0)).await.unwrap_err();
        assert_eq!(
            error, "ProtocolError: the result is nested too deeply (limit 127)",
            "{language}"
        );
    }
    healthy.never_noticed().await;
}

/// The answers to a request, as text: what is that deep no tree is made of.
async fn answers_to(raw: &mut Raw, kwargs: &str, token: &str) -> Vec<String> {
    let request = |kwargs: &str, token: &str| {
        format!(
            r#"{{"type":"ovos.persona.tools.call","data":{{"toolbox_id":"healthy","name":"echo","kwargs":{kwargs}}},"context":{{"token":"{token}"}}}}"#
        )
    };
    raw.send(request(kwargs, token)).await;
    raw.send(request("{}", "fence")).await;
    let mut answers = Vec::new();
    loop {
        let text = raw.text().await.expect("the bus is there");
        let is_answer_to =
            |token: &str| text.contains("call.response") && text.contains(&format!("\"token\":\"{token}\""));
        if is_answer_to(token) {
            answers.push(text);
        } else if is_answer_to("fence") {
            return answers;
        }
    }
}

#[tokio::test]
async fn arguments_of_any_depth_are_answered_once_or_dropped_and_the_next_call_is_served() {
    let mut world = World::start(json!({})).await;
    let mut raw = Raw::connect(&world.bus.url).await;
    for depth in [50, 124, 125, 126, 127, 128, 129, 1_000, 10_000, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let answers = answers_to(&mut raw, &format!("{{\"deep\":{deep}}}"), &depth.to_string()).await;
        assert!(answers.len() <= 1, "{depth}: {} answers", answers.len());
        assert!(depth > 120 || answers[0].contains(&deep), "carried: {answers:?}");
        for answer in answers {
            let told = answer.contains(&deep) || answer.contains("too deep");
            assert!(told, "{depth}: {}", &answer[..answer.len().min(300)]);
        }
    }
    // The other caller makes trees of all it hears, and has heard enough.
    let url = world.bus.url.clone();
    world.caller.reconnect(&url).await;
    world.stop().await;
}

#[tokio::test]
async fn a_schema_of_any_depth_costs_its_own_toolbox_at_most() {
    let healthy = Healthy::start().await;
    for depth in [10, 127, 1_000, 100_000] {
        let schema = format!(
            "{}{{\"type\":\"object\"}}{}",
            "{\"not\":".repeat(depth),
            "}".repeat(depth)
        );
        let own = json!({"tools": [{"name": "deep", "argument_schema": "SCHEMA"}], "schema_text": schema});
        let toolbox = Hosted::start(mood("rust", &own));
        let answer = healthy.beside(toolbox.call("deep", json!({}))).await;
        if depth == 10 {
            assert_eq!(answer, Ok(json!({})));
            continue;
        }
        let error = answer.unwrap_err();
        let told = ["Unknown tool", "Invalid", "ToolboxUnavailable"]
            .iter()
            .any(|start| error.starts_with(start));
        assert!(told, "{depth}: {error}");
        assert!(error.len() < 5000, "{depth}: {} bytes", error.len());
    }
    healthy.never_noticed().await;
}

#[tokio::test]
async fn a_key_that_stands_twice_in_a_call_reaches_the_program_once() {
    let mut world = World::start(json!({"python": entry("python", &json!({}))})).await;
    let mut raw = Raw::connect(&world.bus.url).await;
    let request = r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"nobody","toolbox_id":"healthy","name":"echo","kwargs":{"path":"ok","path":"../../etc"}},"context":{"token":"twice"}}"#;
    raw.send(request).await;
    let answers = world.caller.wait("twice", 1).await;
    assert_eq!(answers[0]["toolbox_id"], "healthy");
    assert_eq!(answers[0]["result"].to_string(), r#"{"path":"../../etc"}"#);
    world.caller.catch_up().await;
    assert_eq!(world.caller.answers("twice").len(), 1);
    world.stop().await;
}
