def call(bus, name, word):
    bus.emit(Message("ovos.persona.tools.call", {"toolbox_id": "wordnet", "name": name, "args": {"word": word}}))
    bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": name, "args": {"word": word}}))
