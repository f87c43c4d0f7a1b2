@pytest.mark.parametrize("topic", ["ovos.persona.tools.x.call", "ovos.persona.tools.call"])
def test_topic(topic):
    assert topic


@bus.on("ovos.persona.tools.y.call")
def y(message):
    pass


class S:
    @intent_handler("ovos.persona.tools.z.call")
    def z(self, message):
        self.bus.emit(message.response({"result": 1}))
