"""Notes: short texts to remember, with tags, found again by their words."""

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Iterator, List, Optional

LONGEST = 100_000  # characters of one note


@dataclass
class Note:
    id: int
    text: str
    tags: List[str]
    created: datetime
    changed: datetime


def add_note(text: str, tags: Optional[List[str]] = None) -> Note:
    """Keep a note: something to remember, a thought, a list.

    Args:
        text: What to remember.
        tags: Words to find it by, such as "shopping" or "work".
    """
    now = _now()
    with _notes() as db:
        row = db.execute("INSERT INTO note (text, created, changed) VALUES (?, ?, ?)", (_text(text), now, now))
        _set_tags(db, row.lastrowid, tags or [])
        return _note(db, row.lastrowid)


def search_notes(query: str, limit: int = 10) -> List[Note]:
    """Find notes by words in their text or tags. A note must have every word, in any of its forms: milk, milks, milky.

    Args:
        query: The words to look for, in any order.
        limit: The most notes wanted.
    """
    words = query.split()
    if not words:
        raise ValueError("no word to look for")
    most = _limit(limit)
    with _notes() as db:
        found = []
        if _has_index(db):
            # Quotes make every word plain: AND, NEAR, * and - would mean something to FTS5.
            match = " ".join('"%s"*' % word.replace('"', '""') for word in words)
            found = db.execute("SELECT rowid FROM word WHERE word MATCH ? ORDER BY rank, rowid DESC LIMIT ?",
                               (match, most)).fetchall()
        if not found:
            # Of a part of a word, such as "shopp", the index knows nothing.
            every = " AND ".join(["(text || ' ' || tags) LIKE ? ESCAPE '\\'"] * len(words))
            found = db.execute("SELECT id FROM note WHERE %s ORDER BY id DESC LIMIT ?" % every,
                               [_like(word) for word in words] + [most]).fetchall()
        return [_note(db, id) for id, in found]


def list_notes(since: Optional[str] = None, tag: Optional[str] = None, limit: int = 20) -> List[Note]:
    """The notes there are, the newest first.

    Args:
        since: Only notes made at this time or later: "today", "yesterday", 2026-03-29 or 2026-03-29T14:30.
        tag: Only notes with this tag.
        limit: The most notes wanted.
    """
    with _notes() as db:
        found = db.execute("SELECT id FROM note WHERE created >= :since "
                           "AND (:tag IS NULL OR instr(' ' || tags || ' ', ' ' || :tag || ' ')) "
                           "ORDER BY created DESC, id DESC LIMIT :limit",
                           {"since": _utc(_since(since)) if since else "", "tag": None if tag is None else _tag(tag),
                            "limit": _limit(limit)})
        return [_note(db, id) for id, in found.fetchall()]


def read_note(id: int) -> Note:
    """One note.

    Args:
        id: The number of the note, as the other tools tell it.
    """
    with _notes() as db:
        return _note(db, id)


def edit_note(id: int, text: Optional[str] = None, tags: Optional[List[str]] = None) -> Note:
    """Change a note. What is left out stays as it is.

    Args:
        id: The number of the note.
        text: The new text, in place of the old one.
        tags: The new tags, in place of the old ones.
    """
    with _notes() as db:
        _note(db, id)
        if text is not None:
            db.execute("UPDATE note SET text = ? WHERE id = ?", (_text(text), id))
        if tags is not None:
            _set_tags(db, id, tags)
        db.execute("UPDATE note SET changed = ? WHERE id = ?", (_now(), id))
        return _note(db, id)


def delete_note(id: int) -> Note:
    """Delete a note for good. Returns what it was.

    Args:
        id: The number of the note.
    """
    with _notes() as db:
        note = _note(db, id)
        db.execute("DELETE FROM note WHERE id = ?", (id,))
        return note


def _folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    # The specification has it: a path that is not absolute counts as none.
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state") / "notes"


