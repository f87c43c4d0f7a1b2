def f(bus):
    s = "🎉🎉"; bus.emit(Message("ovos.persona.tools.party.call", {"name": "go", "kwargs": {}}))  # 🎉 ovos.persona.tools.party.call
    ü = "é"; bus.emit(Message('ovos.persona.tools.party.call', {"name": "gö", "kwargs": {}}))
