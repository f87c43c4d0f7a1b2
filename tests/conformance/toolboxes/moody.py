"""Tools that sleep, die, talk too much or have a broken schema: for the error texts of toolhost."""

import os
import sys
import time

from serve import Tool, serve, tool


def nap(seconds):
    time.sleep(seconds)
    return {"slept": seconds}


def die(status):
    print("the last words", file=sys.stderr, flush=True)
    os._exit(status)


def talk(length):
    return {"text": "x" * length}


def crooked():
    return {}


NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}
TOOLS = [
    tool(nap, "Sleep.", {"seconds": NUMBER}, ["seconds"], {"slept": NUMBER}),
    tool(die, "Exit in the middle of the call.", {"status": INTEGER}, ["status"]),
    tool(talk, "Answer with a text of this length.", {"length": INTEGER}, ["length"], {"text": {"type": "string"}}),
    Tool({"name": "crooked", "description": "Its argument schema does not compile.",
          "argument_schema": {"type": "banana"}}, crooked),
]


def tools():
    return TOOLS


if __name__ == "__main__":
    serve(tools)
