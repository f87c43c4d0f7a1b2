//! What is filled in and converted before a value is checked, worked out once when a schema compiles.
//!
//! A schema becomes a flat list of nodes that only know properties, items, types and defaults.
//! Several schemas for one value (`$ref`, `allOf`) are several nodes. Of alternatives (`anyOf`,
//! `oneOf`) the types count together, and the one alternative that is about an object (or an array)
//! is followed where it is the only one: that is how an optional object is written.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::coerce::{self, Types};
use super::document::{Document, Place};

/// Values filled in for one call: nested defaults could multiply without end.
const MAX_FILLED: usize = 1_000;

type Id = usize;

/// Part of a schema, reduced to what filling and converting need.
#[derive(Debug, Default)]
struct Node {
    /// Types asked for by everything that applies to the same value; none: any.
    types: Types,
    /// The default, its own or that of a schema it refers to.
    default: Option<Value>,
    /// Further nodes for the same value.
    also: Vec<Id>,
    /// Alternatives for the same value.
    either: Vec<Id>,
    properties: Vec<(String, Id)>,
    additional: Option<Id>,
    /// Nodes of the first items, and of the rest.
    prefix: Vec<Id>,
    items: Option<Id>,
}

/// What to fill in and convert.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    nodes: Vec<Node>,
    coerce: bool,
    /// Whether there is anything to do at all.
    active: bool,
}

/// A walk over one value.
struct Run {
    filled: usize,
    /// Nodes whose default is being filled: met again inside it, a default would never end.
    inside: Vec<Id>,
}

impl Plan {
    pub(super) fn new(document: &Document<'_>, coerce: bool) -> Self {
        let mut builder = Builder {
            document,
            nodes: Vec::new(),
            known: HashMap::new(),
            queue: Vec::new(),
        };
        if let Some(root) = document.root() {
            builder.intern(root);
        }
        while let Some((id, place)) = builder.queue.pop() {
            let node = builder.node(&place);
            builder.nodes[id] = node;
        }
        let mut nodes = builder.nodes;
        let mut settled = vec![false; nodes.len()];
        for id in 0..nodes.len() {
            settle(&mut nodes, &mut settled, id);
        }
        let active = coerce || nodes.iter().any(|node| node.default.is_some());
        Self { nodes, coerce, active }
    }

    /// Fills in and converts inside `value`; the value itself stays what it is.
    pub(crate) fn apply(&self, value: &mut Value) {
        if self.active && !self.nodes.is_empty() {
            let mut run = Run {
                filled: 0,
                inside: Vec::new(),
            };
            self.walk(0, value, &mut run);
        }
    }

    fn walk(&self, id: Id, value: &mut Value, run: &mut Run) {
        let node = &self.nodes[id];
        match value {
            Value::Object(members) => self.walk_object(node, members, run),
            Value::Array(items) => self.walk_array(node, items, run),
            _ => return,
        }
        for &same in &node.also {
            self.walk(same, value, run);
        }
        let kind = Types::of(value);
        let mut fitting = node.either.iter().filter(|id| self.nodes[**id].types.overlaps(kind));
        if let (Some(&only), None) = (fitting.next(), fitting.next()) {
            self.walk(only, value, run);
        }
    }

    fn walk_object(&self, node: &Node, members: &mut Map<String, Value>, run: &mut Run) {
        for (name, id) in &node.properties {
            match members.get_mut(name) {
                Some(value) => self.step(*id, value, run),
                None => self.fill(name, *id, members, run),
            }
        }
        if let Some(id) = node.additional {
            for (name, value) in members.iter_mut() {
                if !node.properties.iter().any(|(known, _)| known == name) {
                    self.step(id, value, run);
                }
            }
        }
    }

    fn walk_array(&self, node: &Node, items: &mut [Value], run: &mut Run) {
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(id) = node.prefix.get(index).copied().or(node.items) {
                self.step(id, item, run);
            }
        }
    }

    /// On to a smaller value, which is converted first if it does not fit.
    fn step(&self, id: Id, value: &mut Value, run: &mut Run) {
        if self.coerce {
            coerce::convert(value, self.nodes[id].types);
        }
        self.walk(id, value, run);
    }

    fn fill(&self, name: &str, id: Id, members: &mut Map<String, Value>, run: &mut Run) {
        if run.filled >= MAX_FILLED || run.inside.contains(&id) {
            return;
        }
        let Some(default) = &self.nodes[id].default else {
            return;
        };
        run.filled += 1;
        let value = members.entry(name).or_insert_with(|| default.clone());
        run.inside.push(id);
        self.walk(id, value, run);
        run.inside.pop();
    }
}

/// Gives a node the types and the default of all that applies to the same value. How far this goes
/// down is bounded, and circles cannot occur: [`super::graph`] has refused them.
fn settle(nodes: &mut [Node], settled: &mut [bool], id: Id) {
    if std::mem::replace(&mut settled[id], true) {
        return;
    }
    for next in [&nodes[id].also[..], &nodes[id].either[..]].concat() {
        settle(nodes, settled, next);
    }
    let node = &nodes[id];
    let same = node.also.iter().map(|id| nodes[*id].types);
    let either = node.either.iter().map(|id| nodes[*id].types).reduce(Types::any_of);
    let types = same.chain(either).fold(node.types, Types::both);
    let default = node.also.iter().find_map(|id| nodes[*id].default.clone());
    nodes[id].types = types;
    nodes[id].default = nodes[id].default.take().or(default);
}

struct Builder<'d, 'a> {
    document: &'d Document<'a>,
    nodes: Vec<Node>,
    known: HashMap<usize, Id>,
    queue: Vec<(Id, Place<'d>)>,
}

impl<'d> Builder<'d, '_> {
    /// The id of a subschema; one not met before is queued, so that no chain of them takes stack.
    fn intern(&mut self, place: Place<'d>) -> Id {
        if let Some(id) = self.known.get(&place.key()) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.known.insert(place.key(), id);
        self.queue.push((id, place));
        id
    }

    fn enter(&mut self, place: &Place<'_>, schema: &'d Value) -> Id {
        let inner = self.document.enter(place, schema);
        self.intern(inner)
    }

    fn node(&mut self, place: &Place<'d>) -> Node {
        let mut node = Node::default();
        let Value::Object(members) = place.schema else {
            return node;
        };
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        for reference in ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().filter_map(text) {
            if let Some(target) = self.document.follow(place, reference) {
                node.also.push(self.intern(target));
            }
        }
        node.types = Types::wanted(members.get("type"));
        node.default = members.get("default").cloned();
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("allOf", Value::Array(list)) => node.also.extend(self.enter_all(place, list)),
                ("anyOf" | "oneOf", Value::Array(list)) => node.either.extend(self.enter_all(place, list)),
                ("prefixItems", Value::Array(list)) | ("items", Value::Array(list)) => {
                    node.prefix = self.enter_all(place, list);
                }
                ("items" | "additionalItems", Value::Object(_)) => node.items = Some(self.enter(place, value)),
                // Beside patterns it would have to be known which names they take.
                ("additionalProperties", Value::Object(_)) if !members.contains_key("patternProperties") => {
                    node.additional = Some(self.enter(place, value));
                }
                ("properties", Value::Object(map)) => {
                    for (name, schema) in map {
                        let id = self.enter(place, schema);
                        node.properties.push((name.clone(), id));
                    }
                }
                _ => {}
            }
        }
        node
    }

    fn enter_all(&mut self, place: &Place<'_>, schemas: &'d [Value]) -> Vec<Id> {
        schemas.iter().map(|schema| self.enter(place, schema)).collect()
    }
}
