#!/usr/bin/env python3
"""@NAME@: each function with type hints is a tool, and its docstring tells what it is for."""

BIRTHDAYS = {"Ada": "10 December", "Grace": "9 December"}


def hello(name: str = "world") -> str:
    """Greets someone.

    Args:
        name: Whom to greet.
    """
    return f"Hello, {name}!"


def birthday(name: str) -> str:
    """Tells when someone has their birthday.

    Args:
        name: Whose birthday it is.
    """
    if name not in BIRTHDAYS:
        raise LookupError(f"nobody called {name} is in the book")  # the caller reads this
    return BIRTHDAYS[name]


if __name__ == "__main__":  # what stands here is for you alone: python3 @FILE@
    print(hello())
