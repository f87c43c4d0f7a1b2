from enum import Enum


class Topic(str, Enum):
    DISCOVER = "ovos.persona.tools.discover"
    WIKI = "ovos.persona.tools.wiki.call"
    MATH = "ovos.persona.tools.math.call"
    STATIC = "ovos.persona.tools.call"


def ask(bus, what):
    return bus.wait_for_response(Message(Topic.WIKI.value, {"name": "lookup", "kwargs": {"term": what}}))
