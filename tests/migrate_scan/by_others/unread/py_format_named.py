CALL = "ovos.persona.tools.{toolbox}.call"


def invoke(bus, toolbox, name, params):
    bus.emit(Message(CALL.format(toolbox=toolbox), data={"name": name, "kwargs": params}))
