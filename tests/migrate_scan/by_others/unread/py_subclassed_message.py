from ovos_bus_client import Message as Msg
import ovos_bus_client.message as m

bus.emit(Msg("ovos.persona.tools.a_box.call", {"name": "t", "kwargs": {}}))
bus.emit(m.Message(msg_type="ovos.persona.tools.b_box.call", data={"name": "t", "kwargs": {}}))
bus.emit(Message(data={"name": "t", "kwargs": {}}, msg_type="ovos.persona.tools.c_box.call"))
