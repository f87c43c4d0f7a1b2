//! The laws of `laws/`, each played some thousand mutants of real inputs: of the transcripts, the examples, the faulty
//! files, the scripts, and what a fuzzer once found.
//!
//! The cases are the same in every run. One that breaks a law names its number, and `TOOLHOST_CASE` plays it alone:
//!
//! ```console
//! $ TOOLHOST_CASE=1234 cargo test --test properties message
//! ```
//!
//! `TOOLHOST_CASE=0..1000000` plays that many. Beyond that there are the fuzz targets of `tests/fuzz/`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

mod corpus;
#[allow(unreachable_pub, reason = "the fuzz targets, another crate, use them too")]
mod laws;
mod mutate;

use std::ops::Range;
use std::panic::catch_unwind;

use corpus::corpus;
use mutate::Mutator;

/// Plays the corpus as it is, then mutants of it.
fn play(name: &str, law: fn(&[u8]), mutants: u64) {
    let seeds = corpus(name);
    assert!(seeds.len() >= 5, "a corpus of {} inputs", seeds.len());
    // A mutant of a file full of aliases costs as much as a hundred others, and says no more.
    let is_light = |seed: &&Vec<u8>| name != "yaml" || seed.iter().filter(|byte| **byte == b'*').count() < 40;
    let light: Vec<_> = seeds.iter().filter(is_light).cloned().collect();
    let mutator = Mutator::new(name, &light);
    for case in cases(seeds.len() as u64 + mutants) {
        let input = match seeds.get(case as usize) {
            Some(seed) => seed.clone(),
            None => mutator.mutant(case),
        };
        if let Err(why) = catch_unwind(|| law(&input)) {
            let why = why.downcast::<String>().map(|why| *why).unwrap_or_else(|why| {
                why.downcast_ref::<&str>()
                    .map_or_else(String::new, |why| (*why).to_owned())
            });
            panic!(
                "the law '{name}' is broken by case {case}, which TOOLHOST_CASE={case} plays alone: {why}\nthe input is \
                 b\"{}\"",
                input.escape_ascii()
            );
        }
    }
}

/// The cases to play.
fn cases(all: u64) -> Range<u64> {
    let number = |text: &str| {
        text.trim()
            .parse::<u64>()
            .expect("TOOLHOST_CASE is a number, or two: 0..1000000")
    };
    match std::env::var("TOOLHOST_CASE") {
        Err(_) => 0..all,
        Ok(asked) => match asked.split_once("..") {
            Some((from, to)) => number(from)..number(to),
            None => number(&asked)..number(&asked) + 1,
        },
    }
}

#[test]
fn lines_are_the_same_however_they_arrive_and_none_is_too_long() {
    play("line", laws::line::hold, 4_000);
}

#[test]
fn an_answer_reaches_one_request_or_none() {
    play("answer", laws::answer::hold, 6_000);
}

#[test]
fn a_message_comes_back_as_it_came_or_is_dropped_for_a_reason() {
    play("message", laws::message::hold, 8_000);
}

#[test]
fn every_fault_of_a_file_has_its_place_and_tells_no_secret() {
    play("yaml", laws::yaml::hold, 500);
}

#[test]
fn a_value_arrives_in_its_own_place_or_is_refused() {
    play("template", laws::template::hold, 8_000);
}

#[test]
fn a_description_becomes_tools_or_an_error_in_words() {
    play("describe", laws::describe::hold, 2_000);
}

#[test]
fn any_bash_script_is_read_or_refused_and_its_values_arrive() {
    play("bash", laws::bash::hold, 600);
}

#[test]
fn a_schema_hurts_nobody_and_what_it_let_through_it_lets_through_again() {
    play("schema", laws::schema::hold, 2_000);
}

#[test]
fn each_line_of_the_control_socket_has_one_answer() {
    play("control", laws::control::hold, 3_000);
}

#[test]
fn whatever_the_file_of_counts_holds_they_stay_whole_and_bounded() {
    play("usage", laws::usage::hold, 4_000);
}

/// For `tests/fuzz/run`, which begins with what is known.
#[test]
#[ignore = "writes files: the corpora the fuzz targets begin with, below the folder TOOLHOST_CORPUS"]
fn the_corpora_are_written_out() {
    let folder = std::env::var("TOOLHOST_CORPUS").expect("TOOLHOST_CORPUS names a folder");
    for name in corpus::NAMES {
        let folder = std::path::Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (index, seed) in corpus(name).iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{index}")), seed).unwrap();
        }
    }
}
