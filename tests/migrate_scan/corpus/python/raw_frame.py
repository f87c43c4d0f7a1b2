import json
from websocket import create_connection


def call(toolbox, name):
    ws = create_connection("ws://127.0.0.1:8181/core")
    ws.send(json.dumps({
        "type": f"ovos.persona.tools.{toolbox}.call",
        "data": {
            "name": name,
            "kwargs": {},
        },
        "context": {},
    }))
    ws.send('{"type": "ovos.persona.tools.wordnet.call", "data": {"name": "define_word"}}')
