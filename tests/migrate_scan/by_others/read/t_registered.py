for event, handler in [("ovos.persona.tools.x.call", h), ("ovos.persona.tools.x.call.response", g)]:
    bus.on(event, handler)
self.add_event(name="ovos.persona.tools.y.call", handler=self.h)
self.bus.on(event_name="ovos.persona.tools.z.call", func=self.h)
self.bus.once("ovos.persona.tools.once.call", self.h)
self.register_event_handler("ovos.persona.tools.w.call", self.h)