@contextlib.contextmanager
def _notes() -> Iterator[sqlite3.Connection]:
    """The notes, locked: all that is done with them is done, or nothing is."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    db = sqlite3.connect(str(folder / "notes.db"), timeout=8, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            os.chmod(folder / "notes.db", 0o600)  # the folder may have been there, for others to read
            _create(db)
        if version < 2:
            _index(db)
            db.execute("PRAGMA user_version = 2")
        yield db
        db.execute("COMMIT")
    finally:
        db.close()  # without COMMIT nothing has changed


def _create(db: sqlite3.Connection) -> None:
    # AUTOINCREMENT: the number of a deleted note never becomes that of another.
    db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, "
               "tags TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, changed TEXT NOT NULL)")


def _index(db: sqlite3.Connection) -> None:
    """The words of the notes by their stems, in place of an older index that has none."""
    for event in ["insert", "delete", "update"]:
        db.execute("DROP TRIGGER IF EXISTS word_%s" % event)
    try:
        db.execute("DROP TABLE IF EXISTS word")
        db.execute("CREATE VIRTUAL TABLE word USING fts5(text, tags, content=note, content_rowid=id, "
                   "tokenize='porter unicode61 remove_diacritics 2')")
    except sqlite3.OperationalError:
        pass  # an SQLite without full text search: LIKE does
    else:
        forget = "INSERT INTO word(word, rowid, text, tags) VALUES ('delete', old.id, old.text, old.tags);"
        learn = "INSERT INTO word(rowid, text, tags) VALUES (new.id, new.text, new.tags);"
        for event, does in [("INSERT", learn), ("DELETE", forget), ("UPDATE", forget + learn)]:
            db.execute("CREATE TRIGGER word_%s AFTER %s ON note BEGIN %s END" % (event.lower(), event, does))
        db.execute("INSERT INTO word(word) VALUES ('rebuild')")


def _has_index(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'word'").fetchone() is not None


def _note(db: sqlite3.Connection, id: int) -> Note:
    row = None
    if 0 < id < 2**63:
        row = db.execute("SELECT id, text, tags, created, changed FROM note WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise LookupError("no note %d" % id)
    return Note(row[0], row[1], row[2].split(), _local(row[3]), _local(row[4]))


def _set_tags(db: sqlite3.Connection, id: int, tags: List[str]) -> None:
    joined = " ".join(dict.fromkeys(_tag(tag) for tag in tags))
    db.execute("UPDATE note SET tags = ? WHERE id = ?", (joined, id))


def _tag(tag: str) -> str:
    tag = tag.strip().lstrip("#").lower()
    if not tag or len(tag.split()) != 1:
        raise ValueError("a tag is one word, not %r" % tag[:80])
    return tag


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("the note is empty")
    if len(text) > LONGEST:
        raise ValueError("the note has %d characters, the most is %d" % (len(text), LONGEST))
    return text


def _limit(limit: int) -> int:
    if not 1 <= limit <= 100:
        raise ValueError("limit: from 1 to 100")
    return limit


def _like(word: str) -> str:
    return "%" + "".join("\\" + char if char in "\\%_" else char for char in word) + "%"


def _since(text: str) -> datetime:
    days = {"today": 0, "yesterday": 1}.get(text.strip().lower())
    if days is not None:
        return datetime.combine(datetime.now().date() - timedelta(days=days), datetime.min.time())
    try:
        time = text.strip()
        # Before 3.11 Python did not know the Z.
        return datetime.fromisoformat(time[:-1] + "+00:00" if time[-1:] in ("Z", "z") else time)
    except ValueError:
        raise ValueError("since: not a date or time: %r; write today, yesterday, 2026-03-29 or 2026-03-29T14:30"
                         % text[:80]) from None


def _local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


def _now() -> str:
    return _utc(datetime.now(timezone.utc))


def _utc(time: datetime) -> str:
    # A time without a zone is one of this place.
    return time.astimezone(timezone.utc).isoformat(timespec="seconds")
