PREFIX = "ovos.persona.tools."
LIST = "ovos.tools.list"


def ask(bus, name, toolbox_id, kwargs):
    bus.emit(Message(PREFIX + "discover"))
    bus.emit(Message("ovos.persona.tools.call", {"toolbox_id": toolbox_id, "name": name, "kwargs": kwargs}))
    bus.emit(Message("ovos.tools.invoke", {"name": name, "args": {"kwargs": 1}}))
    bus.on("ovos.persona.tools.call.response", print)
    bus.emit(Message("ovos.persona.tools.call"))
    bus.emit(Message("ovos.persona.tools.a.b.call"))
    bus.emit(Message("ovos.persona.toolsmith.wordnet.call"))
    bus.emit(Message("my.ovos.persona.tools.wordnet.call"))
    bus.emit(Message("ovos.persona.tools.wordnet.called"))
    bus.emit(Message("ovos.tools.wordnet.call", {"kwargs": {}}))
    emit("other.invoke", {"kwargs": {}})
    if name.startswith("ovos.persona.tools."):
        return "ovos.persona." + name + ".call"
