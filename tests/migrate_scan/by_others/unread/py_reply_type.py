answer = bus.wait_for_response(
    Message("ovos.persona.tools.notes.call", {"name": "list", "kwargs": {}}),
    reply_type="ovos.persona.tools.notes.call.response",
    timeout=3.0,
)
waiter = MessageWaiter(bus, ["ovos.persona.tools.notes.call.response"])
