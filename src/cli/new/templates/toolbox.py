#!/usr/bin/env python3
"""@NAME@: two tools to start from. Change them, add more, then run `toolhost check -- ./@FILE@`."""
import toolhost

BIRTHDAYS = {"Ada": "10 December", "Grace": "9 December"}


@toolhost.tool
def hello(name: str = "world") -> str:
    """Greets someone.

    Args:
        name: Whom to greet.
    """
    return f"Hello, {name}!"


@toolhost.tool
def birthday(name: str) -> str:
    """Tells when someone has their birthday.

    Args:
        name: Whose birthday it is.
    """
    if name not in BIRTHDAYS:
        raise LookupError(f"nobody called {name} is in the book")  # the caller reads this
    return BIRTHDAYS[name]


toolhost.serve()
