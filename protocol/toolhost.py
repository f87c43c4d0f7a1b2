"""Makes Python functions tools of toolhost.

Copy this file beside your toolbox. It needs Python 3.8 or newer and nothing else. A whole toolbox:

    import toolhost

    @toolhost.tool
    def add(a: float, b: float) -> float:
        '''Adds two numbers.

        Args:
            a: The first number.
            b: The second.
        '''
        return a + b

    toolhost.serve()

Type hints become JSON Schemas, and values are converted both ways: an argument annotated `date` arrives as a
`date`, and one that is returned leaves as "2024-05-31". The docstring describes the tool and its arguments. An
exception is the caller's error. `print` is safe: standard output goes to the log, as standard error does.

    @toolhost.tool(name="look_up", timeout="1m", hints={"readOnly": True})
    def lookup(word: str, context: toolhost.Context): ...     # the bus Message's context, where a tool asks for it

    toolhost.serve(concurrent=4)    # up to four calls at once, each in a thread, and up to four of async tools
    toolhost.cancelled()            # in a tool: nobody waits for this call any more
    toolhost.config()               # `config:` of the toolbox in toolhost.yaml, once the host has described it

An `async def` tool runs on one asyncio loop, beside others, and is cancelled when nobody waits for it any more. Without
`concurrent` as many run at once as are called.

toolhost itself runs this file to serve a plain script (`script:` in toolhost.yaml), see `run_script`. The protocol
is described in protocol/README.md. How types look in JSON:

    str int float bool None       as they are; true is no number, 1.0 is an int
    list set deque Sequence ...   an array; a set leaves sorted, where its members can be
    tuple[int, str]               an array of that length; tuple[int, ...] is any array
    dict Mapping Counter ...      an object; keys that are no text are written as text
    Optional Union Literal        a union takes the first member that fits; int and float are told apart
    Enum                          its value, or its name where the value is no JSON; a Flag is its number
    dataclass NamedTuple          an object with the fields as members; so are TypedDict and pydantic models
    datetime date time            ISO 8601 text
    timedelta                     ISO 8601 text ("PT1H30M"); a number of seconds is taken too
    Decimal                       taken from a number or a text, with every digit; returned as a text, to keep them
    bytes                         base64 text
    Path UUID Pattern             text
"""

from __future__ import annotations

import base64
import collections
import contextvars
import dataclasses
import datetime
import enum
import functools
import importlib
import inspect
import itertools
import json
import os
import re
import sys
import threading
import types
import typing
from collections import abc
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

__all__ = ["Context", "cancelled", "config", "run_script", "serve", "tool"]

PROTOCOL = 1
Json = Dict[str, Any]


# ---------------------------------------------------------------------------------------------------------------
# What a toolbox uses


class Context(dict):
    """The context of the bus Message that made the call (source, session, ...); empty if it has none."""


def tool(function: Optional[Callable] = None, *, name: Optional[str] = None, **members: Any) -> Callable:
    """Marks a function as a tool, as `@tool` or as `@tool(name=..., description=..., hints=..., timeout=...)`.

    Further members of a tool as the protocol has them (title, category, parameters, argument_schema,
    output_schema, ...) are passed on as they are, instead of what the function's annotations say.
    """
    if function is None:
        return lambda function: tool(function, name=name, **members)
    _marked.append(_Candidate(name or function.__name__, function, members))
    return function


def serve(
    *, concurrent: Optional[int] = None, version: Optional[str] = None, description: Optional[str] = None
) -> None:
    """Answers the host until it closes standard input.

    `concurrent` is how many calls may run at once in threads, and how many on the asyncio loop. Without it there are no
    threads, and no bound for async tools.
    """
    about = {key: text for key, text in (("version", version), ("description", description)) if text is not None}
    if _script is not None:  # The script is being loaded by `run_script`, which serves when that is done.
        _script.update(about=about, most=_script["most"] or concurrent)
        return
    if os.isatty(0):
        _log("this is a toolbox, which toolhost starts; to try it: toolhost check -- %s" % " ".join(sys.argv))
    wire = _Wire.take()
    tools, refused = _describe_all(_marked)
    _warn(about, refused)
    _Server(wire, tools, concurrent, about).run()


def cancelled() -> bool:
    """Whether nobody waits for the call this is asked in. A long tool looks now and then, and returns."""
    call = _current.get()
    return call is not None and call.is_cancelled()


def config() -> Json:
    """What toolhost.yaml holds as `config:` of this toolbox. Empty until the host has asked for the tools."""
    return _config


class _Candidate(NamedTuple):
    """A function that is to be a tool."""

    name: str
    function: Callable
    members: Json


_marked: List[_Candidate] = []
_config: Json = {}
_script: Optional[Json] = None
_current: contextvars.ContextVar = contextvars.ContextVar("call", default=None)


# ---------------------------------------------------------------------------------------------------------------
# From Python to JSON

_ATOMS = frozenset({str, int, float, bool, type(None)})
_LISTS = (list, tuple, collections.deque, abc.Sequence, abc.ValuesView, abc.Iterator)
_AS_TEXT = {"uuid.UUID", "decimal.Decimal", "ipaddress.IPv4Address", "ipaddress.IPv6Address"}


def to_json(value: Any) -> Any:
    """The value in the types of JSON: what is returned by a tool, or the default of a parameter."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list or kind is tuple:
        return [item if type(item) in _ATOMS else to_json(item) for item in value]
    if kind is dict:
        plain = {
            key if type(key) is str else _key_to_json(key): item if type(item) in _ATOMS else to_json(item)
            for key, item in value.items()
        }
        return plain if len(plain) == len(value) else _refuse_double(value)
    return _further_to_json(value)


def _refuse_double(keys: Iterable) -> None:
    """Says which two keys of a mapping are one in JSON."""
    seen: Json = {}
    for key in keys:
        first = seen.setdefault(_key_to_json(key), key)
        if first is not key:
            raise ValueError("the keys %r and %r are the same in JSON: %s" % (first, key, _dumps(_key_to_json(key))))


def _key_to_json(key: Any) -> str:
    plain = to_json(key)
    return plain if isinstance(plain, str) else _dumps(plain)


def _further_to_json(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _enum_to_json(value)
    for atom in (str, int, float):
        if isinstance(value, atom):  # A subclass may print itself in any way it likes.
            return getattr(atom, "__%s__" % atom.__name__)(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: to_json(item) for name, item in zip(value._fields, value)}
    if isinstance(value, abc.Mapping):
        plain = {_key_to_json(key): to_json(value[key]) for key in value}
        return plain if len(plain) == len(value) else _refuse_double(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, abc.Set):
        return [to_json(item) for item in _in_order(value)]
    if isinstance(value, _LISTS):
        return [to_json(item) for item in value]
    return _foreign_to_json(value)


def _foreign_to_json(value: Any) -> Any:
    """What is known by its looks alone, so that nothing is imported which the toolbox does not use."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, re.Pattern):
        return to_json(value.pattern)
    if any(_full_name(base) in _AS_TEXT for base in type(value).__mro__):
        return str(value)
    if not isinstance(value, type):
        if hasattr(value, "model_dump"):  # pydantic 2
            return value.model_dump(mode="json", by_alias=True)
        if hasattr(value, "__fields__") and hasattr(value, "json"):  # pydantic 1
            return json.loads(value.json(by_alias=True))
        for method in ("tolist", "item"):  # numpy and its kind
            if callable(getattr(value, method, None)):
                return to_json(getattr(value, method)())
    raise TypeError("a value of type %s cannot be written as JSON" % _full_name(type(value)))


def _enum_to_json(member: enum.Enum) -> Any:
    try:
        return to_json(member.value)
    except TypeError:
        return member.name


def _in_order(members: abc.Set) -> Iterable:
    try:
        return sorted(members)
    except TypeError:
        return members


