//! Reaps what toolboxes lose and nobody waits for: without it such a process stays a zombie for as long as the host lives.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::process::guard::Guard;

/// Between two looks: however many commands end a second, this costs next to nothing, and a zombie can wait.
const PAUSE: Duration = Duration::from_millis(50);

/// Works for as long as the host does. Only the death of a child wakes it.
pub(super) async fn reap(guard: Guard) {
    let mut deaths = match signal(SignalKind::child()) {
        Ok(deaths) => deaths,
        Err(error) => return tracing::warn!(error = %error, "orphans of toolboxes will stay zombies"),
    };
    loop {
        while !guard.sweep() {
            tokio::time::sleep(PAUSE).await;
        }
        if deaths.recv().await.is_none() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
