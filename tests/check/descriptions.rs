//! Descriptions that promise what does not hold: each by a real program that gives them.

use super::check_python;

/// Checks a toolbox that describes itself with this Python expression of a result.
fn describes(result: &str) -> super::Checked {
    check_python(
        "",
        &format!(
            "json.dumps({{'id': request['id'], 'result': {result}}} if request['op'] == 'describe' else {{'id': request['id'], **good}})"
        ),
    )
}

fn describes_tool(tool: &str) -> super::Checked {
    describes(&format!("{{'tools': [{tool}]}}"))
}

#[test]
fn a_describe_answer_of_another_shape_is_named_with_the_right_one() {
    for (result, lines) in [
        (
            "{}",
            [
                "fault in describe: the describe result has no 'tools'",
                "wrote:",
                r#"should: {"id":1,"result":{"tools":[{"name":"hello""#,
            ],
        ),
        (
            "{'tools': {'a': {}}}",
            [
                "fault in describe: 'tools' is an object, expected an array",
                "wrote:",
                r#"should: {"id":1,"result":{"tools":[{"name":"hello""#,
            ],
        ),
        (
            "[{'name': 'a'}]",
            [
                "fault in describe: the describe result is an array, expected an object with 'tools'; the list belongs under 'tools'",
                "wrote:",
                r#"should: {"id":1,"result":{"tools":[{"name":"a"}]}}"#,
            ],
        ),
        (
            "json.dumps({'tools': []})",
            [
                "fault in describe: the describe result is a string, expected an object with 'tools'; it is JSON written as a string",
                "wrote:",
                r#"should: {"id":1,"result":{"tools":[]}}"#,
            ],
        ),
    ] {
        let checked = describes(result);
        assert_eq!(checked.code, Some(1), "{}", checked.report);
        checked.shows(&lines);
    }
}

