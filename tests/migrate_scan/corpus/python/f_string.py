class Caller:
    def call(self, name, **kwargs):
        self.bus.emit(Message(f"ovos.persona.tools.{self.toolbox_id}.call",
                              data={"name": name, "kwargs": kwargs}))
