//! The README, the page from a script to a tool and the guide off the predecessor topics do what they say: their files are written, its commands are run in its order, and what it shows of their
//! output is compared.
//!
//! A fenced block with a file name after its language is that file. In a `console` block a line that starts with `$ ` is
//! a command, and the lines below it are what it prints. `console server` starts what goes on running.
//!
//! What is not run as it stands: `apt-get install` must name packages that `tests/setup` installs; `cargo run` is the
//! program that cargo has built for this test; `cargo install` and `tests/run` only have to be there; `ip route` is tried
//! in a network of its own (see `route`); `python3 -m venv` and `python3 FILE` are of the Python that the tests have. The embedded bus gets a free port instead of 8181, and a `mycroft.conf` tells it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should panic"
)]

#[path = "../common/mod.rs"]
#[allow(unused_imports, reason = "each test binary uses its own part of it")]
mod common;

mod blocks;
mod errors;
mod guide;
mod place;
mod route;

use std::path::Path;

use blocks::{Block, blocks};
use place::{Place, Said};

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    text_of("README.md")
}

fn text_of(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).expect("a page")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_readme_says_is_so() {
    follow("README.md").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_from_a_script_to_a_tool_says_is_so() {
    follow("toolboxes/README.md").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_guide_off_the_predecessor_topics_says_is_so() {
    follow("examples/migration/README.md").await;
}

/// Does what a page says, in its order.
async fn follow(page: &str) {
    let mut place = Place::new();
    for block in blocks(&text_of(page)) {
        match (block.language.as_str(), block.note.as_str()) {
            ("console", "server") => {
                for command in block.commands() {
                    place.serve(&command.line).await;
                }
            }
            ("console", "service") => service(&mut place, &block).await,
            ("console", _) => run(page, &place, &block),
            (_, "") => panic!("line {}: what is this block for?", block.at),
            (_, file) => place.write(file, &block.body),
        }
    }
}

fn run(page: &str, place: &Place, block: &Block) {
    for command in block.commands() {
        let at = format!("{page}:{}: {}", block.at, command.line);
        let words: Vec<_> = command.line.split_whitespace().collect();
        match words.as_slice() {
            ["sudo", "apt-get", "install", packages @ ..] => installed_by_setup(packages, &at),
            ["sudo", "ip", "route", ..] => route::is_accepted(command.line.trim_start_matches("sudo ")),
            ["cargo", "install", "--path", "."] => assert_eq!(env!("CARGO_PKG_NAME"), "toolhost"),
            ["tests/run"] => assert!(root().join("tests/run").is_file()),
            ["python3", script, ..] if script.ends_with(".py") => {
                // Its own may not have the client of the bus.
                let line = command
                    .line
                    .replacen("python3", &common::peers::python().display().to_string(), 1);
                let said = place.run(&line);
                assert!(said.success, "{at}: {said:?}");
                compare(&said, &command.shown, &at);
            }
            ["python3", rest @ ..] if rest.starts_with(&["-m", "venv"]) => {
                // Without pip, which takes a while and is not used here.
                let python = common::peers::python();
                let said = place.run(&format!("{} {} --without-pip", python.display(), rest.join(" ")));
                assert!(said.success, "{at}: {said:?}");
            }
            _ => {
                let said = place.run(&command.line);
                assert_eq!(said.success, !command.shown.contains("error: "), "{at}: {said:?}");
                compare(&said, &command.shown, &at);
            }
        }
    }
}

fn installed_by_setup(packages: &[&str], at: &str) {
    let setup = std::fs::read_to_string(root().join("tests/setup")).expect("tests/setup");
    let known: Vec<_> = setup.split(|c: char| c.is_whitespace() || c == ';').collect();
    for package in packages {
        assert!(known.contains(package), "{at}: tests/setup does not install {package}");
    }
}

/// JSON is spread over lines on a terminal only, so it is compared as a value.
fn compare(said: &Said, shown: &str, at: &str) {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    match (json(shown), json(&said.output)) {
        _ if shown.is_empty() => {}
        (Some(shown), Some(said)) => assert_eq!(said, shown, "{at}"),
        _ => assert_eq!(said.output.trim_end(), shown.trim_end(), "{at}"),
    }
}

/// Does what the block says, and in the place of systemd what the unit says: starts the host, reloads it, stops it.
async fn service(place: &mut Place, block: &Block) {
    let unit = text_of("examples/systemd/user/ovos-toolhost.service");
    let value = |key: &str| {
        let line = unit.lines().find_map(|line| line.strip_prefix(key));
        let line = line.unwrap_or_else(|| panic!("no {key} in the unit"));
        line.replace("%h", &place.home())
    };
    let (start, reload) = (value("ExecStart="), value("ExecReload="));
    let mut did = Vec::new();
    for command in block.commands() {
        let words: Vec<_> = command.line.split_whitespace().collect();
        match words.as_slice() {
            ["systemctl", "--user", "enable", "--now", "ovos-toolhost"] => {
                place.serve(&start).await;
                did.push("start");
            }
            ["systemctl", "--user", "reload", "ovos-toolhost"] => {
                let said = place.run(&reload);
                assert!(said.success, "{said:?}");
                place.wait_until_ready().await;
                did.push("reload");
            }
            ["systemctl", "--user", "status", "ovos-toolhost"]
            | ["journalctl", "--user", "-u", "ovos-toolhost", ..] => {}
            _ => {
                let said = place.run(&command.line);
                assert!(said.success, "{}: {said:?}", command.line);
            }
        }
    }
    assert_eq!(did, ["start", "reload"]);
}

#[test]
fn every_link_leads_somewhere() {
    for (page, least) in [
        ("README.md", 5),
        ("toolboxes/README.md", 15),
        ("examples/migration/README.md", 2),
    ] {
        let folder = root().join(page).parent().expect("its folder").to_owned();
        let text = text_of(page);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let mut links = 0;
        for target in targets.filter(|target| !target.starts_with("http")) {
            let file = target.split('#').next().unwrap_or_default();
            assert!(folder.join(file).exists(), "{page}: no {target}");
            links += 1;
        }
        assert!(links > least, "{page}: {links} links");
    }
}
