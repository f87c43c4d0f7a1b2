"""What holds over every frame of the run, looked at when it has ended."""

import time

from suite import case, equal


@case("MSG-1 §7", "every frame that the host sent is a valid Message")
def valid_frames(bench):
    """Only type, data and context; a type within the grammar; objects; no empty source or
    destination; finite numbers; no key twice."""
    faults = []
    for frame in bench.record.from_host():
        faults += [f"{fault} in {frame.text[:200]}" for fault in frame.faults()]
    equal("faults", [], faults)


@case("MSG-1 §2.1.1", "no topic of the host has a colon")
def dotted(bench):
    """Colons stand in dispatch topics only, and no topic here is one."""
    equal("topics", [], sorted({str(frame.type) for frame in bench.record.from_host() if ":" in str(frame.type)}))


@case("TOOLS-1 §7", "no answer came late")
def late(bench):
    """The count of responses also holds when the run has ended."""
    time.sleep(0.3)
    equal("late answers", [], bench.late_answers())


@case("toolhost §4", "nothing is said unasked", "toolhost")
def unasked(bench):
    """Every frame of the host is the answer to a request."""
    equal("topics", [], sorted({str(frame.type) for frame in bench.record.from_host()
                                if not str(frame.type).endswith(".response")}))