def _duration(delta: datetime.timedelta) -> str:
    """ISO 8601, exact to the microsecond: P1DT2H3M4.5S."""
    sign, delta = ("-", -delta) if delta < datetime.timedelta(0) else ("", delta)
    hours, seconds = divmod(delta.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    fraction = (".%06d" % delta.microseconds).rstrip("0").rstrip(".")
    date = "%dD" % delta.days if delta.days else ""
    clock = "".join("%d%s" % part for part in ((hours, "H"), (minutes, "M")) if part[0])
    if seconds or fraction:
        clock += "%d%sS" % (seconds, fraction)
    if clock or not date:
        clock = "T" + (clock or "0S")
    return sign + "P" + date + clock


_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode


def _encode(value: Any) -> bytes:
    """Strict JSON on one line, in UTF-8."""
    try:
        text = _dumps(value)
    except ValueError as error:
        if "JSON compliant" not in str(error):
            raise
        raise ValueError("the result holds NaN or Infinity, which JSON does not have; return None instead") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    try:  # Two halves that belong together are a character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le").encode()
    except UnicodeDecodeError:
        raise ValueError(
            "the result holds half of a surrogate pair, which is no text; "
            "for a file name that is no UTF-8, return os.fsencode(name) or repr(name)"
        ) from None


# ---------------------------------------------------------------------------------------------------------------
# From JSON to Python: one object for each annotation, made once


class _Fault(Exception):
    """Why a value cannot be had from its JSON. Names the rule and never the value, which may be a secret."""

    def __init__(self, why: str = "", faults: Optional[List[Tuple[tuple, str]]] = None):
        super().__init__(why)
        self.faults = faults if faults is not None else [((), why)]

    def inside(self, step: Any) -> "_Fault":
        return _Fault(faults=[((step, *path), why) for path, why in self.faults])

    def __str__(self) -> str:
        return "; ".join("%s: %s" % (_where(path), why) for path, why in self.faults)


def _where(path: tuple) -> str:
    text = "".join("[%d]" % step if isinstance(step, int) else ".%s" % step for step in path)
    return text.lstrip(".") or "arguments"


class _Book:
    """The schemas that have a name, while one schema is written. `out` is true where it is about a result."""

    def __init__(self, out: bool):
        self.out = out
        self.defs: Json = {}
        self._names: Dict[int, str] = {}

    def refer(self, one: "_Type", name: str, write: Callable[["_Book"], Json]) -> Json:
        if id(one) not in self._names:
            base = name = re.sub(r"\W+", "_", name).strip("_") or "Type"
            while name in self.defs:
                name = "%s_%d" % (base, len(self.defs) + 1)
            self._names[id(one)] = name
            self.defs[name] = {}  # Keeps its place, for what it refers to itself.
            self.defs[name] = write(self)
        return {"$ref": "#/$defs/" + self._names[id(one)]}

    def finish(self, schema: Json) -> Json:
        return {**schema, "$defs": self.defs} if self.defs else schema


class _Type:
    """One annotation: its schema, and how its value is had from JSON. This one is anything."""

    def schema(self, book: _Book) -> Json:
        return {}

    def load(self, value: Any) -> Any:
        """The Python value; a `_Fault` where there is none."""
        if type(value) not in _PLAIN:
            _refuse_infinite(value)
        return value

    def suits(self, value: Any) -> bool:
        """Whether the value is of the very kind, before others of a union are asked."""
        return True

    def load_key(self, text: str) -> Any:
        """The key of an object; what is no text was written as JSON."""
        try:
            return self.load(text)
        except _Fault:
            try:
                value = json.loads(text)
            except ValueError:
                value = text
            return self.load(value)


_KINDS = {str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null",
          list: "an array", dict: "an object"}  # fmt: skip


def _no(wanted: str, value: Any) -> _Fault:
    for kind, words in _KINDS.items():
        if type(value) is kind or (isinstance(value, kind) and kind is float):
            return _Fault("should be %s, not %s" % (wanted, words) if words != wanted else "should be %s" % wanted)
    return _Fault("should be %s" % wanted)


_PLAIN = (str, int, bool, type(None))
_INFINITE = (float("inf"), float("-inf"))


def _refuse_infinite(value: Any) -> None:
    """1e400 is a number in JSON; Python reads it as infinity, which is another one."""
    if isinstance(value, float):
        if value in _INFINITE:
            raise _Fault("is too large for a float")
        return
    for step, item in value.items() if type(value) is dict else enumerate(value):
        if type(item) not in _PLAIN:
            try:
                _refuse_infinite(item)
            except _Fault as fault:
                raise fault.inside(step) from None


class _Atom(_Type):
    """str, bool, None: there as they are, or not at all."""

    def __init__(self, kind: type, name: str):
        self._kind, self._name = kind, name

    def schema(self, book: _Book) -> Json:
        return {"type": self._name}

    def load(self, value: Any) -> Any:
        if type(value) is self._kind:
            return value
        raise _no(_KINDS[self._kind], value)


class _Int(_Type):
    def schema(self, book: _Book) -> Json:
        return {"type": "integer"}

    def suits(self, value: Any) -> bool:
        return type(value) is int

    def load(self, value: Any) -> int:
        if type(value) is int:
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise _no("an integer", value)


class _Float(_Type):
    def schema(self, book: _Book) -> Json:
        return {"type": "number"}

    def suits(self, value: Any) -> bool:
        return isinstance(value, float)

    def load(self, value: Any) -> float:
        if isinstance(value, float) or type(value) is int:
            try:
                number = float(value)
            except OverflowError:
                number = _INFINITE[0]
            if number in _INFINITE:
                raise _Fault("is too large for a float")
            return number
        raise _no("a number", value)


class _Spelled(float):
    """A number as it was written, for those who want every digit."""

    text: str

    def __new__(cls, text: str) -> "_Spelled":
        number = super().__new__(cls, text)
        number.text = text
        return number


class _Decimal(_Type):
    def __init__(self, kind: type):
        self._kind = kind

    def schema(self, book: _Book) -> Json:
        return {"type": "string"} if book.out else {"type": ["string", "number"]}

    def load(self, value: Any) -> Any:
        if isinstance(value, float):
            value = getattr(value, "text", None) or repr(value)
        elif type(value) is not int and type(value) is not str:
            raise _no("a number or a string", value)
        try:
            return self._kind(value)
        except ArithmeticError:
            raise _Fault("is no decimal number") from None


class _Text(_Type):
    """What is written as a text of some form."""

    def __init__(self, words: str, parse: Callable[[str], Any], **keywords: str):
        self._words, self._parse, self._keywords = words, parse, keywords

    def schema(self, book: _Book) -> Json:
        return {"type": "string", **self._keywords}

    def load(self, value: Any) -> Any:
        if type(value) is not str:
            raise _no("a string", value)
        try:
            return self._parse(value)
        except Exception:  # Whatever a class thinks of it, the text is not one of its own.
            raise _Fault("is no %s" % self._words) from None


class _Duration(_Text):
    def schema(self, book: _Book) -> Json:
        return {**super().schema(book), "type": "string" if book.out else ["string", "number"]}

    def load(self, value: Any) -> datetime.timedelta:
        if type(value) is str:
            return super().load(value)
        if not isinstance(value, float) and type(value) is not int:
            raise _no("a string or a number of seconds", value)
        try:
            return datetime.timedelta(seconds=value)
        except (OverflowError, ValueError):
            raise _Fault("is too long") from None


class _Choice(_Type):
    """Literal and Enum: one of some values, each with its JSON."""

    def __init__(self, options: List[Tuple[Any, Any]]):
        self._options = options

    def schema(self, book: _Book) -> Json:
        values = [plain for plain, _ in self._options]
        kinds = {_SCHEMA_NAMES.get(type(value)) for value in values}
        kind = kinds.pop() if len(kinds) == 1 else None
        return {"type": kind, "enum": values} if kind else {"enum": values}

    def load(self, value: Any) -> Any:
        for plain, option in self._options:
            if plain == value and (type(plain) is bool) == (type(value) is bool):
                return option
        raise _Fault("should be one of %s" % ", ".join(_dumps(plain) for plain, _ in self._options))


_SCHEMA_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


class _Flag(_Int):
    def __init__(self, kind: Callable[[int], Any]):
        self._kind = kind

    def load(self, value: Any) -> Any:
        number = super().load(value)
        try:
            return self._kind(number)
        except ValueError:
            raise _Fault("holds flags that do not exist") from None


class _Array(_Type):
    def __init__(self, item: _Type, make: Callable[[list], Any], unique: bool = False):
        self._item, self._make, self._unique = item, make, unique

    def schema(self, book: _Book) -> Json:
        schema: Json = {"type": "array"}
        items = self._item.schema(book)
        if items:
            schema["items"] = items
        if self._unique:
            schema["uniqueItems"] = True
        return schema

    def load(self, value: Any) -> Any:
        if type(value) is not list:
            raise _no("an array", value)
        if type(self._item) is _Type:
            _refuse_infinite(value)
        else:
            value = _load_each(self._item.load, enumerate(value))
        try:
            return value if self._make is list else self._make(value)
        except TypeError:
            raise _Fault("holds what cannot be in a set") from None


class _Tuple(_Type):
    def __init__(self, items: List[_Type]):
        self._items = items

    def schema(self, book: _Book) -> Json:
        count = len(self._items)
        schema: Json = {"type": "array", "minItems": count, "maxItems": count}
        if count:
            schema["prefixItems"] = [item.schema(book) for item in self._items]
        return schema

    def load(self, value: Any) -> tuple:
        if type(value) is not list:
            raise _no("an array", value)
        if len(value) != len(self._items):
            raise _Fault("should have %d items, not %d" % (len(self._items), len(value)))
        return tuple(_load_each(lambda pair: pair[0].load(pair[1]), enumerate(zip(self._items, value))))


def _load_each(load: Callable[[Any], Any], items: Iterable[Tuple[Any, Any]]) -> list:
    loaded = []
    for step, item in items:
        try:
            loaded.append(load(item))
        except _Fault as fault:
            raise fault.inside(step) from None
    return loaded


class _Map(_Type):
    def __init__(self, key: Optional[_Type], value: _Type, make: Callable[[dict], Any]):
        self._key, self._value, self._make = key, value, make

    def schema(self, book: _Book) -> Json:
        schema: Json = {"type": "object"}
        names = self._key and _schema_of_keys(self._key.schema(book))
        if names:
            schema["propertyNames"] = names
        values = self._value.schema(book)
        if values:
            schema["additionalProperties"] = values
        return schema

    def load(self, value: Any) -> Any:
        if type(value) is not dict:
            raise _no("an object", value)
        if type(self._value) is _Type:
            _refuse_infinite(value)
        else:
            value = dict(zip(value, _load_each(self._value.load, value.items())))
        if self._key is not None:
            keys = _load_each(self._key.load_key, ((key, key) for key in value))
            try:
                value = dict(zip(keys, value.values()))
            except TypeError:
                raise _Fault("has a key that cannot be one in Python") from None
        return value if self._make is dict else self._make(value)


def _schema_of_keys(schema: Json) -> Optional[Json]:
    """What the schema of a value says of a key, which is always a text."""
    if "enum" in schema:
        return {"enum": [_key_to_json(option) for option in schema["enum"]]}
    if schema.get("type") == "integer":
        return {"pattern": "^-?[0-9]+$"}
    return schema if schema.get("type") == "string" and len(schema) > 1 else None


class _Union(_Type):
    def __init__(self, members: List[_Type]):
        self._members = members

    def schema(self, book: _Book) -> Json:
        schemas: List[Json] = []
        for member in self._members:
            schema = member.schema(book)
            if schema not in schemas:
                schemas.append(schema)
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def load(self, value: Any) -> Any:
        whys: List[str] = []
        for very in (True, False):
            for member in self._members:
                if member.suits(value) is very:
                    try:
                        return member.load(value)
                    except _Fault as fault:
                        whys.append(str(fault).replace("arguments: ", ""))
        if len(whys) == 2 and "should be null" in whys[-1]:
            raise _Fault(whys[0])
        raise _Fault("fits none of its types (%s)" % "; ".join(dict.fromkeys(whys)))


class _Noted(_Type):
    """Annotated: a type with a description and bounds. The bounds are for the host, which checks the schema."""

    def __init__(self, inner: _Type, notes: Iterable):
        self._inner, self._keywords = inner, dict(_keywords(notes))
        self.load, self.suits = inner.load, inner.suits  # type: ignore[method-assign]

    def schema(self, book: _Book) -> Json:
        schema = self._inner.schema(book)
        kind = schema.get("type")
        sized = {"array": "Items", "object": "Properties"}.get(kind if isinstance(kind, str) else "", "Length")
        return {**schema, **{key.replace("Size", sized): value for key, value in self._keywords.items()}}


_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
           "multiple_of": "multipleOf", "min_length": "minSize", "max_length": "maxSize", "pattern": "pattern",
           "description": "description", "documentation": "description", "examples": "examples"}  # fmt: skip


