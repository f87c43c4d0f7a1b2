import re

ws.send(b'{"type": "ovos.persona.tools.raw.call", "data": {"name": "x"}}')
bus.emit(Message(r"ovos.persona.tools.raw.call", {"name": "x", "kwargs": {}}))
topic = b"ovos.persona.tools.raw.call".decode()
LEGACY = re.compile(r"^ovos\.persona\.tools\.([^.]+)\.call$")
