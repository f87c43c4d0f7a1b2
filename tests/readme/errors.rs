//! The table of errors holds every error there is, in the words callers get.

use std::time::Duration;

use toolhost::tools::outcome::CallError;

use crate::readme;

/// One of each.
fn all() -> Vec<CallError> {
    let (name, text) = (|| "hello".to_owned(), |text: &str| text.to_owned());
    let all = vec![
        CallError::MissingName,
        CallError::UnknownTool(text("nope")),
        CallError::Ambiguous {
            name: name(),
            owners: vec![text("greet"), text("greet_bash")],
        },
        CallError::InvalidArguments {
            name: name(),
            faults: text("name: is required"),
        },
        CallError::InvalidOutput {
            name: name(),
            faults: text("greeting: is required"),
        },
        CallError::InvalidSchema {
            name: name(),
            why: String::new(),
        },
        CallError::Raised(text("LookupError: no such word: 'xyzzy'")),
        CallError::Command(text("exit status 3: ")),
        CallError::Timeout {
            name: name(),
            timeout: Duration::from_secs(10),
            hint: "",
        },
        CallError::Crashed(text("exit status 1: ")),
        CallError::Unavailable(String::new()),
        CallError::Overloaded(256),
        CallError::OverloadedBytes {
            bytes: 67_100_000,
            limit: 64 << 20,
        },
        CallError::ResultTooLarge {
            bytes: Some(9_000_000),
            limit: 8 << 20,
        },
        CallError::Protocol(String::new()),
    ];
    for error in &all {
        // A new kind of error does not compile here, and then belongs above.
        match error {
            CallError::MissingName
            | CallError::UnknownTool(_)
            | CallError::Ambiguous { .. }
            | CallError::InvalidArguments { .. }
            | CallError::InvalidOutput { .. }
            | CallError::InvalidSchema { .. }
            | CallError::Raised(_)
            | CallError::Command(_)
            | CallError::Timeout { .. }
            | CallError::Crashed(_)
            | CallError::Unavailable(_)
            | CallError::Overloaded(_)
            | CallError::OverloadedBytes { .. }
            | CallError::Protocol(_)
            | CallError::ResultTooLarge { .. } => {}
        }
    }
    all
}

#[test]
fn the_table_of_errors_is_complete_and_exact() {
    let readme = readme();
    let table = readme
        .split("| the caller sees | it means |")
        .nth(1)
        .expect("the table of errors");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let told: Vec<_> = rows
        .filter_map(|row| row.strip_prefix("| `")?.split('`').next())
        .map(|text| text.trim_end_matches("..."))
        .collect();
    let said: Vec<_> = all().iter().map(ToString::to_string).collect();
    assert_eq!(told, said);
}
