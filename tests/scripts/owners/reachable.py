#!/usr/bin/env python
"""Which of my machines are up? Tries TCP ports, all at once."""

import asyncio
import sys
import time

_seen = {}  # (host, port) -> when it was last up


async def check_port(host: str, port: int = 22, timeout: float = 2.0) -> bool:
    """Check if something listens on a TCP port.

    :param host: name or address
    :param port: the port
    :param timeout: seconds to wait
    """
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), timeout)
    except (OSError, asyncio.TimeoutError) as e:
        print(f"{host}:{port}: {e!r}", file=sys.stderr)
        return False
    writer.close()
    _seen[host, port] = time.time()
    return True


async def check_many(hosts: "list[str]", port: int = 22) -> "dict[str, bool]":
    """The same for several machines."""
    found = await asyncio.gather(*(check_port(h, port) for h in hosts))
    return dict(zip(hosts, found))


def last_seen(host: str, port: int = 22) -> "float | None":
    """When it was last seen up in this session, as a unix time."""
    return _seen.get((host, port))


if __name__ == "__main__":
    print(asyncio.run(check_many(sys.argv[1:])))
