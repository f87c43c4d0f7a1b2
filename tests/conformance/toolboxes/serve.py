"""The stdio protocol in one small loop: describe and call, one line of JSON each.

A fixture toolbox is a module with a function `tools()` that lists its tools as they are now.
It is also imported: by the suite, to know what to expect, and by adapters for other hosts.
"""

import json
import sys
from typing import Callable, NamedTuple


class Tool(NamedTuple):
    definition: dict
    run: Callable[..., dict]

    @property
    def name(self):
        return self.definition["name"]


def tool(run, description, arguments=None, required=(), output=None, closed=True):
    """A Tool named after its function; `closed` refuses arguments the schema does not name."""
    argument_schema = {"type": "object", "properties": arguments or {}, "required": list(required)}
    if closed:
        argument_schema["additionalProperties"] = False
    return Tool({
        "name": run.__name__,
        "description": description,
        "argument_schema": argument_schema,
        "output_schema": {"type": "object", "properties": output or {}, "required": list(output or {})},
    }, run)


def error_as_object(error):
    return {"type": type(error).__name__, "message": str(error)}


def error_as_text(error):
    return f"{type(error).__name__}: {error}"


def serve(tools, error_form=error_as_object):
    """Answer requests on stdin until it is closed."""
    for line in sys.stdin:
        if not line.strip():
            continue
        request = json.loads(line)
        answer = {"id": request["id"]}
        try:
            answer["result"] = perform(tools, request)
        except Exception as error:
            answer["error"] = error_form(error)
        print(json.dumps(answer), flush=True)


def perform(tools, request):
    if request["op"] == "describe":
        return {"tools": [each.definition for each in tools()]}
    chosen = next(each for each in tools() if each.name == request["name"])
    return chosen.run(**request["kwargs"])
