"""The record of a run: every frame on the bus as text, with its time, read by a connection of its own."""

import json
import re
import socket
import sys
import threading
import time

import websocket

from bus import BUS_TOPICS

# An answer may carry back an integer of any length.
sys.set_int_max_str_digits(0)

# The context key by which the suite knows its own requests and their answers.
MARK = "conformance"

TYPE_GRAMMAR = re.compile(r"[A-Za-z0-9_-]+(?:[.:][A-Za-z0-9_-]+)*")


class Number(str):
    """A JSON number as it was written: 1.0, 1e2 and 100 are three different ones."""

    def __repr__(self):
        return str(self)


def exact(text):
    """Parse JSON with every number kept as its text."""
    return json.loads(text, parse_int=Number, parse_float=Number)


def refuse_constant(constant):
    raise ValueError(f"{constant} is no JSON number")


class Frame:
    def __init__(self, text, moment):
        self.text = text
        self.time = moment
        self.message = None
        self.too_deep = False
        try:
            parsed = json.loads(text)
            if isinstance(parsed, dict):
                self.message = parsed
        except ValueError:
            pass
        except RecursionError:
            self.message = outline(text)
            self.too_deep = True

    def _object(self, key):
        value = self.message.get(key) if self.message else None
        return value if isinstance(value, dict) else {}

    @property
    def type(self):
        return self.message.get("type") if self.message else None

    @property
    def data(self):
        return self._object("data")

    @property
    def context(self):
        return self._object("context")

    @property
    def mark(self):
        mark = self.context.get(MARK)
        return mark if isinstance(mark, str) else None

    def exact_context(self):
        """The foreign part of the context, numbers as their text: all but routing and our mark."""
        context = exact(self.text).get("context", {})
        return {key: value for key, value in context.items() if key not in ("source", "destination", MARK)}

    def faults(self):
        """What makes this frame no valid Message of a producer (MSG-1 §2, §2.1, §3, §6, §7)."""
        if self.too_deep:
            return []
        try:
            message = json.loads(self.text, parse_constant=refuse_constant, object_pairs_hook=unrepeated)
        except ValueError as error:
            return [f"no JSON: {error}"]
        if not isinstance(message, dict):
            return ["the root is no object"]
        found = [f"unknown top-level key {key!r}" for key in message if key not in ("type", "data", "context")]
        if not isinstance(message.get("type"), str) or not TYPE_GRAMMAR.fullmatch(message["type"]):
            found.append(f"type {message.get('type')!r} is outside the grammar")
        found += [f"{key} is no object" for key in ("data", "context")
                  if key in message and not isinstance(message[key], dict)]
        for key in ("source", "destination"):
            value = self.context.get(key)
            if key in self.context and (not value or (isinstance(value, list) and not all(value))):
                found.append(f"{key} is empty: {value!r}")
        session = self.context.get("session", {})
        if session is not None and not isinstance(session, dict):
            found.append("context.session is no object")
        return found


def outline(text):
    """Type and mark of a Message that is too deep for this parser, though not for every one."""
    topic = re.search(r'"type"\s*:\s*"([^"]*)"', text)
    mark = re.search(rf'"{MARK}"\s*:\s*"([^"]*)"', text)
    return {"type": topic and topic[1], "context": {MARK: mark and mark[1]}}


def unrepeated(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice among {keys}")
    return dict(pairs)


class Connection:
    """A raw WebSocket connection; sends what no careful client would send."""

    def __init__(self, url, record):
        self.record = record
        self.socket = websocket.create_connection(url, timeout=5, skip_utf8_validation=True)
        self.socket.settimeout(None)
        self.alive = True
        threading.Thread(target=self._drain, daemon=True).start()

    def send(self, text):
        self.record.remember_own(text)
        self.socket.send(text)

    def send_binary(self, payload):
        self.record.remember_own(payload.decode("utf-8", "surrogateescape"))
        self.socket.send_binary(payload)

    def _drain(self):
        """Read and forget: an unread connection would stop the bus from writing to it."""
        try:
            while self.socket.recv_data()[0] != websocket.ABNF.OPCODE_CLOSE:
                pass
        except (websocket.WebSocketException, OSError):
            pass
        self.alive = False

    def close(self):
        self.socket.shutdown()


class Record:
    """Every frame of the run, in order of arrival."""

    def __init__(self, url):
        self.frames = []
        self._own_texts = set()
        self._own_types = set()
        self._arrival = threading.Condition()
        self._socket = websocket.create_connection(url, timeout=5, skip_utf8_validation=True)
        self._socket.settimeout(None)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while True:
                # The bus holds back small frames until the last one is acknowledged; acknowledge at once.
                if hasattr(socket, "TCP_QUICKACK"):
                    self._socket.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                opcode, payload = self._socket.recv_data()
                if opcode == websocket.ABNF.OPCODE_CLOSE:
                    break
                frame = Frame(payload.decode("utf-8", "surrogateescape"), time.monotonic())
                with self._arrival:
                    self.frames.append(frame)
                    self._arrival.notify_all()
        except (websocket.WebSocketException, OSError):
            pass

    def remember_own(self, text):
        """This text, or a Message of this type that is no answer, is the suite's own."""
        self._own_texts.add(text)
        topic = Frame(text, 0).type
        if isinstance(topic, str) and not topic.endswith(".response"):
            self._own_types.add(topic)

    def position(self):
        return len(self.frames)

    def from_host(self, start=0):
        """The frames since `start` that neither the suite nor the bus sent."""
        return [frame for frame in self.frames[start:] if not self._is_own(frame)
                and frame.type not in BUS_TOPICS]

    def _is_own(self, frame):
        if frame.text in self._own_texts:
            return True
        return isinstance(frame.type, str) and frame.type in self._own_types

    def wait(self, seconds, found):
        """Wait until `found()` gives something true, at most so long; give that or the last answer."""
        deadline = time.monotonic() + seconds
        with self._arrival:
            while True:
                answer = found()
                remaining = deadline - time.monotonic()
                if answer or remaining <= 0:
                    return answer
                self._arrival.wait(min(remaining, 0.25))

    def write(self, path):
        with open(path, "w", errors="surrogateescape") as file:
            for frame in self.frames:
                file.write(json.dumps({"time": round(frame.time, 6), "text": frame.text}) + "\n")

    def close(self):
        self._socket.shutdown()
