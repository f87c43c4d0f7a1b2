"""MSG-1: the derivation of answers, what a consumer tolerates, and what it drops."""

import json

from ovos_bus_client import Message

from bench import (CALL, DISCOVER, GET, INVOKE, LIST, MARK_PLACE, call, envelope, predecessor, raw, result)
from record import MARK, Connection, exact
from suite import case, equal, true

ECHO = call("alpha", "echo", text="a", times=1)
ECHOED = {"text": "a", "times": 1}

# Every topic that is answered, with a request that works and one that fails.
REQUESTS = {
    "host": [(CALL, ECHO), (CALL, call("alpha", "fail")), (CALL, call("alpha", "nope"))],
    "predecessor": [(predecessor("alpha"), ECHO), (predecessor("alpha"), {})],
    "service": [(LIST, {}), (GET, {"name": "echo"}), (GET, {}),
                (INVOKE, {"name": "other"}), (INVOKE, {"name": "fail"}), (INVOKE, {})],
}


def routing(frame):
    return {key: frame.context[key] for key in ("source", "destination") if key in frame.context}


# -- §5.2 and §5.3: the derivation ----------------------------------------------------------------

ABSENT = "absent"
DERIVATION = [
    # title, source, destination of the request; source, destination of the answer
    ("swaps source and destination", "a", "b", "b", "a"),
    ("with neither source nor destination has neither", ABSENT, ABSENT, ABSENT, ABSENT),
    ("to a broadcast keeps source and is destined for it", "a", ABSENT, "a", "a"),
    ("to a destination without source keeps it and names it as source", ABSENT, "b", "b", "b"),
    ("takes the one member of an array as source", "a", ["b"], "b", "a"),
    ("takes the first member of an array as source", "a", ["b", "c"], "b", "a"),
    ("passes over an empty member of an array", "a", ["", "b"], "b", "a"),
    ("takes an empty destination for an absent one", "a", "", "a", "a"),
    ("takes an empty array for an absent destination", "a", [], "a", "a"),
    ("takes an array of empty members for an absent destination", "a", [""], "a", "a"),
    ("takes an empty source for an absent one", "", "b", "b", "b"),
    ("takes an empty source and an empty destination for absent ones", "", "", ABSENT, ABSENT),
    ("takes an empty source before a broadcast for an absent one", "", ABSENT, ABSENT, ABSENT),
    ("takes an empty array alone for an absent destination", ABSENT, [], ABSENT, ABSENT),
    ("keeps identifiers as they are", " A b:é😀.* ", "http://x/?q=1", "http://x/?q=1", " A b:é😀.* "),
]


def members(source, destination):
    return {key: value for key, value in (("source", source), ("destination", destination)) if value is not ABSENT}


def derivation_case(title, source, destination, expected):
    @case("MSG-1 §5.2", f"a reply {title}")
    def derivation(bench):
        """The new source is the old destination, the new destination the old source; absent stays
        absent; empty counts as absent and is never sent."""
        frame = bench.ask(CALL, ECHO, members(source, destination))
        equal("source and destination", expected, routing(frame))
        equal("result", ECHOED, result(frame))


for each_title, *ends in DERIVATION:
    derivation_case(each_title, ends[0], ends[1], members(ends[2], ends[3]))


@case("MSG-1 §5.2", "a source or destination of another type hinders no answer")
def odd_routing(bench):
    """The routing keys are informal; what cannot be read does not make a Message malformed."""
    for context in ({"destination": 5}, {"source": 5, "destination": {"a": 1}}, {"source": None, "destination": None},
                    {"source": "a", "destination": [5]}):
        equal("result", ECHOED, result(bench.ask(CALL, ECHO, context)))


@case("MSG-1 §3.3", "a call is answered whatever its destination")
def no_filter(bench):
    """destination is informal: a host does not filter by it."""
    for destination in ("skills", "audio", "somebody.else", ["nobody"]):
        equal("result", ECHOED, result(bench.ask(CALL, ECHO, {"source": "a", "destination": destination})))


def response_case(needs):
    @case("MSG-1 §5.3", f"every answer is the response of its request ({needs} topics)", needs)
    def response(bench):
        """The topic plus .response, the routing swapped, every other context key kept; errors too."""
        context = {"source": "a", "destination": "b", "custom": {"n": [1, None]}, "utterance_id": "u-1",
                   "session": {"session_id": "s-1", "lang": "en-US"}}
        expected = {**context, "source": "b", "destination": "a"}
        for topic, data in REQUESTS[needs]:
            frame = bench.ask(topic, data, context)
            got = {key: value for key, value in frame.context.items() if key != MARK}
            equal(f"context of {frame.type}", expected, got)


