NS = ["ovos", "persona", "tools"]
bus.emit(Message(".".join(["ovos", "persona", "tools", box, "call"]), {"name": "x", "kwargs": {}}))
bus.emit(Message(".".join(NS + [box, "call"]), {"name": "x", "kwargs": {}}))
bus.emit(Message(".".join(("ovos.persona.tools", "clock", "call")), {"name": "x", "kwargs": {}}))
bus.emit(Message(".".join(("ovos.persona.tools", "call")), {"toolbox_id": "clock", "name": "x", "kwargs": {}}))
