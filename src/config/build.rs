//! The events of the YAML parser → the tree, with aliases and merge keys resolved.

use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle, Tag};

use super::fault::Position;
use super::yaml::{Entry, Mistake, Node, Scalar, Value, below};

/// Bytes and nodes that aliases may add to what stands in the file.
const COPIED: usize = 4 << 20;

/// How deep a file may nest. Far below what serde_json parses, so `config` always fits a line.
const DEPTH: usize = 64;

/// A sequence or mapping that is still open.
struct Frame {
    node: Node,
    anchor: usize,
    /// Of a mapping: the key whose value comes next.
    key: Option<Key>,
    /// Of a mapping: where each key stands, `<<` included.
    seen: HashMap<String, Position>,
    /// Of a mapping: what `<<` brings, for the keys it does not have itself.
    merged: Vec<Entry>,
    weight: usize,
    /// Levels below this one.
    height: usize,
}

impl Frame {
    fn new(node: Node, anchor: usize) -> Self {
        Self {
            node,
            anchor,
            key: None,
            seen: HashMap::new(),
            merged: Vec::new(),
            weight: 1,
            height: 0,
        }
    }

    /// The node, with what `<<` brings behind its own keys; the first to bring a key wins.
    fn close(self) -> Node {
        let mut node = self.node;
        if let Value::Mapping(entries) = &mut node.value {
            let mut seen = self.seen;
            for entry in self.merged {
                if seen.insert(entry.key.clone(), entry.at).is_none() {
                    entries.push(entry);
                }
            }
        }
        node
    }
}

/// A key whose value has not come yet.
struct Key {
    text: String,
    at: Position,
    merge: bool,
    /// Its fault has been told; the value is dropped.
    broken: bool,
}

/// A finished node an alias may name, and what a copy of it costs.
struct Anchored {
    node: Node,
    weight: usize,
    height: usize,
}

/// Takes the events of the parser one by one.
#[derive(Default)]
pub(super) struct Builder {
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    copied: usize,
    documents: usize,
    /// The tree, once the last event is in.
    pub(super) root: Option<Node>,
    pub(super) mistakes: Vec<Mistake>,
}

impl Builder {
    fn mistake(&self, at: Position, what: impl Into<String>) -> Mistake {
        Mistake {
            at,
            path: self.path(),
            what: what.into(),
        }
    }

    /// Where in the tree the next node belongs.
    fn path(&self) -> String {
        self.stack
            .iter()
            .fold(String::new(), |path, frame| match (&frame.key, &frame.node.value) {
                (Some(key), _) => below(&path, &key.text),
                (None, Value::Sequence(items)) => format!("{path}[{}]", items.len()),
                (None, _) => path,
            })
    }

