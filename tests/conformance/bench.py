"""What a case works with: a caller, raw connections, the record, and the count of answers."""

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from ovos_bus_client import Message, MessageBusClient

from record import MARK, Connection
from suite import Failure, OutOfTime, equal, true

DISCOVER = "ovos.persona.tools.discover"
CALL = "ovos.persona.tools.call"
LIST = "ovos.tools.list"
GET = "ovos.tools.get"
INVOKE = "ovos.tools.invoke"
RELOAD = "ovos.tools.reload"

# How long an answer may take, and how long silence is listened to after the fence was answered.
ANSWER_SECONDS = 3
QUIET_SECONDS = 0.15

# Stands in raw text where the mark of the exchange goes.
MARK_PLACE = "<mark>"


def predecessor(toolbox_id):
    return f"ovos.persona.tools.{toolbox_id}.call"


def call(toolbox_id, name, **kwargs):
    """The data of a call (TOOLS-1 §4.2)."""
    return {"toolbox_id": toolbox_id, "name": name, "kwargs": kwargs}


def raw(topic, data, context=""):
    """The text of a marked Message; `context` is JSON text of further members, written as it is."""
    members = f'"{MARK}": "{MARK_PLACE}"' + (f", {context}" if context else "")
    return f'{{"type": {json.dumps(topic)}, "data": {json.dumps(data)}, "context": {{{members}}}}}'


def envelope(**keys):
    """The text of a Message with exactly these keys, well formed or not; the context is marked."""
    keys.setdefault("type", CALL)
    keys.setdefault("data", call("alpha", "echo", text="must not run"))
    keys.setdefault("context", {MARK: MARK_PLACE})
    return json.dumps(keys)


@dataclass
class Exchange:
    """One request and how many answers it had when its case counted them."""
    case_id: str
    answers: int = 0
    counted: bool = False


