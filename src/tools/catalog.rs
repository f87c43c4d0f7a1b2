//! The flat namespace of OVOS-TOOLS-1 §5: which toolbox owns a published name. Pure.

use std::collections::HashMap;

use super::outcome::CallError;

/// Published names and the toolboxes that own them.
#[derive(Debug, Default)]
pub struct Catalog(HashMap<String, Vec<String>>);

impl Catalog {
    /// From every toolbox's published names, in the order of the configuration.
    pub fn new<'a, N: Iterator<Item = &'a str>>(toolboxes: impl IntoIterator<Item = (&'a str, N)>) -> Self {
        let mut owners: HashMap<String, Vec<String>> = HashMap::new();
        for (toolbox_id, names) in toolboxes {
            for name in names {
                owners.entry(name.to_owned()).or_default().push(toolbox_id.to_owned());
            }
        }
        Self(owners)
    }

    /// The one toolbox that owns `name`.
    ///
    /// # Errors
    /// [`CallError::UnknownTool`], or [`CallError::Ambiguous`] where several do: the flat name does
    /// not say which is meant, also while one of them is down.
    pub fn owner(&self, name: &str) -> Result<&str, CallError> {
        match self.0.get(name).map(Vec::as_slice) {
            Some([owner]) => Ok(owner),
            None | Some([]) => Err(CallError::UnknownTool(name.to_owned())),
            Some(owners) => Err(CallError::Ambiguous {
                name: name.to_owned(),
                owners: owners.to_vec(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_owned_twice_names_both_owners() {
        let catalog = Catalog::new([("a", ["search", "x"].into_iter()), ("b", ["search", "y"].into_iter())]);
        assert_eq!(catalog.owner("x"), Ok("a"));
        assert_eq!(
            catalog.owner("search").unwrap_err().to_string(),
            "Ambiguous tool name: 'search' is owned by 'a', 'b'"
        );
        assert_eq!(catalog.owner("nope").unwrap_err().to_string(), "Unknown tool: 'nope'");
    }
}
