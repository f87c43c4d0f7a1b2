"""TOOLS-1 §5 and §6: the tool service and the predecessor topic."""

from bench import CALL, DISCOVER, GET, INVOKE, LIST, call, error, plain_words, predecessor, result
from host import FIXTURES, definition
from suite import case, contains, equal, true


def pairs(tools):
    return sorted((each["toolbox_id"], each["name"]) for each in tools)


def invoke_error(frame, name=None):
    """The error of invoke: it echoes the name, and there is no result."""
    equal("result", None, frame.data.get("result"))
    if name is not None:
        equal("name", name, frame.data.get("name"))
    return plain_words(frame.data.get("error"))


# -- §5 list --------------------------------------------------------------------------------------

@case("TOOLS-1 §5", "list answers once, with the definitions of every toolbox", "service")
def list_tools(bench):
    """ovos.tools.list answers with tools, a list of definitions over all toolboxes."""
    frame = bench.ask(LIST)
    equal("keys of data", ["tools"], list(frame.data))
    got = {(each["toolbox_id"], each["name"]): each for each in frame.data["tools"]}
    for toolbox_id, definitions in FIXTURES.items():
        for each in definitions:
            pair = (toolbox_id, each["name"])
            true("tools", pair in got, pair, sorted(got))
            contains(f"definition of {pair}", definition(*pair), got[pair])


@case("TOOLS-1 §5", "list shows a name that two toolboxes own twice", "service")
def list_shows_both(bench):
    """A duplicate is ambiguous for get and invoke only; both tools are listed."""
    shared = [each for each in bench.ask(LIST).data["tools"] if each["name"] == "shared"]
    equal("pairs", [("alpha", "shared"), ("beta", "shared")], pairs(shared))


@case("TOOLS-1 §5", "list reads no field of the request", "service")
def list_reads_nothing(bench):
    """The request data of list is not read."""
    tools = bench.ask(LIST, {"name": "echo", "toolbox_id": "beta"}).data["tools"]
    equal("pairs", pairs(bench.ask(LIST).data["tools"]), pairs(tools))


@case("TOOLS-1 §5", "the service is a host of the toolboxes that it lists", "service")
def service_is_host(bench):
    """Both surfaces answer on one bus with one loaded set."""
    listed = pairs(bench.ask(LIST).data["tools"])
    discovered = [each for frame in bench.ask_all(DISCOVER).values() for each in frame.data["tools"]]
    equal("pairs", pairs(discovered), listed)
    equal("result", {"owner": "beta"}, result(bench.ask(CALL, call("beta", "other")), "beta"))


# -- §5 get ---------------------------------------------------------------------------------------

@case("TOOLS-1 §5", "get answers with the bare definition", "service")
def get(bench):
    """The data of the answer is one tool definition, not wrapped in anything."""
    contains("data", definition("alpha", "echo"), bench.ask(GET, {"name": "echo"}).data)
    contains("data", definition("beta", "other"), bench.ask(GET, {"name": "other"}).data)


@case("TOOLS-1 §5", "get without a name: Missing required field: 'name'", "service")
def get_missing_name(bench):
    """get answers error when name is absent."""
    equal("data", {"error": "Missing required field: 'name'"}, bench.ask(GET).data)


@case("TOOLS-1 §5", "get of no tool: Unknown tool: '<name>'", "service")
def get_unknown(bench):
    """get answers error when name names no tool."""
    for name in ("nope", "Echo", "echo "):
        equal("data", {"error": f"Unknown tool: '{name}'"}, bench.ask(GET, {"name": name}).data)


@case("TOOLS-1 §5", "get of a name that two toolboxes own is an error", "service")
def get_ambiguous(bench):
    """The flat namespace cannot address the pair, so the service does not pick one."""
    data = bench.ask(GET, {"name": "shared"}).data
    text = plain_words(data.get("error"))
    true("error", "shared" in text, "a text with the name", text)
    true("data", "argument_schema" not in data, "no definition", sorted(data))


# -- §5 invoke ------------------------------------------------------------------------------------

@case("TOOLS-1 §5", "invoke answers with name and result", "service")
def invoke(bench):
    """invoke runs the tool wherever it is and echoes its name."""
    frame = bench.ask(INVOKE, {"name": "echo", "args": {"text": "a", "times": 3}})
    equal("data", {"name": "echo", "result": {"text": "aaa", "times": 3}}, frame.data)
    equal("data", {"name": "other", "result": {"owner": "beta"}}, bench.ask(INVOKE, {"name": "other"}).data)


@case("TOOLS-1 §5", "invoke runs its tool once", "service")
def invoke_once(bench):
    """One call, one run."""
    before = bench.runs()
    bench.ask(INVOKE, {"name": "echo", "args": {"text": "once", "times": 1}})
    equal("runs", before + 1, bench.runs())


@case("TOOLS-1 §5", "invoke takes args; absent means {}, and kwargs is not read", "service")
def invoke_args(bench):
    """The arguments of invoke are called args."""
    equal("data", {"name": "mirror", "result": {"kwargs": {}}}, bench.ask(INVOKE, {"name": "mirror"}).data)
    frame = bench.ask(INVOKE, {"name": "mirror", "kwargs": {"a": 1}})
    equal("data", {"name": "mirror", "result": {"kwargs": {}}}, frame.data)


