NAMESPACE = "ovos.persona"
TOOLS = NAMESPACE + ".tools"


class Bridge:
    def __init__(self, bus, toolbox):
        self.bus = bus
        self.topic = f"{TOOLS}.{toolbox}.call"
        self.reply_topic = self.topic + ".response"

    def run(self, tool, params):
        self.bus.on(self.reply_topic, self._answer)
        self.bus.emit(Message(self.topic, {"name": tool, "kwargs": params}))