#[test]
fn a_faulty_tool_is_shown_as_it_is_and_as_it_should_be() {
    for (tool, lines) in [
        (
            "{'description': 'A.', 'parameters': []}",
            [
                "fault in describe: tool 1 has no name",
                r#"wrote:  {"description":"A.","parameters":[]}"#,
                r#"should: {"name":"tool_1","description":"A.","parameters":[]}"#,
            ],
        ),
        (
            r"{'name': 'a\nb', 'description': 'A.', 'parameters': []}",
            [
                "fault in describe: tool 1 has a control character in its name",
                r#"wrote:  {"name":"a\\nb""#,
                r#"should: {"name":"a_b","description":"A.""#,
            ],
        ),
        (
            "{'name': ' a', 'description': 'A.', 'parameters': []}",
            [
                "fault in describe: tool 1 has a name that starts or ends with a blank",
                r#"wrote:  {"name":" a""#,
                r#"should: {"name":"a","#,
            ],
        ),
        (
            "{'name': 'a' * 129, 'description': 'A.', 'parameters': []}",
            [
                "fault in describe: tool 1 has a name of over 128 characters",
                "wrote:",
                r#"should: {"name":"aaaa"#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'parameters': []}, {'name': 'a', 'description': 'B.', 'parameters': []}",
            [
                "fault in describe: 'a' is listed twice, as tool 1 and as tool 2",
                r#"wrote:  {"name":"a","description":"B.""#,
                r#"should: {"name":"a_2","description":"B.""#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'inputSchema': {'type': 'object'}}",
            [
                "fault in describe: tool 1 ('a') has 'inputSchema', MCP's word: toolhost reads 'argument_schema'",
                "wrote:",
                r#"should: {"name":"a","description":"A.","argument_schema":{"type":"object"}}"#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'input_schema': {'type': 'object'}}",
            [
                "fault in describe: tool 1 ('a') has 'input_schema', a model API's word",
                "wrote:",
                r#"should: {"name":"a","description":"A.","argument_schema""#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'arguments': []}",
            [
                "fault in describe: tool 1 ('a') has 'arguments', MCP's word: toolhost reads 'parameters'",
                "wrote:",
                r#"should: {"name":"a","description":"A.","parameters":[]}"#,
            ],
        ),
        (
            "{'type': 'function', 'function': {'name': 'a', 'description': 'A.', 'parameters': {'type': 'object', 'properties': {}}}}",
            [
                "fault in describe: tool 1 has 'function', OpenAI's word",
                "wrote:",
                r#"should: {"name":"a","description":"A.","argument_schema":{"type":"object""#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'parameters': {'type': 'object', 'properties': {'x': {'type': 'string'}}}}",
            [
                "fault in describe: tool 1 ('a') has a JSON Schema as 'parameters', which is OpenAI's way",
                "wrote:",
                r#"should: {"name":"a","description":"A.","argument_schema":{"type":"object""#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'parameters': [{'name': 'n', 'type': 'integer', 'examples': ['many']}]}",
            [
                "fault in describe: tool 1 ('a'): parameter 'n': its example 1 does not fit its own schema: ",
                r#"wrote:  {"examples":["many"]}"#,
                r#"should: {"examples":[1]}"#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'argument_schema': {'type': 'object', 'properties': {'n': {'type': 'integer', 'default': '5'}}}}",
            [
                "fault in describe: tool 1 ('a'): parameter 'n': its default does not fit its own schema: ",
                r#"wrote:  {"default":"5"}"#,
                r#"should: {"default":1}"#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'parameters': [{'name': 'n', 'type': 'integer', 'enum': [1, 'two']}]}",
            [
                "fault in describe: tool 1 ('a'): parameter 'n': its enum names a value that its type \"integer\" refuses",
                r#"wrote:  {"type":"integer","enum":[1,"two"]}"#,
                r#"should: {"type":"integer","enum":[1]}"#,
            ],
        ),
        (
            "{'name': 'a', 'description': 'A.', 'parameters': [], 'output_schema': {'type': 'array', 'items': {'type': 'string'}, 'examples': [[1]]}}",
            [
                "fault in describe: tool 1 ('a'): output_schema: its example 1 does not fit its own schema: ",
                r#"wrote:  {"examples":[[1]]}"#,
                r#"should: {"examples":[[]]}"#,
            ],
        ),
    ] {
        let checked = describes_tool(tool);
        assert_eq!(checked.code, Some(1), "{}", checked.report);
        checked.shows(&lines);
    }
    describes_tool("{'name': 'a', 'description': 'A.', 'argument_schema': {'type': 5}}")
        .shows(&["fault in describe: Invalid schema of 'a': argument_schema: "]);
}

#[test]
fn what_is_only_odd_about_a_tool_is_a_warning() {
    for (result, lines) in [
        (
            "{'tools': [{'name': 'get weather', 'description': 'A.', 'parameters': []}]}",
            &[
                "warning in describe: tool 1 ('get weather') has a name some models cannot call",
                r#"wrote:  {"name":"get weather""#,
                r#"should: {"name":"get_weather""#,
            ][..],
        ),
        (
            "{'tools': [{'name': 'a', 'parameters': []}]}",
            &[
                "warning in describe: tool 1 ('a') has no description",
                r#"wrote:  {"name":"a","parameters":[]}"#,
                r#"should: {"name":"a","description":"#,
            ],
        ),
        (
            "{'tools': [{'name': 'a', 'descripton': 'A.', 'description': 'A.', 'parameters': [], 'output_shema': {}}]}",
            &[
                "warning in describe: tool 1 ('a') has an unknown member 'output_shema': did you mean 'output_schema'?",
                r#"wrote:  {"output_shema":{}}"#,
                r#"should: {"output_schema":{}}"#,
            ],
        ),
        (
            "{'tools': [], 'capabilities': ['concurent']}",
            &["warning in describe: the capability 'concurent': did you mean 'concurrent'?"],
        ),
        (
            "{'tools': [], 'capabilities': ['flying']}",
            &["warning in describe: the capability 'flying' is not known and does nothing"],
        ),
        (
            "{'tools': [{'name': 'a', 'description': 'A.', 'argument_schema': {'definitions': {}, 'properties': {'id': {'type': 'string'}}}}]}",
            &[
                "warning in describe: tool 1 ('a'): argument_schema is spelled as in draft 7 ('definitions') and does not say so",
                r#"wrote:  {"definitions""#,
                r#"should: {"$schema":"http://json-schema.org/draft-07/schema#","definitions""#,
            ],
        ),
        (
            "{'tools': [{'name': 'a', 'description': 'A.', 'argument_schema': {'$schema': 'https://example.org/mine', 'properties': {'b': {}}}}]}",
            &["warning in describe: tool 'a': argument_schema: unknown $schema 'https://example.org/mine'"],
        ),
    ] {
        let checked = describes(result);
        assert_eq!(checked.code, Some(0), "{}", checked.report);
        checked.shows(lines);
    }
    let old = describes_tool(
        "{'name': 'a', 'description': 'A.', 'argument_schema': {'properties': {'n': {'minimum': 0, 'exclusiveMinimum': True}}}}",
    );
    old.shows(&["warning in describe: tool 1 ('a'): argument_schema is spelled as in draft 4 ('exclusiveMinimum' as a boolean at /properties/n)"]);
}
