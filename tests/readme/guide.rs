//! Two files of the guide off the predecessor topics, tried where what they are for happens: the caller that waits for its own
//! answer while another comes first, and the script for cron at each end of the question.

#![allow(
    clippy::disallowed_methods,
    reason = "a test runs what the guide tells people to run"
)]

use crate::blocks::blocks;
use crate::common::eventually::eventually;
use crate::common::peers::{RealBus, python_command};
use crate::common::ports::free_port;
use crate::common::scratch::Scratch;
use crate::place::Place;
use crate::{root, text_of};

/// The first file of that name in the guide.
fn file(name: &str) -> String {
    let all = blocks(&text_of("examples/migration/README.md"));
    let found = all.into_iter().find(|block| block.note == name);
    found.unwrap_or_else(|| panic!("no {name} in the guide")).body
}

#[tokio::test]
async fn the_caller_of_the_guide_takes_its_own_answer_where_that_of_another_program_comes_first() {
    let port = free_port();
    let mut bus = RealBus::prepare(port, "");
    bus.restart().await;
    let scratch = Scratch::new();
    std::fs::write(scratch.path().join("ask.py"), file("ask.py")).expect("a file");
    let output = python_command(scratch.path())
        .env("PYTHONPATH", scratch.path())
        .arg(root().join("tests/readme/first_come.py"))
        .arg(port.to_string())
        .output()
        .expect("python");
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "wait_for_response: another's",
            "call: mine",
            "call, nobody answers: None"
        ],
        "{output:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_for_cron_tells_yes_and_not_yet_and_could_not_ask_apart() {
    let mut place = Place::new();
    for name in ["greet.py", "toolhost.yaml", "can-it-go.sh"] {
        place.write(name, &file(name));
    }
    place.serve("toolhost run toolhost.yaml").await;
    let called = place.run("toolhost call --predecessor greet hello name=Ada");
    assert!(called.success, "{called:?}");
    let said = place.run("sh can-it-go.sh");
    assert!(said.success && said.output.is_empty(), "not yet is no news: {said:?}");
    eventually("the report turns quiet", || {
        let said = place.run("sh can-it-go.sh 1s");
        assert!(said.success, "{said:?}");
        said.output.ends_with("they can go\n")
    })
    .await;
    let could_not_ask = |place: &Place, line: &str, status: u8| {
        let said = place.run(line);
        let start = format!("toolhost could not be asked ({status}): ");
        assert!(!said.success && said.output.starts_with(&start), "{line}: {said:?}");
    };
    could_not_ask(&place, "sh can-it-go.sh soon", 2);
    place.stop();
    could_not_ask(&place, "sh can-it-go.sh", 3);
    std::fs::remove_file(place.path("home/.cargo/bin/toolhost")).expect("it was there");
    could_not_ask(&place, "sh can-it-go.sh", 127);
}
