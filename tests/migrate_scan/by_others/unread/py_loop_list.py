for box in ["wiki", "math"]:
    bus.emit(Message("ovos.persona.tools." + box + ".call", {"name": "ping", "kwargs": {}}))

for topic in ("ovos.persona.tools.wiki.call",
              "ovos.persona.tools.math.call"):
    bus.emit(Message(topic, {"name": "ping", "kwargs": {}}))
