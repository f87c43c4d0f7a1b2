//! `--config`: the toolboxes are hosted in this process for one request, on a bus without a socket.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::bus::attach_for_one_request;
use super::{STOP_RUNG, load, settled, start_registry};
use crate::bus::embedded::{EmbeddedOptions, Hub};
use crate::cli::ask::Attached;
use crate::config::{MigrateConfig, Start, ToolService};
use crate::error::Error;

/// How long one request waits for toolboxes to come up before it goes out.
const PATIENCE: Duration = Duration::from_secs(60);

/// Hosts the toolboxes of `config`, or only the one asked for, on a bus within this process.
///
/// The ids are those of the whole file, so that a wrong one can be told at once.
///
/// # Errors
/// The faults of the file.
pub(super) async fn host_for_one_request(config: &Path, only: Option<&str>, key: &str) -> Result<Attached, Error> {
    let mut config = load(Some(config))?;
    let ids: Vec<String> = config.toolboxes.iter().map(|toolbox| toolbox.id.clone()).collect();
    config
        .toolboxes
        .retain(|toolbox| only.is_none_or(|only| toolbox.id == only));
    config.tool_service = ToolService::Yes;
    // Nobody else is on that bus.
    config.migrate = MigrateConfig::default();
    // Whoever tries a toolbox out wants to see what it is now, not what it was.
    config
        .toolboxes
        .iter_mut()
        .for_each(|toolbox| toolbox.start = Start::Eager);
    let registry = start_registry(&config, config.bus.clone()).await;
    let options = EmbeddedOptions::default();
    let hub = Hub::new(options.max_backlog, options.max_message);
    let (leave, leave_host) = (CancellationToken::new(), CancellationToken::new());
    let hosting = tokio::spawn(attach_for_one_request(
        hub.attach(leave_host.clone()),
        &config,
        Arc::clone(&registry),
    ));
    // Those that are not up by then are asked all the same, and say so themselves.
    let _up = settled(&registry, PATIENCE).await;
    let file = config.file.display().to_string();
    let asking = crate::cli::attach::attach(hub.attach(leave.clone()), file, key, leave);
    let end = async move {
        asking.end.await;
        registry.stop(STOP_RUNG).await;
        leave_host.cancel();
        // A panic in there was reported where it happened.
        hosting.await.unwrap_or_default();
    };
    Ok(Attached {
        wire: asking.wire,
        toolbox_ids: Some(ids),
        end: Box::pin(end),
    })
}
