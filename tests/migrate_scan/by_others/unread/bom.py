bus.emit(Message("ovos.persona.tools.bom.call", {"name": "x", "kwargs": {}}))
