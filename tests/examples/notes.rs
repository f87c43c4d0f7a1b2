//! The notes of `toolboxes/notes/notes.py`, a script that works without toolhost too.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::root;
use crate::scratch::Scratch;

#[allow(clippy::disallowed_methods, reason = "a script started as its owner would")]
fn python(script: &str, home: &Path, state: &str) -> Command {
    let mut command = Command::new("python3");
    command
        .args(["-B", "-c", &format!("import notes\n{script}")])
        .env("PYTHONPATH", root().join("toolboxes/notes"))
        .env("HOME", home)
        .env("XDG_STATE_HOME", state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn many_processes_keep_notes_at_once_and_none_is_lost() {
    let scratch = Scratch::new();
    let state = scratch.path().display().to_string();
    let script = "for n in range(10): print(notes.add_note('note %d' % n, ['t']).id)";
    let children: Vec<_> = (0..6)
        .map(|_| python(script, scratch.path(), &state).spawn().expect("python3"))
        .collect();
    let mut ids: Vec<u32> = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        ids.extend(said(&output).lines().map(|line| line.parse::<u32>().expect("an id")));
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=60).collect::<Vec<_>>());
    let count = "print(len(notes.list_notes(limit=100)), len(notes.search_notes('note', 100)), len(notes.search_notes('note 7', 100)))";
    let output = python(count, scratch.path(), &state).output().expect("python3");
    assert_eq!(said(&output), "60 60 6\n");
}

#[test]
fn notes_lie_in_the_state_folder_and_are_the_users_own() {
    let scratch = Scratch::new();
    let add = "notes.add_note('x')";
    let (state, home) = (scratch.path().join("state"), scratch.path().join("home"));
    // A path that is not absolute counts as none.
    for (variable, folder) in [
        (state.display().to_string(), state.join("notes")),
        ("here".to_owned(), home.join(".local/state/notes")),
        (String::new(), home.join(".local/state/notes")),
    ] {
        let output = python(add, &home, &variable).output().expect("python3");
        said(&output);
        assert!(folder.join("notes.db").is_file(), "{}", folder.display());
        let mode = std::fs::metadata(&folder).expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let database = std::fs::metadata(folder.join("notes.db")).expect("a file");
        assert_eq!(database.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn without_the_full_text_search_of_sqlite_notes_are_found_all_the_same() {
    let scratch = Scratch::new();
    let script = r#"
class Without(notes.sqlite3.Connection):
    def execute(self, sql, *values):
        if "fts5" in sql:
            raise notes.sqlite3.OperationalError("no such module: fts5")
        return super().execute(sql, *values)

connect = notes.sqlite3.connect
notes.sqlite3.connect = lambda *args, **more: connect(*args, factory=Without, **more)
notes.add_note("Buy milk, 100% of it", ["shopping"])
notes.add_note("The Milky Way")
print([[note.id for note in notes.search_notes(query)] for query in ["MILK", "shop milk", "100%", "10_%", "way"]])
notes.edit_note(1, "Tea")
notes.delete_note(2)
print([note.text for note in notes.search_notes("t")])
"#;
    let output = python(script, scratch.path(), "").output().expect("python3");
    assert_eq!(said(&output), "[[2, 1], [1], [1], [], [2]]\n['Tea']\n");
}

#[test]
fn words_are_found_in_their_other_forms_and_in_parts_in_old_notes_too() {
    let scratch = Scratch::new();
    // Kept by the version that knew no stems.
    let script = r#"
import os
db = notes._folder() / "notes.db"
db.parent.mkdir(parents=True)
old = notes.sqlite3.connect(str(db))
old.executescript("""
CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '',
  created TEXT NOT NULL, changed TEXT NOT NULL);
CREATE VIRTUAL TABLE word USING fts5(text, tags, content=note, content_rowid=id, tokenize='unicode61 remove_diacritics 2');
CREATE TRIGGER word_insert AFTER INSERT ON note BEGIN
  INSERT INTO word(rowid, text, tags) VALUES (new.id, new.text, new.tags); END;
INSERT INTO note (text, created, changed) VALUES ('Two milks', '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00');
PRAGMA user_version = 1;
""")
old.close()
notes.add_note("Buy milk")
notes.add_note("Shopping in universities")
for query in ["milk", "milks", "buying", "shops", "shopp", "university", "opping"]:
    print(query, sorted(note.id for note in notes.search_notes(query)))
notes.edit_note(1, "Tea")
print(sorted(note.id for note in notes.search_notes("milks")))
"#;
    let output = python(script, scratch.path(), "").output().expect("python3");
    let expected = "milk [1, 2]\nmilks [1, 2]\nbuying [2]\nshops [3]\nshopp [3]\nuniversity [3]\nopping [3]\n[2]\n";
    assert_eq!(said(&output), expected);
}

#[test]
fn times_are_those_of_the_place_and_since_may_be_a_day() {
    let scratch = Scratch::new();
    // The 2nd has begun in Kolkata, and not yet in UTC.
    let script = r#"
class Clock(notes.datetime):
    at = "2026-03-01T20:00:00+00:00"
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(cls.at).astimezone(tz).replace(tzinfo=tz)

notes.datetime = Clock
for at in ["2026-02-28T18:00:00+00:00", "2026-03-01T18:00:00+00:00", "2026-03-01T20:00:00+00:00"]:
    Clock.at = at
    print(notes.add_note("x").created.isoformat())
for since in ["today", "Yesterday", "2026-03-01", "2026-03-01T18:00:00Z", "2026-03-02T01:00", "2026-03-01T20:00+00:00", None]:
    print([note.id for note in notes.list_notes(since)])
for since in ["tomorrow", " "]:
    try:
        notes.list_notes(since)
    except ValueError as error:
        print(error)
"#;
    let mut python = python(script, scratch.path(), "");
    let output = python.env("TZ", "Asia/Kolkata").output().expect("python3");
    let hint = "write today, yesterday, 2026-03-29 or 2026-03-29T14:30";
    assert_eq!(
        said(&output),
        format!(
            "2026-02-28T23:30:00+05:30\n2026-03-01T23:30:00+05:30\n2026-03-02T01:30:00+05:30\n\
             [3]\n[3, 2]\n[3, 2]\n[3, 2]\n[3]\n[3]\n[3, 2, 1]\n\
             since: not a date or time: 'tomorrow'; {hint}\nsince: not a date or time: ' '; {hint}\n"
        )
    );
}
