class Host:
    def bind(self, bus):
        bus.on("ovos.persona.tools.discover", self.handle_discover)
        bus.on("ovos.persona.tools.call", self.handle_call)
        bus.on(f"ovos.persona.tools.{self.toolbox_id}.call", self.handle_call)

    def unbind(self, bus):
        bus.remove(f"ovos.persona.tools.{self.toolbox_id}.call", self.handle_call)

    def answer(self, bus, result):
        bus.emit(Message(f"ovos.persona.tools.{self.toolbox_id}.call.response", {"result": result}))
