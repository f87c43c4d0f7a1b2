from common import topic_join

def call(bus, toolbox, name):
    bus.emit(Message(".".join(["ovos", "persona", "tools", toolbox, "call"]), {"name": name}))
    bus.emit(Message(".".join(("ovos.persona.tools", toolbox, "call")), {"name": name}))
    bus.emit(Message(topic_join("ovos.persona.tools", toolbox, "call"), {"name": name}))
