def call(bus, name, new, names):
    bus.emit(Message("ovos.persona.tools.wordnet.call" if not new else "speak", {"name": name}))
    bus.emit(Message(*("ovos.persona.tools.wordnet.call", {"name": name})))
    bus.emit(Message("ovos.persona.tools.wordnet.call", {key: name for key in names}))
    bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": name} if new else {}))
    bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": name} | new))
    bus.emit(Message(("ovos.persona.tools.wordnet.call"), {"name": name}))
    bus.emit(Message("ovos.persona.tools." + (new or name) + ".call", {"name": name}))
