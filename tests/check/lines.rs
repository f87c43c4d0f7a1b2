//! One faulty program for each thing that can be wrong with a line: what it wrote and what it should have written.

use super::{GOOD, check, check_program, check_python};

/// The answer that should have been, to the first describe.
const DESCRIBED: &str = r#"should: {"id":1,"result":{"tools":[]}}"#;

#[test]
fn each_faulty_line_is_shown_with_the_line_that_should_have_been() {
    let spaced = "json.dumps({'id': request['id'], **good})";
    for (answer, lines) in [
        (
            "json.dumps({**good})",
            &[
                "fault in describe: an answer without an id: the request has 1",
                r#"wrote:  {"result": {"tools": []}}"#,
                DESCRIBED,
                r#"hint:   json.dumps({"id": request["id"], ...})"#,
            ][..],
        ),
        (
            "json.dumps({'id': None, **good})",
            &[
                "fault in describe: an answer whose id is null: the request has 1",
                r#"wrote:  {"id": null, "result""#,
                DESCRIBED,
            ],
        ),
        (
            "json.dumps({'id': 99, **good})",
            &[
                "fault in describe: an answer with the wrong id, 99: the request has 1",
                r#"wrote:  {"id": 99, "#,
                DESCRIBED,
            ],
        ),
        (
            "json.dumps({'id': True, **good})",
            &[
                "fault in describe: an answer whose id is a boolean",
                "wrote:",
                DESCRIBED,
            ],
        ),
        (
            "json.dumps({'id': request['id'], 'error': 'x', **good})",
            &[
                "fault in describe: both result and error",
                r#"wrote:  {"id": 1, "error""#,
                DESCRIBED,
            ],
        ),
        (
            "json.dumps({'id': request['id']})",
            &[
                "fault in describe: neither result nor error",
                r#"wrote:  {"id": 1}"#,
                r#"should: {"id":1,"result""#,
            ],
        ),
        (
            "json.dumps({'id': request['id'], 'reslt': good.get('result')})",
            &[
                "fault in describe: neither result nor error: is 'reslt' meant as 'result'?",
                "wrote:",
                "should:",
            ],
        ),
        (
            "json.dumps({'id': request['id'], **good.get('result', good)})",
            &[
                "fault in describe: neither result nor error: 'tools' belongs inside 'result'",
                "wrote:",
                DESCRIBED,
            ],
        ),
        (
            "line.strip()",
            &[
                "fault in describe: neither result nor error: it looks like the request, echoed",
                "wrote:",
                "should:",
            ],
        ),
        (
            "json.dumps({'id': request['id'], 'error': 3})",
            &[
                "fault in describe: error is a number: expected a string",
                "wrote:",
                r#"should: {"id":1,"result""#,
            ],
        ),
        (
            "'{\"id\": %d, \"result\": {\"tools\": [], \"version\": NaN}}' % request['id']",
            &[
                "fault in describe: an answer that is not JSON: NaN is not JSON: send null",
                "wrote:",
                "should:",
                "hint:   None if math.isnan(x)",
            ],
        ),
        (
            "'{\"id\": %d, \"result\": Infinity}' % request['id']",
            &[
                "fault in describe: an answer that is not JSON: Infinity is not JSON",
                "wrote:",
                "should:",
            ],
        ),
        (
            "{'id': request['id'], **good}",
            &[
                "fault in describe: an answer that is not JSON: strings in single quotes",
                "wrote:",
                "should:",
                "hint:   print(json.dumps(answer))",
            ],
        ),
        (
            "json.dumps({'id': request['id'], **good}) + ' done'",
            &[
                "fault in describe: something follows the object on its line: done",
                "wrote:",
                DESCRIBED,
            ],
        ),
        (
            "json.dumps({'id': request['id'], **good}) * 2",
            &["fault in describe: 2 JSON objects on one line", "wrote:", DESCRIBED],
        ),
        (
            "json.dumps({'id': request['id'], **good}, indent=2)",
            &[
                "fault in describe: one JSON object over 6 lines",
                "wrote:  {",
                DESCRIBED,
                "hint:   json.dumps(answer) without indent=",
            ],
        ),
        (
            "json.dumps({'id': request['id'], **good})[:-1]",
            &[
                "fault in describe: an answer that cannot be read: not JSON: EOF",
                "wrote:",
                "should:",
            ],
        ),
        (
            "'Content-Length: 40\\r\\n\\r\\n' + json.dumps({'id': request['id'], **good})",
            &[
                "fault in describe: header framing (Content-Length)",
                r"wrote:  Content-Length: 40",
                r#"should: {"id":1,"result""#,
            ],
        ),
        (
            "json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'initialize'})",
            &[
                "fault in describe: it seems to speak JSON-RPC (\"method\": \"initialize\"), as MCP and LSP do; toolhost asks {\"id\":1",
                "wrote:",
                "should:",
            ],
        ),
        (
            "json.dumps({'jsonrpc': '2.0', 'id': 1, 'error': {'code': -32600, 'message': 'Invalid Request'}})",
            &[
                "fault in describe: it refuses the request as JSON-RPC does: it seems to be an MCP server",
                "wrote:",
                "should:",
            ],
        ),
        (
            "'\\n'.join([json.dumps({'id': request['id'], **good})] * 2)",
            &[
                "fault in describe: a second answer to request 1: each has exactly one",
                r#"wrote:  {"id": 1"#,
                r#"should: {"id":2,"result""#,
            ],
        ),
    ] {
        let checked = check_python("", answer);
        assert_eq!(checked.code, Some(1), "{answer}: {}", checked.report);
        assert!(checked.report.starts_with("FAIL check"), "{}", checked.report);
        assert_eq!(checked.stderr, "error: 1 toolbox has faults\n");
        checked.shows(lines);
    }
    assert_eq!(check_python("", spaced).code, Some(0));
}

