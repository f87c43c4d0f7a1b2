//! Reaps what toolboxes lose and nobody waits for: without it such a process stays a zombie for as long as the host lives.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::process::guard::Guard;

/// Between two looks: however many commands end a second, this costs next to nothing, and a zombie can wait.
const PAUSE: Duration = Duration::from_millis(50);

/// Nothing tells that a process has lost its parent. One that cannot be known by its environment is to be known to the guard
/// before long.
const EVERY: Duration = Duration::from_secs(30);

/// Works for as long as the host does. The death of a child wakes it, and a clock that runs slowly.
pub(super) async fn reap(guard: Guard) {
    let mut deaths = match signal(SignalKind::child()) {
        Ok(deaths) => deaths,
        Err(error) => return tracing::warn!(error = %error, "orphans of toolboxes will stay zombies"),
    };
    loop {
        while !guard.sweep() {
            tokio::time::sleep(PAUSE).await;
        }
        if let Ok(None) = tokio::time::timeout(EVERY, deaths.recv()).await {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
