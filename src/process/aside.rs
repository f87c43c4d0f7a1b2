//! Work that keeps a processor busy for long, without holding up the other tasks.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Bytes of JSON from which a check against a schema is long: about a millisecond.
pub const LARGE: usize = 256 * 1024;

/// Does `work` here and now. Where it is long, the other tasks go on meanwhile, on another thread.
pub fn aside<T>(is_long: bool, work: impl FnOnce() -> T) -> T {
    // A runtime of one thread has no place for the others to go on.
    if is_long && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        block_in_place(work)
    } else {
        work()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on() {
        let (out, others) = mpsc::channel();
        let working = tokio::spawn(async move {
            tokio::spawn(async move { out.send("went on") });
            aside(true, || others.recv_timeout(Duration::from_secs(10)))
        });
        assert_eq!(working.await.unwrap(), Ok("went on"));
    }

    #[tokio::test]
    async fn one_thread_does_everything_itself() {
        assert_eq!(aside(true, || 1), 1);
    }
}
