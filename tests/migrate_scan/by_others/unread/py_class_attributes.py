class ToolClient:
    PREFIX = "ovos.persona.tools"
    SUFFIX = "call"

    def __init__(self, bus, toolbox_id):
        self.bus = bus
        self.toolbox_id = toolbox_id

    def call(self, name, **kwargs):
        topic = f"{self.PREFIX}.{self.toolbox_id}.{self.SUFFIX}"
        return self.bus.wait_for_response(Message(topic, {"name": name, "kwargs": kwargs}))
