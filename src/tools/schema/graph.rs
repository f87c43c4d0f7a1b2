//! The graph of schemas that apply to one and the same value.
//!
//! `$ref`, `allOf` and their kind apply another schema to the value at hand; `properties` and
//! `items` go on to a smaller one. A circle of the first kind alone never ends: it would overflow
//! the stack of any validator, so it is refused at compile time (F083). Every other recursion ends
//! with the value. The graph also bounds how much work one value can be.

use std::collections::HashMap;

use serde_json::Value;

use super::document::{Document, Place};

/// The longest chain of schemas for one value. Hand-written ones have fewer than ten.
const MAX_CHAIN: usize = 64;

/// The most schemas applied to one value: references that double at each step reach any number.
const MAX_WORK: u64 = 10_000;

/// How a subschema stands in the walk.
#[derive(Clone, Copy)]
enum State {
    /// On the path that is being walked: met again, it closes a circle.
    Open,
    /// Its longest chain, and how many schemas it applies in all.
    Done { chain: usize, work: u64 },
}

struct Walk<'d, 'a> {
    document: &'d Document<'a>,
    states: HashMap<usize, State>,
    /// Subschemas of smaller values, still to be walked.
    queue: Vec<Place<'d>>,
    /// Where each `$dynamicAnchor` stands.
    anchors: HashMap<&'d str, Vec<Place<'d>>>,
}

/// The length of the longest chain.
///
/// # Errors
/// A circle, or a chain beyond the limits.
pub(super) fn check(document: &Document<'_>) -> Result<usize, String> {
    let Some(root) = document.root() else {
        return Ok(1);
    };
    let mut walk = Walk {
        document,
        states: HashMap::new(),
        queue: vec![root.clone()],
        anchors: HashMap::new(),
    };
    walk.collect_anchors(root);
    let mut longest = 1;
    while let Some(place) = walk.queue.pop() {
        let (chain, _) = walk.visit(&place, 1)?;
        longest = longest.max(chain);
    }
    Ok(longest)
}

impl<'d> Walk<'d, '_> {
    fn collect_anchors(&mut self, root: Place<'d>) {
        let mut queue = vec![root];
        while let Some(place) = queue.pop() {
            if let Some(name) = place.schema.get("$dynamicAnchor").and_then(Value::as_str) {
                self.anchors.entry(name).or_default().push(place.clone());
            }
            for schema in self.document.draft.subresources_of(place.schema) {
                queue.push(self.document.enter(&place, schema));
            }
        }
    }

    /// Chain and work of one subschema; `length` is that of the path so far.
    fn visit(&mut self, place: &Place<'d>, length: usize) -> Result<(usize, u64), String> {
        match self.states.get(&place.key()) {
            Some(State::Done { chain, work }) => return Ok((*chain, *work)),
            Some(State::Open) => return Err("a $ref leads back to itself without going deeper into the value".into()),
            None => {}
        }
        if length > MAX_CHAIN {
            return Err(format!(
                "more than {MAX_CHAIN} schemas one inside the other for one value"
            ));
        }
        self.states.insert(place.key(), State::Open);
        let (mut longest, mut total) = (0, 1u64);
        for next in self.same_value(place) {
            let (chain, work) = self.visit(&next, length + 1)?;
            longest = longest.max(chain);
            total = total.saturating_add(work);
        }
        if total > MAX_WORK {
            return Err(format!("more than {MAX_WORK} schemas apply to one value"));
        }
        let chain = longest + 1;
        self.states.insert(place.key(), State::Done { chain, work: total });
        // Met in a chain first, a subschema of the same value is `Done` when its turn comes.
        for schema in self.document.draft.subresources_of(place.schema) {
            let inner = self.document.enter(place, schema);
            if !self.states.contains_key(&inner.key()) {
                self.queue.push(inner);
            }
        }
        Ok((chain, total))
    }

    /// The schemas `place` applies to the value it is applied to itself.
    fn same_value(&self, place: &Place<'d>) -> Vec<Place<'d>> {
        let mut found = Vec::new();
        let Value::Object(members) = place.schema else {
            return found;
        };
        let mut enter = |schema: &'d Value| found.push(self.document.enter(place, schema));
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => branches.iter().for_each(&mut enter),
                ("not" | "if" | "then" | "else", schema) => enter(schema),
                // A list of names in `dependencies` is no schema.
                ("dependentSchemas" | "dependencies", Value::Object(branches)) => branches
                    .values()
                    .filter(|schema| !schema.is_array())
                    .for_each(&mut enter),
                _ => {}
            }
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = members.get(keyword).and_then(Value::as_str) {
                found.extend(self.document.follow(place, reference));
                // Which of them is meant depends on the way there: any of them can be.
                let anchors = (keyword == "$dynamicRef")
                    .then(|| reference.rsplit('#').next())
                    .flatten();
                found.extend(
                    anchors
                        .and_then(|name| self.anchors.get(name))
                        .into_iter()
                        .flatten()
                        .cloned(),
                );
            }
        }
        found
    }
}
