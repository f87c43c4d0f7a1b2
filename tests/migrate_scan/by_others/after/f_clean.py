"""Only the new topics: ovos.persona.tools.call and ovos.persona.tools.call.response."""
PREFIX = "ovos.persona.tools."
bus.emit(Message(PREFIX + "call", {"toolbox_id": "call", "name": "x", "kwargs": {}}))
bus.on(PREFIX + "call" + ".response", print)
bus.on(f"{PREFIX}discover.response", print)
bus.emit(Message("{}discover".format(PREFIX)))
assert topic.removeprefix(PREFIX) in ("call", "discover")
text = "tools. call" + "ovos.persona" + ".tools"
kwargs = dict(args=1)
url = f"http://host/ovos.persona.tools/{box}/call"
