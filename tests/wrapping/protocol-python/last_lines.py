import json
import sys
from collections import deque

LAST_LINES = {"name": "last_lines", "description": "The last lines of a text file.", "parameters": [
    {"name": "file", "type": "string", "required": True, "description": "The file."},
    {"name": "count", "type": "integer", "default": 10, "description": "How many lines."}]}

for line in filter(str.strip, sys.stdin):
    request = json.loads(line)
    try:
        if request["op"] == "describe":
            result = {"tools": [LAST_LINES]}
        elif request["op"] == "call" and request["name"] == "last_lines":
            with open(request["kwargs"]["file"]) as text:
                lines = deque(text, request["kwargs"]["count"])
                result = {"lines": [line.rstrip("\n") for line in lines]}
        else:
            raise LookupError("unknown tool or operation")
        answer = {"result": result}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
