#!/usr/bin/env python3
"""The smallest toolbox in Python: a line of JSON in, a line of JSON out. stdout is the protocol; log to stderr."""
import json
import sys

HELLO = {"name": "hello", "description": "Greets someone by name.", "parameters": [
    {"name": "name", "type": "string", "required": True, "description": "Whom to greet."}]}


def respond(op, name=None, kwargs=None, **_):
    if op == "describe":
        return {"result": {"tools": [HELLO]}}
    if op != "call":
        return {"error": "Unknown op: '%s'" % op}
    if name != "hello":
        return {"error": "Unknown tool: '%s'" % name}
    return {"result": {"greeting": "Hello, %s!" % kwargs["name"]}}


for line in filter(str.strip, sys.stdin):
    try:
        request = json.loads(line)
        answer = {"id": request["id"]}
    except Exception as error:
        print("skipped a line that is no request: %r" % error, file=sys.stderr)
        continue
    try:
        answer.update(respond(**request))
    except Exception as error:  # answered, or the caller would wait until its time is up
        answer["error"] = "%s: %s" % (type(error).__name__, error)
    print(json.dumps(answer), flush=True)  # unflushed, it would wait in a buffer
