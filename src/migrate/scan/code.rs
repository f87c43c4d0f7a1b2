//! The tokens of a file with their brackets, and what names were given.

use std::collections::HashMap;
use std::ops::Range;

use super::fold::{self, Part};
use super::language::Language;
use super::lex;
use super::token::{Kind, Token};
use super::topic;

/// Constants made of constants are followed as deep as this.
const ROUNDS: usize = 6;

/// Parts of a text that is kept for a name. Names that are made of each other would grow without end.
const MOST_PARTS: usize = 64;

/// A text, read.
#[derive(Debug)]
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) language: Language,
    /// All but the comments.
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Token>,
    /// For each token: the bracket that closes it, or that it closes; else itself.
    pair: Vec<usize>,
    /// For each token: the open bracket around it.
    around: Vec<Option<usize>>,
    /// The tokens of each name.
    names: HashMap<&'a str, Vec<usize>>,
    /// In the order of the text.
    definitions: Vec<Definition>,
    /// Their places in it, by name, by the token of the name, and by the first token of the value.
    by_name: HashMap<String, Vec<usize>>,
    by_token: HashMap<usize, usize>,
    by_value: HashMap<usize, usize>,
}

/// A name that was given to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    /// The token of the name.
    pub(super) at: usize,
    /// The tokens of what it was given to; empty where nothing is known of that.
    pub(super) tokens: Range<usize>,
    /// Its text, where it has one.
    pub(super) parts: Option<Vec<Part>>,
    /// Whether it was added to what the name stood for.
    pub(super) added: bool,
}

/// An argument of a call, or an entry of an object.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// Its keyword or key.
    pub(super) key: Option<String>,
    /// The token of that.
    pub(super) key_at: usize,
    /// The tokens of its value.
    pub(super) value: Range<usize>,
    /// Whether it stands for several (`*args`, `...rest`).
    pub(super) spread: bool,
}

impl<'a> Code<'a> {
    /// Reads `text`.
    pub(super) fn read(text: &'a str, language: Language) -> Self {
        let (comments, tokens) = lex::tokens(text, language)
            .into_iter()
            .partition(|token| token.kind == Kind::Comment);
        let tokens: Vec<Token> = tokens;
        let (pair, around) = brackets(text, &tokens);
        let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut code = Self {
            text,
            language,
            tokens,
            comments,
            pair,
            around,
            names: HashMap::new(),
            definitions: Vec::new(),
            by_name: HashMap::new(),
            by_token: HashMap::new(),
            by_value: HashMap::new(),
        };
        for at in (0..code.tokens.len()).filter(|at| code.is_name(*at)) {
            names.entry(code.word(at)).or_default().push(at);
        }
        code.names = names;
        // Again and again, for what is made of names that come later, or of names that are made of names.
        for _ in 0..ROUNDS {
            let definitions = definitions(&code);
            let is_settled = definitions == code.definitions;
            code.define(definitions);
            if is_settled {
                break;
            }
        }
        code
    }

    fn define(&mut self, definitions: Vec<Definition>) {
        self.by_name.clear();
        self.by_token.clear();
        self.by_value.clear();
        for (at, definition) in definitions.iter().enumerate() {
            self.by_name.entry(definition.name.clone()).or_default().push(at);
            self.by_token.insert(definition.at, at);
            if !definition.tokens.is_empty() {
                // Of a name and its type, the name.
                self.by_value.entry(definition.tokens.start).or_insert(at);
            }
        }
        self.definitions = definitions;
    }

    /// The name whose token stands at `at`, where it is given to something there.
    pub(super) fn defined_at(&self, at: usize) -> Option<&Definition> {
        self.definitions.get(*self.by_token.get(&at)?)
    }

    /// The name that is given to just these tokens.
    pub(super) fn name_of(&self, tokens: &Range<usize>) -> Option<&Definition> {
        let definition = self.definitions.get(*self.by_value.get(&tokens.start)?)?;
        (definition.tokens == *tokens).then_some(definition)
    }

    /// The name that is given to the object made with the bracket at `open`, a call's or a literal's.
    pub(super) fn name_of_made(&self, open: usize) -> Option<&Definition> {
        let close = self.pair(open)?;
        let mut start = open;
        if self.is(open, "(") {
            start = self.path_start(open.saturating_sub(1));
        }
        if self.before(start) == "new" {
            start -= 1;
        }
        self.name_of(&(start..close + 1))
    }

