class Client:
    TOPIC = "ovos.persona.tools.{box}.call"
    OLD = "ovos.persona.tools.%s.call"
    SENT_BY_OTHERS = "ovos.persona.tools.{}.call"

    def call(self, box, name):
        self.bus.emit(Message(self.TOPIC.format(box=box), {"name": name}))
        self.bus.emit(Message(self.OLD % box, {"name": name}))
