"""Reads the WordNet 3.0 database files; their format is in the manual page wndb(5WN).

The index files are sorted, so a word is found by binary search in a memory map: a lookup takes well
under a millisecond, nothing is loaded at start, and several processes share the same pages.
"""

import mmap
import os
import re
import unicodedata

# File suffix and spoken name, in the order in which `wn` lists them.
PARTS = {"noun": "noun", "verb": "verb", "adj": "adjective", "adv": "adverb"}
# Pointers name the part of speech by one letter; "s" is a satellite adjective, kept in data.adj too.
PART_OF_LETTER = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}

# Rules of detachment from morphy(7WN): an ending, and what stands there in the base form.
ENDINGS = {
    "noun": [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
             ("men", "man"), ("ies", "y")],
    "verb": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "adj": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "adv": [],
}


class Database:
    def __init__(self, folder):
        """Raises OSError (or ValueError, for an empty file) where a file of the database is not to be had."""
        self.index, self.data, self.irregular = {}, {}, {}
        for part in PARTS:
            self.index[part] = _map(os.path.join(folder, "index." + part))
            self.data[part] = _map(os.path.join(folder, "data." + part))
            self.irregular[part] = _map(os.path.join(folder, part + ".exc"))

    def senses(self, word):
        """Every sense of a word: (the base form it was found under, its synset), in WordNet's order."""
        for spelling in _spellings(word):
            found = [(lemma, synset) for part in PARTS for lemma in self._lemmas(spelling, part)
                     for synset in self._synsets(lemma, part)]
            if found:
                return found
        return []

    def synset(self, part, offset):
        """The entry at a byte offset of a data file."""
        data = self.data[part]
        return Synset(part, data[offset:data.find(b"\n", offset)].decode("utf-8", "replace"))

    def _synsets(self, lemma, part):
        # lemma pos synset_cnt p_cnt [symbol...] sense_cnt tagsense_cnt offset...: the offsets come last.
        fields = _line_of(self.index[part], lemma)
        return [self.synset(part, int(offset)) for offset in fields[-int(fields[2]):]]

    def _lemmas(self, word, part):
        """The word itself and its base forms, as far as the index has them."""
        forms = [word] + self._base_forms(word, part)
        pieces = re.split("([_-])", word)
        if len(pieces) > 1:  # "attorneys_general": the base form of each piece by itself
            forms.append("".join((self._base_forms(piece, part) or [piece])[0] for piece in pieces))
        return [form for form in dict.fromkeys(forms) if _line_of(self.index[part], form)]

    def _base_forms(self, word, part):
        irregular = _line_of(self.irregular[part], word)
        if irregular:
            return irregular[1:]
        if part == "noun" and (word.endswith("ss") or len(word) <= 2):
            return []  # or "boss" would be many a "bos", and "is" the plural of "i"
        forms = [word[:-len(end)] + base for end, base in ENDINGS[part] if word.endswith(end)]
        return [form for form in forms if _line_of(self.index[part], form)]


class Synset:
    """One meaning: `words` that share it, its `definition`, its `examples`, and its `pointers` to others."""

    def __init__(self, part, line):
        fields, _, gloss = line.partition(" | ")
        fields = fields.split()
        count = int(fields[3], 16)
        self.part = part
        # An adjective may end in a marker of where it can stand, as in "galore(ip)".
        self.words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4:4 + 2 * count:2]]
        self.definition, self.examples = _split_gloss(gloss.strip())
        rest = fields[5 + 2 * count:]
        # symbol, offset, letter, and four hex digits: the words at both ends, 00 meaning all of them
        self.pointers = [
            (rest[i], int(rest[i + 1]), PART_OF_LETTER[rest[i + 2]], int(rest[i + 3][:2], 16), int(rest[i + 3][2:], 16))
            for i in range(0, 4 * int(fields[4 + 2 * count]), 4)
        ]


def _split_gloss(gloss):
    """'meaning; "a use"; "another"' -> ('meaning', ['a use', 'another']). A few closing quotes are missing in the data."""
    start = re.search(r'[;:]\s*"', gloss)
    if not start:
        return gloss.strip(" ;:"), []
    uses = re.findall(r'"([^"]+)(?:"|$)', gloss[start.start():])
    return gloss[:start.start()].strip(" ;:"), [use.strip() for use in uses if use.strip(" ;")]


def _spellings(word):
    """How the database may write a word: 'Ice  cream' -> ice_cream, 'café' -> cafe, 'well being' -> well-being."""
    # WordNet is ASCII throughout, so accents go, and the typographic apostrophe becomes the plain one.
    letters = unicodedata.normalize("NFKD", word.replace("\u2019", "'"))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    key = "_".join(plain.lower().split())
    return list(dict.fromkeys(
        [key, key.replace("-", "_"), key.replace("_", "-"), re.sub("[_-]", "", key), key.replace(".", "")]))


def _line_of(file, key):
    """The fields of the line that starts with `key` and a blank, by binary search; [] if there is none."""
    want = key.encode("utf-8", "replace") + b" "
    low, high = 0, len(file)
    while low < high:
        start = file.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = file.find(b"\n", start)
        end = len(file) if end < 0 else end
        line = file[start:end]
        if line.startswith(want):
            return line.decode("utf-8", "replace").split()
        if line < want:
            low = end + 1
        else:
            high = start
    return []


def _map(path):
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
