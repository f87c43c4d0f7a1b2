from string import Template

TOPIC = Template("ovos.persona.tools.$tb.call")
make = "ovos.persona.tools.{}.call".format


def go(bus, box):
    bus.emit(Message(Template("ovos.persona.tools.$tb.call").substitute(tb=box), {"name": "x", "kwargs": {}}))
    bus.emit(Message("ovos.persona.tools.TOOLBOX.call".replace("TOOLBOX", box), {"name": "x", "kwargs": {}}))
