def call(bus, toolbox_id, name):
    return bus.wait_for_response(
        Message(f"ovos.persona.tools.{toolbox_id}.call", {"name": name, "kwargs": {}}),
        reply_type=f"ovos.persona.tools.{toolbox_id}.call.response", timeout=5)
