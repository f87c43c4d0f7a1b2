"""TOOLS-1 §3 and §4: the tool definition, discover and call."""

from bench import CALL, DISCOVER, call, error, result
from host import FIXTURES, GROWN, definition
from suite import case, contains, equal, true

KEYS = ("argument_schema", "description", "name", "output_schema", "toolbox_id")


def names(frame):
    return [each["name"] for each in frame.data["tools"]]


# -- §3 Tool definition ---------------------------------------------------------------------------

@case("TOOLS-1 §3", "a definition has its five fields, with the values of the toolbox")
def definition_shape(bench):
    """name, description, argument_schema, output_schema and toolbox_id describe a tool."""
    frames = bench.ask_all(DISCOVER)
    for toolbox_id, definitions in FIXTURES.items():
        got = {each["name"]: each for each in frames[toolbox_id].data["tools"]}
        for each in definitions:
            name = each["name"]
            true(f"tools of {toolbox_id}", name in got, name, sorted(got))
            for key in KEYS:
                true(f"definition of {name}", key in got[name], key, sorted(got[name]))
            contains(f"definition of {name}", definition(toolbox_id, name), got[name])


@case("TOOLS-1 §3", "each definition carries the toolbox_id of its owner")
def definition_owner(bench):
    """toolbox_id in a definition is the toolbox that owns the tool."""
    for toolbox_id, frame in bench.ask_all(DISCOVER).items():
        equal("owners", [toolbox_id] * len(frame.data["tools"]),
              [each.get("toolbox_id") for each in frame.data["tools"]])


@case("TOOLS-1 §3", "a tool name is unique inside its toolbox")
def unique_name(bench):
    """A toolbox gives every tool a name of its own."""
    for toolbox_id, frame in bench.ask_all(DISCOVER).items():
        equal(f"names of {toolbox_id}", sorted(set(names(frame))), sorted(names(frame)))


@case("TOOLS-1 §3", "two toolboxes may own one name, and the pair tells them apart")
def pair_is_identity(bench):
    """The pair of toolbox_id and name is the identity of a tool."""
    for toolbox_id in ("alpha", "beta"):
        frame = bench.ask(CALL, call(toolbox_id, "shared"))
        equal("result", {"owner": toolbox_id}, result(frame, toolbox_id))


@case("TOOLS-1 §3", "a toolbox_id has no colon and no dot")
def identifier(bench):
    """toolbox_id is an identifier without `:` and without `.`."""
    for toolbox_id in bench.ask_all(DISCOVER):
        true("toolbox_id", not set(":.") & set(toolbox_id), "no : and no .", toolbox_id)


# -- §4.1 discover --------------------------------------------------------------------------------

@case("TOOLS-1 §4.1", "one response for each hosted toolbox")
def one_response_each(bench):
    """Every host answers for every toolbox it hosts, one response a toolbox."""
    for toolbox_id, frame in bench.ask_all(DISCOVER).items():
        equal("keys of data", ["toolbox_id", "tools"], sorted(frame.data))
        true("tools", isinstance(frame.data["tools"], list), "a list", frame.data["tools"])


@case("TOOLS-1 §4.1", "a response lists the tools of its toolbox, all and no other")
def complete_list(bench):
    """The response of a toolbox holds its tools."""
    frames = bench.ask_all(DISCOVER)
    for toolbox_id, definitions in FIXTURES.items():
        equal(f"names of {toolbox_id}", sorted(each["name"] for each in definitions),
              sorted(names(frames[toolbox_id])))


@case("TOOLS-1 §4.1", "a toolbox without tools answers with an empty list")
def empty_toolbox(bench):
    """Also a toolbox that has no tool is hosted, and so answers."""
    equal("data", {"toolbox_id": "empty", "tools": []}, bench.ask_all(DISCOVER)["empty"].data)


@case("TOOLS-1 §4.1", "the tool list is refreshed before the answer")
def refresh(bench):
    """The answer reflects tools that came, or went, after the start."""
    true("names", "grown" not in names(bench.ask_all(DISCOVER)["alpha"]), "no grown yet", "grown")
    bench.ask(CALL, call("alpha", "grow", listed=True))
    try:
        tools = {each["name"]: each for each in bench.ask_all(DISCOVER)["alpha"].data["tools"]}
        true("names after growing", "grown" in tools, "grown", sorted(tools))
        contains("definition", {**GROWN, "toolbox_id": "alpha"}, tools["grown"])
        equal("result", {"grown": True}, result(bench.ask(CALL, call("alpha", "grown"))))
    finally:
        bench.ask(CALL, call("alpha", "grow", listed=False))
    true("names after shrinking", "grown" not in names(bench.ask_all(DISCOVER)["alpha"]), "no grown", "grown")


