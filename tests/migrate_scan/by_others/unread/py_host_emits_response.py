def handle(self, message):
    self.bus.emit(message.reply("ovos.persona.tools.radio.call.response",
                                {"toolbox_id": "radio", "result": {}}))
