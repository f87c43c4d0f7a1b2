tb = "news"


def f(bus, tid, n):
    bus.emit(Message(f"ovos.persona.tools.{tid!s}.call", {"name": "a", "kwargs": {}}))
    bus.emit(Message(f"ovos.persona.tools.{tid:>{n}}.call", {"name": "a", "kwargs": {}}))
    bus.emit(Message(f"ovos.persona.tools.{tid.replace('.', '_')}.call", {"name": "a", "kwargs": {}}))
    bus.emit(Message(f"ovos.persona.tools.{'box' + str(n)}.call", {"name": "a", "kwargs": {}}))
    bus.emit(Message(f"ovos.persona.tools.{tb}.call", {"name": "a", "kwargs": {}}))
    bus.emit(Message(F'ovos.persona.tools.{ids["main"]}.call', {"name": "a", "kwargs": {}}))
    print(f"ovos.persona.tools.{{{tid}}}.call is not a topic")
