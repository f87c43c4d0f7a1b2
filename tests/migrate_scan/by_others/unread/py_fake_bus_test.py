class TestTools(unittest.TestCase):
    def test_call(self):
        bus = FakeBus()
        got = []
        bus.on("ovos.persona.tools.echo.call.response", got.append)
        bus.emit(Message("ovos.persona.tools.echo.call", {"name": "echo", "kwargs": {"text": "hi"}}))
        self.assertEqual(got[0].msg_type, "ovos.persona.tools.echo.call.response")
