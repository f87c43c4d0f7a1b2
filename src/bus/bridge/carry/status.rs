//! How forwarding stands, for the status.

use super::Carrier;
use crate::bus::bridge::{Bridge, Outgoing, lock};
use crate::bus::toolboxes::Toolboxes;
use crate::migrate::carry::Forward;

impl Carrier {
    fn waiting(&self, toolbox_id: &str) -> usize {
        let held = self.held.iter().map(|held| &held.asked);
        let pending = self.pending.values().map(|pending| &pending.asked);
        held.chain(pending)
            .filter(|asked| asked.toolbox_id == toolbox_id)
            .count()
    }
}

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// How forwarding stands.
    pub fn carried(&self) -> Vec<Forward> {
        let carrier = lock(&self.0.carrier);
        let mut all: Vec<_> = carrier
            .table
            .iter()
            .map(|(toolbox_id, entry)| Forward {
                toolbox_id: toolbox_id.clone(),
                way: entry.carried.way(),
                learned: entry.carried.learned(),
                heard: entry.carried.is_heard(),
                tools: entry.tools.len(),
                forwarded: entry.carried.forwarded,
                waiting: carrier.waiting(toolbox_id),
            })
            .collect();
        all.sort_by(|a, b| a.toolbox_id.cmp(&b.toolbox_id));
        all
    }
}
