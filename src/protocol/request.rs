//! Requests: the lines the host writes to a toolbox (contract §1).

use super::VERSION;

/// One request. Every field named raw is passed on as the text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// Asks what tools there are; the first line every toolbox sees.
    Describe {
        /// Chosen by the host, unique among the requests in flight.
        id: u64,
        /// Which toolbox of the configuration the process is.
        toolbox_id: &'a str,
        /// The toolbox's own configuration: a raw JSON object.
        config: &'a str,
    },
    /// Runs a tool.
    Call {
        /// Chosen by the host, unique among the requests in flight.
        id: u64,
        /// The toolbox's own name of the tool.
        name: &'a str,
        /// The arguments: a raw JSON object.
        kwargs: &'a str,
        /// The context of the Message that asks, raw, for a toolbox that announced `context`.
        context: Option<&'a str>,
    },
    /// Nobody waits for a call any more; for a toolbox that announced `cancel`. Has no answer.
    Cancel {
        /// The id of the call.
        target: u64,
    },
}

impl Request<'_> {
    /// Appends the request to `out`: exactly one line, its LF included.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Describe { id, toolbox_id, config } => {
                push_id(out, id);
                push(out, r#","op":"describe","protocol":"#);
                push_number(out, u64::from(VERSION));
                push(out, r#","toolbox_id":"#);
                push_string(out, toolbox_id);
                push(out, r#","config":"#);
                push_raw(out, config);
            }
            Self::Call {
                id,
                name,
                kwargs,
                context,
            } => {
                push_id(out, id);
                push(out, r#","op":"call","name":"#);
                push_string(out, name);
                push(out, r#","kwargs":"#);
                push_raw(out, kwargs);
                if let Some(context) = context {
                    push(out, r#","context":"#);
                    push_raw(out, context);
                }
            }
            Self::Cancel { target } => {
                push(out, r#"{"op":"cancel","target":"#);
                push_number(out, target);
            }
        }
        push(out, "}\n");
    }
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn push_id(out: &mut Vec<u8>, id: u64) {
    push(out, r#"{"id":"#);
    push_number(out, id);
}

// Writing a number or a `str` into a `Vec` cannot fail.
fn push_number(out: &mut Vec<u8>, number: u64) {
    serde_json::to_writer(out, &number).ok();
}

fn push_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).ok();
}

/// Appends raw JSON. A line end in it can only be whitespace between tokens, where a blank means
/// the same: left alone it would cut the request in two.
fn push_raw(out: &mut Vec<u8>, raw: &str) {
    let start = out.len();
    push(out, raw);
    let mut rest = &mut out[start..];
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        rest[at] = b' ';
        rest = &mut rest[at + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_one_line() {
        let table = [
            (
                Request::Describe {
                    id: 1,
                    toolbox_id: "wordnet",
                    config: "{\"lang\":\n \"en\"}",
                },
                r#"{"id":1,"op":"describe","protocol":1,"toolbox_id":"wordnet","config":{"lang":  "en"}}"#,
            ),
            (
                Request::Call {
                    id: 2,
                    name: "say \"\n\u{1}é",
                    kwargs: "{\"a\": 1.0,\r\n\"b\": 18446744073709551616, \"c\": \"\\n\"}",
                    context: None,
                },
                r#"{"id":2,"op":"call","name":"say \"\n\u0001é","kwargs":{"a": 1.0,  "b": 18446744073709551616, "c": "\n"}}"#,
            ),
            (
                Request::Call {
                    id: u64::MAX,
                    name: "t",
                    kwargs: "{}",
                    context: Some("{\"session\":\n{}}"),
                },
                r#"{"id":18446744073709551615,"op":"call","name":"t","kwargs":{},"context":{"session": {}}}"#,
            ),
            (Request::Cancel { target: 2 }, r#"{"op":"cancel","target":2}"#),
        ];
        let mut all = Vec::new();
        for (request, expected) in table {
            let mut out = Vec::new();
            request.write(&mut out);
            assert_eq!(String::from_utf8(out.clone()).unwrap(), format!("{expected}\n"));
            serde_json::from_slice::<serde_json::Value>(&out).unwrap();
            request.write(&mut all);
        }
        assert_eq!(memchr::memchr_iter(b'\n', &all).count(), 4);
    }
}
