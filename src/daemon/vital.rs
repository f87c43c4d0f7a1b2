//! What a host cannot do without: where a task of that kind ends unasked, by a panic of our own, the host ends with it.
//!
//! A host without its link to the bus would look alive and answer nobody. Its end is seen: by its exit code, and by a
//! service manager, which starts it anew.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::tools::outcome::FAULT;

/// Which vital task has ended unasked.
#[derive(Debug, Clone, Default)]
pub(super) struct Vital(Arc<watch::Sender<Option<&'static str>>>);

impl Vital {
    /// Runs `task`, which is to end with `stop` and not before; `what` is it in words.
    pub(super) async fn watch(self, what: &'static str, stop: CancellationToken, task: impl Future<Output = ()>) {
        // Nothing of the task is used after a panic.
        let panicked = AssertUnwindSafe(task).catch_unwind().await.is_err();
        if panicked || !stop.is_cancelled() {
            tracing::error!(what, "ended unasked");
            self.0.send_if_modified(|ended| ended.replace(what).is_none());
        }
    }

    /// Waits until a vital task has ended unasked.
    pub(super) async fn ended(&self) -> Error {
        let mut ended = self.0.subscribe();
        let what = match ended.wait_for(Option::is_some).await {
            Ok(ended) => ended.unwrap_or_default(),
            // The sender is in `self`.
            Err(_) => "a part of it",
        };
        Error::failed(format!("{what} ended by {FAULT}")).with_hint("start toolhost again, and please report it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_the_host_with_words() {
        let vital = Vital::default();
        let stop = CancellationToken::new();
        let falls = async { panic!("a fault") };
        tokio::spawn(vital.clone().watch("the link to the bus", stop, falls));
        let error = vital.ended().await;
        assert_eq!(
            error.to_string(),
            "the link to the bus ended by a fault of toolhost itself, which its log tells"
        );
        assert_eq!(error.exit(), crate::error::Exit::Failed);
    }

    #[tokio::test]
    async fn an_end_that_nobody_asked_for_counts_and_one_that_was_asked_for_does_not() {
        let vital = Vital::default();
        let stop = CancellationToken::new();
        stop.cancel();
        vital.clone().watch("the link", stop, async {}).await;
        assert!(vital.ended().now_or_never().is_none());
        vital.clone().watch("the bus", CancellationToken::new(), async {}).await;
        assert!(vital.ended().await.to_string().starts_with("the bus ended"));
    }
}
