TOPICS = {
    "wordnet": "ovos.persona.tools.wordnet.call",
    "search": "ovos.persona.tools.ddg-search.call",
    "static": "ovos.persona.tools.call",
}


def send(bus, which, tool, args):
    bus.emit(Message(TOPICS[which], {"name": tool, "kwargs": args}))
