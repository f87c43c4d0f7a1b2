ask = functools.partial(bus.wait_for_response, Message("ovos.persona.tools.wiki.call", {"name": "x", "kwargs": {}}))
new = partial(Message, "ovos.persona.tools.math.call")


@dataclass
class Config:
    topic: str = field(default="ovos.persona.tools.home.call")
    reply: str = "ovos.persona.tools.home.call.response"
