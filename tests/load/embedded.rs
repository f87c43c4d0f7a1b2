//! The bus inside the host, with clients that send more than the host can take.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use toolhost::bus::embedded::EmbeddedOptions;
use toolhost::bus::link::{FrameHandler, Transport as _};

use crate::common::embedded::Embedded;
use crate::common::eventually::within;

/// Takes its time, and notes by how many frames it was ever behind what the bus had relayed.
struct Slow {
    relayed: Arc<AtomicUsize>,
    handled: Arc<AtomicUsize>,
    behind: Arc<AtomicUsize>,
}

impl FrameHandler for Slow {
    fn frame(&mut self, _: Utf8Bytes) {
        std::thread::sleep(Duration::from_millis(2));
        let handled = self.handled.fetch_add(1, Ordering::Relaxed);
        let behind = self.relayed.load(Ordering::Relaxed).saturating_sub(handled);
        self.behind.fetch_max(behind, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_client_that_sends_more_than_the_host_takes_waits_and_loses_nothing() {
    const FRAMES: usize = 2000;
    const LENGTH: usize = 10_000;
    const MAY_WAIT: usize = 8 << 20;
    let bus = Embedded::start_with(EmbeddedOptions {
        max_backlog: MAY_WAIT,
        ..EmbeddedOptions::default()
    })
    .await;
    let count = || Arc::new(AtomicUsize::new(0));
    let (relayed, handled, behind) = (count(), count(), count());
    let host = bus.hub.attach(CancellationToken::new());
    tokio::spawn(host.run(Slow {
        relayed: Arc::clone(&relayed),
        handled: Arc::clone(&handled),
        behind: Arc::clone(&behind),
    }));
    let (mut sending, mut receiving) = bus.client().await.0.split();
    let frame = format!(r#"{{"type":"{}"}}"#, "x".repeat(LENGTH));
    tokio::spawn(async move {
        for _ in 0..FRAMES {
            sending
                .send(frame.as_str().into())
                .await
                .expect("it is sent in the end");
        }
        // Kept, so that the connection is.
        std::future::pending::<()>().await;
        drop(sending);
    });
    // Its own frames come back once they are relayed.
    for _ in 0..FRAMES {
        let echo = within("a frame comes back", receiving.next()).await;
        echo.expect("the connection stands").expect("a frame");
        relayed.fetch_add(1, Ordering::Relaxed);
    }
    crate::common::eventually::eventually("all are handled", || handled.load(Ordering::Relaxed) >= FRAMES).await;
    let behind = behind.load(Ordering::Relaxed);
    println!("behind by {behind} frames at most");
    assert!(behind <= MAY_WAIT / 2 / LENGTH + 10, "behind by {behind} frames");
}
