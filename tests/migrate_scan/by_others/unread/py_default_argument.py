def call_tool(bus, name, kwargs, topic="ovos.persona.tools.home_tools.call"):
    msg = Message(topic, {"name": name, "kwargs": kwargs})
    return bus.wait_for_response(msg, timeout=5)
