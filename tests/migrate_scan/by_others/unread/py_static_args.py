bus.emit(Message("ovos.persona.tools.call",
                 {"toolbox_id": "math",
                  "name": "add",
                  "args": {"a": 1}}))
bus.emit(Message("ovos.persona.tools.math.call", {"name": "add", "args": {"a": 1}}))