#[test]
fn an_answer_to_what_it_does_not_know_must_be_an_error() {
    for (answer, lines) in [
        (
            "json.dumps({'id': request['id'], **(good if request['op'] != 'call' else {'result': 'no such tool'})})",
            &[
                "fault in unknown_tool: a call of a tool it does not have (id 2) is answered with a result, expected an error",
                r#"wrote:  {"id": 2, "result": "no such tool"}"#,
                r#"should: {"id":2,"error":"ValueError: unknown tool 'no such tool, surely'"}"#,
                "hint:   except Exception as error",
            ][..],
        ),
        (
            "json.dumps({'id': request['id'], **(good if request['op'] != 'call' else {'result': {'error': 'KeyError: x'}})})",
            &[
                "fault in unknown_tool: a call of a tool it does not have (id 2) is answered with a result, expected an error; its error stands inside 'result'",
                "wrote:",
                r#"should: {"id":2,"error":"KeyError: x"}"#,
            ],
        ),
        (
            "json.dumps({'id': request['id'], **(good if request['op'] != 'no_such_op' else {'result': None})})",
            &[
                "fault in unknown_op: an op it does not know (id 2) is answered with a result",
                "wrote:",
                r#"should: {"id":2,"error":"ValueError: unknown op 'no_such_op'"}"#,
            ],
        ),
        (
            "json.dumps({'id': request['id'], **good}) if request['op'] != 'call' else 1 / 0",
            &[
                "fault in unknown_tool: exited instead (exit status 1)",
                "asked:  a call of a tool it does not have (id 2)",
                "wrote:  nothing",
                r#"should: {"id":2,"error":"ValueError: unknown tool 'no such tool, surely'"}"#,
                "hint:   except Exception as error",
                "its stderr:",
            ],
        ),
    ] {
        let checked = check_python("", answer);
        assert_eq!(checked.code, Some(1), "{answer}: {}", checked.report);
        checked.shows(lines);
    }
}