class Bench:
    def __init__(self, record, client, url, toolbox_ids, without, deadline):
        self.record = record
        self.client = client
        self.url = url
        self.toolbox_ids = toolbox_ids
        self.without = without
        self.deadline = deadline
        self.exchanges = {}
        self.failed_cases = {"recovery"}
        self.case_id = "start"
        self.case_start = 0
        self.connection = Connection(url, record)

    # -- sending --------------------------------------------------------------------------------

    def new_mark(self):
        if time.monotonic() > self.deadline:
            raise OutOfTime()
        mark = str(len(self.exchanges) + 1)
        self.exchanges[mark] = Exchange(self.case_id)
        return mark

    def emit(self, topic, data=None, context=None):
        """Send a Message with the real client; gives its mark."""
        mark = self.new_mark()
        if not self.client.connected_event.is_set():
            # It would take seconds to come back by itself; a new one is there at once.
            self.client.close()
            self.client = connect_client(self.url)
        message = Message(topic, data or {}, {**(context or {}), MARK: mark})
        self.record.remember_own(message.serialize())
        self.client.emit(message)
        return mark

    def send(self, text, connection=None):
        """Send a raw text, its mark filled in; gives the mark."""
        mark = self.new_mark()
        if connection is None and not self.connection.alive:
            self.connection = Connection(self.url, self.record)
        (connection or self.connection).send(text.replace(MARK_PLACE, mark))
        return mark

    def catch_up(self):
        """Wait until the real client has heard everything that is on the bus so far."""
        topic = "conformance.fence"
        self.record.remember_own(Message(topic).serialize())
        heard = threading.Event()
        self.client.once(topic, lambda message: heard.set())
        self.client.emit(Message(topic))
        true("the real client hears itself", heard.wait(ANSWER_SECONDS), "its own Message", "nothing")

    # -- hearing --------------------------------------------------------------------------------

    def heard(self, mark):
        return [frame for frame in self.record.from_host(self.case_start) if frame.mark == mark]

    def answers(self, mark, count, seconds=ANSWER_SECONDS):
        """Wait for `count` answers to a request; more are found when the case ends."""
        self.record.wait(seconds, lambda: len(self.heard(mark)) >= count)
        frames = self.heard(mark)
        self.count(mark)
        equal("number of answers", count, len(frames))
        return frames

    def count(self, mark):
        """Fix how many answers this exchange has; one more is a late one."""
        self.exchanges[mark].answers = len(self.heard(mark))
        self.exchanges[mark].counted = True

    def ask(self, topic, data=None, context=None):
        """The one answer to a Message of the real client."""
        return self._checked_topic(topic, self.answers(self.emit(topic, data, context), 1))[0]

    def ask_raw(self, text):
        """The one answer to a raw text."""
        return self.answers(self.send(text), 1)[0]

    def ask_all(self, topic, data=None):
        """One answer a hosted toolbox, as discover wants it, by toolbox_id."""
        mark = self.emit(topic, data)
        frames = self._checked_topic(topic, self.answers(mark, len(self.toolbox_ids)))
        equal("toolboxes that answered", sorted(self.toolbox_ids),
              sorted(str(frame.data.get("toolbox_id")) for frame in frames))
        return {frame.data["toolbox_id"]: frame for frame in frames}

    def _checked_topic(self, topic, frames):
        for frame in frames:
            equal("topic of the answer", f"{topic}.response", frame.type)
        return frames

    def silence(self, *requests, fence=CALL):
        """None of these is answered: raw texts, or (topic, data) for the real client.

        A fence follows them on the same connection: a Message that must be answered, by the same
        path. Once it is, and a short quiet has passed, whatever would have come has come.
        """
        start = self.record.position()
        for request in requests:
            self.count(self.send(request) if isinstance(request, str) else self.emit(*request))
        topic, data, count = self.fence(fence)
        if isinstance(requests[-1], str):
            mark = self.send(raw(topic, data))
        else:
            mark = self.emit(topic, data)
        self.answers(mark, count)
        time.sleep(QUIET_SECONDS)
        came = [frame.text for frame in self.record.from_host(start) if frame.mark != mark
                and not self.is_of_another_case(frame)]
        equal("frames where silence is required", [], came)

    def fence(self, topic):
        if topic == DISCOVER:
            return topic, {}, len(self.toolbox_ids)
        if topic == LIST:
            return topic, {}, 1
        if topic in (GET, INVOKE):
            return topic, {"name": "tally"}, 1
        return topic, call("alpha", "tally"), 1

    def is_of_another_case(self, frame):
        return frame.mark in self.exchanges and self.exchanges[frame.mark].case_id != self.case_id

    # -- one case -------------------------------------------------------------------------------

    def begin(self, case_id):
        self.case_id = case_id
        self.case_start = self.record.position()

    def settle(self):
        """At the end of a case that asked anything: all of it is answered, once."""
        if all(exchange.case_id != self.case_id for exchange in self.exchanges.values()):
            return
        self.ask_raw(raw(CALL, call("alpha", "tally")))
        for mark, exchange in list(self.exchanges.items()):
            if exchange.case_id == self.case_id:
                true("the case counts the answers of every request", exchange.counted, "counted", mark)
                equal("number of answers, when the case ended", exchange.answers, len(self.heard(mark)))

    def recover(self, seconds=8):
        """After a failed case: wait until the host answers again, so that the next case is fair."""
        self.case_id = "recovery"
        end = min(time.monotonic() + seconds, self.deadline - 1)
        while time.monotonic() < end:
            mark = self.send(raw(CALL, call("alpha", "tally")))
            heard = self.record.wait(0.3, lambda: self.heard(mark))
            self.count(mark)
            if heard:
                break

    def late_answers(self):
        """Exchanges of passed cases that had more answers at the end of the run than when counted."""
        heard = Counter(frame.mark for frame in self.record.from_host())
        return [f"{exchange.case_id}: {exchange.answers}, then {heard[mark]}"
                for mark, exchange in self.exchanges.items()
                if heard[mark] > exchange.answers and exchange.case_id not in self.failed_cases]

    # -- often asked ----------------------------------------------------------------------------

    def runs(self):
        """How many counted tools of alpha have run."""
        return self.ask(CALL, call("alpha", "tally")).data["result"]["runs"]

    def close(self):
        self.connection.close()
        self.client.close()


def result(frame, toolbox_id="alpha"):
    """The result of a call; its data holds that and the toolbox_id, nothing else."""
    equal("keys of data", ["result", "toolbox_id"], sorted(frame.data))
    equal("toolbox_id", toolbox_id, frame.data["toolbox_id"])
    return frame.data["result"]


def error(frame, toolbox_id="alpha"):
    """The error of a call; its data holds that and the toolbox_id, nothing else."""
    equal("keys of data", ["error", "toolbox_id"], sorted(frame.data))
    equal("toolbox_id", toolbox_id, frame.data["toolbox_id"])
    return plain_words(frame.data["error"])


def plain_words(text):
    true("error", isinstance(text, str) and text.strip(), "a text in plain words", text)
    return text


def starts_with(what, start, text):
    true(what, text.startswith(start), f"{start}...", text)


def connect_client(bus_url):
    """The real bus client, connected."""
    parts = urlsplit(bus_url)
    client = MessageBusClient(host=parts.hostname, port=parts.port or 80, route=parts.path or "/",
                              ssl=parts.scheme == "wss")
    client.run_in_thread()
    if not client.connected_event.wait(10):
        raise Failure("the real client connects", bus_url, "no connection within 10 s")
    return client
