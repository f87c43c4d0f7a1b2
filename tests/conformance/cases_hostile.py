"""Frames that a parser may refuse. Only raw connections here: such a frame may cost a client its connection."""

import time

from bench import CALL, MARK_PLACE, call, raw, result
from record import MARK
from suite import case, equal, true

ECHO = call("alpha", "echo", text="a", times=1)
ECHOED = {"text": "a", "times": 1}

# How long the host may be away when a frame cost it its connection.
BACK_SECONDS = 1


def still_answers(bench):
    """Ask until an answer comes: what is sent while a host reconnects is lost."""
    deadline = time.monotonic() + BACK_SECONDS
    while True:
        mark = bench.send(raw(CALL, ECHO))
        heard = bench.record.wait(0.2, lambda: bench.heard(mark))
        bench.count(mark)
        if heard:
            return equal("result", ECHOED, result(heard[0]))
        true("the host is back", time.monotonic() < deadline, f"an answer within {BACK_SECONDS} s", "none")


def dropped_or_answered_case(title, text):
    @case("MSG-1 §6.1", f"the connection stays after {title}")
    def dropped_or_answered(bench):
        """What RFC 8259 lets a parser refuse may be dropped or answered, once; the next call works."""
        mark = bench.send(text)
        still_answers(bench)
        time.sleep(0.1)
        bench.count(mark)
        true("number of answers", len(bench.heard(mark)) <= 1, "0 or 1", len(bench.heard(mark)))


def deep(levels):
    return "[" * levels + "]" * levels


dropped_or_answered_case("50,000 levels in the context", raw(CALL, ECHO, f'"deep": {deep(50000)}'))
dropped_or_answered_case(
    "50,000 levels in the arguments",
    raw(CALL, call("alpha", "mirror", deep="@")).replace('"@"', deep(50000)))
dropped_or_answered_case("50,000 levels left open", '{"type": ' + "[" * 50000)
dropped_or_answered_case("a number beyond every float", raw(CALL, ECHO, '"n": 1e400'))
dropped_or_answered_case("a number of 6,000 digits", raw(CALL, ECHO, f'"n": {"7" * 6000}'))
dropped_or_answered_case("a lone surrogate", raw(CALL, ECHO, '"s": "\\ud800"'))
dropped_or_answered_case("a lone surrogate in the arguments",
                         raw(CALL, call("alpha", "mirror", s="@")).replace('"@"', '"\\udc00"'))
dropped_or_answered_case("a byte order mark", "\ufeff" + raw(CALL, ECHO))
dropped_or_answered_case("a key that stands twice", raw(CALL, ECHO, '"a": 1, "a": 2'))


@case("MSG-1 §6.1", "the connection stays after a binary frame")
def binary(bench):
    """Messages are text; a binary frame, which a bus may relay as text, hinders nothing."""
    bench.connection.send_binary(b"\x00\x01\x02")
    mark = bench.new_mark()
    bench.connection.send_binary(raw(CALL, ECHO).replace(MARK_PLACE, mark).encode())
    still_answers(bench)
    time.sleep(0.1)
    bench.count(mark)
    true("number of answers", len(bench.heard(mark)) <= 1, "0 or 1", len(bench.heard(mark)))


@case("MSG-1 §6.1", "the host is back within a second after a frame that is no UTF-8")
def no_utf8(bench):
    """Where a bus relays such bytes as text a client must fail the connection; it comes back, subscribed."""
    bench.connection.send_binary(b'{"type": "ovos.persona.tools.call", "data": {"\xff\xfe": 1}}')
    still_answers(bench)


@case("MSG-1 §6.1", "20 malformed frames in a row cost nothing but themselves")
def burst(bench):
    """A fault of one frame is not one of the connection."""
    for number in range(20):
        bench.connection.send(f'{{"type": "{CALL}", "data": {number}, "context": {{"{MARK}": "burst"}}}}')
    still_answers(bench)
