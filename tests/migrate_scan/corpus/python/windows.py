def call(bus):
    bus.emit(Message("ovos.persona.tools.wordnet.call", {
        "name": "define_word",
        "kwargs": {},
    }))
