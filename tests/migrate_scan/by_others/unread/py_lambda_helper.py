call_topic = lambda tid: "ovos.persona.tools." + tid + ".call"
resp_topic = lambda tid: call_topic(tid) + ".response"
bus.emit(Message(call_topic("wiki"), {"name": "x", "kwargs": {}}))
