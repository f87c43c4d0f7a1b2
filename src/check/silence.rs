//! Why a program that runs says nothing.
//!
//! Three causes look alike from outside, and each is mended in another place: its answers wait in a buffer, it reads its
//! input to the end before it answers, or it has stopped. They are told apart by trying: a buffer that is filled runs
//! over, and input that ends ends the reading.

use std::time::Duration;

use tokio::time::Instant;

use super::hints::Hint;
use super::play::{Game, Next};
use crate::config::Mode;
use crate::protocol::request::Request;

/// Requests that fill the buffers in common use, of 4 and 8 KiB, with answers of some 40 bytes.
const REQUESTS: u64 = 500;

/// Their ids, beyond any that a transcript has.
const FIRST_ID: u64 = 1_000_000;

/// Time for what runs over.
const OVERFLOW: Duration = Duration::from_secs(3);

/// Time for more of it: a program that is slow writes one answer, a buffer gives many at once.
const BURST: Duration = Duration::from_millis(500);

/// Time for what comes once the input has ended.
const END: Duration = Duration::from_secs(3);

/// The kind of the finding, its words and its hint.
type Cause = (&'static str, String, Option<Hint>);

/// Finds out why nothing came within `patience`. The process is of no further use then.
pub(super) async fn cause(game: &mut Game<'_>, patience: Duration) -> Cause {
    let within = format!("wrote nothing within {}", humantime::format_duration(patience));
    if game.subject.config.mode == Mode::Oneshot {
        return ("silent", format!("{within}, though its input had ended"), None);
    }
    ask_much(game);
    match lines(game, OVERFLOW).await {
        0 => {}
        1 => {
            let what = format!(
                "{within}, and answered later: it is slow; --timeout waits longer here, and \
                                describe_timeout or timeout in the configuration"
            );
            return ("slow", what, None);
        }
        _ => {
            let what = format!(
                "{within}: its output is buffered. {REQUESTS} further requests made the buffer run \
                                over, and its answers came out"
            );
            return ("buffered", what, Some(Hint::Buffered));
        }
    }
    game.close();
    match lines(game, END).await {
        0 => (
            "silent",
            format!("{within}, and nothing when its input was closed"),
            None,
        ),
        _ => {
            let what = format!(
                "{within}, and answered when its input was closed: it reads its input to the end before \
                                it answers. It should answer each line as it comes, or be run once a request (mode: \
                                oneshot, here --oneshot)"
            );
            ("reads all", what, Some(Hint::ReadsAll))
        }
    }
}

fn ask_much(game: &mut Game<'_>) {
    let mut requests = Vec::new();
    for id in FIRST_ID..FIRST_ID + REQUESTS {
        Request::Describe {
            id,
            toolbox_id: &game.subject.config.id,
            config: game.subject.config.config.as_str(),
        }
        .write(&mut requests);
    }
    if let Some(process) = &mut game.process {
        process.send(&requests);
    }
}

/// How many lines come within `patience`: none, one or more.
async fn lines(game: &mut Game<'_>, patience: Duration) -> usize {
    let mut deadline = Instant::now() + patience;
    let mut count = 0;
    while count < 2 {
        match game.next(deadline).await {
            Next::Line(line) if line.trim_ascii().is_empty() => {}
            Next::Line(_) => {
                count += 1;
                deadline = Instant::now() + BURST;
            }
            Next::Exited(_) | Next::Nothing => break,
        }
    }
    count
}
