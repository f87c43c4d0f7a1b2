//! Tests of `protocol::answer`.

use super::*;

fn ok(id: u64, result: &str) -> Line<'_> {
    Line::Answer {
        id,
        outcome: Ok(result),
    }
}

fn err<'a>(id: u64, error: &str) -> Line<'a> {
    Line::Answer {
        id,
        outcome: Err(error.to_owned()),
    }
}

fn faulty<'a>(id: impl Into<Option<u64>>, why: &str) -> Line<'a> {
    Line::Faulty {
        id: id.into(),
        why: why.to_owned(),
    }
}

#[test]
fn answers_and_events() {
    let table: &[(&[u8], Line<'_>)] = &[
        (br#"{"id": 7, "result": {"a": [1.0]}}"#, ok(7, r#"{"a": [1.0]}"#)),
        (b"\xef\xbb\xbf \t{\"id\":7,\"result\":1e400} \r\n", ok(7, "1e400")),
        (br#"{"id":"7","result":0}"#, ok(7, "0")),
        (br#"{"id":" 7 ","result":0}"#, ok(7, "0")),
        (br#"{"id":7.0,"result":0}"#, ok(7, "0")),
        (br#"{"id":7e0,"result":0}"#, ok(7, "0")),
        (br#"{"id":18446744073709551615,"result":0}"#, ok(u64::MAX, "0")),
        (br#"{"id":7,"result":1,"result":2}"#, ok(7, "2")),
        (br#"{"jsonrpc":"2.0","id":7,"result":null}"#, ok(7, "null")),
        (br#"{"id":7,"result":null,"error":null}"#, ok(7, "null")),
        (br#"{"id":7,"result":false,"error":null}"#, ok(7, "false")),
        (br#"{"id":7,"error":"E: x"}"#, err(7, "E: x")),
        (br#"{"id":7,"result":null,"error":"E: x"}"#, err(7, "E: x")),
        (br#"{"error":{"message":"x","type":"E"},"id":7}"#, err(7, "E: x")),
        (
            br#"{"id":null,"error":"E: x"}"#,
            Line::NullId {
                error: "E: x".to_owned(),
            },
        ),
        (br#"{"event":"tools_changed"}"#, Line::ToolsChanged),
        (
            br#"{"event":"progress","call":"2","percent":50}"#,
            Line::Progress { call: Some(2) },
        ),
        (br#"{"event":"progress"}"#, Line::Progress { call: None }),
        (b"", Line::Blank),
        (b" \r\n", Line::Blank),
        (b"\xef\xbb\xbf\n", Line::Blank),
    ];
    for (line, expected) in table {
        assert_eq!(parse(line), *expected, "{}", sample(line));
    }
}

#[test]
fn faulty_answers_name_their_request_and_their_fault() {
    let nan = |word: &str| format!("{word} is not JSON: send null or a string in its place");
    let table: &[(&[u8], Line<'_>)] = &[
        (
            br#"{"id":7,"result":1,"error":"x"}"#,
            faulty(7, "both result and error"),
        ),
        (br#"{"id":7}"#, faulty(7, "neither result nor error")),
        (br#"{"id":7,"error":null}"#, faulty(7, "neither result nor error")),
        (
            br#"{"id":7,"op":"call","name":"x","kwargs":{}}"#,
            faulty(7, "neither result nor error: it looks like a request, echoed"),
        ),
        (
            br#"{"id":7,"error":3}"#,
            faulty(
                7,
                "error is a number: expected a string or an object with type and message",
            ),
        ),
        (
            br#"{"id":7,"result":{"mean":NaN,"max":Infinity}}"#,
            faulty(7, &nan("NaN")),
        ),
        (
            br#"{"result":[-Infinity,"{\"id\":3"],"id":"7"}"#,
            faulty(7, &nan("-Infinity")),
        ),
        (br#"{"result":NaN}"#, faulty(None, &nan("NaN"))),
        (
            br#"{'id': 7, 'result': {'a': None}}"#,
            faulty(
                7,
                "strings in single quotes are not JSON: this looks like a Python dict, send json.dumps of it",
            ),
        ),
        (b"{\"id\":7,\"result\":\"a\xffb\"}", faulty(7, "invalid UTF-8")),
        (b"{\"result\":\"a\xffb\"}", faulty(None, "invalid UTF-8")),
        (
            br#"{"id":7,"result":{}}{"id":8,"result":{}}"#,
            faulty(7, "something follows the object: end each answer with a line feed"),
        ),
        (
            br#"{"id":7,"result":{}}Content-Length: 20"#,
            faulty(
                7,
                "looks like header framing (Content-Length): send one JSON object per line instead",
            ),
        ),
        (
            br#"{"id":7,"result":{"id":9,}}"#,
            faulty(7, "not JSON: key must be a string at byte 26"),
        ),
        (
            br#"{"id":7,"result":"cut"#,
            faulty(7, "not JSON: EOF while parsing a string at byte 21"),
        ),
        (
            br#"{"id":7,"result":"\ud800"}"#,
            faulty(7, "the result is no valid text: it holds a lone surrogate"),
        ),
    ];
    for (line, expected) in table {
        assert_eq!(parse(line), *expected, "{}", sample(line));
    }
}

#[test]
fn noise_is_told_by_its_likely_cause() {
    let table: &[(&[u8], Noise)] = &[
        ("Server v1.2 started 🚀".as_bytes(), Noise::NotJson),
        (b"{not json}", Noise::NotJson),
        (b"{'id': 7, 'op': 'call'}", Noise::NotJson),
        (b"\xff\xfe", Noise::NotUtf8),
        (b"[1]", Noise::NotAnObject),
        (b"\"ready\"", Noise::NotAnObject),
        (b"42", Noise::NotAnObject),
        (b"{}", Noise::NoId),
        (b"{\"result\":1}", Noise::NoId),
        (b"{\"error\":\"x\"}", Noise::NoId),
        (b"{\"id\":null,\"result\":1}", Noise::NoId),
        (b"{\"id\":null}", Noise::NoId),
        (b"{\"id\":-1,\"result\":1}", Noise::NoId),
        (b"{\"id\":7.5,\"result\":1}", Noise::NoId),
        (b"{\"id\":\"x\",\"result\":1}", Noise::NoId),
        (b"{\"id\":[7],\"result\":1}", Noise::NoId),
        (b"{\"id\":1e19,\"result\":1}", Noise::NoId),
        (b"{\"event\":\"hello\"}", Noise::UnknownEvent),
        (b"{\"event\":3}", Noise::UnknownEvent),
        (b"Content-Length: 80\r\n", Noise::HeaderFraming),
        (b"{", Noise::Spread),
        (b"  \"id\": 7,", Noise::Spread),
        (b"  \"result\": {", Noise::Spread),
        (b"}", Noise::Spread),
        (b"]},", Noise::Spread),
    ];
    for (line, expected) in table {
        assert_eq!(parse(line), Line::Noise(*expected), "{}", sample(line));
    }
}

#[test]
fn results_nest_as_deep_as_the_bus_carries() {
    let line = |depth: usize| format!(r#"{{"id":7,"result":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(matches!(
        parse(line(127).as_bytes()),
        Line::Answer { outcome: Ok(_), .. }
    ));
    for depth in [128, 1_000, 100_000] {
        assert_eq!(
            parse(line(depth).as_bytes()),
            faulty(7, "the result is nested too deeply (limit 127)")
        );
    }
    // Broken as well as deep: the scan keeps no stack.
    let open = format!(r#"{{"id":7,"result":{}"#, "[".repeat(100_000));
    assert!(matches!(parse(open.as_bytes()), Line::Faulty { id: Some(7), .. }));
}

#[test]
fn samples_are_short_and_inert() {
    assert_eq!(
        sample(b"a \"b\" \x1b[31m\xff \xe2\x80\xae\n"),
        "a \"b\" \\u{1b}[31m\u{fffd} \\u{202e}"
    );
    let long = sample(&vec![b'x'; 1 << 20]);
    assert_eq!(long, format!("{}… (1048576 bytes)", "x".repeat(120)));
}

#[test]
fn the_beginning_of_an_overlong_answer_tells_the_whole_id_or_none() {
    for (head, id) in [
        (r#"{"id":123,"result":"aaa"#, Some(123)),
        (r#"{"id": "123", "res"#, Some(123)),
        (r#"{"id":123"#, None),
        (r#"{"id":12"#, None),
        (r#"{"id":"12"#, None),
        (r#"{"id":"1 "#, None),
        (r#"{"id"#, None),
        (r#"{"result":{"id":5},"a":"#, None),
    ] {
        assert_eq!(id_in(head.as_bytes()), id, "{head}");
    }
}

#[test]
fn no_bytes_bring_the_reader_down() {
    let seeds: [&[u8]; 5] = [
        br#"{"id":7,"result":{"a":[1,"\u00e9",NaN]}}"#,
        br#"{'id': "7", 'error': {"type": "E", "message": "\ud800"}}"#,
        br#"{"event":"progress","call":2}{"id":7,"error":"x"}"#,
        "Content-Length: 9\r\n{\"id\": 7, \"result\": \"é🚀\"}".as_bytes(),
        b"{\"id\":7,\"result\":\"\xff\\\"}",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..20_000 {
        let mut line = seeds[round % seeds.len()].to_vec();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..line.len());
            match random.u8(..3) {
                0 => line[at] = random.u8(..),
                1 => line.truncate(at.max(1)),
                _ => line.insert(at, *random.choice(b"{}[]\"'\\:,").unwrap_or(&b'{')),
            }
        }
        parse(&line);
        sample(&line);
    }
}
