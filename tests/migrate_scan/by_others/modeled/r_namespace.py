class Remote:
    def __init__(self, bus, toolbox_id):
        self.bus = bus
        self.ns = f"ovos.persona.tools.{toolbox_id}"

    def call(self, name, **kwargs):
        LOG.debug(f"{self.ns}: {name}")
        return self.bus.wait_for_response(Message(f"{self.ns}.call", {"name": name, "kwargs": kwargs}),
                                          reply_type=f"{self.ns}.call.response")
