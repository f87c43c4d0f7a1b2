//! The variables of a toolbox. What they hold may be secret, and stands in no fault.

use std::collections::BTreeMap;
use std::path::Path;

use super::dotenv;
use super::fault::{Fault, Position};
use super::read::{self, Reader};
use super::yaml::{Node, Value, below};

const LONGEST_ENV_FILE: u64 = 1 << 20;

/// Whether `name` can be the name of a variable.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

impl Reader<'_> {
    /// Faults of this key and those below never hold what was found.
    pub(super) fn env(&mut self, node: &Node, path: &str) -> BTreeMap<String, String> {
        let entries = match &node.value {
            Value::Mapping(entries) => &entries[..],
            Value::Scalar(scalar) if scalar.is_null() => &[],
            Value::Broken => &[],
            Value::Scalar(_) | Value::Sequence(_) => {
                self.fault(node.at, path, "expected a mapping of names to values: {NAME: value}");
                &[]
            }
        };
        let mut env = BTreeMap::new();
        for entry in entries {
            let path = below(path, &entry.key);
            if !is_name(&entry.key) {
                self.fault(entry.at, &path, "the name of a variable is not empty and holds no '='");
                continue;
            }
            match &entry.value.value {
                Value::Scalar(scalar) if scalar.is_null() => {
                    self.fault(
                        entry.value.at,
                        &path,
                        "has no value; an empty one is written \"\", the word null in quotes",
                    );
                }
                Value::Scalar(scalar) if scalar.text().contains('\0') => {
                    self.fault(entry.value.at, &path, "a value cannot hold a NUL character");
                }
                Value::Scalar(scalar) => {
                    env.insert(entry.key.clone(), scalar.text().to_owned());
                }
                Value::Broken => {}
                Value::Sequence(_) | Value::Mapping(_) => {
                    self.fault(entry.value.at, &path, "expected a text, found a list or a mapping");
                }
            }
        }
        env
    }

    /// The variables in the file that is named here.
    pub(super) fn env_file(&mut self, node: &Node, path: &str) -> Vec<(String, String)> {
        let Some(file) = self.path(node, path, "a file of KEY=value lines") else {
            return Vec::new();
        };
        match read::text_of(&file, LONGEST_ENV_FILE) {
            Ok(text) => {
                self.read_from(&file, &text);
                let (variables, wrong) = dotenv::parse(&text);
                for (at, what) in wrong {
                    self.fault_in(&file, Some(at), what);
                }
                variables
            }
            Err((None, what)) => {
                self.fault(node.at, path, format!("{} {what}", file.display()));
                Vec::new()
            }
            Err((at, what)) => {
                self.fault_in(&file, at, &what);
                Vec::new()
            }
        }
    }

    fn fault_in(&mut self, file: &Path, at: Option<Position>, what: &str) {
        self.faults.push(Fault {
            file: file.to_owned(),
            at,
            path: String::new(),
            what: what.into(),
        });
    }

    /// Names of variables.
    pub(super) fn names(&mut self, node: &Node, path: &str) -> Option<Vec<String>> {
        let names = self.texts(node, path, "variable name")?;
        if names.iter().any(|name| name.contains('=')) {
            self.fault(node.at, path, "names only: a value is set under 'env'");
        }
        Some(names)
    }
}