for each_needs in REQUESTS:
    response_case(each_needs)


@case("MSG-1 §5.3", "discover answers are responses of their request")
def discover_response(bench):
    """Each of the answers is derived from the one request."""
    context = {"source": "a", "destination": "b", "custom": 1}
    for frame in bench.answers(bench.emit(DISCOVER, {}, context), len(bench.toolbox_ids)):
        equal("topic", f"{DISCOVER}.response", frame.type)
        equal("source and destination", {"source": "b", "destination": "a"}, routing(frame))
        equal("context.custom", 1, frame.context.get("custom"))


@case("MSG-1 §5.3", "silence for a Message that is itself a response")
def no_response_to_response(bench):
    """No .response.response is ever derived."""
    bench.silence(raw(f"{CALL}.response", ECHO), raw(f"{CALL}.response.response", ECHO), raw(f"{DISCOVER}.response", {}))


@case("MSG-1 §5.3", "the real client accepts the answers of wait_for_response")
def stock_client(bench):
    """The caller hears <topic>.response as a Message with the data that is on the bus."""
    # It takes the first frame of the topic, whoever asked for it.
    bench.catch_up()
    mark = bench.new_mark()
    response = bench.client.wait_for_response(Message(CALL, ECHO, {MARK: mark}), timeout=3)
    true("response", response is not None, "a Message", "none within 3 s")
    equal("data", {"toolbox_id": "alpha", "result": ECHOED}, response.data)
    bench.answers(mark, 1)


# -- §5.2: the rest of the context ----------------------------------------------------------------

def context_case(title, texts):
    @case("MSG-1 §5.2", title)
    def context(bench):
        """Every context key but the routing is carried unchanged, at any depth."""
        for text in texts:
            frame = bench.ask_raw(raw(CALL, ECHO, f'"source": "a", {text}'))
            equal("context as written", exact("{" + text + "}"), without_session(frame.exact_context()))


def without_session(context):
    """Without a session that a host materialized for a request that had none (MSG-1 §4.1 allows it)."""
    return {key: value for key, value in context.items() if key != "session"}


context_case("foreign context keys are carried unchanged at any depth", [
    '"custom": {"a": [1, {"b": [[], {}, null, true, "x"]}]}, "empty": {}, "none": null, "list": [], "": "", "a.b": "c"'])
context_case("text in the context is carried unchanged", [
    '"text": "naïve 😀 \\u0000 \\u2028 \\\\ \\" /", "é": "\\u00e9"'])
context_case("integers beyond 2^53 are carried unchanged", [
    '"a": 9007199254740993, "b": {"c": [18446744073709551616, -9223372036854775809]}, "d": 123456789012345678901234567890'])
context_case("the text of a number is carried unchanged: 1.0", ['"a": 1.0, "b": {"c": [2.0]}'])
context_case("the text of a number is carried unchanged: -0.0", ['"a": -0.0, "b": [-0.0]'])
context_case("the text of a number is carried unchanged: 1e2", ['"a": 1e2, "b": [5e-7]'])
context_case("the text of a number is carried unchanged: -0", ['"a": -0, "b": [-0]'])
context_case("the text of a number is carried unchanged: 0.10", ['"a": 0.10, "b": [1.500]'])
context_case("the text of a number is carried unchanged: 1E+2", ['"a": 1E+2, "b": [1e+2, 1E2, 1e-07]'])
context_case("a float of many digits is carried unchanged", ['"a": 0.1000000000000000055511151231257827, "b": 1e300'])
context_case("twin and collector keys of the bus client are carried unchanged", [
    '"_namespace_compat_twin": true, "_intent_compat_twin": false, "__collect_id__": "c-1", "skill_id": "s.x"'])


# -- §2 and §7: what a consumer tolerates ----------------------------------------------------------

@case("MSG-1 §2", "unknown top-level keys are passed over, and not sent back")
def unknown_keys(bench):
    """A consumer ignores further top-level keys and does not reject a Message for them."""
    frame = bench.ask_raw(envelope(data=ECHO, msg_type="x", id=7, extra={"a": [1]}))
    equal("result", ECHOED, result(frame))
    equal("top-level keys", ["context", "data", "type"], sorted(frame.message))


