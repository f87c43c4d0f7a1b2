//! Where the counts of calls are kept, and what the host tells of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::bus::toolboxes::Toolboxes as _;
use crate::config::PredecessorTopics;
use crate::migrate::ledger::Ledger;
use crate::migrate::usage::Toolbox;
use crate::migrate::verdict::{Counted, Report};

use super::Host;

/// The accounts of the host with the configuration `config`: one file for each, since two hosts may share a user.
pub(super) fn ledger(config: &Path) -> Arc<Ledger> {
    let Some(folder) = state_folder() else {
        tracing::warn!(
            "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME names a folder: a restart forgets the counts of calls"
        );
        return Arc::default();
    };
    if let Err(error) = private_folder(&folder) {
        tracing::warn!(folder = %folder.display(), %error, "no folder for the counts of calls: a restart forgets them");
        return Arc::default();
    }
    let name = format!("usage-{:016x}.json", digest(config));
    Arc::new(Ledger::open(folder.join(name)))
}

/// `$STATE_DIRECTORY`, which a service manager gives, else the user's.
fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("STATE_DIRECTORY")
        .or_else(|| absolute("XDG_STATE_HOME").map(|folder| folder.join("toolhost")))
        .or_else(|| absolute("HOME").map(|folder| folder.join(".local/state/toolhost")))
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// FNV-1a of the path: the same in each run.
fn digest(path: &Path) -> u64 {
    path.as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
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
    let toolbox = |(toolbox_id, usage): (String, Toolbox)| Counted {
        predecessor_topics: match host.registry.predecessor_topics(&toolbox_id) {
            PredecessorTopics::Answer => "answer".to_owned(),
            PredecessorTopics::Warn => "warn".to_owned(),
            PredecessorTopics::Ignore => "ignore".to_owned(),
        },
        toolbox_id,
        usage,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Report {
        now: now.as_secs(),
        toolboxes: told.into_iter().map(toolbox).collect(),
    }
}
