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
