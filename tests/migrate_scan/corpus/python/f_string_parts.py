def call(bus, vendor, box, name):
    bus.emit(Message(f"ovos.persona.tools.{vendor}-{box}.call", {"name": name}))