    /// The text of a token; empty past the end.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.tokens
            .get(at)
            .and_then(|token| self.text.get(token.span.clone()))
            .unwrap_or_default()
    }

    /// The tokens of a name.
    pub(super) fn named(&self, name: &str) -> &[usize] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// The token before `at`, as text.
    pub(super) fn before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    pub(super) fn is_string(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_string)
    }

    pub(super) fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Ident)
    }

    pub(super) fn is_newline(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| token.kind == Kind::Newline)
    }

    /// Whether an operator or bracket stands at `at`, and which.
    pub(super) fn is(&self, at: usize, punct: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Punct) && self.word(at) == punct
    }

    /// The bracket that belongs to the one at `at`.
    pub(super) fn pair(&self, at: usize) -> Option<usize> {
        self.pair.get(at).copied().filter(|pair| *pair != at)
    }

    /// The open bracket around a token.
    pub(super) fn around(&self, at: usize) -> Option<usize> {
        self.around.get(at).copied().flatten()
    }

    /// The bytes of some tokens.
    pub(super) fn span(&self, tokens: &Range<usize>) -> Range<usize> {
        let start = self.tokens.get(tokens.start).map_or(0, |token| token.span.start);
        let last = tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..last.map_or(start, |token| token.span.end.max(start))
    }

    /// The source of some tokens.
    pub(super) fn source(&self, tokens: &Range<usize>) -> &'a str {
        self.text.get(self.span(tokens)).unwrap_or_default()
    }

    /// The text of a string that has no holes.
    pub(super) fn literal(&self, at: usize) -> Option<String> {
        let pieces = self.tokens.get(at)?.pieces()?;
        fold::text_of(&fold::parts_of(self.text, pieces))
    }

    /// What stands between the brackets that open at `open`.
    pub(super) fn arguments(&self, open: usize) -> Vec<Argument> {
        let Some(close) = self.pair(open) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut start = open + 1;
        let mut at = start;
        while at <= close {
            if at == close || self.is(at, ",") {
                if at > start {
                    found.push(self.argument(start..at));
                }
                start = at + 1;
            }
            at = self.pair(at).filter(|pair| *pair > at && at != close).unwrap_or(at) + 1;
        }
        found
    }

    fn argument(&self, tokens: Range<usize>) -> Argument {
        let spread = ["*", "**", "..."].iter().any(|spread| self.is(tokens.start, spread));
        let second = tokens.start + 1;
        let keyed = second < tokens.end
            && (self.is(second, "=") || self.is(second, ":"))
            && (self.is_name(tokens.start) || self.is_string(tokens.start));
        let key = if self.is_string(tokens.start) {
            self.literal(tokens.start)
        } else {
            Some(self.word(tokens.start).to_owned())
        };
        Argument {
            key: key.filter(|_| keyed),
            key_at: tokens.start,
            value: if keyed { second + 1..tokens.end } else { tokens },
            spread,
        }
    }

    /// What `name` stands for at the token `at`: what it was last given to before.
    pub(super) fn definition(&self, name: &str, at: usize) -> Option<&Definition> {
        let named = self.by_name.get(name)?;
        let get = |index: &usize| self.definitions.get(*index);
        let is_before = |index: &usize| get(index).is_some_and(|definition| definition.at < at);
        let other = |definition: &&Definition| !definition.tokens.contains(&at) && definition.at != at;
        let before = named.partition_point(is_before);
        let (earlier, later) = named.split_at_checked(before)?;
        let last = earlier.iter().rev().filter_map(get).find(other);
        last.or_else(|| later.iter().filter_map(get).find(other))
    }

    /// Whether `name` always stands for the same: it is given once, and in capitals or where no function is around it.
    pub(super) fn is_constant(&self, name: &str) -> bool {
        let Some([only]) = self.by_name.get(name).map(Vec::as_slice) else {
            return false;
        };
        let Some(definition) = self.definitions.get(*only) else {
            return false;
        };
        let start = self.tokens.get(definition.at).map_or(0, |token| token.span.start);
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_outside =
            self.around(definition.at).is_none() && !line.starts_with([' ', '\t']) && !line.contains(['(', '.']);
        is_outside || !name.chars().any(char::is_lowercase)
    }

    /// The names that the token `at` goes on with, `self.` and the like before it.
    pub(super) fn path_start(&self, at: usize) -> usize {
        let mut start = at;
        while start >= 2 && matches!(self.before(start), "." | "::" | "?.") && self.is_name(start - 2) {
            start -= 2;
        }
        start
    }
}

fn brackets(text: &str, tokens: &[Token]) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut pair: Vec<usize> = (0..tokens.len()).collect();
    let mut around = vec![None; tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = text.get(token.span.clone()).unwrap_or_default();
        let word = if token.kind == Kind::Punct { word } else { "" };
        let opens = match word {
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => "",
        };
        // One that closes nothing is passed over, and so are those that it shows to be open still.
        if !opens.is_empty()
            && let Some(depth) = open.iter().rposition(|(_, bracket)| *bracket == opens)
        {
            if let Some((from, _)) = open.get(depth)
                && let (Some(there), Some(here)) = (pair.get(*from).copied(), pair.get(at).copied())
            {
                pair.swap(there, here);
            }
            open.truncate(depth);
        }
        if let Some(around) = around.get_mut(at) {
            *around = open.last().map(|(at, _)| *at);
        }
        if matches!(word, "(" | "[" | "{") {
            open.push((at, word));
        }
    }
    (pair, around)
}

