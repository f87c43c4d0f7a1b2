"""SESSION-1 and MSG-1 §4: the session carrier."""

from bench import CALL, call, raw, result
from record import exact
from suite import case, equal, true

ECHO = call("alpha", "echo", text="a", times=1)
ECHOED = {"text": "a", "times": 1}


def carried_case(clause, title, sessions, rule):
    def carried(bench):
        for text in sessions:
            frame = bench.ask_raw(raw(CALL, ECHO, f'"session": {text}'))
            equal("result", ECHOED, result(frame))
            equal("session as written", exact(text), exact(frame.text)["context"].get("session"))
    carried.__doc__ = rule
    case(clause, title)(carried)


VERBATIM = "The session goes onto every derived Message as it came; a host owns no field of it."
NEVER_REJECT = "A field that is null or of a wrong type counts as omitted; the Message is not rejected for it."

carried_case("MSG-1 §4.1", "a named session is carried unchanged", [
    '{"session_id": "kitchen", "lang": "pt-PT", "site_id": "kitchen", "active_skills": [["a.b", 1700000000.5]]}'], VERBATIM)
carried_case("MSG-1 §4.1", "an empty session is carried unchanged", ["{}"], VERBATIM)
carried_case("SESSION-1 §2.4", "unknown fields of a session are carried unchanged", [
    '{"session_id": "kitchen", "x": {"y": [9007199254740993, null, {}]}, "z": "é"}'], VERBATIM)
carried_case("SESSION-1 §2.4", "the numbers of a session keep their text", [
    '{"session_id": "kitchen", "a": 1.0, "b": 1e2, "c": 18446744073709551616}'], VERBATIM)
carried_case("SESSION-1 §2.4", "a session named default is carried unchanged", [
    '{"session_id": "default"}', '{"session_id": "default", "lang": "pt-PT", "x": 1}'], VERBATIM)
carried_case("SESSION-1 §2.4", "a session without session_id is carried unchanged", ['{"lang": "pt-PT"}'], VERBATIM)
carried_case("SESSION-1 §2", "a field that is null is no reason to reject", [
    '{"session_id": "kitchen", "lang": null}', '{"session_id": null}'], NEVER_REJECT)
carried_case("SESSION-1 §2", "a field of a wrong type is no reason to reject", [
    '{"session_id": "kitchen", "lang": 5}', '{"session_id": 5}', '{"session_id": ["kitchen"]}'], NEVER_REJECT)


@case("SESSION-1 §2.1", "a call without session is answered")
def absent_session(bench):
    """An absent session means the default one; the answer carries none, or a materialized object."""
    frame = bench.ask_raw(raw(CALL, ECHO))
    equal("result", ECHOED, result(frame))
    true("session", isinstance(frame.context.get("session", {}), dict), "absent or an object", frame.context.get("session"))


@case("SESSION-1 §2.1", "an absent session stays absent", "toolhost")
def absent_stays_absent(bench):
    """Nothing is materialized for a caller who said nothing."""
    true("context", "session" not in bench.ask_raw(raw(CALL, ECHO)).context, "no session", "a session")


@case("SESSION-1 §2.1", "a session that is null is a missing one, not a malformed one")
def null_session(bench):
    """null as the whole value means the default session; the call is answered."""
    frame = bench.ask_raw(raw(CALL, ECHO, '"session": null'))
    equal("result", ECHOED, result(frame))
    session = frame.context.get("session")
    true("session", session is None or isinstance(session, dict), "absent, null or an object", session)


@case("SESSION-1 §2.1", "nothing is materialized for a session that is null", "toolhost")
def null_stays_missing(bench):
    """A missing session stays missing."""
    equal("session", None, bench.ask_raw(raw(CALL, ECHO, '"session": null')).context.get("session"))


MALFORMED = {
    "a text": ['"kitchen"', '""', '"{}"'],
    "a list": ["[]", '[{"session_id": "kitchen"}]'],
    "a number": ["5", "0", "1.5"],
    "true or false": ["true", "false"],
}


def carrier_case(title, sessions):
    @case("SESSION-1 §2.5", f"silence for a session that is {title}")
    def malformed_carrier(bench):
        """A Message whose session is present and no object is dropped; the transport stays, no
        default is put in its place, and the relay alone may say that it was rejected."""
        before = bench.runs()
        start = bench.record.position()
        bench.silence(*[raw(CALL, ECHO, f'"session": {text}') for text in sessions])
        equal("runs", before, bench.runs())
        rejected = [frame for frame in bench.record.frames[start:] if frame.type == "ovos.session.rejected"]
        true("frames of ovos.session.rejected", len(rejected) <= len(sessions), f"at most {len(sessions)}", len(rejected))


for each_title, each_sessions in MALFORMED.items():
    carrier_case(each_title, each_sessions)


@case("SESSION-1 §2.5", "silence for a malformed carrier on every topic")
def malformed_carrier_everywhere(bench):
    """The drop does not depend on the topic."""
    bench.silence(*[raw(topic, data, '"session": "kitchen"') for topic, data in (
        ("ovos.persona.tools.discover", {}), ("ovos.persona.tools.alpha.call", ECHO), ("ovos.tools.list", {}),
        ("ovos.tools.get", {"name": "echo"}), ("ovos.tools.invoke", {"name": "other"}), ("ovos.tools.reload", {}),
        ("mycroft.toolhost.is_alive", {}))])