def _keywords(notes: Iterable) -> Iterator[Tuple[str, Any]]:
    """The keywords of what stands in Annotated: texts, and objects that look as those of annotated_types."""
    for note in notes:
        if isinstance(note, str):
            yield "description", note
            continue
        yield from _keywords(getattr(note, "metadata", None) or ())
        for attribute, keyword in _BOUNDS.items():
            value = getattr(note, attribute, None)
            if value is not None and not callable(value):
                yield keyword, to_json(value)


class _Field(NamedTuple):
    type: _Type
    required: bool
    default: Any
    description: Optional[str]

    def schema(self, book: _Book) -> Json:
        schema = dict(self.type.schema(book))
        if self.description:
            schema["description"] = self.description
        if self.default is not _NONE and not book.out:
            schema["default"] = self.default
        return schema


class _Record(_Type):
    """dataclass, NamedTuple, TypedDict: an object with known members."""

    def __init__(self, name: str, make: Callable[..., Any], description: Optional[str], closed: bool = True):
        self._name, self._make, self._description, self._closed = name, make, description, closed
        self.fields: Dict[str, _Field] = {}
        #: Fields that only a result has, and those that only an argument has.
        self.further: Dict[str, _Field] = {}
        self.initial: set = set()

    def schema(self, book: _Book) -> Json:
        return book.refer(self, self._name, self._body)

    def _body(self, book: _Book) -> Json:
        fields = self.fields
        if book.out:
            lasting = {name: one for name, one in fields.items() if name not in self.initial}
            fields = {**lasting, **self.further}
        always = book.out and self._make is not dict
        schema: Json = {"type": "object", "properties": {name: one.schema(book) for name, one in fields.items()}}
        if self._description:
            schema["description"] = self._description
        required = [name for name, one in fields.items() if one.required or always]
        if required:
            schema["required"] = required
        if not book.out:
            schema["additionalProperties"] = False
        return schema

    def load(self, value: Any) -> Any:
        if type(value) is not dict:
            raise _no("an object", value)
        members = _load_members(value, self.fields)
        try:
            return self._make(**members)
        except Exception as error:  # Its own checks, in __post_init__ and the like.
            raise _Fault(_words(error)) from None


def _load_members(given: Json, fields: Dict[str, _Field], others: Optional[_Type] = None) -> Json:
    """The members of an object, every fault told at once."""
    loaded, faults = {}, []
    for name, value in given.items():
        field = fields.get(name)
        try:
            if field is not None:
                loaded[name] = field.type.load(value)
            elif others is not None:
                loaded[name] = others.load(value)
            else:
                faults.append(((name,), "is not allowed (known: %s)" % ", ".join(fields)))
        except _Fault as fault:
            faults += fault.inside(name).faults
    if len(given) < len(fields) or faults:
        faults += [((name,), "is required") for name, one in fields.items() if one.required and name not in given]
    if faults:
        raise _Fault(faults=faults)
    return loaded


class _Model(_Type):
    """A pydantic model of either version, known by its looks."""

    def __init__(self, model: Any):
        self._model = model

    def schema(self, book: _Book) -> Json:
        return book.refer(self, self._model.__name__, self._body)

    def _body(self, book: _Book) -> Json:
        place = "#/$defs/{model}"
        if hasattr(self._model, "model_json_schema"):
            mode = "serialization" if book.out else "validation"
            schema = self._model.model_json_schema(ref_template=place, mode=mode)
        else:
            schema = self._model.schema(ref_template=place)
        for name, one in {**schema.pop("definitions", {}), **schema.pop("$defs", {})}.items():
            book.defs.setdefault(name, one)
        return schema

    def load(self, value: Any) -> Any:
        parse = getattr(self._model, "model_validate_json", None) or self._model.parse_raw
        try:
            return parse(_dumps(value))
        except ValueError as error:
            errors = error.errors() if hasattr(error, "errors") else []
            faults = [(tuple(one["loc"]), one["msg"]) for one in errors if tuple(one["loc"]) != ("__root__",)]
            raise _Fault(_words(error), faults or None) from None


class _Alias(_Type):
    """A type with a name that may lead back to itself."""

    target: _Type

    def __init__(self, name: str):
        self.name = name

    def schema(self, book: _Book) -> Json:
        return book.refer(self, self.name, lambda book: self.target.schema(book))

    def load(self, value: Any) -> Any:
        return self.target.load(value)


class _Nothing:
    """The default of a parameter or field that has none, or one that JSON cannot say."""


_NONE = _Nothing()
_ANY = _Type()


# ---------------------------------------------------------------------------------------------------------------
# Texts of dates and times, the same in every version of Python

_CLOCK = r"(\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|z|[+-]\d\d:?\d\d)?"
_PERIOD = re.compile(
    r"([+-]?)P(?=.)(?:([\d.,]+)W)?(?:([\d.,]+)D)?(?:T(?=.)(?:([\d.,]+)H)?(?:([\d.,]+)M)?(?:(\d+)(?:[.,](\d+))?S)?)?"
)


def _parse_date(kind: type, text: str) -> Any:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise ValueError
    return kind.fromisoformat(text)  # type: ignore[attr-defined]


def _canonical_clock(clock: str, fraction: Optional[str], zone: Optional[str]) -> str:
    if len(clock) == 5:
        clock += ":00"
    zone = "+00:00" if zone in ("Z", "z") else zone or ""
    if zone and ":" not in zone:
        zone = zone[:3] + ":" + zone[3:]
    return clock + "." + (fraction or "").ljust(6, "0")[:6] + zone


def _parse_time(kind: type, text: str) -> Any:
    parts = re.fullmatch(_CLOCK, text)
    return kind.fromisoformat(_canonical_clock(*parts.groups()))  # type: ignore


def _parse_datetime(kind: type, text: str) -> Any:
    if len(text) == 10:
        _parse_date(datetime.date, text)
        text += "T00:00"
    parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt ]" + _CLOCK, text)
    return kind.fromisoformat(parts.group(1) + "T" + _canonical_clock(*parts.groups()[1:]))  # type: ignore


def _parse_duration(text: str) -> datetime.timedelta:
    sign, *parts, seconds, fraction = _PERIOD.fullmatch(text).groups()  # type: ignore[union-attr]
    weeks, days, hours, minutes = (float(part.replace(",", ".")) if part else 0 for part in parts)
    delta = datetime.timedelta(
        weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=int(seconds or 0),
        microseconds=int((fraction or "").ljust(6, "0")[:6]),
    )  # fmt: skip
    return -delta if sign == "-" else delta


def _parse_base64(kind: type, text: str) -> Any:
    return kind(base64.b64decode(text, validate=True))


def _text_type(kind: type) -> Optional[_Type]:
    """The type of a class that is written as text, by its name: what is not imported is not used either."""
    name = _full_name(kind)
    if name == "datetime.datetime":
        words = "date and time (2024-05-31T12:00:00Z)"
        return _Text(words, lambda text: _parse_datetime(kind, text), format="date-time")
    if name == "datetime.date":
        return _Text("date (2024-05-31)", lambda text: _parse_date(kind, text), format="date")
    if name == "datetime.time":
        return _Text("time of day (12:30:00)", lambda text: _parse_time(kind, text), format="time")
    if name == "datetime.timedelta":
        return _Duration("duration (PT1H30M)", _parse_duration, format="duration")
    if name in ("builtins.bytes", "builtins.bytearray"):
        return _Text("base64", lambda text: _parse_base64(kind, text), contentEncoding="base64")
    if name == "uuid.UUID":
        return _Text("UUID", kind, format="uuid")
    if name in ("ipaddress.IPv4Address", "ipaddress.IPv6Address"):
        return _Text("IP address", kind, format="ipv4" if "4" in name else "ipv6")
    if name == "decimal.Decimal":
        return _Decimal(kind)
    if name == "re.Pattern":
        return _Text("regular expression", re.compile, format="regex")
    if issubclass(kind, os.PathLike):
        return _Text("path", _own("pathlib").Path if kind is os.PathLike else kind)
    return None


# ---------------------------------------------------------------------------------------------------------------
# From annotations to types


class _Refused(Exception):
    """An annotation that no JSON can stand for, or that this Python cannot evaluate."""


class _Scope(NamedTuple):
    """Where the names of an annotation are looked up."""

    names: Json
    variables: Dict[Any, Any]
    #: What a text stands for, also while that is being found out.
    open: Dict[str, _Type]

    @staticmethod
    def of(thing: Any, variables: Optional[Dict[Any, Any]] = None) -> "_Scope":
        module = sys.modules.get(getattr(thing, "__module__", None) or "")
        own = {thing.__name__: thing} if isinstance(thing, type) else {}
        names = getattr(thing, "__globals__", None) or {**own, **vars(module or types), **own}
        return _Scope(names, variables or {}, {})


