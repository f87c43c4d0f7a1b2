def call(bus, name, word):
    bus.emit(Message("ovos.tools.invoke", {"name": name, "kwargs": {"word": word}}))
    bus.emit(Message("ovos.tools.invoke", data=dict(name=name, kwargs={"word": word})))
    payload = {"name": name, "kwargs": {}}
    bus.emit(Message("ovos.tools." + "invoke", payload))
