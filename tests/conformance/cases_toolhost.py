"""What toolhost promises beyond the specifications: its error texts, its readings, its status topics."""

import time

from bench import CALL, DISCOVER, GET, INVOKE, call, error, predecessor, result, starts_with
from host import FIXTURES, definition
from suite import case, equal, true

INVALID_ECHO = "Invalid arguments for 'echo': "


@case("toolhost §4", "the status topics answer once with true", "toolhost")
def status(bench):
    """mycroft.toolhost.is_alive and .is_ready answer {"status": true}."""
    for topic in ("mycroft.toolhost.is_alive", "mycroft.toolhost.is_ready"):
        frame = bench.ask(topic, {}, {"source": "a", "destination": "b"})
        equal("data", {"status": True}, frame.data)
        equal("source and destination", ("b", "a"), (frame.context.get("source"), frame.context.get("destination")))


@case("toolhost §4", "silence for the status topics of another service", "toolhost")
def foreign_status(bench):
    """Only its own status is told."""
    bench.silence(("mycroft.skills.is_alive", {}), ("mycroft.toolbox.is_ready", {}))


@case("toolhost §1", "schemas are published exactly as the toolbox described them", "toolhost")
def exact_definitions(bench):
    """Nothing is added to a definition but toolbox_id."""
    frames = bench.ask_all(DISCOVER)
    for toolbox_id, definitions in FIXTURES.items():
        got = {each["name"]: each for each in frames[toolbox_id].data["tools"]}
        for each in definitions:
            equal(f"definition of {each['name']}", definition(toolbox_id, each["name"]), got[each["name"]])
    equal("data of get", definition("beta", "other"), bench.ask(GET, {"name": "other"}).data)


# -- error texts ----------------------------------------------------------------------------------

@case("toolhost §4", "a missing or null name: Missing required field: 'name'", "toolhost")
def missing_name(bench):
    """The same text on call, the predecessor, get and invoke."""
    text = "Missing required field: 'name'"
    for data in ({"toolbox_id": "alpha"}, {"toolbox_id": "alpha", "name": None}):
        equal("error of call", text, error(bench.ask(CALL, data)))
        equal("error of the predecessor", text, error(bench.ask(predecessor("alpha"), data)))
    for topic in (GET, INVOKE):
        equal(f"error of {topic}", text, bench.ask(topic, {"name": None}).data.get("error"))


@case("toolhost §4", "no such tool: Unknown tool: '<name>'", "toolhost")
def unknown_tool(bench):
    """The text of §5 stands on the toolbox topics too."""
    for name in ("nope", "Echo", "other", "it's"):
        equal("error of call", f"Unknown tool: '{name}'", error(bench.ask(CALL, call("alpha", name))))
    equal("error of the predecessor", "Unknown tool: 'nope'", error(bench.ask(predecessor("alpha"), {"name": "nope"})))


@case("toolhost §4", "a name that is no string is an unknown tool", "toolhost")
def wrong_name(bench):
    """A number is told as it was written, anything else in some form."""
    equal("error", "Unknown tool: '5'", error(bench.ask(CALL, {"toolbox_id": "alpha", "name": 5})))
    for name in (True, ["echo"], {"echo": 1}):
        starts_with("error", "Unknown tool: '", error(bench.ask(CALL, {"toolbox_id": "alpha", "name": name})))
        for topic in (GET, INVOKE):
            starts_with(f"error of {topic}", "Unknown tool: '", bench.ask(topic, {"name": name}).data.get("error"))


@case("toolhost §4", "an ambiguous name: the text names its owners", "toolhost")
def ambiguous(bench):
    """get and invoke say who owns the name."""
    text = "Ambiguous tool name: 'shared' is owned by 'alpha', 'beta'"
    equal("data of get", {"error": text}, bench.ask(GET, {"name": "shared"}).data)
    equal("data of invoke", {"name": "shared", "error": text}, bench.ask(INVOKE, {"name": "shared"}).data)


@case("toolhost §4", "bad arguments: the text names the argument and what is wrong", "toolhost")
def invalid_arguments(bench):
    """Invalid arguments for '<name>': <where>: <why>."""
    for kwargs, where in (({}, "text"), ({"text": 5}, "text"), ({"text": "a", "times": "2"}, "times"),
                          ({"text": "a", "times": True}, "times"), ({"text": "a", "volume": 11}, "volume")):
        for text in (error(bench.ask(CALL, {"toolbox_id": "alpha", "name": "echo", "kwargs": kwargs})),
                     bench.ask(INVOKE, {"name": "echo", "args": kwargs}).data.get("error")):
            starts_with("error", INVALID_ECHO, text)
            true("error", where in text.removeprefix(INVALID_ECHO), f"a text with {where}", text)
            true("error", ": " in text.removeprefix(INVALID_ECHO), "<where>: <why>", text)


