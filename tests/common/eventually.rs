//! Waiting for something with a deadline.

use std::future::Future;
use std::time::{Duration, Instant};

/// How long anything may take on a loaded machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// Awaits `future`, or fails saying what did not happen.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("not within {DEADLINE:?}: {what}"),
    }
}

/// Asks `check` until it says yes, or fails saying what did not happen.
pub(crate) async fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let start = Instant::now();
    while !check() {
        assert!(start.elapsed() < DEADLINE, "not within {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
