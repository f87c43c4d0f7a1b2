TOPIC = "ovos.persona.tools.wordnet.call"


def call(bus, name):
    return bus.wait_for_response(Message(TOPIC, {"name": name}), TOPIC + ".response", timeout=10)
