//! An argv as it is before any value is there: what of it is known, and what a call decides.

use super::argv::Element;
use super::{Form, Piece, Template};

/// The program and every argument, those of groups too.
pub(super) struct Words<'t>(pub(super) Vec<Word<'t>>);

/// A word: what stands before its first placeholder.
#[derive(Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    /// Whether a value becomes part of it, so that `text` is not all.
    pub(super) pasted: bool,
    /// Whether it may become any number of words.
    pub(super) spread: bool,
    /// Whether a call may leave it out.
    pub(super) optional: bool,
    /// Which element it belongs to; the program is before the first.
    pub(super) element: Option<usize>,
}

impl<'t> Word<'t> {
    fn new(template: &'t Template, element: usize, optional: bool) -> Self {
        let (text, rest) = match &template.pieces[..] {
            [Piece::Literal(text), rest @ ..] => (text.as_str(), rest),
            pieces => ("", pieces),
        };
        let is_flag = |piece: &Piece| matches!(piece, Piece::Placeholder(_, Form::Flag));
        let is_spread = |piece: &Piece| matches!(piece, Piece::Placeholder(_, Form::Spread));
        Self {
            text,
            pasted: !rest.iter().all(is_flag),
            spread: rest.iter().any(is_spread),
            optional,
            element: Some(element),
        }
    }

    /// Another text in its place.
    pub(super) fn with_text(self, text: &'t str) -> Self {
        Self { text, ..self }
    }

    /// Whether a call decides on it: on a part of it, or on whether it is there.
    pub(super) fn is_open(self) -> bool {
        self.pasted || self.optional
    }

    pub(super) fn is_option(self) -> bool {
        self.text.starts_with(['-', '+']) && (self.text.len() > 1 || self.pasted)
    }

    /// Whether it ends options.
    pub(super) fn is_end(self) -> bool {
        self.text == "--" && !self.pasted
    }

    /// Whether it is short options, among them `option`: `-c`, `-lc`. A value could add any: `-{x}`.
    pub(super) fn has_option(self, option: char) -> bool {
        self.text
            .strip_prefix('-')
            .is_some_and(|options| !options.starts_with('-') && (self.pasted || options.contains(option)))
    }

    /// The name of the program it is, without its folder.
    pub(super) fn name(self) -> &'t str {
        if self.pasted { "" } else { base(self.text) }
    }
}

impl<'t> Words<'t> {
    pub(super) fn new(program: &'t str, elements: &'t [Element]) -> Self {
        let mut words = vec![Word {
            text: program,
            pasted: false,
            spread: false,
            optional: false,
            element: None,
        }];
        for (index, element) in elements.iter().enumerate() {
            let templates = element.templates();
            let optional = templates
                .iter()
                .any(|template| template.placeholders().next().is_some());
            words.extend(templates.iter().map(|template| Word::new(template, index, optional)));
        }
        Self(words)
    }

    /// The words behind the one at `at`.
    pub(super) fn behind(&self, at: usize) -> &[Word<'t>] {
        self.0.get(at + 1..).unwrap_or_default()
    }
}

/// The name of a program without its folder.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
