"""The host under test: its settings, its start, and the toolboxes it is to host."""

import json
import os
import shlex
import sys

from processes import Child

TOOLBOXES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "toolboxes")
sys.path.insert(0, TOOLBOXES)

import alpha  # noqa: E402  (the fixtures are found by the line above)
import beta  # noqa: E402

# The toolboxes every host needs, with the definitions that it must publish.
FIXTURES = {
    "alpha": [each.definition for each in alpha.TOOLS],
    "beta": [each.definition for each in beta.TOOLS],
    "empty": [],
}
GROWN = alpha.GROWN.definition

# More toolboxes for the cases of toolhost's own contract.
TOOLHOST_TOOLBOXES = ("moody", "frail", "crowded", "once")

SETTINGS = """\
bus:
  url: {bus}
tool_service: true
predecessor_topics: answer
toolboxes:
  alpha:
    command: {alpha}
  beta:
    command: {beta}
  empty:
    command: {empty}
"""

TOOLHOST_SETTINGS = """\
  moody:
    command: {moody}
    timeout: 1s
    max_result: 64KiB
  frail:
    command: {moody}
    restart: {{when: never}}
  crowded:
    command: {moody}
    max_pending: 2
  once:
    command: {moody}
    mode: oneshot
"""


def definition(toolbox_id, name):
    """The tool definition (TOOLS-1 §3) that the host must publish."""
    found = next(each for each in FIXTURES[toolbox_id] if each["name"] == name)
    return {**found, "toolbox_id": toolbox_id}


def write_settings(folder, bus_url, with_toolhost):
    commands = {name: json.dumps([sys.executable, os.path.join(TOOLBOXES, f"{name}.py")])
                for name in ("alpha", "beta", "empty", "moody")}
    text = SETTINGS + (TOOLHOST_SETTINGS if with_toolhost else "")
    path = os.path.join(folder, "toolhost.yaml")
    with open(path, "w") as file:
        file.write(text.format(bus=json.dumps(bus_url), **commands))
    return path


def start_host(template, folder, bus, with_toolhost):
    places = {
        "{bus}": bus.url,
        "{port}": str(bus.port or ""),
        "{config}": write_settings(folder, bus.url, with_toolhost),
        "{toolboxes}": TOOLBOXES,
    }
    argv = []
    for word in shlex.split(template):
        for place, value in places.items():
            word = word.replace(place, value)
        argv.append(word)
    return Child("host", argv, folder)