@case("TOOLS-1 §5", "invoke without a name: Missing required field: 'name'", "service")
def invoke_missing_name(bench):
    """invoke answers error when name is absent."""
    equal("error", "Missing required field: 'name'", invoke_error(bench.ask(INVOKE, {"args": {"text": "a"}})))


@case("TOOLS-1 §5", "invoke of no tool: Unknown tool: '<name>'", "service")
def invoke_unknown(bench):
    """invoke answers name and error when name names no tool."""
    equal("data", {"name": "nope", "error": "Unknown tool: 'nope'"}, bench.ask(INVOKE, {"name": "nope"}).data)


@case("TOOLS-1 §5", "invoke of a name that two toolboxes own is an error, and neither runs", "service")
def invoke_ambiguous(bench):
    """The service answers with an error rather than pick one; a toolbox_id beside the name does not help."""
    before = bench.runs()
    for data in ({"name": "shared"}, {"name": "shared", "toolbox_id": "alpha"}):
        text = invoke_error(bench.ask(INVOKE, data), "shared")
        true("error", "shared" in text, "a text with the name", text)
    equal("runs", before, bench.runs())


@case("TOOLS-1 §5", "args that are no object are an error, and nothing runs", "service")
def invoke_wrong_args(bench):
    """args is an object; null is not absent, and a text is not parsed."""
    before = bench.runs()
    for args in (None, [], "{}", 3):
        invoke_error(bench.ask(INVOKE, {"name": "mirror", "args": args}), "mirror")
    equal("runs", before, bench.runs())


@case("TOOLS-1 §5", "args that fail the schema are an error, and nothing runs", "service")
def invoke_bad_args(bench):
    """The error is in the form of §4.2, under the name."""
    before = bench.runs()
    invoke_error(bench.ask(INVOKE, {"name": "echo", "args": {}}), "echo")
    equal("runs", before, bench.runs())


@case("TOOLS-1 §5", "an output that fails its schema is an error of invoke", "service")
def invoke_bad_output(bench):
    """The error is in the form of §4.2, under the name."""
    invoke_error(bench.ask(INVOKE, {"name": "bad_output"}), "bad_output")


@case("TOOLS-1 §5", "invoke tells what a tool raises as Class: message", "service")
def invoke_raised(bench):
    """The class-name prefix stands when the tool ran and raised."""
    equal("data", {"name": "fail", "error": "ValueError: no such word"}, bench.ask(INVOKE, {"name": "fail"}).data)


# -- §6 predecessor -------------------------------------------------------------------------------

@case("TOOLS-1 §6", "the predecessor topic answers once, on its own response topic", "predecessor")
def predecessor_answers(bench):
    """ovos.persona.tools.<toolbox_id>.call is kept, its payloads unchanged."""
    for data in ({"name": "echo", "kwargs": {"text": "a", "times": 1}}, call("alpha", "echo", text="a", times=1)):
        frame = bench.ask(predecessor("alpha"), data)
        equal("data", {"toolbox_id": "alpha", "result": {"text": "a", "times": 1}}, frame.data)


@case("TOOLS-1 §6", "a call by the predecessor runs its tool once", "predecessor")
def predecessor_once(bench):
    """One call, one run, whichever topic it came by."""
    before = bench.runs()
    bench.ask(predecessor("alpha"), {"name": "echo", "kwargs": {"text": "once", "times": 1}})
    equal("runs", before + 1, bench.runs())


@case("TOOLS-1 §6", "a contradicting data.toolbox_id is not read on the predecessor topic", "predecessor")
def predecessor_contradiction(bench):
    """There the toolbox stands in the topic."""
    for toolbox_id in ("beta", "gamma", None, 5):
        frame = bench.ask(predecessor("alpha"), {"toolbox_id": toolbox_id, "name": "shared"})
        equal("result", {"owner": "alpha"}, result(frame))


@case("TOOLS-1 §6", "errors on the predecessor topic are those of §4.2", "predecessor")
def predecessor_errors(bench):
    """The response payloads are unchanged, errors too."""
    topic = predecessor("alpha")
    equal("error", "ValueError: no such word", error(bench.ask(topic, {"name": "fail"})))
    for data in ({"name": "nope"}, {}, {"name": None}, {"name": "echo", "kwargs": []}, {"name": "echo", "kwargs": {}}):
        error(bench.ask(topic, data))


@case("TOOLS-1 §6", "silence on the predecessor topic of a foreign toolbox", "predecessor")
def predecessor_foreign(bench):
    """Nobody hosts it, so nobody answers, whatever data.toolbox_id says."""
    data = call("alpha", "echo", text="must not run")
    before = bench.runs()
    bench.silence((predecessor("gamma"), data), (predecessor("Alpha"), data), (predecessor("alph"), data),
                  ("ovos.persona.tools.alpha.call.call", data), ("ovos.persona.tools.alpha", data),
                  fence=predecessor("alpha"))
    equal("runs", before, bench.runs())
