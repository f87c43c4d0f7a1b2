def handle(self, event):
    context = {'platform': platform, "source": self.peer, 'destination': "hive_mind"}
    msg = {"data": {"name": "search", "kwargs": event["kwargs"]},
           "type": "ovos.persona.tools.search.call",
           "context": context}
    self.send_to_hivemind_bus(msg)
