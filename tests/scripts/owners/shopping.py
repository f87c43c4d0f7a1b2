#!/usr/bin/env python3
"""Shopping list on the command line.

    shopping.py add milk --count 2
    shopping.py list
"""
import argparse
import json
import os
import sys
from typing import Dict, List, Optional

LIST_FILE = os.environ.get("SHOPPING_LIST", os.path.expanduser("~/.shopping.json"))
VERSION = "0.4"


def _load() -> Dict[str, int]:
    if not os.path.exists(LIST_FILE):
        return {}
    with open(LIST_FILE) as f:
        return json.load(f)


def _save(items: Dict[str, int]) -> None:
    with open(LIST_FILE, "w") as f:
        json.dump(items, f, indent=2)


def add(item: str, count: int = 1) -> str:
    """Put something on the list

    Args:
        item: what to buy, e.g. "milk"
        count: how many
    """
    if count < 1:
        raise ValueError("count must be at least 1")
    items = _load()
    items[item] = items.get(item, 0) + count
    _save(items)
    print("saved to", LIST_FILE)
    return f"{items[item]} x {item}"


def remove(item: str) -> bool:
    """Take something off the list. Returns False if it wasn't there."""
    items = _load()
    if items.pop(item, None) is None:
        return False
    _save(items)
    return True


def show(starts_with: Optional[str] = None) -> List[str]:
    """what is on the list, sorted"""
    return [f"{n} x {name}" for name, n in sorted(_load().items()) if not starts_with or name.startswith(starts_with)]


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", action="version", version=VERSION)
    sub = p.add_subparsers(dest="cmd", required=True)
    a = sub.add_parser("add")
    a.add_argument("item")
    a.add_argument("--count", type=int, default=1)
    r = sub.add_parser("remove")
    r.add_argument("item")
    sub.add_parser("list")
    args = p.parse_args(argv)
    if args.cmd == "add":
        print(add(args.item, args.count))
    elif args.cmd == "remove":
        if not remove(args.item):
            sys.exit(f"{args.item} is not on the list")
    else:
        print("\n".join(show()))


if __name__ == "__main__":
    main()
