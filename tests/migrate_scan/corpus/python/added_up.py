def call(bus, toolbox, name):
    topic = "ovos.persona.tools."
    topic += toolbox
    topic += ".call"
    bus.emit(Message(topic, {"name": name}))
