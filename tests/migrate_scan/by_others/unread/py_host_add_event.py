class LightsSkill(OVOSSkill):
    def initialize(self):
        self.add_event("ovos.persona.tools.lights.call", self.handle_tool_call)

    def handle_tool_call(self, message):
        self.bus.emit(message.response({"toolbox_id": "lights", "result": {"ok": True}}))
