def call(bus, toolbox, name):
    bus.emit(Message("ovos.persona.tools.%s.call" % toolbox, {"name": name}))
    bus.emit(Message("ovos.persona.tools.%(box)s.call" % {"box": toolbox}, {"name": name}))
    bus.emit(Message("%s.%s.call" % ("ovos.persona.tools", toolbox), {"name": name}))
