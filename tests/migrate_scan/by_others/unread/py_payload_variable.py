def flat(bus, a):
    payload = {"name": "add", "kwargs": {"a": a}}
    bus.emit(Message("ovos.tools.invoke", payload))


def static(bus, a):
    payload = {"toolbox_id": "math", "name": "add", "kwargs": {"a": a}}
    bus.emit(Message("ovos.persona.tools.call", payload))
