SERVICE = "ovos.tools"
bus.emit(Message(f"{SERVICE}.invoke", {"name": "x", "kwargs": {}}))
bus.emit(Message(SERVICE + ".invoke", {"name": "x", "args": {}}))
def invoke(self, name, **kwargs):
    return self.bus.wait_for_response(Message("ovos.tools.invoke", {"name": name, "kwargs": kwargs}), "ovos.tools.invoke.response")
msg = message.reply("ovos.persona.tools.call", {
    "toolbox_id": "x",
    "name": "y",
    # the arguments
    "args": {"z": 1},
})
m = {"type": "ovos.persona.tools.call", "data": {"toolbox_id": "x", "name": "y", "args": {}}, "context": {}}
