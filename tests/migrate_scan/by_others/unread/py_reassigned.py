topic = "ovos.persona.tools.call"
bus.emit(Message(topic, {"toolbox_id": "x", "name": "t", "kwargs": {}}))
topic = "ovos.persona.tools.late.call"
bus.emit(Message(topic, {"name": "t", "kwargs": {}}))
