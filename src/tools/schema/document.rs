//! A schema with its references resolved, as JSON Schema has them: `$id`, anchors, pointers.

use std::sync::Arc;

use jsonschema::{Draft, Registry, Uri};
use serde_json::Value;

use super::faults;

/// The address of a document that names none.
const BASE: &str = "json-schema:///";

/// A schema and everything in it a reference can name.
pub(super) struct Document<'a> {
    registry: Registry<'a>,
    pub(super) draft: Draft,
}

/// A subschema and the address its references are relative to.
#[derive(Clone)]
pub(super) struct Place<'d> {
    pub(super) schema: &'d Value,
    base: Arc<Uri<String>>,
}

impl Place<'_> {
    /// What tells one subschema from another.
    pub(super) fn key(&self) -> usize {
        std::ptr::from_ref(self.schema) as usize
    }
}

impl<'a> Document<'a> {
    /// # Errors
    /// In plain words: an identifier that is none, or a reference to the outside.
    pub(super) fn new(root: &'a Value, draft: Draft) -> Result<Self, String> {
        let registry = Registry::new()
            .draft(draft)
            .add(BASE, draft.create_resource_ref(root))
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| faults::of_reference(&error))?;
        Ok(Self { registry, draft })
    }

    pub(super) fn root(&self) -> Option<Place<'_>> {
        let base = jsonschema::uri::from_str(BASE).ok()?;
        let place = Place {
            schema: &Value::Null,
            base: Arc::new(base),
        };
        let root = self.follow(&place, "")?;
        Some(self.enter(&root, root.schema))
    }

    /// What `reference` at `from` names; `None` is a compile error of the validator's.
    pub(super) fn follow(&self, from: &Place<'_>, reference: &str) -> Option<Place<'_>> {
        let resolver = self.registry.resolver(from.base.as_ref().clone());
        let resolved = resolver.lookup(reference).ok()?;
        let base = resolved.resolver().base_uri();
        Some(Place {
            schema: resolved.contents(),
            base,
        })
    }

    /// The subschema `schema` of `from`, which may have an identifier of its own.
    pub(super) fn enter<'d>(&self, from: &Place<'_>, schema: &'d Value) -> Place<'d> {
        let resolver = self.registry.resolver(from.base.as_ref().clone());
        let base = resolver
            .in_subresource(self.draft.create_resource_ref(schema))
            .map_or_else(|_| from.base.clone(), |resolver| resolver.base_uri());
        Place { schema, base }
    }
}
