def call(bus, name):
    for part in ["wordnet", "clock"]:
        bus.emit(Message("ovos.persona.tools.%s.call" % part, {"name": name}))
    topic = ["ovos", "persona", "tools"]
    topic.append("wordnet")
    topic.append("call")
    bus.emit(Message(".".join(topic), {"name": name}))
