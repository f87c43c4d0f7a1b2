"""What a case is, and what it may check."""

from typing import Callable, NamedTuple

CASES = []


class Case(NamedTuple):
    id: str
    rule: str
    needs: str
    run: Callable


class Failure(Exception):
    def __init__(self, what, expected, got):
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.got = got


class OutOfTime(Exception):
    """The whole run took longer than it may."""


def case(clause, title, needs="host"):
    """Register a case. Its docstring is the rule; `needs` is host, service, predecessor or toolhost."""
    def register(run):
        rule = " ".join(run.__doc__.split())
        CASES.append(Case(f"{clause} {title}", rule, needs, run))
        return run
    return register


def equal(what, expected, got):
    # bool is an int for Python's ==, and 1 equals 1.0; on the wire they differ.
    if typed(expected) != typed(got):
        raise Failure(what, expected, got)


def typed(value):
    if isinstance(value, dict):
        return {key: typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [typed(each) for each in value]
    return (type(value).__name__, value)


def true(what, condition, expected, got):
    if not condition:
        raise Failure(what, expected, got)


def contains(what, expected, got):
    """Every key of `expected` stands in `got` with its value; a host may add annotations."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            true(f"{what}: key {key!r}", key in got, value, "nothing")
            contains(f"{what}.{key}", value, got[key])
    else:
        equal(what, expected, got)
