#!/usr/bin/env python3
"""The fixture toolboxes as OVOS ToolBox plugins, hosted by the shipped tool service, ovos-PHAL-plugin-tools.

    shipped_host.py BUS_URL
"""

import os
import sys
import threading
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "toolboxes"))

import alpha  # noqa: E402
import beta  # noqa: E402
import empty  # noqa: E402
import ovos_phal_plugin_tools  # noqa: E402
from ovos_bus_client import MessageBusClient  # noqa: E402
from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput  # noqa: E402
from pydantic import ConfigDict, create_model  # noqa: E402

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict, "array": list}


def model(base, schema):
    """A pydantic model that checks what the schema says, and is published as that schema."""
    fields = {}
    for name, member in schema["properties"].items():
        default = ... if name in schema["required"] else member.get("default")
        fields[name] = (TYPES.get(member.get("type"), Any), default)
    closed = schema.get("additionalProperties", True) is False
    parent = type(base.__name__, (base,), {"model_config": ConfigDict(extra="forbid" if closed else "allow")})
    made = create_model(base.__name__, __base__=parent, **fields)
    made.model_json_schema = classmethod(lambda cls, *args, **kwargs: schema)
    return made


def agent_tool(tool):
    return AgentTool(
        name=tool.name,
        description=tool.definition["description"],
        argument_schema=model(ToolArguments, tool.definition["argument_schema"]),
        output_schema=model(ToolOutput, tool.definition["output_schema"]),
        tool_call=lambda arguments: tool.run(**arguments.model_dump()))


def toolbox(fixture):
    """A ToolBox class over a fixture module."""
    class FixtureToolBox(ToolBox):
        def __init__(self, config=None, bus=None):
            super().__init__(fixture.__name__, config=config, bus=bus)

        def discover_tools(self):
            return [agent_tool(tool) for tool in fixture.tools()]
    return FixtureToolBox


def main(bus_url):
    parts = urlsplit(bus_url)
    bus = MessageBusClient(host=parts.hostname, port=parts.port, route=parts.path, ssl=parts.scheme == "wss")
    bus.run_in_thread()
    bus.connected_event.wait(10)
    fixtures = {fixture.__name__: toolbox(fixture) for fixture in (alpha, beta, empty)}
    # In place of the entry points of whatever is installed here.
    ovos_phal_plugin_tools.find_toolbox_plugins = lambda: fixtures
    ovos_phal_plugin_tools.OVOSToolsPHALPlugin(bus=bus)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
