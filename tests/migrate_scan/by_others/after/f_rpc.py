class ToolRPC:
    TOPIC_FMT = "ovos.persona.tools.{id}.call"

    def __init__(self, bus, timeout=3):
        self._bus, self._timeout = bus, timeout

    def __getattr__(self, box):
        def call(name, **kwargs):
            topic = self.TOPIC_FMT.format(id=box)
            msg = Message(topic, dict(name=name, kwargs=kwargs))
            return self._bus.wait_for_response(msg, timeout=self._timeout)
        return call
