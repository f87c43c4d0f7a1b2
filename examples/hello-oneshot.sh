#!/usr/bin/env bash
# The same tool for `mode: oneshot`: toolhost starts a process for every request, so there is no loop, and nothing is
# kept from one call to the next.
IFS= read -r line
jq -c '. as $request | try (if .op == "describe" then {id, result: {tools: [{name: "hello",
    description: "Greets someone by name.",
    parameters: [{name: "name", type: "string", required: true, description: "Whom to greet."}]}]}}
  elif .op != "call" then {id, error: "Unknown op: \u0027\(.op)\u0027"}
  elif .name == "hello" then {id, result: {greeting: "Hello, \(.kwargs.name)!"}}
  else {id, error: "Unknown tool: \u0027\(.name)\u0027"} end) catch {id: $request.id, error: .}' <<< "$line"