_ARRAYS: Dict[Any, Callable] = {
    list: list, set: set, frozenset: frozenset, collections.deque: collections.deque, abc.Set: set,
    abc.MutableSet: set, abc.Sequence: list, abc.MutableSequence: list, abc.Collection: list, abc.Iterable: list,
    abc.Container: list, abc.Reversible: list, abc.Iterator: iter, abc.Generator: iter, abc.AsyncIterable: list,
    abc.AsyncIterator: list, abc.AsyncGenerator: list,
}  # fmt: skip
_MAPS: Dict[Any, Callable] = {
    dict: dict, abc.Mapping: dict, abc.MutableMapping: dict, collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: dict, collections.Counter: collections.Counter,
}  # fmt: skip
_ATOM_TYPES: Dict[Any, _Type] = {
    Any: _ANY, object: _ANY, inspect.Parameter.empty: _ANY, str: _Atom(str, "string"), bool: _Atom(bool, "boolean"),
    None: _Atom(type(None), "null"), type(None): _Atom(type(None), "null"), int: _Int(), float: _Float(),
}  # fmt: skip
_known: Dict[Any, _Record] = {}


def _type_of(annotation: Any, scope: _Scope) -> _Type:
    """What stands for the annotation; `_Refused` says why nothing can."""
    if isinstance(annotation, str):
        return _named_type(annotation, scope)
    if isinstance(annotation, typing.ForwardRef):
        return _named_type(annotation.__forward_arg__, scope)
    try:
        if annotation in _ATOM_TYPES:
            return _ATOM_TYPES[annotation]
    except TypeError:
        raise _Refused("%r is no type" % (annotation,)) from None
    if annotation is dataclasses.InitVar or isinstance(annotation, dataclasses.InitVar):
        return _type_of(getattr(annotation, "type", Any), scope)
    if hasattr(annotation, "__metadata__"):
        return _Noted(_type_of(annotation.__origin__, scope), annotation.__metadata__)
    if isinstance(annotation, typing.TypeVar):
        return _type_of(_value_of_variable(annotation, scope), scope)
    if hasattr(annotation, "__supertype__"):  # NewType
        return _type_of(annotation.__supertype__, scope)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if hasattr(origin or annotation, "__value__"):  # type X = ...
        return _declared_alias(origin or annotation, arguments, scope)
    if origin is not None:
        return _generic_type(annotation, origin, arguments, scope)
    if isinstance(annotation, type):
        return _class_type(annotation, annotation, (), scope)
    if getattr(annotation, "_name", None) == "LiteralString":
        return _ATOM_TYPES[str]
    raise _Refused("%s cannot be made from JSON" % _annotation_name(annotation))


def _evaluate(text: str, scope: _Scope) -> Any:
    try:
        return eval(text, scope.names if "__builtins__" in scope.names else {**scope.names})
    except Exception as error:
        hint = ""
        if ("|" in text and sys.version_info < (3, 10)) or ("[" in text and sys.version_info < (3, 9)):
            hint = "; Python %d.%d does not know it: write Optional, Union, List, ... of typing" % sys.version_info[:2]
        raise _Refused("%s (%s)%s" % (text, _words(error, True), hint)) from None


def _named_type(text: str, scope: _Scope) -> _Type:
    """The type of an annotation that is a text, which an alias may lead back to."""
    if text in scope.open:
        return scope.open[text]
    alias = scope.open[text] = _Alias(text)
    try:
        alias.target = _type_of(_evaluate(text, scope), scope)
    except _Refused:
        del scope.open[text]
        raise
    if alias not in _parts(alias.target):
        scope.open[text] = alias.target
    return scope.open[text]


def _parts(one: Any, seen: Optional[set] = None) -> Iterator[_Type]:
    """The types a type is made of, itself first."""
    seen = set() if seen is None else seen
    if id(one) in seen or not isinstance(one, (_Type, _Field, list, dict)):
        return
    seen.add(id(one))
    if isinstance(one, _Type):
        yield one
        one = vars(one)
    for part in one.values() if isinstance(one, dict) else one:
        yield from _parts(part, seen)


def _declared_alias(alias: Any, arguments: tuple, scope: _Scope) -> _Type:
    key = _annotation_name(alias) + repr(arguments or "")
    if key not in scope.open:
        variables = {**scope.variables, **dict(zip(alias.__type_params__, arguments))}
        inner = _Scope(scope.names, variables, scope.open)
        one = scope.open[key] = _Alias(alias.__name__)
        one.target = _type_of(alias.__value__, inner)
    return scope.open[key]


def _value_of_variable(variable: Any, scope: _Scope) -> Any:
    if variable in scope.variables:
        return scope.variables[variable]
    if variable.__bound__ is not None:
        return variable.__bound__
    return typing.Union[variable.__constraints__] if variable.__constraints__ else Any


def _generic_type(annotation: Any, origin: Any, arguments: tuple, scope: _Scope) -> _Type:
    if origin is typing.Union or origin is getattr(types, "UnionType", None):
        return _Union([_type_of(one, scope) for one in arguments])
    if origin is typing.Literal or getattr(origin, "_name", None) == "Literal":
        return _Choice([(to_json(option), option) for option in arguments])
    if origin is tuple and annotation is not typing.Tuple:
        return _tuple_type(arguments, scope)
    if origin in (abc.Awaitable, abc.Coroutine):
        return _type_of(arguments[-1] if arguments else Any, scope)
    if getattr(origin, "_name", None) in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
        return _type_of(arguments[0], scope)
    if origin is type or origin is abc.Callable:
        return _class_type(origin, origin, (), scope)
    return _class_type(annotation, origin, arguments, scope)


def _tuple_type(arguments: tuple, scope: _Scope) -> _Type:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _Array(_type_of(arguments[0], scope), tuple)
    if arguments == ((),):  # Tuple[()] before Python 3.11
        arguments = ()
    return _Tuple([_type_of(one, scope) for one in arguments])


def _class_type(annotation: Any, kind: Any, arguments: tuple, scope: _Scope) -> _Type:
    if kind in _ARRAYS:
        item = _type_of(arguments[0], scope) if arguments else _ANY
        return _Array(item, _ARRAYS[kind], unique=kind in (set, frozenset, abc.Set, abc.MutableSet))
    if kind is tuple:
        return _Array(_ANY, tuple)
    if kind in _MAPS:
        return _map_type(kind, arguments, scope)
    if not isinstance(kind, type):
        raise _Refused("%s cannot be made from JSON" % _annotation_name(annotation))
    if issubclass(kind, enum.Flag):
        return _Flag(kind)
    if issubclass(kind, enum.Enum):
        return _Choice([(_enum_to_json(member), member) for member in kind])
    if hasattr(kind, "model_json_schema") or (hasattr(kind, "__fields__") and hasattr(kind, "parse_raw")):
        return _Model(kind)
    if dataclasses.is_dataclass(kind) or _is_named_tuple(kind) or _is_typed_dict(kind):
        return _record_type(annotation, kind, arguments, scope)
    found = _text_type(kind)
    if found is not None:
        return found
    if kind is abc.Callable:
        raise _Refused("a function cannot be made from JSON")
    raise _Refused("%s cannot be made from JSON" % _annotation_name(annotation))


def _map_type(kind: Any, arguments: tuple, scope: _Scope) -> _Type:
    key = _type_of(arguments[0], scope) if arguments else None
    if key is _ATOM_TYPES[str] or key is _ANY:
        key = None
    if kind is collections.Counter:
        return _Map(key, _ATOM_TYPES[int], collections.Counter)
    make = _MAPS[kind]
    if kind is collections.defaultdict:
        factory = arguments and (typing.get_origin(arguments[1]) or arguments[1])
        factory = factory if factory in (int, float, str, bool, list, dict, set) else None
        make = lambda members: collections.defaultdict(factory, members)  # noqa: E731
    return _Map(key, _type_of(arguments[1], scope) if arguments else _ANY, make)


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _is_typed_dict(kind: type) -> bool:
    return issubclass(kind, dict) and hasattr(kind, "__total__")


def _record_type(annotation: Any, kind: Any, arguments: tuple, scope: _Scope) -> _Type:
    values = tuple(scope.variables.get(one, one) for one in arguments)
    key = (kind, values)
    if key in _known:
        return _known[key]
    doc = _class_doc(kind)
    name = "_".join([kind.__name__, *(_annotation_name(one) for one in values)])
    record = _known[key] = _Record(name, dict if _is_typed_dict(kind) else kind, doc.description or None)
    inner = _Scope.of(kind, {**scope.variables, **dict(zip(getattr(kind, "__parameters__", ()), values))})
    try:
        if dataclasses.is_dataclass(kind):
            _fill_from_dataclass(record, kind, doc, inner)
        elif _is_named_tuple(kind):
            _fill_from_named_tuple(record, kind, doc, inner)
        else:
            _fill_from_typed_dict(record, kind, doc, inner)
    except _Refused as why:
        del _known[key]
        raise _Refused("%s of %s" % (why, kind.__name__)) from None
    return record


def _fill_from_dataclass(record: _Record, kind: Any, doc: "_Doc", scope: _Scope) -> None:
    lasting = {one.name for one in dataclasses.fields(kind)}
    for one in kind.__dataclass_fields__.values():
        if one.name not in lasting:
            if one._field_type is not dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
                continue
            record.initial.add(one.name)
        type_ = _type_of(one.type, _scope_of_field(kind, one.name, scope))
        default = one.default
        if one.default_factory is not dataclasses.MISSING:
            default = one.default_factory()
        missing = default is dataclasses.MISSING
        note = one.metadata.get("description") or doc.parameters.get(one.name)
        default = _NONE if missing else _default_to_json(default, type_)
        (record.fields if one.init else record.further)[one.name] = _Field(type_, missing, default, note)


