def call(bus, toolbox_id, payload, **more):
    bus.emit(Message("ovos.persona.tools.wordnet.call", payload))
    bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": "x", **more}))
    send_request("ovos.persona.tools.wordnet.call", {"name": "x"})
    bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": "x", "toolbox_id": toolbox_id}))
    bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": "x", "toolbox_id": "wordnet"}))
    bus.emit(Message("ovos.persona.tools.wordnet.call"))