    /// # Errors
    /// What makes going on useless; lesser mistakes are collected.
    pub(super) fn event(&mut self, event: Event<'_>, at: Position) -> Result<(), Mistake> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.mistake(at, "a second document (---) starts here; a file holds one"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let string = self.tag(tag.as_deref(), at);
                let plain = style == ScalarStyle::Plain && !string;
                let scalar = Scalar {
                    typed: text.into_owned(),
                    expanded: None,
                    plain,
                };
                let (weight, value) = (1 + scalar.typed.len(), Value::Scalar(scalar));
                self.finished(Node { at, value }, anchor, weight, 0)?;
            }
            Event::SequenceStart(anchor, tag) => self.open(Value::Sequence(Vec::new()), anchor, tag.as_deref(), at)?,
            Event::MappingStart(anchor, tag) => self.open(Value::Mapping(Vec::new()), anchor, tag.as_deref(), at)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.stack.pop() {
                    let (anchor, weight, height) = (frame.anchor, frame.weight, frame.height + 1);
                    self.finished(frame.close(), anchor, weight, height)?;
                }
            }
            Event::Alias(anchor) => self.alias(anchor, at)?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    /// Whether `tag` says "text"; any other is a mistake.
    fn tag(&mut self, tag: Option<&Tag>, at: Position) -> bool {
        match tag {
            None => false,
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
            Some(tag) => {
                let handle = if tag.is_yaml_core_schema() { "!!" } else { &tag.handle };
                self.tell(at, &format!("tags such as {handle}{} are not understood", tag.suffix));
                false
            }
        }
    }

    fn open(&mut self, value: Value, anchor: usize, tag: Option<&Tag>, at: Position) -> Result<(), Mistake> {
        self.tag(tag, at);
        if self.stack.len() == DEPTH {
            return Err(self.mistake(at, format!("nested deeper than {DEPTH} levels")));
        }
        self.stack.push(Frame::new(Node { at, value }, anchor));
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), Mistake> {
        let Some(found) = self.anchors.get(&anchor) else {
            return Err(self.mistake(at, "an alias inside the value it names"));
        };
        self.copied += found.weight;
        if self.copied > COPIED {
            return Err(self.mistake(at, "aliases make the file too large"));
        }
        if self.stack.len() + found.height > DEPTH {
            return Err(self.mistake(at, format!("nested deeper than {DEPTH} levels")));
        }
        let (node, weight, height) = (found.node.clone(), found.weight, found.height);
        self.finished(node, 0, weight, height)
    }

    /// Puts a finished node where it belongs: under the key that waits, or as a key itself.
    fn finished(&mut self, node: Node, anchor: usize, weight: usize, height: usize) -> Result<(), Mistake> {
        if anchor > 0 {
            // The copy kept for aliases counts as one, so that a chain of anchors stays bounded too.
            self.copied += weight;
            if self.copied > COPIED {
                return Err(self.mistake(node.at, "anchors make the file too large"));
            }
            let copy = node.clone();
            self.anchors.insert(
                anchor,
                Anchored {
                    node: copy,
                    weight,
                    height,
                },
            );
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.weight += weight;
        frame.height = frame.height.max(height);
        match (&mut frame.node.value, frame.key.take()) {
            (Value::Sequence(items), _) => items.push(node),
            (Value::Mapping(_), None) => self.key(node),
            (Value::Mapping(_), Some(key)) if key.merge => self.merge(node),
            (Value::Mapping(entries), Some(key)) if !key.broken => {
                entries.push(Entry {
                    key: key.text,
                    at: key.at,
                    value: node,
                });
            }
            (Value::Mapping(_) | Value::Scalar(_) | Value::Broken, _) => {}
        }
        Ok(())
    }

    /// `node` is a key.
    fn key(&mut self, node: Node) {
        let at = node.at;
        let Value::Scalar(Scalar { typed: text, plain, .. }) = node.value else {
            self.tell(at, "a key is a text, not a list or a mapping");
            self.expect(Key {
                text: "?".to_owned(),
                at,
                merge: false,
                broken: true,
            });
            return;
        };
        let earlier = self.stack.last().and_then(|frame| frame.seen.get(&text)).copied();
        if let Some(earlier) = earlier {
            let path = below(&self.path(), &text);
            let what = format!("stands here a second time; the first is on line {}", earlier.line);
            self.mistakes.push(Mistake { at, path, what });
        }
        self.expect(Key {
            merge: plain && text == "<<" && earlier.is_none(),
            text,
            at,
            broken: earlier.is_some(),
        });
    }

    /// The next node is the value of `key`.
    fn expect(&mut self, key: Key) {
        if let Some(frame) = self.stack.last_mut() {
            frame.seen.entry(key.text.clone()).or_insert(key.at);
            frame.key = Some(key);
        }
    }

    /// `<<: *other`, or a list of such: remembers the keys until the mapping ends.
    fn merge(&mut self, node: Node) {
        let sources = match node.value {
            Value::Sequence(items) => items,
            value => vec![Node { at: node.at, value }],
        };
        for source in sources {
            match (source.value, self.stack.last_mut()) {
                (Value::Mapping(entries), Some(frame)) => frame.merged.extend(entries),
                _ => self.tell(source.at, "'<<' takes a mapping, or a list of mappings"),
            }
        }
    }

    fn tell(&mut self, at: Position, what: &str) {
        let mistake = self.mistake(at, what);
        self.mistakes.push(mistake);
    }
}
