"""The shipped tool service, and the shipped client as a caller.

    shipped.py service BUS_URL TOOLBOXES    says `ready`, then serves until it is ended
    shipped.py caller BUS_URL               for each number read, so many calls; answers with their times in ns
"""

import json
import sys
import threading
import time
from urllib.parse import urlsplit

from ovos_bus_client import Message, MessageBusClient

CALL = "ovos.persona.tools.call"


def connect(url):
    parts = urlsplit(url)
    bus = MessageBusClient(host=parts.hostname, port=parts.port, route=parts.path, ssl=False)
    bus.run_in_thread()
    bus.connected_event.wait(10)
    return bus


def service(url, toolboxes):
    import ovos_phal_plugin_tools
    from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput

    class Text(ToolArguments):
        text: str

    class Echo(ToolOutput):
        text: str

    def toolbox(toolbox_id):
        class EchoToolBox(ToolBox):
            def __init__(self, config=None, bus=None):
                super().__init__(toolbox_id, config=config, bus=bus)

            def discover_tools(self):
                return [AgentTool(name="echo", description="Gives back what it gets.", argument_schema=Text,
                                  output_schema=Echo, tool_call=lambda arguments: Echo(text=arguments.text))]
        return EchoToolBox

    found = {f"echo{n}": toolbox(f"echo{n}") for n in range(toolboxes)}
    # In place of the entry points of whatever is installed here.
    ovos_phal_plugin_tools.find_toolbox_plugins = lambda: found
    ovos_phal_plugin_tools.OVOSToolsPHALPlugin(bus=connect(url))
    say("ready")
    threading.Event().wait()


def caller(url):
    bus = connect(url)
    data = {"toolbox_id": "echo0", "name": "echo", "kwargs": {"text": "hello"}}
    say("ready")
    for line in sys.stdin:
        # The client takes the first answer it hears for its own: those to others must have passed.
        time.sleep(0.3)
        times = []
        for _ in range(int(line)):
            start = time.perf_counter_ns()
            answer = bus.wait_for_response(Message(CALL, data), timeout=10)
            times.append(time.perf_counter_ns() - start)
            assert answer is not None and answer.data["result"] == {"text": "hello"}, answer and answer.data
        say(json.dumps(times))


def say(line):
    # stdout is the log's too, so what is meant for the benchmark is marked.
    print("BENCH " + line, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "service":
        service(sys.argv[2], int(sys.argv[3]))
    else:
        caller(sys.argv[2])
