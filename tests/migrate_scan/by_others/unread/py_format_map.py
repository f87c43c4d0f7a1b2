ids = {"tb": "radio"}
bus.emit(Message("ovos.persona.tools.%(tb)s.call" % ids, {"name": "play", "kwargs": {"station": "fm4"}}))
bus.emit(Message("ovos.persona.tools.{tb}.call".format_map(ids), {"name": "stop"}))
bus.emit(Message("ovos.persona.tools.{tb}.call".format(**ids), {"name": "stop"}))
