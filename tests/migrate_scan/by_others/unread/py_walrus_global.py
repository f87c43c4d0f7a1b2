TOOLBOX_ID = "garden"
TOPIC = f"ovos.persona.tools.{TOOLBOX_ID}.call"


async def water(bus):
    bus.emit(Message(TOPIC, {"name": "water", "kwargs": {"minutes": 5}}))


def listen(bus, cb):
    bus.on(TOPIC + ".response", cb)
