//! Text → a tree that knows its lines.
//!
//! Scalars stay the text that was typed: what `no`, `1.10` or `0777` mean is for whoever reads the
//! key to say. Aliases (`*name`) and merge keys (`<<`) work; how much text aliases may copy and how
//! deep a file may nest are bounded, so no file can exhaust the memory or the stack.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use super::fault::Position;

/// How deep a file may nest. Far below what serde_json parses, so `config` always fits a line.
const DEPTH: usize = 64;

/// Bytes and nodes that aliases may add to what stands in the file.
const COPIED: usize = 4 << 20;

/// One value.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Vec<Entry>),
    /// Something whose fault has been told; readers leave it at that.
    Broken,
}

/// A scalar, untyped.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// As it stands in the file, quotes and escapes resolved.
    pub(super) typed: String,
    /// The same with its variables expanded; `None` where it holds none.
    pub(super) expanded: Option<String>,
    /// Whether it stands there without quotes.
    pub(super) plain: bool,
}

impl Scalar {
    /// The value.
    pub(super) fn text(&self) -> &str {
        self.expanded.as_deref().unwrap_or(&self.typed)
    }

    /// Whether nothing at all stands after the colon or dash.
    pub(super) fn is_missing(&self) -> bool {
        self.plain && self.typed.is_empty()
    }

    /// Whether YAML calls it null.
    pub(super) fn is_null(&self) -> bool {
        self.plain && matches!(self.typed.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// One key of a mapping and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) at: Position,
    pub(super) value: Node,
}

/// Something wrong with the text itself.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) at: Position,
    pub(super) path: String,
    pub(super) what: String,
}

/// `path` with `key` under it, as faults show it.
pub(super) fn below(path: &str, key: &str) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    match key.split_once('=') {
        // `env: {KEY=secret}` makes a key of a secret.
        Some((name, _)) => format!("{path}{dot}{name}=..."),
        None => format!("{path}{dot}{key}"),
    }
}

/// The tree of the one document in `text`, `None` where it holds none, and all that is wrong with it.
///
/// After an error of syntax there is no tree: what follows it cannot be told from guesses.
pub(super) fn parse(text: &str) -> (Option<Node>, Vec<Mistake>) {
    let mut builder = Builder::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for event in Events(Parser::new_from_str(text)) {
        let outcome = match event {
            Ok((event, span)) => builder.event(event, position(span.start)),
            // The parser reads ahead of its events, so no key can be named for sure.
            Err(error) => Err(Mistake {
                at: position(*error.marker()),
                path: String::new(),
                what: syntax(&error),
            }),
        };
        if let Err(mistake) = outcome {
            builder.mistakes.push(mistake);
            return (None, builder.mistakes);
        }
    }
    (builder.root, builder.mistakes)
}

/// The events up to and with the first error.
struct Events<'a>(Parser<'a, saphyr_parser::StrInput<'a>>);

impl<'a> Iterator for Events<'a> {
    type Item = Result<(Event<'a>, saphyr_parser::Span), ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_event()
    }
}

fn position(marker: Marker) -> Position {
    Position {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}

/// What the parser means, for someone who has never read the grammar.
fn syntax(error: &ScanError) -> String {
    const MEANT: &[(&str, &str)] = &[
        (
            "expected alphabetic",
            "a '&' or '*' without a name; a text that begins with one is quoted",
        ),
        ("tab", "a tab in the indentation; YAML is indented with spaces"),
        (
            "unknown anchor",
            "an alias (*) of an anchor (&) that does not stand above it; a text that begins with * is quoted",
        ),
        (
            "mapping values are not allowed",
            "a second ':' where a value was expected; a value with ': ' in it is quoted, and a key stands on a line of its own",
        ),
        ("recursion limit", "nested deeper than 64 levels"),
        ("end of stream", "the file ends inside a quoted text"),
        ("unexpected eof", "the file ends too early"),
        (
            "invalid indentation in quoted",
            "a quoted text began above and does not end before this line, which is indented less",
        ),
        (
            "parsing a flow",
            "a comma or a closing bracket is missing before this place",
        ),
        (
            "block mapping, did not",
            "expected a key; is this line indented like its neighbours?",
        ),
        (
            "expected '-' indicator",
            "expected '- '; is this line indented like its neighbours?",
        ),
        ("expected node content", "expected a value"),
        ("simple key expect", "expected ':' after the key"),
        (
            "unknown escape",
            "an escape YAML does not know; between single quotes a backslash is text",
        ),
    ];
    let info = error.info();
    match MEANT.iter().find(|(part, _)| info.contains(part)) {
        Some((_, meant)) => (*meant).to_owned(),
        None => format!("not YAML: {info}"),
    }
}

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

#[derive(Default)]
struct Builder {
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    copied: usize,
    documents: usize,
    root: Option<Node>,
    mistakes: Vec<Mistake>,
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

    fn event(&mut self, event: Event<'_>, at: Position) -> Result<(), Mistake> {
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
                let weight = 1 + scalar.typed.len();
                self.finished(
                    Node {
                        at,
                        value: Value::Scalar(scalar),
                    },
                    anchor,
                    weight,
                    0,
                )?;
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
                self.tell(
                    at,
                    &format!("tags such as {}{} are not understood", tag.handle, tag.suffix),
                );
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
            self.anchors.insert(
                anchor,
                Anchored {
                    node: node.clone(),
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

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
