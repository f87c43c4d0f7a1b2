//! Where the counts of calls are kept, and what the host tells of them.

use std::path::Path;
use std::sync::Arc;

use crate::bus::toolboxes::Toolboxes as _;
use crate::config::PredecessorTopics;
use crate::migrate::ledger::Ledger;
use crate::migrate::usage::{Toolbox, digest};
use crate::migrate::verdict::{Counted, Report};
use crate::state_folder::StateFolder;

use super::Host;

/// The accounts of the host with the configuration `config`: a file for each, since two hosts may share a folder.
pub(super) fn ledger(config: &Path) -> Arc<Ledger> {
    match StateFolder::of_this_process() {
        Some(folder) => {
            let path = digest(config.as_os_str().as_encoded_bytes());
            Arc::new(Ledger::open(folder, format!("usage-{path:016x}.json")))
        }
        None => Arc::new(Ledger::without_file(
            "there is no state folder: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME names one",
        )),
    }
}

/// What `toolhost migrate report` asks for.
pub(super) fn report(host: &Host) -> Report {
    counted(host, host.ledger.reported())
}

/// The same for the status.
pub(super) fn status(host: &Host) -> Report {
    counted(host, host.ledger.told())
}

fn counted(host: &Host, told: Vec<(String, Toolbox)>) -> Report {
    let carried = host.bus.bridge.carried();
    let toolbox = |(toolbox_id, usage): (String, Toolbox)| {
        let carried = carried.iter().find(|carried| carried.toolbox_id == toolbox_id);
        let policy = match (
            carried.map(|carried| carried.way),
            host.registry.predecessor_topics(&toolbox_id),
        ) {
            (Some(way), _) => way.name(),
            (None, PredecessorTopics::Answer) => "answer",
            (None, PredecessorTopics::Warn) => "warn",
            (None, PredecessorTopics::Ignore) => "ignore",
        };
        Counted {
            predecessor_topics: policy.to_owned(),
            host_heard: carried.map(|carried| carried.heard),
            toolbox_id,
            usage,
        }
    };
    Report {
        now: host.ledger.time_of_day(),
        not_kept: host.ledger.fault(),
        toolboxes: told.into_iter().map(toolbox).collect(),
    }
}