@case("TOOLS-1 §4.1", "no payload field of the request is read")
def discover_reads_nothing(bench):
    """A discover request carries no payload field that means anything."""
    bench.ask_all(DISCOVER, {"toolbox_id": "alpha", "name": "echo", "tools": 3})


# -- §4.2 call: who answers -----------------------------------------------------------------------

FOREIGN = {
    "silence for a foreign toolbox_id": ["gamma"],
    "silence for a toolbox_id in another case": ["Alpha", "ALPHA"],
    "silence for a toolbox_id with white space about it": ["alpha ", " alpha", "alpha\n", "alpha\u200b"],
    "silence for a part of a toolbox_id, or more than it": ["alph", "alphabet", "alpha.call", "alpha*", "*", ""],
    "silence for a number as toolbox_id": [0, 1, 3.5],
    "silence for null as toolbox_id": [None],
    "silence for true, a list or an object as toolbox_id": [True, ["alpha"], {"alpha": 1}],
}


def foreign_case(title, toolbox_ids):
    @case("TOOLS-1 §4.2", title)
    def foreign(bench):
        """toolbox_id is compared exactly; a call for a toolbox not hosted here runs nothing and is
        not answered, not even to decline."""
        before = bench.runs()
        bench.silence(*[(CALL, call(each, "echo", text="must not run")) for each in toolbox_ids])
        equal("runs", before, bench.runs())


for each_title, each_ids in FOREIGN.items():
    foreign_case(each_title, each_ids)


@case("TOOLS-1 §4.2", "silence for a call that names no toolbox")
def no_toolbox(bench):
    """A call naming no toolbox is answered by nobody, be the rest right, wrong or missing."""
    before = bench.runs()
    bench.silence((CALL, {"name": "echo", "kwargs": {"text": "must not run"}}), (CALL, {"name": "nope"}), (CALL, {}))
    equal("runs", before, bench.runs())


@case("TOOLS-1 §4.2", "silence for a foreign toolbox also when the rest is wrong")
def foreign_and_wrong(bench):
    """No host declines for another: neither an unknown tool nor bad arguments are told."""
    bench.silence((CALL, {"toolbox_id": "gamma"}), (CALL, {"toolbox_id": "gamma", "name": None}),
                  (CALL, {"toolbox_id": "gamma", "name": "echo", "kwargs": []}))


# -- §4.2 call: the answer ------------------------------------------------------------------------

@case("TOOLS-1 §4.2", "the owner answers once, with toolbox_id and result")
def answer(bench):
    """One response, carrying the toolbox_id and the output of the tool."""
    frame = bench.ask(CALL, call("alpha", "echo", text="serendipity", times=2))
    equal("data", {"toolbox_id": "alpha", "result": {"text": "serendipityserendipity", "times": 2}}, frame.data)


@case("TOOLS-1 §4.2", "a call runs its tool once")
def runs_once(bench):
    """One call, one run."""
    before = bench.runs()
    bench.ask(CALL, call("alpha", "echo", text="once", times=1))
    equal("runs", before + 1, bench.runs())


@case("TOOLS-1 §4.2", "absent kwargs are {}")
def absent_kwargs(bench):
    """data.kwargs may be left out."""
    frame = bench.ask(CALL, {"toolbox_id": "alpha", "name": "mirror"})
    equal("result", {"kwargs": {}}, result(frame))


@case("TOOLS-1 §4.2", "kwargs reach the tool as they came")
def kwargs_unchanged(bench):
    """Text, numbers, nesting and null arrive at the tool, and its output at the caller, unchanged."""
    kwargs = {"text": "naïve 😀 \u0000 \u2028 \\ \"", "big": 9007199254740993, "bigger": 18446744073709551616,
              "negative": -7, "half": 0.5, "nothing": None, "yes": True, "list": [1, [2, {"three": []}]], "": "", "é": {}}
    equal("result", {"kwargs": kwargs}, result(bench.ask(CALL, call("alpha", "mirror", **kwargs))))


@case("TOOLS-1 §4.2", "defaults of the schema are filled in")
def defaults(bench):
    """An argument left out has the default its schema gives."""
    equal("result", {"text": "a", "times": 1}, result(bench.ask(CALL, call("alpha", "echo", text="a"))))


@case("TOOLS-1 §4.2", "unknown fields of the payload are passed over")
def unknown_fields(bench):
    """Fields that the specification does not name change nothing."""
    data = {**call("alpha", "echo", text="a", times=1), "args": {"text": "b"}, "id": 7, "result": 1}
    equal("result", {"text": "a", "times": 1}, result(bench.ask(CALL, data)))


