import json, websocket

ws = websocket.create_connection("ws://127.0.0.1:8181/core")
ws.send(json.dumps({"type": "ovos.persona.tools.dice.call",
                    "data": {"name": "roll", "kwargs": {"sides": 6}},
                    "context": {}}))
ws.send('{"type": "ovos.persona.tools.dice.call", "data": {"name": "roll"}}')
