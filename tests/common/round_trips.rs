//! How long a question and its answer take.

use std::time::Instant;

use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use toolhost::bus::link::{FrameHandler, Link, Sender, Transport};

use super::eventually::within;

const CALLS: usize = 500;
const AT_ONCE: usize = 256;

/// Answers every question.
struct Answerer(Sender);

impl FrameHandler for Answerer {
    fn frame(&mut self, frame: Utf8Bytes) {
        if frame.as_str().contains("\"ask") {
            self.0.send(frame.as_str().replace("\"ask", "\"answer").into());
        }
    }
}

/// Notes every answer.
struct Asker(mpsc::UnboundedSender<Utf8Bytes>);

impl FrameHandler for Asker {
    fn frame(&mut self, frame: Utf8Bytes) {
        if frame.as_str().contains("\"answer") {
            // The measurement may be over.
            self.0.send(frame).ok();
        }
    }
}

/// Measures calls one by one, and many at once, and prints both.
pub(crate) async fn measure(name: &str, host: impl Transport, caller: impl Transport) {
    let mut links = [host.link(), caller.link()];
    let answerer = Answerer(host.sender());
    tokio::spawn(host.run(answerer));
    let sender = caller.sender();
    let (note, mut answers) = mpsc::unbounded_channel();
    tokio::spawn(caller.run(Asker(note)));
    for link in &mut links {
        within("the link", link.wait_for(Link::is_connected))
            .await
            .expect("it runs");
    }

    let ask = |number: usize| {
        let session = r#"{"session_id":"default","lang":"en-US"}"#;
        format!(r#"{{"type":"ask.{number}","data":{{"text":"how long is this"}},"context":{{"session":{session}}}}}"#)
    };
    let mut times = Vec::with_capacity(CALLS);
    for number in 0..CALLS {
        let start = Instant::now();
        sender.send(ask(number).into());
        let answer = within("the answer", answers.recv()).await.expect("the answer");
        assert!(answer.as_str().contains(&format!("answer.{number}\"")));
        times.push(start.elapsed());
    }
    times.sort();

    let total = CALLS * 20;
    let start = Instant::now();
    for number in 0..total + AT_ONCE {
        if number >= AT_ONCE {
            within("the answer", answers.recv()).await.expect("the answer");
        }
        if number < total {
            sender.send(ask(number).into());
        }
    }
    let rate = total as f64 / start.elapsed().as_secs_f64();
    println!(
        "{name}: median {:?}, 99 % {:?}; {AT_ONCE} at once: {rate:.0}/s",
        times[CALLS / 2],
        times[CALLS * 99 / 100]
    );
}
