# sends either spelling, so that old and new service read it
bus.emit(Message("ovos.tools.invoke", {"name": "add", "args": {"a": 1}, "kwargs": {"a": 1}}))
