from ovos_bus_client import Message


def define(bus, word):
    return bus.wait_for_response(
        Message("ovos.persona.tools.wordnet.call", {"name": "define_word", "kwargs": {"word": word}}))
