//! The walls of `ARCHITECTURE.md`: who must not name whom, where IO may be, how long a file may get.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

use std::path::{Path, PathBuf};

/// A source file, by its path in the repository.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Without comments, which may name anything.
    fn code(&self) -> String {
        let lines = self.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Whether it belongs to the module at `path`: a file `a/b.rs`, or a folder `a/b`.
    fn is_in(&self, module: &str) -> bool {
        self.path == format!("src/{module}.rs") || self.path.starts_with(&format!("src/{module}/"))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        // Whoever fuzzes by hand builds into tests/fuzz/target.
        if path.ends_with("fuzz/target") {
            continue;
        }
        if path.is_dir() {
            rust_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in folders
        .iter()
        .map(|folder| root().join(folder))
        .filter(|folder| folder.is_dir())
    {
        rust_below(&folder, &mut paths);
    }
    assert!(paths.len() > 20);
    let source = |path: PathBuf| Source {
        path: path
            .strip_prefix(root())
            .expect("a path below it")
            .display()
            .to_string(),
        text: std::fs::read_to_string(&path).expect("a source file"),
    };
    paths.into_iter().map(source).collect()
}

/// The modules of this crate that `code` names, as `crate::name` or within `crate::{...}`.
fn rooms_named(code: &str) -> Vec<String> {
    let word = |text: &str| {
        text.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    let mut rooms = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => rooms.push(word(rest)),
            Some(group) => {
                let mut depth = 1;
                let end = group.find(|c| {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    depth == 0
                });
                let group = &group[..end.expect("a closing brace")];
                rooms.extend(group.split([',', '{', '\n']).map(|part| word(part.trim_start())));
            }
        }
    }
    rooms
}

/// The files of `modules` must name none of `others`.
fn never_names(modules: &[&str], others: &[&str]) {
    let sources = sources(&["src"]);
    let mut seen = 0;
    for source in sources
        .iter()
        .filter(|source| modules.iter().any(|module| source.is_in(module)))
    {
        let named = rooms_named(&source.code());
        let bad: Vec<_> = named.iter().filter(|room| others.contains(&room.as_str())).collect();
        assert!(bad.is_empty(), "{} names {bad:?}", source.path);
        seen += 1;
    }
    assert!(seen >= modules.len());
}

#[test]
fn groups_of_imports_are_read_as_well() {
    let code = "use crate::{bus::{link, wire}, json};\nuse crate::tools::tool;";
    assert_eq!(rooms_named(code), ["bus", "link", "wire", "json", "tools"]);
}

#[test]
fn the_bus_never_sees_a_process() {
    never_names(
        &["bus"],
        &["supervisor", "process", "registry", "daemon", "cli", "control", "check"],
    );
}

#[test]
fn the_supervisor_never_sees_the_bus() {
    never_names(
        &["supervisor"],
        &["bus", "registry", "daemon", "cli", "control", "check"],
    );
}

#[test]
fn a_process_sees_nobody() {
    never_names(
        &["process"],
        &[
            "bus",
            "supervisor",
            "registry",
            "daemon",
            "cli",
            "control",
            "check",
            "tools",
            "protocol",
            "config",
        ],
    );
}

#[test]
fn the_rest_of_the_table_of_rooms_holds() {
    let upper = [
        "bus",
        "supervisor",
        "process",
        "registry",
        "daemon",
        "cli",
        "control",
        "check",
    ];
    never_names(&["migrate"], &[&upper[..], &["config", "tools", "protocol"]].concat());
    never_names(&["json"], &["tools", "protocol", "config"]);
    never_names(&["json", "protocol", "tools", "config", "topics"], &upper);
    never_names(
        &["control"],
        &["bus", "supervisor", "process", "registry", "daemon", "cli"],
    );
    never_names(&["check"], &["bus", "supervisor", "registry", "daemon", "cli"]);
    never_names(
        &["adapter"],
        &["bus", "supervisor", "registry", "daemon", "cli", "check", "control"],
    );
    never_names(&["migrate"], &upper);
    never_names(&["cli"], &["supervisor", "registry", "daemon"]);
}

/// What decides does no IO. Its tests may.
#[test]
fn what_decides_touches_nothing() {
    const PURE: [&str; 19] = [
        "protocol",
        "json",
        "tools",
        "topics",
        "migrate/scan",
        "adapter/script/argc",
        "bus/message",
        "bus/topic",
        "bus/mapping",
        "bus/mark",
        "bus/derive",
        "supervisor/lifecycle",
        "supervisor/restart",
        "migrate/usage",
        "migrate/verdict",
        "migrate/sign",
        "migrate/watch",
        "migrate/carry",
        "migrate/others",
    ];
    const TOUCHES: [&str; 6] = [
        "tokio::",
        "std::fs",
        "std::net",
        "std::process",
        "std::env::",
        "std::thread",
    ];
    for source in sources(&["src"]) {
        let is_test = source.path.ends_with("tests.rs") || source.path.contains("/tests/");
        if is_test || !PURE.iter().any(|module| source.is_in(module)) {
            continue;
        }
        let code = source.code();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        // A question about the code at hand, and no thread's work.
        let code = code.replace("std::thread::panicking()", "");
        let bad: Vec<_> = TOUCHES.iter().filter(|touched| code.contains(**touched)).collect();
        assert!(bad.is_empty(), "{} uses {bad:?}", source.path);
    }
}

#[test]
fn programs_are_started_in_one_place() {
    for source in sources(&["src"]) {
        let starts = source.code().contains("Command::new");
        // clap has a Command too.
        let allowed = source.path == "src/process/spawn.rs" || source.path.starts_with("src/cli/args");
        assert!(!starts || allowed, "{} starts a program", source.path);
    }
}

/// NTP sets the clock of a machine without a battery hours after it has started: no delay may hang on it.
#[test]
fn no_delay_hangs_on_the_clock_on_the_wall() {
    let rooms = [
        "supervisor",
        "process",
        "bus",
        "registry",
        "control",
        "daemon",
        "check",
        "adapter",
        "log_limit",
    ];
    for source in sources(&["src"]) {
        let bad: Vec<_> = ["SystemTime", "UNIX_EPOCH", "CLOCK_REALTIME"]
            .into_iter()
            .filter(|clock| source.code().contains(clock))
            .collect();
        // What the clock shows when somebody answers for a toolbox of ours is told, and nothing waits for it.
        let allowed = source.path == "src/bus/status.rs" || !rooms.iter().any(|room| source.is_in(room));
        assert!(bad.is_empty() || allowed, "{} uses {bad:?}", source.path);
    }
}

/// The message of a call of a log macro: the last string in it that is an argument of its own.
fn message(call: &str) -> Option<&str> {
    let (mut depth, mut start, mut last) = (0, None, None);
    let mut escaped = false;
    for (at, byte) in call.bytes().enumerate() {
        match (start, byte) {
            (Some(_), b'\\') => escaped = !escaped,
            (Some(from), b'"') if !escaped => {
                if depth == 1 {
                    last = Some(&call[from + 1..at]);
                }
                start = None;
            }
            (Some(_), _) => escaped = false,
            (None, b'"') => start = Some(at),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => {
                depth -= 1;
                if depth == 0 {
                    return last;
                }
            }
            _ => {}
        }
    }
    None
}

/// Whoever counts or searches log lines does it by their message: what varies is a field.
#[test]
fn the_messages_of_the_log_are_constant() {
    let mut messages = 0;
    for source in sources(&["src"]) {
        let code = source.code();
        for macro_name in ["error!(", "warn!(", "info!(", "debug!(", "trace!("] {
            for (at, _) in code.match_indices(macro_name) {
                // `write_error!` is none.
                if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    continue;
                }
                let Some(message) = message(&code[at + macro_name.len() - 1..]) else {
                    continue;
                };
                assert!(!message.contains('{'), "{} logs {message:?}", source.path);
                messages += 1;
            }
        }
    }
    assert!(messages > 60, "{messages}");
}

