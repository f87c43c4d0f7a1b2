def topic_of(box):
    return "{0}.persona.tools.{1}.{2}".format("ovos", box, "call")


def direct(bus):
    bus.emit(Message("ovos.persona.tools.{0}.call".format("alarm"), {"name": "set", "kwargs": {}}))
