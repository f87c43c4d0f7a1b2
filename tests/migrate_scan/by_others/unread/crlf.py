import x
bus.emit(Message("ovos.persona.tools.crlf.call", {"name": "x", "kwargs": {}}))
x = 1
