python3 - <<'PY'
from ovos_bus_client import MessageBusClient, Message
bus = MessageBusClient(); bus.run_in_thread()
bus.emit(Message("ovos.persona.tools.wiki.call", {"name": "x", "kwargs": {}}))
PY