@case("toolhost §4", "bad arguments: every fault is told", "toolhost")
def every_fault(bench):
    """Every further fault stands after `; `."""
    text = error(bench.ask(CALL, call("alpha", "echo", times="x", volume=11)))
    starts_with("error", INVALID_ECHO, text)
    equal("number of `; `", 2, text.count("; "))
    for where in ("text", "times", "volume"):
        true("error", where in text, f"a text with {where}", text)


@case("toolhost §4", "arguments that are no object: Invalid arguments for '<name>'", "toolhost")
def arguments_no_object(bench):
    """null, lists, texts and numbers are told like any bad arguments."""
    for value in (None, [], "{}", 3, True):
        starts_with("error", INVALID_ECHO, error(bench.ask(CALL, {"toolbox_id": "alpha", "name": "echo", "kwargs": value})))
        starts_with("error", INVALID_ECHO, bench.ask(INVOKE, {"name": "echo", "args": value}).data.get("error"))


@case("toolhost §4", "bad output: the text names the place and what is wrong", "toolhost")
def invalid_output(bench):
    """Invalid output from '<name>': <where>: <why>."""
    for text in (error(bench.ask(CALL, call("alpha", "bad_output"))),
                 bench.ask(INVOKE, {"name": "bad_output"}).data.get("error")):
        start = "Invalid output from 'bad_output': "
        starts_with("error", start, text)
        true("error", "answer" in text.removeprefix(start), "a text with the place", text)


@case("toolhost §4", "a schema that does not compile: Invalid schema of '<name>'", "toolhost")
def invalid_schema(bench):
    """The tool does not run, and its neighbors do."""
    starts_with("error", "Invalid schema of 'crooked': ", error(bench.ask(CALL, call("moody", "crooked")), "moody"))
    equal("result", {"slept": 0}, result(bench.ask(CALL, call("moody", "nap", seconds=0)), "moody"))


@case("toolhost §4", "no answer in time: TimeoutError, and the toolbox serves on", "toolhost")
def timeout(bench):
    """TimeoutError: '<name>' did not answer within <timeout>; one answer only."""
    text = error(bench.ask(CALL, call("moody", "nap", seconds=1.3)), "moody")
    equal("error", "TimeoutError: 'nap' did not answer within 1s", text)
    equal("result", {"slept": 0}, result(bench.ask(CALL, call("moody", "nap", seconds=0)), "moody"))


@case("toolhost §4", "a result beyond max_result is an error", "toolhost")
def too_large(bench):
    """Too large an answer would cost the host its connection; the limit here is 64 KiB."""
    equal("result", {"text": "xxx"}, result(bench.ask(CALL, call("moody", "talk", length=3)), "moody"))
    error(bench.ask(CALL, call("moody", "talk", length=70000)), "moody")


@case("toolhost §4", "the queue is full: Overloaded", "toolhost")
def overloaded(bench):
    """max_pending calls wait; one more is refused at once."""
    running = bench.emit(CALL, call("crowded", "nap", seconds=0.8))
    time.sleep(0.2)
    waiting = [bench.emit(CALL, call("crowded", "nap", seconds=0)) for _ in range(2)]
    refused = bench.ask(CALL, call("crowded", "nap", seconds=0))
    equal("error", "Overloaded: 2 calls are waiting", error(refused, "crowded"))
    for mark in (running, *waiting):
        result(bench.answers(mark, 1)[0], "crowded")


@case("toolhost §4", "the process died in the call: ToolboxCrashed, then ToolboxUnavailable", "toolhost")
def crashed(bench):
    """The caller is told the exit status and the last line of stderr; a toolbox that is down says so."""
    text = error(bench.ask(CALL, call("frail", "die", status=3)), "frail")
    equal("error", "ToolboxCrashed: exit status 3: the last words", text)
    starts_with("error", "ToolboxUnavailable: ", error(bench.ask(CALL, call("frail", "nap", seconds=0)), "frail"))


@case("TOOLS-1 §4.1", "a toolbox that is down still answers discover once", "toolhost")
def discover_with_one_down(bench):
    """It is hosted, so it is told; its list is the last one known, or empty."""
    error(bench.ask(CALL, call("frail", "die", status=3)), "frail")
    bench.ask_all(DISCOVER)


@case("toolhost §2", "a run-once toolbox answers, and its failure is told like any other", "toolhost")
def run_once(bench):
    """A process a request: each answers, and the one that died is told with its last words."""
    for length in (1, 2):
        equal("result", {"text": "x" * length}, result(bench.ask(CALL, call("once", "talk", length=length)), "once"))
    equal("error", "ToolboxCrashed: exit status 3: the last words",
          error(bench.ask(CALL, call("once", "die", status=3)), "once"))
    equal("result", {"text": "x"}, result(bench.ask(CALL, call("once", "talk", length=1)), "once"))
