topics = [f"ovos.persona.tools.{b}.call" for b in boxes]
answers = {f"ovos.persona.tools.{b}.call.response": b for b in boxes}
names = set(map("ovos.persona.tools.{}.call".format, boxes))
for t in topics:
    bus.emit(Message(t, {"name": "x"}))
