r = bus.wait_for_response(Message("ovos.tools.invoke", {"name": "add", "kwargs": {"a": 10, "b": 32}}))
r = bus.wait_for_response(Message("ovos.tools.invoke", {"name": "add", "args": {"a": 10, "b": 32}}))
r = bus.wait_for_response(Message("ovos.tools.get", {"name": "add"}))
bus.emit(Message("ovos.tools.invoke", data=dict(name="add", kwargs={"a": 1})))