@case("MSG-1 §2", "absent data is {}")
def absent_data(bench):
    """A Message without data is whole; discover and list need none."""
    text = f'{{"type": "{DISCOVER}", "context": {{"{MARK}": "{MARK_PLACE}"}}}}'
    bench.answers(bench.send(text), len(bench.toolbox_ids))


@case("MSG-1 §2", "absent context is {}")
def absent_context(bench):
    """A Message without context is answered by one without routing."""
    start = bench.record.position()
    bench.connection.send(json.dumps({"type": CALL, "data": ECHO}))

    def unmarked():
        return [frame for frame in bench.record.from_host(start) if frame.mark is None]
    bench.record.wait(3, unmarked)
    bench.ask_raw(raw(CALL, ECHO))
    equal("number of answers", 1, len(unmarked()))
    frame = unmarked()[0]
    equal("topic", f"{CALL}.response", frame.type)
    equal("result", ECHOED, result(frame))
    equal("context", {}, without_session(frame.context))


@case("MSG-1 §6", "the order of keys and white space mean nothing")
def order(bench):
    """A JSON object is not ordered, and JSON may be spread out."""
    text = (f'\n {{ "context" : {{ "{MARK}" : "{MARK_PLACE}" }} ,\t"data": {{"kwargs": {{"text": "a", "times": 1}},\r\n'
            f' "name": "echo", "toolbox_id": "alpha"}}, "type": "ovos.persona.tools.\\u0063all" }} \n')
    equal("result", ECHOED, result(bench.ask_raw(text)))


# -- §2, §6.1 and §7: what a consumer drops -------------------------------------------------------

# Each would be answered if it were repaired; each is dropped, nothing is derived, nothing runs.
MALFORMED = {
    ("§2", "data that is a list"): [envelope(type=DISCOVER, data=[])],
    ("§2", "data that is a text or a number"): [envelope(type=DISCOVER, data="{}"), envelope(type=DISCOVER, data=5)],
    ("§2", "data that is null"): [envelope(type=DISCOVER, data=None)],
    ("§2", "context that is a list"): [envelope(context=[])],
    ("§2", "context that is a text or a number"): [envelope(context="{}"), envelope(context=5)],
    ("§2", "context that is null"): [envelope(context=None)],
    ("§2.1", "a type that is no string"): [envelope(type=None), envelope(type=5), envelope(type=[CALL])],
    ("§2.1", "an empty or missing type"): [
        envelope(type=""), envelope().replace(f'"type": "{CALL}", ', "").replace(f', "type": "{CALL}"', "")],
    ("§2.1", "a type with white space"): [
        envelope(type=f"{CALL} "), envelope(type=f" {CALL}"), envelope(type=f"{CALL}\n"),
        envelope(type="ovos.persona. tools.call")],
    ("§2.1", "a type with a separator too many"): [
        envelope(type=f".{CALL}"), envelope(type=f"{CALL}."), envelope(type="ovos.persona..tools.call"),
        envelope(type=f"{CALL}:"), envelope(type=f":{CALL}")],
    ("§2.1", "a type in other letters"): [
        envelope(type=CALL.upper()), envelope(type="ovos.persona.tools.cåll"), envelope(type=f"{CALL}\u0000")],
    ("§6", "broken JSON"): [
        "", " ", "{", "}", envelope()[:-1], envelope() + "}", envelope() + envelope(), envelope() + " x",
        envelope().replace('"', "'"), "not JSON", envelope()[:-1] + ",}"],
    ("§6", "NaN and Infinity"): [
        envelope(data=call("alpha", "mirror", n="@")).replace('"@"', constant)
        for constant in ("NaN", "Infinity", "-Infinity")],
}


def malformed_case(section, title, texts):
    @case(f"MSG-1 {section}", f"silence for {title}")
    def malformed(bench):
        """A malformed Message is dropped: no answer, no repair; the connection and the subscriptions
        stay, and the next call works."""
        before = bench.runs()
        bench.silence(*texts)
        equal("runs", before, bench.runs())


for (each_section, each_title), each_texts in MALFORMED.items():
    malformed_case(each_section, each_title, each_texts)


@case("MSG-1 §6", "silence for a root that is no object")
def root_is_no_object(bench):
    """A Message is one JSON object."""
    before = bench.runs()
    # Each on a connection of its own: the bus may close the one that it comes by.
    for text in ("[1,2]", "null", "5", '"text"', "true", f"[{envelope()}]"):
        connection = Connection(bench.url, bench.record)
        bench.count(bench.send(text, connection))
        connection.close()
    bench.silence(raw(f"{CALL}.response", ECHO))
    equal("runs", before, bench.runs())
