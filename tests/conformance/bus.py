"""The bus under the run: the real one, a bare relay, one started by a command, or one that is there."""

import json
import os
import shlex
import sys

from processes import Child, free_port, wait_for_port

HERE = os.path.dirname(os.path.abspath(__file__))

# What a bus says of its own accord; everything else is said by a client.
BUS_TOPICS = {"connected", "ovos.session.rejected"}


class Bus:
    def __init__(self, url, port=None, child=None):
        self.url = url
        self.port = port
        self.child = child

    def stop(self):
        if self.child:
            self.child.stop()


def start_bus(choice, command, folder):
    """`choice` is real, bare, host or a URL; `command` starts a bus and names {port}."""
    if choice.startswith(("ws://", "wss://")):
        return Bus(choice)
    port = free_port()
    url = f"ws://127.0.0.1:{port}/core"
    if choice == "host":
        return Bus(url, port)
    if command:
        argv = [word.replace("{port}", str(port)) for word in shlex.split(command)]
    elif choice == "bare":
        argv = [sys.executable, os.path.join(HERE, "bare_bus.py"), str(port)]
    else:
        write_bus_settings(folder, port)
        argv = [sys.executable, "-m", "ovos_messagebus"]
    child = Child("bus", argv, folder)
    try:
        wait_for_port(port, child)
    except BaseException:
        child.stop()
        raise
    return Bus(url, port, child)


def write_bus_settings(folder, port):
    os.makedirs(os.path.join(folder, "mycroft"), exist_ok=True)
    settings = {"websocket": {"host": "127.0.0.1", "port": port, "route": "/core", "ssl": False}}
    with open(os.path.join(folder, "mycroft", "mycroft.conf"), "w") as file:
        json.dump(settings, file)
