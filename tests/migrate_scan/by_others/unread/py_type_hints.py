from typing import Final

CALL_TOPIC: Final[str] = "ovos.persona.tools.maps.call"
ROUTE: Final = ("ovos.persona.tools", "maps")


def go(client) -> "Message | None":
    return client.wait_for_response(Message(CALL_TOPIC, {"name": "route", "kwargs": {"to": "home"}}))