def _scope_of_field(kind: type, name: str, scope: _Scope) -> _Scope:
    """A field that was inherited has its names from the module of the class that declares it."""
    for base in kind.__mro__:
        if name in base.__dict__.get("__annotations__", {}) and base.__module__ != kind.__module__:
            return _Scope.of(base, scope.variables)
    return scope


def _fill_from_named_tuple(record: _Record, kind: Any, doc: "_Doc", scope: _Scope) -> None:
    annotations = getattr(kind, "__annotations__", {})
    defaults = getattr(kind, "_field_defaults", {})
    for name in kind._fields:
        type_ = _type_of(annotations.get(name, Any), scope)
        default = _default_to_json(defaults[name], type_) if name in defaults else _NONE
        record.fields[name] = _Field(type_, name not in defaults, default, doc.parameters.get(name))


def _fill_from_typed_dict(record: _Record, kind: Any, doc: "_Doc", scope: _Scope) -> None:
    annotations = kind.__annotations__
    required = getattr(kind, "__required_keys__", frozenset(annotations if kind.__total__ else ()))
    for name, annotation in annotations.items():
        if isinstance(annotation, typing.ForwardRef):
            module = sys.modules.get(str(getattr(annotation, "__forward_module__", None)))
            names = vars(module) if module else scope.names
            annotation = _evaluate(annotation.__forward_arg__, _Scope(names, {}, {}))
        marks = list(_marks(annotation))
        needed = "Required" in marks or (name in required and "NotRequired" not in marks)
        record.fields[name] = _Field(_type_of(annotation, scope), needed, _NONE, doc.parameters.get(name))


def _marks(annotation: Any) -> Iterator[str]:
    """Required, NotRequired, ReadOnly, from the outside in."""
    while True:
        origin = typing.get_origin(annotation)
        name = getattr(origin, "_name", None)
        if name not in ("Required", "NotRequired", "ReadOnly"):
            return
        yield name
        annotation = typing.get_args(annotation)[0]


def _default_to_json(default: Any, type_: _Type) -> Any:
    """The default as the schema can say it: only where the host, filling it in, gives the tool the same value."""
    try:
        plain = to_json(default)
        _encode(plain)
        return plain if type_.load(json.loads(_dumps(plain))) == default else _NONE
    except Exception:
        return _NONE


def _full_name(kind: type) -> str:
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def _annotation_name(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation).replace("typing.", "")


def _words(error: BaseException, short: bool = False) -> str:
    """`Class: message`, as callers read it."""
    try:
        message = str(error.args[0]) if short and isinstance(error, KeyError) else str(error)
    except Exception:
        message = ""
    name = type(error).__name__
    return "%s: %s" % (name, message) if message.strip() else name


# ---------------------------------------------------------------------------------------------------------------
# Docstrings: Google, NumPy, reST and Epydoc


class _Doc(NamedTuple):
    description: str = ""
    parameters: Json = {}
    returns: str = ""


_SECTIONS = {
    **dict.fromkeys(("args", "arguments", "parameters", "params", "other parameters", "attributes"), "parameters"),
    **dict.fromkeys(("keyword args", "keyword arguments"), "parameters"),
    **dict.fromkeys(("returns", "return", "yields", "yield"), "returns"),
    **dict.fromkeys(("raises", "raise", "warns", "exceptions", "except"), "raises"),
}
_FIELD = re.compile(
    r"[:@](param|parameter|arg|argument|keyword|key|var|returns?|rtype|type|raises?|except)\b([^:]*):(.*)"
)


def _read_doc(text: Optional[str]) -> _Doc:
    """What a docstring says of a function, its parameters and its result."""
    lines = inspect.cleandoc(text or "").splitlines()
    body: List[str] = []
    parameters: Json = {}
    returns: List[str] = []
    while lines:
        role, content, items = _take_section(lines)
        if role == "parameters":
            parameters.update(items(content))
        elif role == "returns":
            returns += content
        elif role is None:
            body.append(lines.pop(0))
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in body)).strip()
    return _Doc(description, parameters, _text_of_returns(returns))


def _take_section(lines: List[str]) -> Tuple[Optional[str], List[str], Callable[[List[str]], Json]]:
    """Takes the section that starts here off the lines: its role, its lines, and how its items are read."""
    line = lines[0]
    field = _FIELD.match(line)
    if field:
        return _take_field(lines, field)
    role = _SECTIONS.get(line.strip().rstrip(":").lower())
    follows = lines[1] if len(lines) > 1 else ""
    if role and re.fullmatch(r"\s*[-=]{3,}\s*", follows):
        end = next((at for at in range(2, len(lines)) if _is_numpy_heading(lines, at)), len(lines))
        content = lines[2:end]
        del lines[:end]
        return role, content, _numpy_items
    following = next((line for line in lines[1:] if line.strip()), "")
    if role and re.fullmatch(r"\w[\w ]*:\s*", line) and following[:1].isspace():
        end = next((at for at in range(1, len(lines)) if lines[at].strip() and not lines[at][0].isspace()), len(lines))
        content = inspect.cleandoc("\n" + "\n".join(lines[1:end])).splitlines()
        del lines[:end]
        return role, content, _google_items
    return None, [], _google_items


def _is_numpy_heading(lines: List[str], at: int) -> bool:
    return bool(lines[at].strip()) and at + 1 < len(lines) and bool(re.fullmatch(r"\s*-{3,}\s*", lines[at + 1]))


def _take_field(lines: List[str], field: Any) -> Tuple[str, List[str], Callable[[List[str]], Json]]:
    """`:param int x: text` or `@param x: text`, with the indented lines that follow."""
    kind, subject, text = field.group(1), field.group(2).split(), [field.group(3).strip()]
    del lines[0]
    while lines and lines[0].strip() and lines[0][0].isspace():
        text.append(lines.pop(0).strip())
    if kind.startswith("return"):
        return "returns", text, _google_items
    if kind in ("param", "parameter", "arg", "argument", "keyword", "key", "var") and subject:
        return "parameters", [" ".join(text)], lambda content: {subject[-1].lstrip("*"): content[0].strip()}
    return "raises", [], _google_items


def _google_items(lines: List[str]) -> Json:
    return _items(lines, re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?!:)\s*(.*)"))


