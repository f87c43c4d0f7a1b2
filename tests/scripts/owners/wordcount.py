import functools
import logging
import re
from collections import Counter
from pathlib import Path

logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(message)s")
log = logging.getLogger("wordcount")

STOPWORDS = set("a an and in is it of on or the to".split())
total_calls = 0


class Document:
    def __init__(self, text):
        self.words = re.findall(r"\w+", text.lower())


@functools.lru_cache(maxsize=32)
def top_words(text: str, n: int = 5, stopwords: bool = False) -> list:
    """
    Most frequent words of a text.

    :param text: The text
    :type text: str
    :param n: how many words
    :param stopwords: count "the", "and" ... too
    :returns: pairs of word and count
    :raises ValueError: if n is silly
    """
    global total_calls
    total_calls += 1
    if n < 1:
        raise ValueError(f"n={n}?")
    log.debug("call no. %d", total_calls)
    words = [w for w in Document(text).words if stopwords or w not in STOPWORDS]
    return Counter(words).most_common(n)


def top_words_of_file(path: Path, n: int = 5):
    """Same for a file.

    :param path: where it is; ~ is fine
    """
    path = path.expanduser()
    print("reading", path)
    return {"file": path.name, "top": top_words(path.read_text(encoding="utf-8"), n)}


def reading_time(text: str, wpm: int = 220, *, minutes: bool = True) -> float:
    '''How long it takes to read'''
    mins = len(Document(text).words) / wpm
    return round(mins if minutes else mins * 60, 1)


if __name__ == '__main__':
    import sys
    for f in sys.argv[1:]:
        print(top_words_of_file(Path(f)))
