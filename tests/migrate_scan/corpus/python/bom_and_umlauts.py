bus.emit(Message("ovos.persona.tools.wordnet.call", {"name": "x"}))
grüße = "äöü"; bus.emit(Message("ovos.persona.tools.wörter.call", {"name": grüße}))