#[test]
fn the_message_of_a_log_macro_is_found() {
    assert_eq!(
        message(r#"(a = f("no {x}"), "yes \"it\" is"); g("not")"#),
        Some(r#"yes \"it\" is"#)
    );
    assert_eq!(message(r#"(a, "it is {a}", b)"#), Some("it is {a}"));
    assert_eq!(message("(a = 1)"), None);
}

#[test]
fn every_file_says_what_it_is_for() {
    for source in sources(&["src", "tests", "benches"]) {
        let first = source.text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("//! ") && first.len() > 10,
            "{} begins with {first:?}",
            source.path
        );
    }
}

#[test]
fn no_file_is_too_long() {
    for source in sources(&["src", "tests", "benches"]) {
        let lines = source.text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", source.path);
    }
}

#[test]
fn the_text_knows_every_room_and_names_no_file_that_is_gone() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let library = std::fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    for room in library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
    {
        let named = [format!("`src/{room}/`"), format!("`src/{room}.rs`")];
        assert!(
            named.iter().any(|name| text.contains(name)),
            "ARCHITECTURE.md does not tell what {room} is"
        );
        assert!(
            library.contains(&format!("[`{room}`]")),
            "the map in src/lib.rs leaves {room} out"
        );
    }
    let is_path = |word: &&str| word.contains('/') && !word.contains(' ');
    let paths: Vec<_> = text.split('`').skip(1).step_by(2).filter(is_path).collect();
    assert!(paths.len() > 30);
    for path in paths {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}
