static = config.get("static_topics", True)
topic = "ovos.persona.tools.call" if static else f"ovos.persona.tools.{tb}.call"
data = {"toolbox_id": tb, "name": name, "kwargs": kwargs}
bus.emit(Message(topic, data))