/// Every name that is given to something, in the order of the text.
fn definitions(code: &Code<'_>) -> Vec<Definition> {
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        if !code.is_name(at) {
            continue;
        }
        if let Some(definition) = assignment(code, at, &found).or_else(|| unknown(code, at)) {
            found.push(definition);
        }
    }
    found
}

/// `name = ...`, `name: type = ...`, `name += ...`, `NAME: ...` of an object.
fn assignment(code: &Code<'_>, at: usize, earlier: &[Definition]) -> Option<Definition> {
    let added = code.is(at + 1, "+=");
    let start = if added || code.is(at + 1, "=") || code.is(at + 1, ":=") {
        at + 2
    } else {
        behind_type(code, at)?
    };
    let around = code.around(at);
    if !code.is(at + 1, ":=") && around.is_some_and(|open| code.is(open, "(") && !is_parameters(code, open)) {
        return None;
    }
    let name = code.word(at).to_owned();
    let folded = fold::expression(code, start);
    let (end, mut parts) = match folded {
        Some(folded) => (folded.end, folded.value.text()),
        None => (start + 1, None),
    };
    if added {
        let before = earlier.iter().rev().find(|earlier| earlier.name == name);
        parts = parts.and_then(|parts| {
            let mut all = before?.parts.clone()?;
            all.extend(parts);
            Some(all)
        });
    }
    let is_parameter = around.is_some_and(|open| code.is(open, "(") && is_parameters(code, open));
    let is_kept = |parts: &Vec<Part>| {
        // What a parameter is without an argument says little of what it is with one; a whole topic is worth a look.
        let says_much = !is_parameter || topic::whole(&fold::flat(parts)).is_some();
        parts.len() <= MOST_PARTS && says_much
    };
    Some(Definition {
        name,
        at,
        tokens: start..end,
        parts: parts.filter(is_kept),
        added,
    })
}

/// Where a value begins behind the name at `at` and its type, or the key of an object that is a constant by its name.
fn behind_type(code: &Code<'_>, at: usize) -> Option<usize> {
    if !code.is(at + 1, ":") || code.language == Language::Yaml {
        return None;
    }
    let in_object = code.around(at).is_some_and(|open| code.is(open, "{"));
    let is_constant = code
        .word(at)
        .chars()
        .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
    if in_object && is_constant && code.is_string(at + 2) {
        return Some(at + 2);
    }
    let equals = (at + 2..at + 12).find(|at| code.is(*at, "="))?;
    let ends = |at: usize| code.is_newline(at) || [",", ";", "{", "}", ")"].iter().any(|end| code.is(at, end));
    (at + 2..equals).all(|at| !ends(at)).then_some(equals + 1)
}

/// A name of which nothing is known but that it is given: a parameter, the variable of a loop.
fn unknown(code: &Code<'_>, at: usize) -> Option<Definition> {
    let before = code.before(at);
    let in_loop = matches!(before, "for" | "const" | "let" | "var") && matches!(code.word(at + 1), "in" | "of" | ",");
    let is_parameter = matches!(before, "(" | "," | "mut" | "*" | "...")
        && matches!(code.word(at + 1), ")" | "," | ":" | "=>")
        && code
            .around(at)
            .is_some_and(|open| code.is(open, "(") && is_parameters(code, open));
    let of_arrow = code.is(at + 1, "=>") && code.language == Language::JavaScript;
    (in_loop || is_parameter || of_arrow).then(|| Definition {
        name: code.word(at).to_owned(),
        at,
        tokens: at..at,
        parts: None,
        added: false,
    })
}

/// Whether the bracket at `open` holds parameters of a function that is defined.
pub(super) fn is_parameters(code: &Code<'_>, open: usize) -> bool {
    let name = open.saturating_sub(1);
    let definer = |at: usize| matches!(code.word(at), "def" | "function" | "fn" | "lambda");
    if open > 0 && (definer(name) || (name > 0 && definer(name - 1))) {
        return true;
    }
    let Some(close) = code.pair(open) else { return false };
    match code.language {
        Language::JavaScript => {
            let is_statement = matches!(code.word(name), "if" | "while" | "switch" | "for" | "with");
            code.is(close + 1, "=>") || (code.is(close + 1, "{") && !is_statement && code.is_name(name))
        }
        _ => false,
    }
}
