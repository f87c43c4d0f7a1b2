//! A storm: fifty toolboxes of every temper beside ten healthy ones, a bus that is killed and reloads that come at random,
//! and calls without pause. Every call has exactly one answer, the healthy never notice, and nothing is left.
//!
//! ```text
//! cargo nextest run --test chaos                                  # the short one, part of the suite
//! cargo test --release --test chaos -- --ignored --nocapture      # 200,000 calls
//! CHAOS_SEED=7 ...                                                # another storm; the default is always the same one
//! ```
//!
//! What a toolbox does to a call is in the call, and the calls are drawn from the seed; when what happens is the machine's.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::print_stdout)] // The allowance for tests ends at their own functions.

#[path = "../common/mod.rs"]
mod common;

mod cast;
mod ledger;
mod storm;

use storm::Plan;

#[tokio::test(flavor = "multi_thread")]
async fn a_short_storm_costs_no_caller_an_answer_and_leaves_nothing() {
    let report = storm::run(&Plan {
        quiet: 300,
        calls: 2_500,
        healthy_a_second: 150,
        moody_a_second: 150,
        kills: 1,
        reloads: 4,
    })
    .await;
    println!("{report}");
    report.check();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "200,000 calls take some minutes, and a machine with nothing else to do"]
async fn two_hundred_thousand_calls_in_a_storm() {
    let report = storm::run(&Plan {
        quiet: 10_000,
        calls: 200_000,
        healthy_a_second: 400,
        moody_a_second: 250,
        kills: 6,
        reloads: 40,
    })
    .await;
    println!("{report}");
    report.check();
    report.check_costs();
}
