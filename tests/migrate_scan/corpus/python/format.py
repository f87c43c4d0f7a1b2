def call(bus, toolbox, name):
    bus.emit(Message("ovos.persona.tools.{}.call".format(toolbox), {"name": name, "kwargs": {}}))


def call_named(bus, settings, name):
    topic = "{prefix}.{box}.call"
    bus.emit(Message(topic.format(prefix="ovos.persona.tools", box=settings.get("box")), {"name": name}))
