#!/usr/bin/env python3
"""A toolbox: English words, from the WordNet database. Speaks the stdio protocol of toolhost, version 1."""

import json
import os
import sys

from wndb import PARTS, Database

# Debian, Fedora, and Princeton's own archive.
USUAL_FOLDERS = ["/usr/share/wordnet", "/usr/share/wordnet-3.0/dict", "/usr/local/WordNet-3.0/dict"]

# The pointer symbols of wninput(5WN). Synonyms have none: they are the other words of the same synset.
RELATIONS = {
    "synonyms": (), "antonyms": ("!",), "hypernyms": ("@", "@i"), "hyponyms": ("~", "~i"),
    "holonyms": ("#m", "#s", "#p"), "meronyms": ("%m", "%s", "%p"), "similar": ("&",), "related": ("+", "\\", "<"),
    "entailments": ("*",), "causes": (">",), "see_also": ("^",),
}

WORD = {"type": "string", "minLength": 1, "maxLength": 200, "examples": ["serendipity", "ice cream"],
        "description": "An English word or phrase. Inflected forms (geese, ran) and any case are understood."}
STRINGS = {"type": "array", "items": {"type": "string"}}
HINTS = {"readOnly": True, "destructive": False, "idempotent": True, "openWorld": False}

TOOL_LIST = [
    {
        "name": "define_word",
        "description": "Look up an English word in the WordNet dictionary. Returns every meaning as a pair of part of "
                       "speech (noun, verb, adjective, adverb) and definition, the most usual first within each part "
                       "of speech, and example sentences. A word WordNet does not have is an error.",
        "argument_schema": {
            "type": "object",
            "properties": {
                "word": WORD,
                "lang": {"type": "string", "default": "en",
                         "description": "Language of the word. Only English is there: en, or a tag such as en-US."},
            },
            "required": ["word"],
            "additionalProperties": False,
        },
        "output_schema": {
            "type": "object",
            "properties": {
                "definitions": {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
                    "description": "Pairs of part of speech and definition.",
                },
                "examples": dict(STRINGS, description="Sentences that use the word or a synonym of it."),
            },
            "required": ["definitions", "examples"],
        },
        "hints": HINTS,
    },
    {
        "name": "word_relations",
        "description": "Find the words related to an English word: synonyms, antonyms, broader words (hypernyms), "
                       "narrower ones (hyponyms) and more, over all its meanings, those of the most usual first. "
                       "An empty list means the word is known and has none; an unknown word is an error.",
        "argument_schema": {
            "type": "object",
            "properties": {
                "word": WORD,
                "relation": {"type": "string", "enum": list(RELATIONS),
                             "description": "The one relation wanted. Left out: all that the word has."},
            },
            "required": ["word"],
            "additionalProperties": False,
        },
        "output_schema": {
            "type": "object",
            "properties": {"relations": {"type": "object", "additionalProperties": STRINGS,
                                         "description": "The related words, under the name of their relation."}},
            "required": ["relations"],
        },
        "hints": HINTS,
    },
]

config = {}
database = None


def describe(request):
    global config, database
    config, database = dict(request.get("config") or {}), None  # another describe may bring another folder
    # Answers even without a database, so the tools are known and a call can say what is missing.
    return {"protocol": 1, "version": "1.0.0", "description": "English words, from WordNet.", "tools": TOOL_LIST}


def define_word(word, lang=None):
    lang = lang or config.get("lang") or "en"
    if str(lang).lower().replace("_", "-").split("-")[0] != "en":
        raise ValueError("WordNet is English; there is nothing for the language %r" % lang)
    synsets = [synset for _, synset in senses(word)]
    # dict.fromkeys drops repetitions and keeps the order.
    return {"definitions": [[PARTS[synset.part], synset.definition] for synset in synsets],
            "examples": list(dict.fromkeys(use for synset in synsets for use in synset.examples))}


def word_relations(word, relation=None):
    if relation is not None and relation not in RELATIONS:
        raise ValueError("no such relation: %r; there are %s" % (relation, ", ".join(RELATIONS)))
    found = senses(word)
    every = {name: related(found, name) for name in ([relation] if relation else RELATIONS)}
    return {"relations": {name: words for name, words in every.items() if words or name == relation}}


def related(found, relation):
    words = []
    for lemma, synset in found:
        if relation == "synonyms":
            words += [word for word in synset.words if word.lower() != lemma]
        for symbol, offset, part, source, target in synset.pointers:
            # An antonym belongs to one word of a synset: "ascend" is against "descend", not against "fall".
            if symbol in RELATIONS[relation] and (not source or synset.words[source - 1].lower() == lemma):
                there = database.synset(part, offset).words
                words += [there[target - 1]] if target else there
    return list(dict.fromkeys(word.replace("_", " ") for word in words))


def senses(word):
    if not isinstance(word, str):
        raise TypeError("word must be a string")
    if not word.strip():
        raise ValueError("word is empty")
    found = open_database().senses(word)
    if not found:
        raise LookupError("no such word: %r" % word[:80])
    return found


def open_database():
    """Opened by the first call that needs it, so installing the package mends a running toolbox."""
    global database
    if database is None:
        folder = dictionary_folder()
        try:
            database = Database(folder)
        except (OSError, ValueError) as error:
            raise FileNotFoundError("no WordNet database in %s (%s): install the Debian package wordnet-base, or set "
                                    "config: {dict: FOLDER}" % (folder, error)) from error
    return database


def dictionary_folder():
    """A folder that was named is used or complained about, never passed over for another."""
    home = os.environ.get("WNHOME")
    named = config.get("dict") or os.environ.get("WNSEARCHDIR") or (home and os.path.join(home, "dict"))
    if named:
        return os.path.expanduser(str(named))
    return next((folder for folder in USUAL_FOLDERS if os.path.isdir(folder)), USUAL_FOLDERS[0])


TOOLS = {"define_word": define_word, "word_relations": word_relations}


def respond(request):
    op, name, kwargs = request.get("op"), request.get("name"), request.get("kwargs", {})
    try:
        if op == "describe":
            return {"result": describe(request)}
        if op != "call":
            return {"error": "Unknown op: %.80r" % (op,)}
        if not isinstance(name, str) or name not in TOOLS:
            return {"error": "Unknown tool: '%.80s'" % (name,)}
        if not isinstance(kwargs, dict):
            return {"error": "TypeError: kwargs must be an object"}
        return {"result": TOOLS[name](**kwargs)}
    except Exception as error:  # whatever a tool raises is that call's answer, never the end of the toolbox
        return {"error": "%s: %s" % (type(error).__name__, error)}


def main():
    # stdout belongs to the protocol: a stray print() anywhere goes to the log instead.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            request = json.loads(line.decode("utf-8-sig"))
            if not isinstance(request, dict):
                raise ValueError("not an object")
            if "id" not in request:
                continue  # nobody waits for an answer to it
            # allow_nan=False: Python's json would write NaN, which is not JSON.
            answer = json.dumps({"id": request["id"], **respond(request)}, allow_nan=False)
        except (ValueError, RecursionError) as error:
            print("skipped a line that is no request: %s" % error, file=sys.stderr, flush=True)
            continue
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
