"""What the run prints: a line a case, or JSON; and the list of expected failures."""

import json
import sys

SHOWN_FRAMES = 12
SHOWN_CHARACTERS = 600


def read_expected(path):
    """One case id a line; blank lines and lines that start with # say nothing."""
    if not path:
        return set()
    with open(path) as file:
        lines = (line.strip() for line in file)
        return {line for line in lines if line and not line.startswith("#")}


class Report:
    """Counts outcomes. A case that is expected to fail and passes is a failure too."""

    def __init__(self, expected, as_json):
        self.expected = expected
        self.as_json = as_json
        self.results = []

    def passed(self, case):
        if case.id in self.expected:
            self.failed(case, "it passed, and is listed as an expected failure")
        else:
            self._add(case, "passed", "ok")

    def skipped(self, case, why):
        self._add(case, "skipped", "ok", f" # SKIP {why}")

    def failed(self, case, what, expected=None, got=None, frames=()):
        known = case.id in self.expected and frames
        outcome, suffix = ("failed as expected", " # TODO listed as an expected failure") if known else ("failed", "")
        self._add(case, outcome, "not ok", suffix, what=what, expected=expected, got=got,
                  frames=[shorten(frame.text) for frame in frames[:SHOWN_FRAMES]])

    def _add(self, case, outcome, word, suffix="", **details):
        self.results.append({"id": case.id, "rule": case.rule, "outcome": outcome, **details})
        if self.as_json:
            return
        print(f"{word} {len(self.results)} - {case.id}{suffix}")
        if outcome == "failed":
            print(f"  # rule: {case.rule}")
            print(f"  # what: {details['what']}")
            print(f"  # expected: {shorten(repr(details['expected']))}")
            print(f"  # got:      {shorten(repr(details['got']))}")
            for text in details["frames"]:
                print(f"  # frame: {text}")
        sys.stdout.flush()

    def count(self, outcome):
        return sum(each["outcome"] == outcome for each in self.results)

    def close(self):
        """Print the closing line; give the exit code."""
        closing = f"{self.count('passed')} passed, {self.count('failed')} failed, {self.count('skipped')} skipped"
        if self.expected:
            closing += f", {self.count('failed as expected')} failed as expected"
        if self.as_json:
            json.dump({"summary": closing, "cases": self.results}, sys.stdout, indent=1, default=repr)
            print()
        else:
            print(closing)
        return 1 if self.count("failed") else 0


def shorten(text):
    printable = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    if len(printable) <= SHOWN_CHARACTERS:
        return printable
    return f"{printable[:SHOWN_CHARACTERS]}... ({len(printable)} characters)"
