//! `migrate:`: toolboxes of other hosts whose calls are forwarded from one call topic to the other.

use super::read::{Reader, unfit_id};
use super::yaml::{Entry, Node, Value, below};
use super::{Carry, MigrateConfig};
use crate::migrate::carry::Way;

pub(super) const MIGRATE_KEYS: &[&str] = &["to_predecessor", "to_static", "timeout"];

impl Reader<'_> {
    /// Reads it; `hosted` are the toolboxes of the same file, which need no forwarding.
    pub(super) fn migrate(&mut self, node: &Node, path: &str, hosted: &[Entry]) -> MigrateConfig {
        let mut migrate = MigrateConfig::default();
        let entries = self.entries(node, path, "a mapping such as {to_predecessor: [wordnet]}");
        for entry in entries.unwrap_or_default() {
            let path = &below(path, &entry.key);
            match entry.key.as_str() {
                "to_predecessor" => self.carried(&entry.value, path, Way::ToPredecessor, hosted, &mut migrate.carried),
                "to_static" => self.carried(&entry.value, path, Way::ToStatic, hosted, &mut migrate.carried),
                "timeout" => {
                    if let Some(timeout) = self.duration(&entry.value, path) {
                        migrate.timeout = timeout;
                    }
                }
                _ => self.unknown(entry, path, MIGRATE_KEYS),
            }
        }
        migrate
    }

    fn carried(&mut self, node: &Node, path: &str, way: Way, hosted: &[Entry], carried: &mut Vec<Carry>) {
        if let Value::Scalar(scalar) = &node.value
            && !scalar.is_null()
        {
            self.fault(
                node.at,
                path,
                "expected a list of toolbox_ids, such as [wordnet], found a text",
            );
            return;
        }
        let items = self.items(node, path, "a list of toolbox_ids").unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let path = &format!("{path}[{index}]");
            let Some(toolbox_id) = self.text(item, path, "a toolbox_id") else {
                continue;
            };
            let what = if let Some(unfit) = unfit_id(&toolbox_id) {
                Some(unfit)
            } else if hosted.iter().any(|entry| entry.key == toolbox_id) {
                Some(format!(
                    "'{toolbox_id}' is hosted by this file, under 'toolboxes': it needs no forwarding, its predecessor_topics decides"
                ))
            } else {
                let other = carried.iter().find(|other| other.toolbox_id == toolbox_id);
                other.map(|other| match other.way == way {
                    true => format!("'{toolbox_id}' stands here twice"),
                    false => {
                        format!("'{toolbox_id}' is forwarded the other way already: calls would go round in circles")
                    }
                })
            };
            match what {
                Some(what) => self.fault(item.at, path, what),
                None => carried.push(Carry { toolbox_id, way }),
            }
        }
    }
}
