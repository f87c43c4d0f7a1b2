"""Calls a toolbox whose host answers after another one has, and prints what the two ways to wait take for the answer."""
import sys

from ask import call
from ovos_bus_client import Message, MessageBusClient


def client():
    made = MessageBusClient("127.0.0.1", int(sys.argv[1]), "/core", False)
    made.run_in_thread()
    if not made.connected_event.wait(30):
        sys.exit("not connected within 30 s")
    return made


def answer(request):
    if request.data["toolbox_id"] != "mine":
        return
    # First the answer to a call of another program, which has the same toolbox_id and no key, or a key of its own.
    for context in ({}, {"my_key": "of another program"}):
        other = Message("ovos.persona.tools.call", request.data, context)
        hosts.emit(other.response({"toolbox_id": "mine", "result": "another's"}))
    hosts.emit(request.response({"toolbox_id": "mine", "result": "mine"}))


hosts, caller = client(), client()
hosts.on("ovos.persona.tools.call", answer)
request = Message("ovos.persona.tools.call", {"toolbox_id": "mine", "name": "say"})
print("wait_for_response:", caller.wait_for_response(request, timeout=30).data["result"])
print("call:", call(caller, "mine", "say", {})["result"])
print("call, nobody answers:", call(caller, "nobody's", "say", {}, timeout=0.5))
for each in (hosts, caller):
    each.close()
