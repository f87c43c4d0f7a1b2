"""Prints, of 25 calls by the shipped client on the bus of this machine: how many were answered, how many acknowledgments
the kernel put off meanwhile in this network, and the median time of a call in seconds."""
import socket
import statistics
import sys
import time

from ovos_bus_client import Message, MessageBusClient


CALLS = 25


def wait_for(what, ready):
    deadline = time.monotonic() + 30
    while not ready():
        if time.monotonic() > deadline:
            sys.exit("not within 30 s: " + what)
        time.sleep(0.05)


def listens():
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", 8181)) == 0


def call(timeout=1):
    start = time.perf_counter()
    request = Message("ovos.persona.tools.call", {"toolbox_id": "hello_py", "name": "hello", "kwargs": {"name": "Ada"}})
    answer = client.wait_for_response(request, timeout=timeout)
    return time.perf_counter() - start if answer and "result" in answer.data else None


def put_off():
    with open("/proc/net/netstat") as counters:
        names, values = [line.split() for line in counters if line.startswith("TcpExt:")]
    return int(values[names.index("DelayedACKs")])


wait_for("the bus listens", listens)
client = MessageBusClient("127.0.0.1", 8181, "/core", False)
client.run_in_thread()
wait_for("the client is connected", client.connected_event.is_set)
wait_for("the host answers", call)
# A connection begins with acknowledgments at once.
for _ in range(CALLS):
    call(timeout=30)
before = put_off()
times = [call(timeout=30) for _ in range(CALLS)]
answered = [time for time in times if time]
print(len(answered), put_off() - before, statistics.median(answered or [0]))
client.close()
