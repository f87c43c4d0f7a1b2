class Asker:
    def __init__(self, bus, box):
        self.topic = "ovos.persona.tools." + box + ".call"
        self.bus = bus

    def start(self):
        self.bus.on(self.topic + ".response", self.answer)
        self.bus.on(f"{self.topic}.response", self.answer)
        self.bus.emit(Message(self.topic, {"name": "x", "kwargs": {}}))
