def later(bus):
    m = Message("ovos.persona.tools.wiki.call")
    m.data = {"name": "search", "kwargs": {"q": "x"}}
    bus.emit(m)


def subscripts(bus):
    data = {}
    data["name"] = "add"
    data["kwargs"] = {"a": 1}
    bus.emit(Message("ovos.tools.invoke", data))


def dumped(ws):
    m = dict(type="ovos.persona.tools.wiki.call")
    m["data"] = {"name": "search"}
    ws.send(json.dumps(m))