def _numpy_items(lines: List[str]) -> Json:
    return _items(lines, re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?()$"))


def _items(lines: List[str], head: Any) -> Json:
    found: Dict[str, List[str]] = {}
    texts: List[str] = []
    for line in lines:
        start = head.match(line)
        if start:
            texts = [start.group(2)]
            found.update(dict.fromkeys(re.findall(r"\w+", start.group(1)), texts))
        else:
            texts.append(line.strip())
    joined = {name: " ".join(text for text in texts if text) for name, texts in found.items()}
    return {name: text for name, text in joined.items() if text}


def _text_of_returns(lines: List[str]) -> str:
    """Without the type that Google and NumPy put first."""
    indented = [line.strip() for line in lines[1:] if line[:1].isspace()]
    if indented and ":" not in lines[0]:
        lines = indented
    text = " ".join(line.strip() for line in lines if line.strip())
    return re.sub(r"^[\w.]+(\[[^:]*\])?( \| [\w.]+)*:\s+", "", text)


def _class_doc(kind: type) -> _Doc:
    text = kind.__dict__.get("__doc__")
    written = isinstance(text, str) and not text.startswith(kind.__name__ + "(")  # Python makes one up.
    return _read_doc(text) if written else _Doc()


# ---------------------------------------------------------------------------------------------------------------
# Tools

_POSITIONAL, _NAMED = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
_REST, _OTHERS = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


class _Tool:
    """A function with everything that is known of it beforehand."""

    def __init__(self, candidate: _Candidate):
        self.name, self.function = candidate.name, candidate.function
        self.is_async = inspect.iscoroutinefunction(self.function) or inspect.isasyncgenfunction(self.function)
        self._fields: Dict[str, _Field] = {}
        self._others: Optional[_Type] = None
        self._contexts: List[str] = []
        #: Names and defaults of what must be passed by position; None where nothing must.
        self._order: Optional[List[Tuple[str, Any]]] = None
        self._rest: Optional[str] = None
        #: What is passed by position as far as it is given, since a decorator may want it so.
        self._leads: List[str] = []
        self._read_signature(_read_doc(_doc_text(self.function)), candidate.members)
        types = [field.type for field in self._fields.values()] + [self._others]
        self.is_exact = any(isinstance(part, _Decimal) for part in _parts(types))

    def _read_signature(self, doc: _Doc, members: Json) -> None:
        signature, self._leads = _signature(self.function)
        scope = _Scope.of(_core(self.function) or inspect.unwrap(self.function))
        for parameter in signature.parameters.values():
            try:
                self._take(parameter, scope, doc)
            except _Refused as why:
                raise _Refused("the parameter '%s': %s" % (parameter.name, why)) from None
        kinds = [parameter.kind for parameter in signature.parameters.values()]
        if _POSITIONAL in kinds or _REST in kinds:
            early = [one for one in signature.parameters.values() if one.kind in (_POSITIONAL, _NAMED)]
            self._order = [(one.name, one.default) for one in early]
        self.described = self._describe(signature.return_annotation, scope, doc, members)

    def _take(self, parameter: inspect.Parameter, scope: _Scope, doc: _Doc) -> None:
        name, annotation = parameter.name, parameter.annotation
        if _asks_for_context(annotation, scope):
            self._contexts.append(name)
            return
        type_ = _type_of(annotation, scope)
        if parameter.kind is _OTHERS:
            self._others = type_
            return
        description = doc.parameters.get(name)
        if parameter.kind is _REST:
            self._rest = name
            self._fields[name] = _Field(_Array(type_, list), False, _NONE, description)
            return
        missing = parameter.default is inspect.Parameter.empty
        if parameter.default is None and not _takes_null(type_):
            type_ = _Union([type_, _ATOM_TYPES[None]])
        default = _NONE if missing else _default_to_json(parameter.default, type_)
        self._fields[name] = _Field(type_, missing, default, description)

    def _describe(self, returned: Any, scope: _Scope, doc: _Doc, members: Json) -> Json:
        described: Json = {"name": self.name}
        if doc.description:
            described["description"] = doc.description
        if "parameters" not in members:
            described["argument_schema"] = self._argument_schema()
        output = self._output_schema(returned, scope)
        if output is not None:
            described["output_schema"] = {**output, "description": doc.returns} if doc.returns else output
        described.update(members)
        return described

    def _argument_schema(self) -> Json:
        book = _Book(out=False)
        schema: Json = {"type": "object"}
        if self._fields or self._others is None:
            schema["properties"] = {name: field.schema(book) for name, field in self._fields.items()}
        required = [name for name, field in self._fields.items() if field.required]
        if required:
            schema["required"] = required
        others = False if self._others is None else self._others.schema(book)
        if others != {}:
            schema["additionalProperties"] = others
        return book.finish(schema)

    def _output_schema(self, returned: Any, scope: _Scope) -> Optional[Json]:
        """None where the annotation says nothing that a schema could say."""
        if returned is inspect.Signature.empty:
            return None
        try:
            book = _Book(out=True)
            return book.finish(_type_of(returned, scope).schema(book)) or None
        except _Refused as why:
            if isinstance(returned, str):
                _log("%s has no output schema: the result is annotated %s" % (self.name, why))
            return None

    def bind(self, given: Any, context: Any) -> Tuple[list, Json]:
        """The arguments as the function takes them."""
        try:
            if type(given) is not dict:
                raise _no("an object", given)
            named = _load_members(given, self._fields, self._others)
        except _Fault as fault:
            raise _Invalid("Invalid arguments for '%s': %s" % (self.name, fault)) from None
        for name in self._contexts:
            named[name] = Context(context or {})
        if self._order is None:
            leading = list(itertools.takewhile(named.__contains__, self._leads))
            return [named.pop(name) for name in leading], named
        return self._by_position(named), named

    def _by_position(self, named: Json) -> list:
        """Takes out of `named` what must be passed by position, with the defaults of what is left out before it."""
        rest = named.pop(self._rest, []) if self._rest else []
        values = [named.pop(name, default) for name, default in self._order or ()]
        return values + rest


def _signature(function: Any) -> Tuple[inspect.Signature, List[str]]:
    """The signature of a function, and what is passed by position to its decorators.

    A decorator that takes `*args` and `**kwargs` has the signature of what it decorates; one that takes other
    arguments than that has its own.
    """
    leads, one = False, function
    while hasattr(one, "__wrapped__") and not inspect.ismethod(one) and not hasattr(one, "__signature__"):
        try:
            own = inspect.signature(one, follow_wrapped=False)
        except (TypeError, ValueError):  # It is not written in Python, as lru_cache.
            own = None
        if own is not None and not _passes_on(own, one.__wrapped__):
            return own, []
        kinds = [parameter.kind for parameter in own.parameters.values()] if own else []
        if _OTHERS in kinds and _REST not in kinds:
            return inspect.signature(one), []
        leads, one = True, one.__wrapped__
    signature = inspect.signature(one)
    named = itertools.takewhile(lambda parameter: parameter.kind is _NAMED, signature.parameters.values())
    return signature, [parameter.name for parameter in named] if leads else []


def _passes_on(own: inspect.Signature, inner: Any) -> bool:
    kinds = {parameter.kind for parameter in own.parameters.values()}
    named = {name for name, parameter in own.parameters.items() if parameter.kind not in (_REST, _OTHERS)}
    return bool(kinds & {_REST, _OTHERS}) and named <= set(inspect.signature(inner).parameters)


def _core(value: Any) -> Optional[types.FunctionType]:
    """The function behind a method, a partial, an object with `__call__`, or what decorators made of one."""
    for _ in range(100):
        if isinstance(value, type) or not callable(value):
            return None
        if hasattr(value, "__wrapped__"):
            value = value.__wrapped__
        elif isinstance(value, types.FunctionType):
            return value
        elif isinstance(value, functools.partial):
            value = value.func
        else:
            value = getattr(value, "__func__", None) or getattr(type(value), "__call__", None)
    return None


def _doc_text(function: Any) -> Optional[str]:
    """What describes the function; a partial or an object has its class's own text, which may say nothing of it."""
    if inspect.isroutine(function) or "__doc__" in getattr(function, "__dict__", {}):
        return inspect.getdoc(function)
    core = _core(function)
    text = core and core.__doc__  # getdoc would find that of `type.__call__`.
    if text or isinstance(function, functools.partial):
        return text
    return inspect.getdoc(function)


class _Invalid(Exception):
    """Arguments that do not fit, in the words for the caller."""


def _asks_for_context(annotation: Any, scope: _Scope) -> bool:
    if isinstance(annotation, str) and "Context" in annotation:
        try:
            annotation = _evaluate(annotation, scope)
        except _Refused:
            return False
    return annotation is Context or Context in typing.get_args(annotation)


def _takes_null(type_: _Type) -> bool:
    try:
        type_.load(None)
    except _Fault:
        return False
    return True


def _describe_all(candidates: Iterable[_Candidate]) -> Tuple[Dict[str, _Tool], List[str]]:
    """The tools of the candidates, and which of them cannot be one, and why."""
    tools: Dict[str, _Tool] = {}
    refused: List[str] = []
    for candidate in candidates:
        if candidate.name in tools:
            raise ValueError("two tools are named '%s'" % candidate.name)
        try:
            tools[candidate.name] = _Tool(candidate)
        except Exception as why:
            text = str(why) if isinstance(why, _Refused) else _words(why)
            refused.append("%s: %s" % (candidate.name, text))
    return tools, refused


def _warn(about: Json, left_out: List[str]) -> None:
    """Has the describe answer say what is no tool, and why."""
    if left_out:
        about["warnings"] = ["no tool: " + one for one in left_out]


def _log(text: str) -> None:
    print("toolhost: " + text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------------------------------------
# The line to the host


class _Wire:
    """The two ends of the protocol, kept from whatever the tools do with standard input and output."""

    def __init__(self, source: int, target: int):
        self._source, self._target = source, target
        self._buffer = bytearray()
        self._lines: collections.deque = collections.deque()
        self._writing, self._reading = threading.Lock(), threading.Lock()

    @classmethod
    def take(cls) -> "_Wire":
        """From here on a tool that reads gets the end of file, and what anybody prints goes to standard error."""
        wire = cls(os.dup(0), os.dup(1))
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:
            os.dup2(null, 1)
        os.close(null)
        reopen_stdin()
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=wire._leave)
        return wire

    def _leave(self) -> None:
        """A forked child is no toolbox, and must not hold the line open."""
        os.close(self._source)
        os.close(self._target)
        self._source = self._target = -1

    def line(self) -> Optional[bytes]:
        """The next line, without its end; None at the end of input."""
        while not self._lines:
            if not self._read():
                rest, self._buffer = bytes(self._buffer), bytearray()
                return rest or None
        return self._lines.popleft()

    def _read(self) -> bool:
        if self._source < 0:
            os._exit(0)
        piece = os.read(self._source, 1 << 16)
        end = piece.rfind(b"\n") + 1
        if end:
            self._buffer += piece[:end]
            self._lines.extend(self._buffer.split(b"\n")[:-1])
            self._buffer = bytearray(piece[end:])
        else:
            self._buffer += piece
        return bool(piece)

    def waiting(self) -> Iterator[bytes]:
        """The lines that are here already, each taken out if it is not put back."""
        select = _own("select")
        with self._reading:
            poll = select.poll()
            poll.register(self._source, select.POLLIN)
            while poll.poll(0) and self._read():
                pass
            for _ in range(len(self._lines)):
                yield self._lines.popleft()

    def put_back(self, line: bytes) -> None:
        self._lines.append(line)

    def write(self, line: bytes) -> None:
        with self._writing:
            if self._target < 0:  # A child that a tool forked and that came back from it.
                os._exit(0)
            try:
                while line:
                    line = line[os.write(self._target, line) :]
            except BrokenPipeError:
                pass  # The host is gone; the end of input says so too.


def reopen_stdin() -> None:
    """`exit()` closes sys.stdin; the file behind it must stay what it is."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin is sys.__stdin__:
        sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)


# ---------------------------------------------------------------------------------------------------------------
# Serving


class _Call:
    """A call that is not answered yet."""

    def __init__(self, server: "_Server", tool: _Tool, request: Json):
        self.server, self.tool, self.id = server, tool, request.get("id")
        self.kwargs, self.context = request.get("kwargs", {}), request.get("context")
        self.stopped = False
        self.task: Any = None

    def is_cancelled(self) -> bool:
        if not self.stopped:
            self.server.look_for_cancels()
        return self.stopped


class _Server:
    """Reads requests and answers them, one at a time or several."""

    def __init__(self, wire: _Wire, tools: Dict[str, _Tool], most: Optional[int], about: Json):
        self._wire, self._tools, self._about = wire, tools, about
        self._calls: Dict[Any, _Call] = {}
        self._changed = threading.Condition()
        self._exact = any(tool.is_exact for tool in tools.values())
        loop = any(tool.is_async for tool in tools.values())
        # One at a time, a tool runs in the thread that loaded the script, where signals and databases want it.
        self._pool = _Pool(most, self._run) if most and most > 1 else None
        self._loop = _Loop(most) if loop else None
        #: Whether the host may send a call before another has been answered.
        self._is_concurrent = self._pool is not None or (loop and most != 1)
        self._reader: Optional[int] = None
        self._home = _folder()

    def run(self) -> None:
        """Serves until the end of input, and ends what runs by then."""
        self._reader = threading.get_ident()
        while True:
            line = self._wire.line()
            if line is None:
                break
            if line.startswith(b"\xef\xbb\xbf"):
                line = line[3:]
            if line.strip():
                self._handle(line)
        with self._changed:
            self._changed.wait_for(self._is_done)

    def _is_done(self) -> bool:
        """A thread that nobody waits for is not waited for here either."""
        return all(call.stopped and not call.tool.is_async for call in list(self._calls.values()))

    def _handle(self, line: bytes) -> None:
        try:
            text = line.decode()
            request = json.loads(text)
            if type(request) is not dict:
                raise ValueError("a request is an object")
            if type(request.get("id", 0)) is not int:
                raise ValueError("an id is an integer")
        except (ValueError, RecursionError) as error:
            self._answer(None, error="ProtocolError: not a request: %s" % _words(error))
            return
        operation = request.get("op")
        if operation == "call":
            self._call(request, text)
        elif operation == "describe":
            self._describe(request)
        elif operation == "cancel":
            self._cancel(request.get("target"))
        elif "id" in request:
            self._answer(request["id"], error="ProtocolError: unknown op: %s" % _dumps(operation))

    def _describe(self, request: Json) -> None:
        _config.clear()
        _config.update(request.get("config") or {})
        capabilities = ["cancel"]
        if any(tool._contexts for tool in self._tools.values()):
            capabilities.insert(0, "context")
        if self._is_concurrent:
            capabilities.append("concurrent")
        tools = [tool.described for tool in self._tools.values()]
        result = {"protocol": PROTOCOL, **self._about, "capabilities": capabilities, "tools": tools}
        self._answer(request.get("id"), result=result)

    def _call(self, request: Json, text: str) -> None:
        name = request.get("name")
        tool = self._tools.get(name) if type(name) is str else None
        if tool is None:
            self._answer(request.get("id"), error="Unknown tool: '%s'" % name)
            return
        if tool.is_exact:
            request = json.loads(text, parse_float=_Spelled)
        call = _Call(self, tool, request)
        self._calls[call.id] = call
        if tool.is_async and self._loop is not None:
            self._loop.start(call, self._run_async(call), self._fail)
        elif self._pool is not None:
            self._pool.submit(call)
        else:
            self._run_here(call)

    # One call, in each of the three ways

    def _run_here(self, call: _Call) -> None:
        self._run(call)
        if self._home is not None and _folder() != self._home:
            try:
                os.chdir(self._home)
            except OSError as error:
                _log("the tool left the working folder, and there is no way back: %s" % error)

    def _run(self, call: _Call) -> None:
        _current.set(call)
        try:
            args, kwargs = call.tool.bind(call.kwargs, call.context)
            result = call.tool.function(*args, **kwargs)
            if hasattr(result, "__await__") or hasattr(result, "__aiter__"):
                result = _run_to_end(result)
            self._finish(call, to_json(result))
        except BaseException as error:  # A tool may do anything, exit() included; the toolbox lives on.
            self._fail(call, error)

    async def _run_async(self, call: _Call) -> None:
        _current.set(call)
        try:
            args, kwargs = call.tool.bind(call.kwargs, call.context)
            async with self._loop.place():  # type: ignore[union-attr]
                result = await _settled(call.tool.function(*args, **kwargs))
            self._finish(call, to_json(result))
        except BaseException as error:
            self._fail(call, error)

    def _finish(self, call: _Call, result: Any) -> None:
        line = _answer_line(call.id, "result", result)
        self._forget(call, line)

    def _fail(self, call: _Call, error: BaseException) -> None:
        if isinstance(error, _Invalid):
            text = str(error)
        elif call.stopped and type(error).__name__ == "CancelledError":
            text = "CancelledError: nobody waits for this call any more"
        else:
            _print_traceback(error)
            text = _words(error)
        if isinstance(error, SystemExit):
            reopen_stdin()
        self._forget(call, _answer_line(call.id, "error", text))

    def _forget(self, call: _Call, line: bytes) -> None:
        self._wire.write(line)
        self._calls.pop(call.id, None)
        if self._pool or self._loop:
            with self._changed:
                self._changed.notify_all()

    def _answer(self, id: Any, **outcome: Any) -> None:
        ((kind, value),) = outcome.items()
        self._wire.write(_answer_line(id, kind, value))

    # Cancelling

    def _cancel(self, target: Any) -> None:
        call = self._calls.get(target) if type(target) is int else None
        if call is not None:
            call.stopped = True
            if self._loop is not None:
                self._loop.cancel(call)
            with self._changed:
                self._changed.notify_all()

    def look_for_cancels(self) -> None:
        """Where a tool runs in the thread that reads, nobody reads meanwhile, so that the tool that asks looks itself.

        In any other thread it must not: the bytes it waits for may have gone to the thread that reads, which would not
        see in turn what is put back here.
        """
        if threading.get_ident() != self._reader:
            return
        for line in self._wire.waiting():
            try:
                request = json.loads(line) if b"cancel" in line else {}
            except ValueError:
                request = {}
            if type(request) is dict and request.get("op") == "cancel":
                self._cancel(request.get("target"))
            else:
                self._wire.put_back(line)


def _answer_line(id: Any, kind: str, value: Any) -> bytes:
    if kind == "error":
        value = value.encode("utf-8", "replace").decode()
    echoed = b"%d" % id if type(id) is int else _encode(id)
    return b'{"id":%b,"%b":%b}\n' % (echoed, kind.encode(), _encode(value))


def _folder() -> Optional[str]:
    try:
        return os.getcwd()
    except OSError:  # It is gone.
        return None


async def _settled(result: Any) -> Any:
    """What comes of a coroutine or an async generator in the end."""
    if hasattr(result, "__aiter__"):
        return [item async for item in result]
    return await result


def _run_to_end(result: Any) -> Any:
    return _asyncio().run(_settled(result))


class _Pool:
    """Threads for calls, started as they are needed. They end with the process and never hold it."""

    def __init__(self, size: int, work: Callable[[_Call], None]):
        self._size, self._work = size, work
        self._calls: Any = _own("queue").SimpleQueue()
        self._started = 0

    def submit(self, call: _Call) -> None:
        self._calls.put(call)
        if self._started < self._size:
            self._started += 1
            threading.Thread(target=self._serve, name="tool-%d" % self._started, daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._work(self._calls.get())


class _Unbounded:
    """A semaphore that never holds anybody up."""

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: Any) -> None:
        pass


class _Loop:
    """One asyncio loop in a thread of its own, for all async tools; `most` of them at once, if not None."""

    def __init__(self, most: Optional[int]) -> None:
        self._asyncio = _asyncio()
        self._most = most
        self._places: Any = None
        self._loop = self._asyncio.new_event_loop()
        threading.Thread(target=self._serve, name="asyncio", daemon=True).start()

    def _serve(self) -> None:
        self._asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def place(self) -> Any:
        """What a call holds while it runs."""
        if self._places is None:  # Made here, because in old Pythons it belongs to the loop that makes it.
            self._places = self._asyncio.Semaphore(self._most) if self._most else _Unbounded()
        return self._places

    def start(self, call: _Call, work: Any, fail: Callable[[_Call, BaseException], None]) -> None:
        def begin() -> None:
            call.task = self._loop.create_task(work)
            call.task.add_done_callback(end)

        def end(task: Any) -> None:
            if task.cancelled():  # Before it began, so that it could not answer.
                fail(call, self._asyncio.CancelledError())

        self._loop.call_soon_threadsafe(begin)

    def cancel(self, call: _Call) -> None:
        self._loop.call_soon_threadsafe(lambda: call.task is not None and call.task.cancel())


# ---------------------------------------------------------------------------------------------------------------
# Tracebacks: the script's own lines, without those of this file

_HERE = __file__
_OURS = (_HERE, "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")


def _print_traceback(error: BaseException) -> None:
    linecache, traceback = _own("linecache"), _own("traceback")
    source = globals().get("__source__")
    if source is not None and _HERE not in linecache.cache:  # Run from text: there is no file to read it from.
        linecache.cache[_HERE] = (len(source), None, source.splitlines(True), _HERE)
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in _OURS:
        trace = trace.tb_next
    _OWN.run(lambda: traceback.print_exception(type(error), error, trace))


# ---------------------------------------------------------------------------------------------------------------
# Python's own modules, where files in the script's folder have the names of some

#: What Python has loaded before a script can hide it.
_ALWAYS = frozenset(sys.builtin_module_names) | {"abc", "codecs", "encodings", "io", "os", "posixpath", "site", "stat"}


class _Own:
    """Python's own modules for this file, and the script's for the script, each under the same name."""

    def __init__(self) -> None:
        self._names: Iterable[str] = ()
        self._modules: Json = {}
        self._path: List[str] = []
        self._lock = threading.RLock()

    def part_from(self, folder: str, stem: str) -> None:
        """Before `folder` comes into sys.path: lets the script, which is named `stem`, import what lies in there."""
        for name in ("linecache", "queue", "select", "traceback"):  # They cost little, asyncio much.
            importlib.import_module(name)
        self._names = _names_beside(folder)
        self._path = sys.path[:]
        self._modules = self._swap({})
        sys.modules.update({name: one for name, one in self._modules.items() if _top(name) == stem})

    def run(self, work: Callable[[], Any]) -> Any:
        """Does something that may import modules of Python's own."""
        if not self._names:
            return work()
        with self._lock:
            theirs, path = self._swap(self._modules), sys.path
            sys.path = self._path[:]
            try:
                return work()
            finally:
                sys.path = path
                self._modules = self._swap(theirs)

    def _swap(self, modules: Json) -> Json:
        """Puts these modules in the place of those that have their names, which are returned."""
        others = {name: sys.modules.pop(name) for name in list(sys.modules) if _top(name) in self._names}
        sys.modules.update(modules)
        return others


_OWN = _Own()


def _own(name: str) -> Any:
    """The module of Python's own, also where the script has another of that name."""
    return _OWN.run(lambda: importlib.import_module(name))


@functools.lru_cache(maxsize=None)
def _asyncio() -> Any:
    """Python's own asyncio, which imports a part of itself with its first loop."""
    asyncio = _own("asyncio")
    _OWN.run(lambda: asyncio.new_event_loop().close())
    return asyncio


def _top(name: str) -> str:
    return name.partition(".")[0]


def _names_beside(folder: str) -> set:
    """The names of Python's own modules that modules in the folder have too."""
    found = {_top(entry) for entry in _entries(folder) if entry.endswith(".py")}
    found |= {entry for entry in _entries(folder) if os.path.isfile(os.path.join(folder, entry, "__init__.py"))}
    return (found & _standard_names()) - _ALWAYS


def _standard_names() -> set:
    if hasattr(sys, "stdlib_module_names"):  # Python 3.10
        return set(sys.stdlib_module_names)
    home = os.path.dirname(os.__file__)
    files = _entries(home) + _entries(os.path.join(home, "lib-dynload"))
    return ({_top(entry) for entry in files} | set(sys.builtin_module_names)) - {"test"}


def _entries(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


# ---------------------------------------------------------------------------------------------------------------
# A plain script


def run_script(path: str, concurrent: str = "") -> None:
    """Serves the functions of a Python file that knows nothing of toolhost.

    Tools are the public functions defined in the file that have a type hint. `TOOLS = [...]`, with names, functions,
    methods, partials or objects with a `__call__`, or else `__all__`, says which instead, with or without hints.
    `main()` is for the command line and no tool. Where `run` is the only one, the tool has the name of the file.

    toolhost starts it as `python3 -c IMPORT FOLDER script.py [CONCURRENT]`, where FOLDER is one that it has put this file
    into. IMPORT (src/adapter/script/import.py) imports it from there and calls this.

    Where no folder can be made, it is `python3 -c BOOT N script.py [CONCURRENT]`, with the N bytes of this file ahead of
    the requests on standard input. BOOT (src/adapter/script/boot.py) reads them, makes them the module `toolhost` and
    calls this.

    CONCURRENT, from toolhost.yaml, goes before what the script's own `serve` says.
    """
    global _script
    wire = _Wire.take()
    _script = {"about": {}, "most": int(concurrent) if concurrent else None}
    path = os.path.abspath(path)
    module = _load(path)
    file = os.path.basename(path)
    tools, refused = _describe_all(_candidates(module, file))
    if not tools:
        _end("%s has no tools: %s" % (file, "; ".join(refused)))
    _warn(_script["about"], _without_hint(module, file) + refused)
    _Server(wire, tools, _script["most"], _script["about"]).run()


def _load(path: str) -> types.ModuleType:
    """The script as a module with the name of its file; never as `__main__`, so that it does not start to work."""
    import importlib.machinery
    import importlib.util

    folder, name = os.path.dirname(os.path.realpath(path)), _stem(path)
    if sys.path[:1] == [""]:
        del sys.path[0]
    _OWN.part_from(folder, name)
    _leave_name_to(folder, path)
    if name in sys.modules or name in _standard_names():  # A script named types.py must not take Python's place.
        name += "_script"
    sys.path.insert(0, folder)
    sys.argv = [path]
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[name] = module
    try:
        exec(loader.source_to_code(loader.get_data(path), path), module.__dict__)
    except BaseException as error:
        _print_traceback(error)
        _end(_why_not_loaded(error, path))
    return module


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _leave_name_to(folder: str, script: str) -> None:
    """A toolhost.py beside the script that is no copy of this file is the script's own affair, and what it imports."""
    sys.modules["_toolhost_runner"] = sys.modules[__name__]
    for place in ("toolhost.py", "toolhost/__init__.py"):
        file = os.path.join(folder, place)
        if os.path.isfile(file) and not os.path.samefile(file, script) and not _is_helper(file):
            sys.modules.pop("toolhost", None)


def _is_helper(file: str) -> bool:
    """Whether it is this file, in any version."""
    first = (__doc__ or "").partition("\n")[0].encode()
    with open(file, "rb") as text:
        return first in text.readline()


def _why_not_loaded(error: BaseException, path: str) -> str:
    """One line that says all: the host shows the last one."""
    file, text = os.path.basename(path), " ".join(_words(error).split())
    if isinstance(error, SyntaxError):
        return text  # Its message has the place.
    lines = [at for frame, at in _frames(error) if frame.f_code.co_filename == path]
    notes = [file + (", line %d" % lines[-1] if lines else "")]
    stem, hint = _stem(path), ""
    if isinstance(error, (ImportError, AttributeError)) and stem in _standard_names():
        text = text.replace(" (most likely due to a circular import)", "")  # The host shows no more than a few words.
        notes.append("the file has the name of Python's own module %s, which it hides" % stem)
    elif isinstance(error, ImportError) and _lists_packages(path):
        hint = ": needs packages (PEP 723); make a virtual environment with them and name it under python:"
    elif isinstance(error, ImportError):
        notes.append("python is %s" % sys.executable)
    if isinstance(error, SystemExit):
        notes.append('it ends while it is loaded: put what is for the command line under if __name__ == "__main__"')
    return "%s (%s)%s" % (text, "; ".join(notes), hint)


def _lists_packages(path: str) -> bool:
    with open(path, "rb") as text:
        return any(line.rstrip() == b"# /// script" for line in text)


def _frames(error: BaseException) -> Iterator[Tuple[Any, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _end(text: str) -> None:
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)
    sys.exit(1)


def _candidates(module: types.ModuleType, file: str) -> List[_Candidate]:
    """The functions of the script that are to be tools."""
    listed = _listed(module, file)
    if listed is not None:
        found = listed
    elif _marked:
        return _marked
    else:
        found = [one for one in _own_functions(module) if _has_hint(one.function) and not _is_entry(one)]
    if [one.name for one in found] == ["run"]:
        found = [found[0]._replace(name=re.sub(r"[^A-Za-z0-9_-]", "_", _stem(file)))]
    if not found:
        _end(_why_no_tools(module, file))
    return found


def _listed(module: types.ModuleType, file: str) -> Optional[List[_Candidate]]:
    """What TOOLS or `__all__` names; None where there is neither."""
    for variable in ("TOOLS", "__all__"):
        entries = getattr(module, variable, None)
        if not isinstance(entries, (list, tuple)):
            continue
        found = [_entry(module, entry, variable == "TOOLS") for entry in entries]
        named = [one for one in found if one is not None]
        strange = [entry for entry, one in zip(entries, found) if one is None]
        if variable == "TOOLS" and strange and (named or any(map(callable, strange))):
            _end("%s: TOOLS %s" % (file, _why_no_entry(strange[0])))
        if named or variable == "__all__":  # Another TOOLS is the script's own affair.
            return named
    return None


def _why_no_entry(entry: Any) -> str:
    if isinstance(entry, str):
        return "names %r, which is no function of the file" % entry
    return (
        "holds %r, which cannot be a tool: it may hold functions and their names, methods of objects, "
        "functools.partial and objects with a __call__, all of them written in Python" % (entry,)
    )


def _entry(module: types.ModuleType, entry: Any, any_kind: bool) -> Optional[_Candidate]:
    function = getattr(module, entry, None) if isinstance(entry, str) else entry
    if not (_is_function(function) or (any_kind and _core(function))):
        return None
    marked = next((one for one in _marked if one.function is function), None)
    name = entry if isinstance(entry, str) else _name_in(module, function)
    return marked or (_Candidate(name, function, {}) if name else None)


def _name_in(module: types.ModuleType, function: Any) -> Optional[str]:
    """Its own name, or that of the variable that holds it, or that of the function behind it."""
    name = getattr(function, "__name__", None)
    if isinstance(name, str):
        return name
    variables = [name for name, value in vars(module).items() if value is function]
    return variables[0] if variables else getattr(_core(function), "__name__", None)


def _own_functions(module: types.ModuleType) -> Iterator[_Candidate]:
    seen = set()
    for name, value in vars(module).items():
        own = _is_function(value) and getattr(value, "__module__", None) == module.__name__
        if own and not name.startswith("_") and id(value) not in seen:
            seen.add(id(value))
            yield _Candidate(name, value, {})


def _is_function(value: Any) -> bool:
    """A function, or what a decorator made of one."""
    return not isinstance(value, type) and callable(value) and inspect.isfunction(inspect.unwrap(value))


def _has_hint(function: Callable) -> bool:
    return bool(getattr(inspect.unwrap(function), "__annotations__", None))


def _is_entry(one: _Candidate) -> bool:
    return one.name == "main" and not inspect.signature(one.function).parameters


def _without_hint(module: types.ModuleType, file: str) -> List[str]:
    """The public functions nobody said anything of; where the script says itself which are tools, none."""
    if _marked or _listed(module, file) is not None:
        return []
    silent = (one for one in _own_functions(module) if not _has_hint(one.function) and not _is_entry(one))
    return ["%s: it has no type hint; give it one, or name it in TOOLS" % one.name for one in silent]


def _why_no_tools(module: types.ModuleType, file: str) -> str:
    plain = [one.name for one in _own_functions(module) if not _is_entry(one)]
    seen = ": %s has none" % ", ".join(plain[:5]) if plain else ""
    return (
        "%s has no tools: a tool is a public function with a type hint, such as `def add(a: int, b: int) -> int:`%s; "
        "or name the functions in TOOLS = [...]" % (file, seen)
    )
