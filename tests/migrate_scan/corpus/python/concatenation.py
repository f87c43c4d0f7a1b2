def call(bus, toolbox, name):
    bus.emit(Message("ovos.persona.tools." + toolbox + ".call", {"name": name}))
    bus.emit(Message("ovos." + "persona.tools." + str(toolbox) + ".call", {"name": name}))
