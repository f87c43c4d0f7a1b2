def build(bus, toolbox_id, tool, params):
    topic = (
        "ovos.persona.tools."  # the namespace
        + toolbox_id
        + ".call"
    )
    bus.emit(Message(topic, {"name": tool, "kwargs": params}))

    other = "ovos." + \
        "persona." + \
        "tools." + toolbox_id + ".call"
    bus.emit(Message(other, {"name": tool, "kwargs": params}))