#[test]
fn what_the_host_mends_is_a_warning_with_the_line_as_it_should_be() {
    let bytes = |prefix: &str, suffix: &str| {
        format!(
            "(sys.stdout.flush(), sys.stdout.buffer.write({prefix} + {GOOD}.encode() + {suffix}), sys.stdout.buffer.flush(), '')[3]"
        )
    };
    for (answer, lines) in [
        (
            bytes(r"b'\xef\xbb\xbf'", r"b'\n'"),
            &[
                "warning in describe: a byte order mark before the answer",
                r"wrote:  \u{feff}{",
                DESCRIBED,
                "hint:   encode as \"utf-8\"",
            ][..],
        ),
        (
            bytes("b''", r"b'\r\n'"),
            &[
                "warning in describe: a line that ends with CRLF",
                "wrote:",
                DESCRIBED,
                "hint:",
            ],
        ),
        (
            "json.dumps({'id': str(request['id']), **good})".to_owned(),
            &[
                "warning in describe: the id is a string",
                r#"wrote:  {"id": "1""#,
                DESCRIBED,
                "hint:   json.dumps",
            ],
        ),
        (
            "json.dumps({'id': float(request['id']), **good})".to_owned(),
            &[
                "warning in describe: the id is spelled 1.0",
                r#"wrote:  {"id": 1.0"#,
                DESCRIBED,
            ],
        ),
        (
            "'{\"id\": 7, ' + json.dumps({'id': request['id'], **good})[1:]".to_owned(),
            &[
                "warning in describe: the key 'id' stands twice in the answer",
                r#"wrote:  {"id": 7, "id": 1"#,
                DESCRIBED,
            ],
        ),
        (
            "json.dumps({'jsonrpc': '2.0', 'id': request['id'], **good})".to_owned(),
            &[
                "warning in describe: 'jsonrpc' stands in the answer",
                r#"wrote:  {"jsonrpc""#,
                DESCRIBED,
            ],
        ),
    ] {
        let checked = check_python("", &answer);
        assert_eq!(checked.code, Some(0), "{answer}: {}", checked.report);
        checked.shows(lines);
        assert_eq!(checked.report.matches("warning in").count(), 1, "{}", checked.report);
    }
}

#[test]
fn text_that_is_not_utf8_is_named() {
    let answer = r#"(sys.stdout.flush(), sys.stdout.buffer.write(b'{"id": %d, "result": "caf\xe9"}\n' % request['id']), sys.stdout.buffer.flush(), '')[3]"#;
    let checked = check_python("", answer);
    checked.shows(&[
        "fault in describe: an answer that is not UTF-8",
        r#"wrote:  {"id": 1, "result": "caf"#,
        r#"should: {"id":1,"result""#,
        "hint:   sys.stdout.reconfigure(encoding=\"utf-8\")",
    ]);
}

#[test]
fn noise_is_a_warning_with_a_sample_and_no_fault() {
    let checked = check_python("print('Server v1.2 started \u{1f680}')", GOOD);
    assert_eq!(checked.code, Some(0), "{}", checked.report);
    checked.shows(&[
        "warning in describe: wrote noise to stdout: not JSON",
        "wrote:  Server v1.2",
        "should: (nothing; what is not an answer goes to stderr)",
        "hint:   print(..., file=sys.stderr)",
    ]);
    let bash = "#!/bin/bash\necho starting\nwhile IFS= read -r line; do [ -z \"$line\" ] || jq -c 'if .op == \"describe\" then {id, result: \
                {tools: []}} else {id, error: \"no\"} end' <<<\"$line\"; done\n";
    check_program("noisy.sh", bash).shows(&[
        "warning in describe: wrote noise",
        "wrote:  starting",
        "should:",
        "hint:   echo ... >&2",
    ]);
    let node = "#!/usr/bin/env node\nconsole.log('listening');\nrequire('readline').createInterface({input: process.stdin}).on('line', \
                l => { if (l) { const r = JSON.parse(l); console.log(JSON.stringify({id: r.id, ...(r.op === 'describe' ? {result: \
                {tools: []}} : {error: 'no'})})) } });\n";
    check_program(
        "noisy.mjs",
        &node.replace("require('readline')", "(await import('readline'))"),
    )
    .shows(&[
        "warning in describe: wrote noise",
        "wrote:  listening",
        "should:",
        "hint:   console.error(...)",
    ]);
}

#[test]
fn a_flood_of_noise_is_shown_by_three_lines_of_it() {
    let checked = check_python("for i in range(50): print('debug', i)", GOOD);
    assert_eq!(checked.report.matches("wrote noise").count(), 3, "{}", checked.report);
    assert_eq!(check(&["--oneshot"]).code, Some(2));
}
