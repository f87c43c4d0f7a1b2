kwargs = {"a": 1}
bus.emit(Message("ovos.tools.invoke", {"name": "add", "args": kwargs}))
bus.emit(Message("ovos.tools.invoke", {"name": "list", "args": {"kwargs": {"x": 1}}}))
bus.emit(Message("ovos.persona.tools.call", {"toolbox_id": "sh", "name": "run", "kwargs": {"args": ["ls"]}}))
