import json
class Message:
    def __init__(self, msg_type, data=None, context=None): print(json.dumps([msg_type, data, context]))
    def forward(self, t, data=None): return Message(t, data)
class bus:
    emit = staticmethod(lambda m: None)
    wait_for_response = staticmethod(lambda m, *a, **k: None)
def d(bus=bus, box="wiki"):
    bus.emit(Message("ovos.persona.tools.{}.call".format(box), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools." + box + ".call", {"name": "x"}))
    bus.emit(Message(f"ovos.persona.tools.{box}.call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%s.call" % box, {"name": "x"}))
d(); d(box="math")
def c(flag):
    tb = "wiki"
    if flag:
        tb = "math"
    bus.emit(Message("ovos.persona.tools.{}.call".format(tb), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%s.call" % tb, {"name": "x"}))
    bus.emit(Message(".".join(["ovos.persona.tools", tb, "call"]), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%s.call" % (tb,), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{b}.call".format(b=tb), {"name": "x"}))
c(True); c(False)
def e():
    one = "wiki"
    return one
def f(boxes):
    for m in [Message("ovos.persona.tools.{}.call".format(one), {"name": "x"}) for one in boxes]: bus.emit(m)
    for m in [Message("ovos.persona.tools." + one + ".call", {"name": "x"}) for one in boxes]: bus.emit(m)
f(["a", "b"])
def g(text):
    bx, tool = text.split("/")
    bus.emit(Message("ovos.persona.tools.{}.call".format(bx), {"name": tool}))
def g2():
    bx = "other"
    return bx
g("q/t")
class A:
    BOX = "base"
    def go(self):
        bus.emit(Message("ovos.persona.tools.{}.call".format(self.BOX), {"name": "x"}))
        bus.emit(Message(f"ovos.persona.tools.{self.BOX}.call", {"name": "x"}))
        bus.emit(Message("ovos.persona.tools." + self.BOX + ".call", {"name": "x"}))
class B(A):
    BOX = "derived"
A().go(); B().go()
TOP = "top"
def h():
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%s.call" % TOP, {"name": "x", }))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {
        # a comment
        "name": "x",
    }))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), dict()))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), dict(name="x")))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), None))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), **{"data": {"name": "x"}}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), context={"a": 1}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), ({"name": "x"})))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {"name": "x"} if TOP else {}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {"name": "x"} | {"kwargs": {}}) if hasattr(dict, "__or__") else None)
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {"name": "x", **{"toolbox_id": "zz"}}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {k: v for k, v in [("name", "x")]}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {"toolbox_id": "else", "name": "x"}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(TOP), {'toolbox_id': TOP, 'name': "x"}))
    bus.emit(Message(*("ovos.persona.tools.%s.call" % TOP, {"name": "x"})))
    bus.emit(Message("ovos.persona.tools.a.call" if TOP else "ovos.persona.tools.b.call", {"name": "x"}))
    bus.emit(Message(("ovos.persona.tools.a.call"), {"name": "x"}))
    bus.emit(Message(str("ovos.persona.tools.a.call"), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.a.call".strip(), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.A.call".lower(), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.a.call" or "", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.a.call"[:], {"name": "x"}))
    bus.emit(Message("""ovos.persona.tools.a.call""", {"name": "x"}))
    bus.emit(Message(R'ovos.persona.tools.a.call', {"name": "x"}))
    bus.emit(Message(f'ovos.persona.tools.{TOP + "1"}.call', {"name": "x"}))
    bus.emit(Message(f"""ovos.persona.tools.{TOP
        + "1"}.call""", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools." + (TOP if TOP else "z") + ".call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools." + "a" + "b" + ".call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools." + TOP + "b" + ".call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.pre_" + TOP + ".call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{:>5}.call".format(TOP), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{0!r}.call".format(5), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%d.call" % 5, {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%(x)s.call" % {"x": TOP}, {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%s.call" % [TOP][0], {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{0.BOX}.call".format(A), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{[0]}.call".format(["k"]), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.BOX.call".replace("BOX", TOP), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.BOX.call".replace("BOX", TOP).replace("top", "q"), {"name": "x"}))
    bus.emit(Message(data={"name": "x"}, msg_type="ovos.persona.tools.a.call"))
    bus.emit(Message("ovos.persona.tools.a.call",
                     {"name": "x",
                      "kwargs": {"a": 1}}))
    bus.emit(Message("ovos.persona.tools.a.call",
                     {
                         "name": "x", "kwargs": {"args": 1}}))
    bus.emit(Message(f"{'ovos'}.persona.tools.{TOP}.call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.é.call", {"name": "x"}))
h()
async def z():
    import asyncio
    box = await asyncio.sleep(0, "aw")
    bus.emit(Message(f"ovos.persona.tools.{await asyncio.sleep(0, 'aw')}.call", {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(await asyncio.sleep(0, 'aw')), {"name": "x"}))
    if (w := "wal"): bus.emit(Message("ovos.persona.tools.{}.call".format(w), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(v := "wal2"), {"name": "x"})); print(v)
import asyncio; asyncio.run(z())