@case("TOOLS-1 §4.2", "a text of 1 MiB comes back whole")
def large(bench):
    """Size alone is no reason for an error, far below what the bus carries."""
    text = "0123456789abcdef" * 65536
    got = result(bench.ask(CALL, call("alpha", "echo", text=text, times=1)))
    true("the text", got == {"text": text, "times": 1}, "1 MiB, unchanged", f"{len(str(got))} characters")


@case("TOOLS-1 §4.2", "many calls at once each get their own answer")
def concurrent(bench):
    """An answer belongs to its request, whatever else is under way."""
    marks = {bench.emit(CALL, call("alpha", "echo", text=f"call {number}", times=1), {"token": number}): number
             for number in range(40)}
    for mark, number in marks.items():
        frame = bench.answers(mark, 1)[0]
        equal("result", {"text": f"call {number}", "times": 1}, result(frame))
        equal("context.token", number, frame.context.get("token"))


# -- §4.2 call: errors ----------------------------------------------------------------------------

@case("TOOLS-1 §4.2", "a tool that is not in the toolbox is an error")
def unknown_tool(bench):
    """An unknown tool of a hosted toolbox is answered, in plain words that name it."""
    for name in ("nope", "Echo", "echo ", "other", "__class__"):
        text = error(bench.ask(CALL, call("alpha", name)))
        true("error", name in text, f"a text with {name!r}", text)


@case("TOOLS-1 §4.2", "any tool of an empty toolbox is an error")
def unknown_tool_of_empty(bench):
    """A toolbox without tools is hosted, so a call to it is answered."""
    error(bench.ask(CALL, call("empty", "echo")), "empty")


@case("TOOLS-1 §4.2", "a call without a name is an error")
def missing_name(bench):
    """data.name is required; the toolbox is known, so the answer says what is wrong."""
    error(bench.ask(CALL, {"toolbox_id": "alpha", "kwargs": {"text": "a"}}))


@case("TOOLS-1 §4.2", "a name that is no string is an error")
def wrong_name(bench):
    """null, a number, a list or an object names no tool."""
    for name in (None, 5, True, ["echo"], {"echo": 1}):
        error(bench.ask(CALL, {"toolbox_id": "alpha", "name": name, "kwargs": {}}))


@case("TOOLS-1 §4.2", "kwargs that are no object are an error, and nothing runs")
def wrong_kwargs(bench):
    """kwargs is an object; null is not absent, and a text is not parsed."""
    before = bench.runs()
    for kwargs in (None, [], "{}", '{"a": 1}', 3, True):
        error(bench.ask(CALL, {"toolbox_id": "alpha", "name": "mirror", "kwargs": kwargs}))
    equal("runs", before, bench.runs())


BAD_ARGUMENTS = {
    "a missing argument is an error": {},
    "an argument of the wrong type is an error": {"text": 5},
    "a text is not taken for a number": {"text": "a", "times": "2"},
    "true is not taken for a number": {"text": "a", "times": True},
    "null is not taken for an absent argument": {"text": "a", "times": None},
    "an argument that the schema forbids is an error": {"text": "a", "volume": 11},
}


def bad_arguments_case(title, kwargs):
    @case("TOOLS-1 §4.2", title)
    def bad_arguments(bench):
        """Arguments that fail the argument_schema are an error, and the tool does not run."""
        before = bench.runs()
        error(bench.ask(CALL, {"toolbox_id": "alpha", "name": "echo", "kwargs": kwargs}))
        equal("runs", before, bench.runs())


for each_title, each_kwargs in BAD_ARGUMENTS.items():
    bad_arguments_case(each_title, each_kwargs)


@case("TOOLS-1 §4.2", "an output that fails its schema is an error")
def bad_output(bench):
    """The result is validated against output_schema before it is sent."""
    error(bench.ask(CALL, call("alpha", "bad_output")))


@case("TOOLS-1 §4.2", "what a tool raises is told as Class: message")
def raised(bench):
    """When the tool ran and raised, the error starts with the class name, then `: `, then the message."""
    equal("error", "ValueError: no such word", error(bench.ask(CALL, call("alpha", "fail"))))
    equal("error", "LookupError: no such page", error(bench.ask(CALL, call("beta", "refuse")), "beta"))


@case("TOOLS-1 §4.2", "a tool that raised can be called again, and so can the others")
def after_raise(bench):
    """An error is the answer of one call and touches no other."""
    for _ in range(3):
        error(bench.ask(CALL, call("alpha", "fail")))
    equal("result", {"text": "a", "times": 1}, result(bench.ask(CALL, call("alpha", "echo", text="a", times=1))))
