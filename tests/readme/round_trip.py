"""Prints the median time of a call by the shipped client on the bus of this machine, in seconds."""
import socket
import statistics
import sys
import time

from ovos_bus_client import Message, MessageBusClient



def wait_for(what, ready):
    deadline = time.monotonic() + 30
    while not ready():
        if time.monotonic() > deadline:
            sys.exit("not within 30 s: " + what)
        time.sleep(0.05)


def listens():
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", 8181)) == 0


def call():
    start = time.perf_counter()
    request = Message("ovos.persona.tools.call", {"toolbox_id": "hello_py", "name": "hello", "kwargs": {"name": "Ada"}})
    answer = client.wait_for_response(request, timeout=1)
    return time.perf_counter() - start if answer and "result" in answer.data else None


wait_for("the bus listens", listens)
client = MessageBusClient("127.0.0.1", 8181, "/core", False)
client.run_in_thread()
wait_for("the client is connected", client.connected_event.is_set)
wait_for("the host answers", call)
print(statistics.median(call() or 1 for _ in range(25)))
client.close()
