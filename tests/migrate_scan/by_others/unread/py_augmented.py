def make(bus, box):
    topic = "ovos.persona.tools."
    topic += box
    topic += ".call"
    bus.emit(Message(topic, {"name": "t", "kwargs": {}}))
