class MyToolBox(ToolBox):
    def bind(self, bus):
        self.bus = bus
        self.bus.on("ovos.persona.tools.discover", self.handle_discover)
        self.bus.on("ovos.persona.tools.call", self.handle_call)
        self.bus.on(f"ovos.persona.tools.{self.toolbox_id}.call", self.handle_call)

    def shutdown(self):
        self.bus.remove("ovos.persona.tools.discover", self.handle_discover)
        self.bus.remove("ovos.persona.tools.call", self.handle_call)
        self.bus.remove(f"ovos.persona.tools.{self.toolbox_id}.call", self.handle_call)
