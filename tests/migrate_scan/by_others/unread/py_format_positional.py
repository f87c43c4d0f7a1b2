def emit(bus, box):
    bus.emit(Message("ovos.persona.tools.{}.call".format(box), {"name": "ping"}))
    bus.emit(Message("ovos.persona.tools.{}".format("call"), {"toolbox_id": box, "name": "ping"}))
    bus.emit(Message("ovos.persona.tools.{}".format("discover")))
