PREFIX = "ovos.persona.tools."
SUFFIX = ".call"
TOOLBOX = "wordnet"


class Words:
    BASE = "ovos.persona"

    def call(self, bus, toolbox_id, name):
        bus.emit(Message(PREFIX + toolbox_id + SUFFIX, {"name": name}))
        bus.emit(Message(PREFIX + TOOLBOX + SUFFIX, {"name": name}))
        bus.emit(Message(f"{self.BASE}.tools.{TOOLBOX}.call", {"name": name}))
