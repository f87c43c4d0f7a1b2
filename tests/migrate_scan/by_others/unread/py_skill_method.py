# A skill that asks the weather toolbox.
from ovos_bus_client.message import Message
from ovos_workshop.skills import OVOSSkill


class ForecastSkill(OVOSSkill):

    def handle_forecast(self, message):
        reply = self.bus.wait_for_response(
            message.forward("ovos.persona.tools.weather.call",
                            {"name": "forecast", "kwargs": {"city": message.data["city"]}}),
            timeout=10)
        if reply is None:
            self.speak_dialog("no.weather")
            return
        self.speak(reply.data["result"]["text"])
