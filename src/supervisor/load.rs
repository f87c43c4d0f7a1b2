//! How many bytes of calls are on hand, and how many may be: of one toolbox, and of all of a host. No IO, no clock.
//!
//! `max_pending` counts calls, and one call may be a Message of many megabytes. So each is charged with its Message, from
//! its arrival to its answer, wherever it is meanwhile: in the mailbox, in the queue, in a process. What it is made into
//! on its way (checked arguments, a line) takes the place of what it came as, so that the memory taken is a small
//! multiple of what is charged.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::tools::outcome::CallError;

/// Bytes of calls one toolbox may have on hand; one that is larger by itself is taken where there is no other.
const OF_A_TOOLBOX: usize = 64 << 20;
/// And all toolboxes together.
const OF_A_HOST: usize = 256 << 20;
/// What is never refused to a toolbox, so that those beside it cannot crowd it out.
const ASSURED: usize = 1 << 20;

/// What the toolboxes of a host have on hand together.
#[derive(Debug, Clone, Default)]
pub struct HostLoad(Arc<AtomicUsize>);

/// What one toolbox has on hand.
#[derive(Debug, Clone)]
pub(super) struct Load {
    own: Arc<AtomicUsize>,
    host: HostLoad,
}

/// The part of one call; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    load: Load,
    bytes: usize,
}

impl Load {
    pub(super) fn new(host: HostLoad) -> Self {
        Self {
            own: Arc::default(),
            host,
        }
    }

    /// Room for a call of so many bytes.
    ///
    /// # Errors
    /// What its caller is told where there is none.
    pub(super) fn take(&self, bytes: usize) -> Result<Share, CallError> {
        let add = |counter: &AtomicUsize| counter.fetch_add(bytes, Ordering::Relaxed);
        let (own, host) = (add(&self.own), add(&self.host.0));
        // From here on giving up gives back.
        let share = Share {
            load: self.clone(),
            bytes,
        };
        let refused = |bytes, limit| Err(CallError::OverloadedBytes { bytes, limit });
        if own + bytes <= ASSURED {
            Ok(share)
        } else if own > 0 && own + bytes > OF_A_TOOLBOX {
            refused(own, OF_A_TOOLBOX)
        } else if host + bytes > OF_A_HOST {
            refused(host, OF_A_HOST)
        } else {
            Ok(share)
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.load.own.fetch_sub(self.bytes, Ordering::Relaxed);
        self.load.host.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn refusal(taken: Result<Share, CallError>) -> String {
        taken.expect_err("refused").to_string()
    }

    #[test]
    fn a_toolbox_has_its_bytes_and_gets_them_back() {
        let load = Load::new(HostLoad::default());
        let whole = load.take(OF_A_TOOLBOX).unwrap();
        assert_eq!(
            refusal(load.take(1)),
            "Overloaded: calls of 67108864 bytes are waiting (limit 67108864)"
        );
        drop(whole);
        let parts: Vec<_> = (0..64).map(|_| load.take(MIB).unwrap()).collect();
        assert!(load.take(MIB).is_err());
        drop(parts);
        assert!(load.take(2 * OF_A_TOOLBOX).is_ok(), "a lone one");
        assert_eq!(load.own.load(Ordering::Relaxed), 0);
        assert_eq!(load.host.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn full_neighbors_leave_each_toolbox_its_own() {
        let host = HostLoad::default();
        let full: Vec<_> = (0..4).map(|_| Load::new(host.clone())).collect();
        let shares: Vec<_> = full.iter().map(|load| load.take(OF_A_TOOLBOX).unwrap()).collect();
        let healthy = Load::new(host);
        let small: Vec<_> = (0..1024).map(|_| healthy.take(1024).unwrap()).collect();
        assert_eq!(
            refusal(healthy.take(1024)),
            format!(
                "Overloaded: calls of {} bytes are waiting (limit 268435456)",
                4 * OF_A_TOOLBOX + MIB
            )
        );
        drop(shares);
        assert!(healthy.take(32 * MIB).is_ok());
        drop(small);
    }
}
