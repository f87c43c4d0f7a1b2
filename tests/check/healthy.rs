//! One healthy toolbox in each language: nothing is found at it.

use super::check_program;

const PYTHON: &str = r##"#!/usr/bin/env python3
import json, sys
TOOLS = [{
    "name": "define_word", "description": "Says what a word means.",
    "parameters": {"word": {"type": "string", "description": "The word.", "examples": ["dog"]},
                   "most": {"type": "integer", "description": "How many.", "default": 3, "enum": [1, 3]}},
    "output_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"type": "string"}},
                      "type": "array", "items": [{"$ref": "#/definitions/a"}], "examples": [["x"]]},
    "hints": {"readOnly": True}, "title": "Define", "category": "words", "version": "1", "timeout": "5s"}]
for line in sys.stdin:
    if not line.strip():
        continue
    request = json.loads(line)
    if request["op"] == "describe":
        answer = {"result": {"tools": TOOLS, "version": "1", "description": "Words.", "capabilities": ["concurrent"]}}
    else:
        answer = {"error": {"type": "KeyError", "message": f"no {request['op']} of {request.get('name')}"}}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
"##;

const BASH: &str = r##"#!/usr/bin/env bash
while IFS= read -r line; do
  [[ $line == *[![:space:]]* ]] || continue
  case $(jq -r .op <<<"$line") in
    describe) jq -c '{id, result: {tools: [{name: "hello", description: "Greets.", argument_schema: {type: "object",
      properties: {who: {type: "string", description: "Whom."}}, additionalProperties: false}}]}}' <<<"$line" ;;
    *) jq -c '{id, error: "ValueError: unknown"}' <<<"$line" ;;
  esac
done
"##;

const NODE: &str = r##"#!/usr/bin/env node
require("readline").createInterface({input: process.stdin}).on("line", line => {
  if (!line.trim()) return;
  const {id, op} = JSON.parse(line);
  const tools = [{name: "hello", description: "Greets.", parameters: []}];
  const answer = op === "describe" ? {result: {tools}} : {error: "ValueError: unknown"};
  console.log(JSON.stringify({id, ...answer}));
});
"##;

#[test]
fn nothing_is_found_at_a_healthy_toolbox_in_any_language() {
    for (name, program, tool) in [
        ("words.py", PYTHON, "define_word"),
        ("hello.sh", BASH, "hello"),
        ("hello.js", NODE, "hello"),
    ] {
        let checked = check_program(name, program);
        assert_eq!(checked.report, format!("ok   check: 1 tool, {tool}\n"), "{name}");
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{name}");
    }
}
