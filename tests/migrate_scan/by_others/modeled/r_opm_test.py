class TestHandlers(unittest.TestCase):
    def setUp(self):
        self.bus = FakeBus()
        self.tb = MathToolBox(bus=self.bus)

    def test_handle_call_success(self):
        responses = []
        self.bus.on("ovos.persona.tools.math_tools.call.response", lambda m: responses.append(m))
        self.bus.emit(Message("ovos.persona.tools.math_tools.call", {"name": "add", "kwargs": {"x": 1, "y": 2}}))
        self.assertEqual(responses[0].data["result"], {"sum": 3})

    def test_bind(self):
        bus = Mock()
        MathToolBox(bus=bus)
        bus.on.assert_any_call("ovos.persona.tools.math_tools.call", ANY)
        self.assertIn("ovos.persona.tools.math_tools.call", bus.ee.event_names())

    def _roundtrip(self, topic, data):
        got = []
        self.bus.once(topic + ".response", got.append)
        self.bus.emit(Message(topic, data))
        return got[0].data

    def test_roundtrip(self):
        self._roundtrip("ovos.tools.invoke", {"name": "multiply", "args": {"x": 6.0, "y": 7.0}})
        self._roundtrip("ovos.tools.invoke", {"name": "multiply", "kwargs": {"x": 6.0, "y": 7.0}})
        self._roundtrip("ovos.persona.tools.math_tools.call", {"name": "multiply", "kwargs": {}})
