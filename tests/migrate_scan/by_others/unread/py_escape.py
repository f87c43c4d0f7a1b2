bus.emit(Message("ovos.persona.tools.\x65sc.call", {"name": "x", "kwargs": {}}))
bus.emit(Message("ovos.persona\u002etools.esc.call", {"name": "x", "kwargs": {}}))
bus.emit(Message("ovos.persona.tools.\
esc.call", {"name": "x", "kwargs": {}}))
