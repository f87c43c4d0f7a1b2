from collections import deque

import toolhost


@toolhost.tool
def last_lines(file: str, count: int = 10):
    """The last lines of a text file.

    Args:
        file: The file.
        count: How many lines.
    """
    with open(file) as text:
        return {"lines": [line.rstrip("\n") for line in deque(text, count)]}


toolhost.serve()
