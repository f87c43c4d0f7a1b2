def old(bus):
    topic = "ovos.persona.tools.a.call"
    bus.emit(Message(topic, {"name": "x", "kwargs": {}}))


def new(bus, topic):
    bus.emit(Message(topic + ".response", {}))


def third(bus):
    for topic in ["ovos.persona.tools.discover"]:
        bus.emit(Message(topic))
