"""A toolbox with one tool, which gives back what it gets."""

import json
import sys

TOOL = {"name": "echo", "description": "Gives back what it gets.",
        "parameters": [{"name": "text", "type": "string", "required": True}]}

for line in sys.stdin:
    request = json.loads(line)
    result = {"tools": [TOOL]} if request["op"] == "describe" else request["kwargs"]
    print(json.dumps({"id": request["id"], "result": result}), flush=True)
