//! The embedded bus, running.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolhost::bus::embedded::{EmbeddedBus, EmbeddedOptions, Hub};

use super::raw::Raw;

/// A running embedded bus.
pub(crate) struct Embedded {
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    pub(crate) hub: Hub,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

impl Embedded {
    pub(crate) async fn start() -> Self {
        Self::start_with(EmbeddedOptions::default()).await
    }

    pub(crate) async fn start_with(options: EmbeddedOptions) -> Self {
        let bus = EmbeddedBus::bind((Ipv4Addr::LOCALHOST, 0).into(), options)
            .await
            .expect("a free port");
        let stop = CancellationToken::new();
        let (url, address, hub) = (bus.url(), bus.local_addr(), bus.hub());
        let task = tokio::spawn(bus.run(stop.clone()));
        Self {
            url,
            address,
            hub,
            stop,
            task,
        }
    }

    /// A raw client, past its greeting.
    pub(crate) async fn client(&self) -> Raw {
        let mut raw = Raw::connect(&self.url).await;
        raw.text().await.expect("the greeting");
        raw
    }
}
