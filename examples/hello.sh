#!/usr/bin/env bash
# The smallest toolbox in Bash: a line of JSON in, a line of JSON out. A line that is no request only makes jq complain
# on stderr, and the loop goes on; what goes wrong in a request is its answer. Log with `>&2`: stdout is the protocol.
while IFS= read -r line || [[ $line ]]; do
  jq -c '. as $request | try (if .id == null then empty
    elif .op == "describe" then {id, result: {tools: [{name: "hello", description: "Greets someone by name.",
      parameters: [{name: "name", type: "string", required: true, description: "Whom to greet."}]}]}}
    elif .op != "call" then {id, error: "Unknown op: \u0027\(.op)\u0027"}
    elif .name == "hello" then {id, result: {greeting: "Hello, \(.kwargs.name)!"}}
    else {id, error: "Unknown tool: \u0027\(.name)\u0027"} end) catch {id: $request.id, error: .}' <<< "$line"
done
exit 0
