//! The keys that hold a toolbox to something: `limits`, `umask`, `user`, `group`, `sandbox`.

use std::path::PathBuf;

use super::quantity;
use super::read::Reader;
use super::yaml::{Entry, Node, Value, below};
use crate::confinement::{Confinement, Limits, Sandbox};

const LIMIT_KEYS: &[&str] = &["memory", "cpu_seconds", "open_files", "processes", "file_size"];
const SANDBOX_KEYS: &[&str] = &["read", "write", "network", "best_effort"];

/// The least memory: below it nothing starts, and the error would be one of the system's loader.
const LEAST_MEMORY: usize = 16 << 20;

/// The words `sandbox` takes in place of a mapping.
const SANDBOXES: &[(&str, Option<bool>)] = &[("true", Some(false)), ("best_effort", Some(true)), ("false", None)];

impl Reader<'_> {
    /// Reads one of them into `held`.
    pub(super) fn confinement(&mut self, entry: &Entry, path: &str, held: &mut Confinement) {
        let value = &entry.value;
        match entry.key.as_str() {
            "limits" => held.limits = self.limits(value, path),
            "umask" => held.umask = self.umask(value, path),
            "user" => held.user = self.text(value, path, "the name or number of a user"),
            "group" => held.group = self.text(value, path, "the name or number of a group"),
            _ => held.sandbox = self.sandbox(value, path),
        }
    }

    fn limits(&mut self, node: &Node, path: &str) -> Limits {
        let mut limits = Limits::default();
        let entries = self.entries(node, path, "a mapping such as {memory: 512MiB}");
        for entry in entries.unwrap_or_default() {
            let (path, value) = (&below(path, &entry.key), &entry.value);
            let number = |count: Option<usize>| count.and_then(|count| u64::try_from(count).ok());
            match entry.key.as_str() {
                "memory" => limits.memory = number(self.memory(value, path)),
                "cpu_seconds" => limits.cpu_seconds = number(self.count(value, path, 1..=1_000_000_000)),
                // What an interpreter has open while it starts.
                "open_files" => limits.open_files = number(self.count(value, path, 16..=1_000_000)),
                "processes" => limits.processes = number(self.count(value, path, 1..=1_000_000)),
                "file_size" => limits.file_size = number(self.size(value, path, usize::MAX >> 1, "8EiB")),
                _ => self.unknown(entry, path, LIMIT_KEYS),
            }
        }
        limits
    }

    fn memory(&mut self, node: &Node, path: &str) -> Option<usize> {
        let expected = "a size such as 512MiB or 2GB, at least 16MiB";
        self.parsed(node, path, expected, |text| {
            quantity::size(text).filter(|size| (LEAST_MEMORY..usize::MAX >> 1).contains(size))
        })
    }

    fn umask(&mut self, node: &Node, path: &str) -> Option<u32> {
        self.parsed(node, path, "three octal digits such as \"077\"", |text| {
            let digits = text.strip_prefix("0o").unwrap_or(text);
            let fits = (3..=4).contains(&digits.len()) && digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
            let mask = fits.then(|| u32::from_str_radix(digits, 8).ok()).flatten();
            mask.filter(|mask| *mask <= 0o777)
        })
    }

    fn sandbox(&mut self, node: &Node, path: &str) -> Option<Sandbox> {
        if let Value::Scalar(scalar) = &node.value
            && !scalar.is_null()
        {
            let expected = "a mapping such as {read: [./words], write: [./data], network: false}, 'true', 'false' or \
                            'best_effort'";
            let best_effort = self.parsed(node, path, expected, |text| {
                SANDBOXES
                    .iter()
                    .find(|(word, _)| *word == text)
                    .map(|(_, meant)| *meant)
            })?;
            return best_effort.map(|best_effort| Sandbox {
                best_effort,
                ..Sandbox::default()
            });
        }
        let mut sandbox = Sandbox::default();
        let entries = self.entries(
            node,
            path,
            "a mapping such as {read: [./words], write: [./data], network: false}",
        );
        for entry in entries? {
            let (path, value) = (&below(path, &entry.key), &entry.value);
            match entry.key.as_str() {
                "read" => sandbox.read = self.places(value, path),
                "write" => sandbox.write = self.places(value, path),
                "network" => sandbox.network = self.boolean(value, path).unwrap_or_default(),
                "best_effort" => sandbox.best_effort = self.boolean(value, path).unwrap_or_default(),
                _ => self.unknown(entry, path, SANDBOX_KEYS),
            }
        }
        Some(sandbox)
    }

    /// Files and folders; a single one needs no list.
    fn places(&mut self, node: &Node, path: &str) -> Vec<PathBuf> {
        let items = match &node.value {
            Value::Sequence(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        let places = items.iter().enumerate().filter_map(|(index, item)| {
            let path = if items.len() == 1 {
                path.to_owned()
            } else {
                format!("{path}[{index}]")
            };
            self.path(item, &path, "a file or a folder")
        });
        places.collect()
    }
}
