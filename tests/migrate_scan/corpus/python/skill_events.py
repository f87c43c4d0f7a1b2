class MySkill(OVOSSkill):
    def initialize(self):
        self.add_event("ovos.persona.tools.lights.call", self.handle_call)
        self.bus.once("ovos.persona.tools.wordnet.call.response", self.handle_answer)
