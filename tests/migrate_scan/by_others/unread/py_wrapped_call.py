def _call(self, toolbox: str, tool: str, **kw):
    return self._ask(f"ovos.persona.tools.{toolbox}.call", name=tool, kwargs=kw)


def _ask(self, topic, **data):
    return self.bus.wait_for_response(Message(topic, data), f"{topic}.response", timeout=self.timeout)
