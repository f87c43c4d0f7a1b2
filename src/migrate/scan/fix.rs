//! The rewriting of what is certain: a topic and a payload that are written where they are sent.

use super::code::{Argument, Code};
use super::finding::Edit;
use super::fold::{self, Hole, How, Part};
use super::language::Language;
use super::payload::{self, Payload};
use super::place::{self, Place};
use super::token::{Piece, is_hole};
use super::topic;

/// The edits, or why there are none.
pub(super) type Fix = Result<Vec<Edit>, String>;

/// Rewrites the call whose topic the tokens from `start` to `end` make.
pub(super) fn caller(code: &Code<'_>, start: usize, end: usize, parts: &[Part]) -> Fix {
    if !matches!(
        code.language,
        Language::Python | Language::JavaScript | Language::Json | Language::Embedded
    ) {
        return Err(format!("calls in {} are left to you", code.language.name()));
    }
    match place::of(code, start, end) {
        Place::Named(name) => return Err(format!("the topic is kept as {name}, which may be used elsewhere")),
        Place::Call { callee, keyword, .. } => sends(&callee, keyword.as_deref())?,
        Place::Member { key, open: Some(_), .. } if key == "type" || key == "msg_type" => {}
        _ => return Err("where the topic goes cannot be seen here".to_owned()),
    }
    let open = match place::of(code, start, end) {
        Place::Call { open, .. } => Some(open),
        Place::Member { open, .. } => open,
        _ => None,
    };
    if open.is_none() || all_of(code, start, end) != open {
        return Err("the topic is only one of those that may be sent here".to_owned());
    }
    let is_frame = matches!(place::of(code, start, end), Place::Member { .. });
    if is_frame && open.is_some_and(|open| code.arguments(open).iter().any(|member| member.spread)) {
        return Err("what is taken over into the frame may bring a payload of its own".to_owned());
    }
    if open.is_some_and(|open| is_given_data_later(code, open)) {
        return Err("its payload is given later, and would take the place of the one with the toolbox_id".to_owned());
    }
    let quote = quote(code, start);
    let id = id(code, start, end, parts, quote)?;
    let mut edits = vec![Edit {
        range: code.span(&(start..end)),
        text: format!("{quote}{}{quote}", topic::CALL),
    }];
    match payload::of(code, start, end) {
        Payload::Object { open, here: true } => edits.extend(with_id(code, open, &id, quote)?),
        Payload::Absent if matches!(place::of(code, start, end), Place::Call { .. }) => {
            if let Some(edit) = edits.first_mut() {
                edit.text.push_str(&format!(", {{{quote}toolbox_id{quote}: {id}}}"));
            }
        }
        Payload::Object { here: false, .. } => {
            return Err("the payload is made elsewhere and may be used twice".to_owned());
        }
        _ => return Err("the payload is not written here".to_owned()),
    }
    Ok(edits)
}

fn sends(callee: &str, keyword: Option<&str>) -> Result<(), String> {
    let known = matches!(callee, "Message" | "MycroftMessage" | "emit" | "reply" | "forward");
    let is_topic = keyword.is_none_or(|keyword| matches!(keyword, "msg_type" | "type" | "message_type"));
    if known && is_topic {
        return Ok(());
    }
    Err(format!("what {callee} does with the topic cannot be seen here"))
}

/// The bracket of which the tokens from `start` to `end` are a whole argument or member, and not a branch of a condition.
fn all_of(code: &Code<'_>, start: usize, end: usize) -> Option<usize> {
    let (mut start, mut end) = (start, end);
    while start > 0
        && code.is(end, ")")
        && code.pair(end) == Some(start - 1)
        && place::callee(code, start - 1).is_none()
    {
        (start, end) = (start - 1, end + 1);
    }
    let open = code.around(start)?;
    let mut arguments = code.arguments(open).into_iter();
    let is_whole = arguments.any(|argument| argument.value == (start..end) && !argument.spread);
    is_whole.then_some(open)
}

/// Whether the Message that is made with the bracket at `open` has a name, and `name.data = ...` follows.
fn is_given_data_later(code: &Code<'_>, open: usize) -> bool {
    let (Some(close), Some(named)) = (code.pair(open), code.name_of_made(open)) else {
        return false;
    };
    let is_given =
        |at: &usize| *at > close && code.is(at + 1, ".") && code.word(at + 2) == "data" && code.is(at + 3, "=");
    code.named(&named.name).iter().any(is_given)
}

/// Renames the key of arguments.
pub(super) fn rename(code: &Code<'_>, entry: &Argument, wanted: &str) -> Fix {
    let Some(token) = code.tokens.get(entry.key_at) else {
        return Err("its key is gone".to_owned());
    };
    let (open, close) = token.quotes;
    let is_short = entry.value.start == entry.key_at;
    let (range, text) = if is_short {
        (token.span.start..token.span.start, format!("{wanted}: "))
    } else {
        (token.span.start + open..token.span.end - close, wanted.to_owned())
    };
    Ok(vec![Edit { range, text }])
}

/// The quote of the string at `start`, or one that fits the language.
fn quote(code: &Code<'_>, start: usize) -> char {
    let mut strings = (start..code.tokens.len()).filter(|at| code.is_string(*at));
    let first = strings.next().map_or("", |at| code.word(at));
    if first.trim_start_matches(char::is_alphabetic).starts_with('\'') {
        '\''
    } else {
        '"'
    }
}

/// The expression of the toolbox_id.
fn id(code: &Code<'_>, start: usize, end: usize, parts: &[Part], quote: char) -> Result<String, String> {
    if end == start + 1
        && let Some(id) = cut(code, start, quote)
    {
        return id;
    }
    if let Some(source) = middle(code, start, end) {
        return Ok(source);
    }
    let inner = between(parts).ok_or("the topic could not be taken apart")?;
    match inner.as_slice() {
        [Part::Text(text)] if topic::is_literal(text) && is_known(code, start, end, text) => {
            Ok(format!("{quote}{text}{quote}"))
        }
        // Where it comes with a name, what it is made of may mean nothing here.
        [Part::Hole(hole)] if has_word(code.source(&(start..end)), &hole.source) => of_hole(code.language, hole, quote),
        [_] => Err("its toolbox_id comes with a name, and may be another by now".to_owned()),
        _ => Err("its toolbox_id is put together from several parts".to_owned()),
    }
}

/// Whether `id` is written between the tokens from `start` to `end`, or is a constant that stands there.
fn is_known(code: &Code<'_>, start: usize, end: usize, id: &str) -> bool {
    let is_written = |at: usize| {
        let pieces = code.tokens.get(at).and_then(|token| token.pieces()).unwrap_or_default();
        let texts = pieces.iter().filter_map(|piece| match piece {
            Piece::Text { value, .. } => Some(value.as_str()),
            Piece::Hole { .. } => None,
        });
        texts.flat_map(|text| text.split('.')).any(|part| part == id)
    };
    if (start..end).any(is_written) {
        return true;
    }
    let stands_for_it = |name: &str| {
        let named = code.definition(name, start);
        let text = named.and_then(|named| fold::text_of(named.parts.as_ref()?));
        text.is_some_and(|text| text.split('.').any(|part| part == id))
    };
    let names = (start..end).flat_map(|at| names(code, at));
    let mut own = names.filter(|(name, _)| stands_for_it(name)).peekable();
    own.peek().is_some() && own.all(|(name, is_owned)| !is_owned && code.is_constant(name))
}

/// The names in a token, and whether each is that of something's member: another in a class made from that, perhaps.
fn names<'a>(code: &Code<'a>, at: usize) -> Vec<(&'a str, bool)> {
    let is_owned = code.path_start(at) < at;
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let paths = code.word(at).split(|c| !goes_on(c));
    paths
        .map(|path| match path.rsplit_once('.') {
            Some((_, name)) => (name, true),
            None => (path, is_owned),
        })
        .collect()
}

/// Whether `word` stands in `source`, and not as a part of something longer.
fn has_word(source: &str, word: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(word).any(|(at, _)| {
        let before = source.get(..at).and_then(|before| before.chars().next_back());
        let behind = source.get(at + word.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(|c| goes_on(c) || c == '.') && !behind.is_some_and(goes_on)
    })
}

/// The parts of the toolbox_id alone.
fn between(parts: &[Part]) -> Option<Vec<Part>> {
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match (merged.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(text)) => last.push_str(text),
            _ => merged.push(part.clone()),
        }
    }
    if let Some(Part::Text(first)) = merged.first_mut() {
        *first = first.strip_prefix(topic::PREFIX)?.to_owned();
    }
    if let Some(Part::Text(last)) = merged.last_mut() {
        *last = last.strip_suffix(".call")?.to_owned();
    }
    merged.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    Some(merged)
}

/// What is left of one string when the topic around the toolbox_id is cut away.
fn cut(code: &Code<'_>, at: usize, quote: char) -> Option<Result<String, String>> {
    let token = code.tokens.get(at)?;
    let source = code.word(at);
    let (open, close) = token.quotes;
    let inner = source.get(open..source.len().checked_sub(close)?)?;
    let inner = inner.strip_prefix(topic::PREFIX)?.strip_suffix(".call")?;
    let pieces = token.pieces()?;
    let mut holes = pieces.iter().filter(|piece| matches!(piece, Piece::Hole { .. }));
    let Some(hole) = holes.next() else {
        return Some(if topic::is_literal(inner) || inner.chars().all(is_hole) {
            Ok(format!("{quote}{inner}{quote}"))
        } else {
            Err("its toolbox_id is filled in elsewhere".to_owned())
        });
    };
    if let (
        Piece::Hole {
            inner: name,
            outer,
            formatted: false,
            ..
        },
        None,
    ) = (hole, holes.next())
    {
        let name = code.text.get(name.clone())?.trim();
        let is_all = outer.len() == inner.len();
        let last = name.rsplit('.').next()?;
        let known = code
            .definition(last, at)
            .and_then(|definition| fold::text_of(definition.parts.as_ref()?));
        if is_all && known.is_some() && is_path(name) {
            return Some(Ok(name.to_owned()));
        }
    }
    Some(Ok(format!(
        "{}{inner}{}",
        source.get(..open)?,
        source.get(source.len() - close..)?
    )))
}

/// The second of three that are added, where the first and the third are what stands around a toolbox_id.
fn middle(code: &Code<'_>, start: usize, end: usize) -> Option<String> {
    let mut bounds = Vec::new();
    let mut at = start;
    while at < end {
        if code.is(at, "+") {
            bounds.push(at);
        }
        at = code.pair(at).filter(|pair| *pair > at).unwrap_or(at) + 1;
    }
    let [first, second] = bounds.as_slice() else {
        return None;
    };
    let text = |at: usize, end: usize| {
        let folded = fold::expression(code, at)?;
        // The first is read on into the others.
        let parts = folded.value.text()?;
        let alone = code.is_string(at).then(|| code.literal(at)).flatten();
        alone
            .or_else(|| {
                let named = code.definition(code.word(end - 1), at)?;
                fold::text_of(named.parts.as_ref()?)
            })
            .or_else(|| fold::text_of(&parts))
    };
    let fits = text(start, *first)? == topic::PREFIX && text(second + 1, end)? == ".call";
    let source = code.source(&(first + 1..*second));
    fits.then(|| joined(code.language, source))
}

/// A text that was added to others, as an expression of its own.
fn joined(language: Language, source: &str) -> String {
    match language {
        Language::JavaScript if is_path(source) => format!("`${{{source}}}`"),
        Language::JavaScript => format!("String({source})"),
        _ => source.to_owned(),
    }
}

fn of_hole(language: Language, hole: &Hole, quote: char) -> Result<String, String> {
    let source = &hole.source;
    match (hole.how, language) {
        (How::Elsewhere, _) => Err("its toolbox_id is filled in elsewhere, or formatted".to_owned()),
        (How::Joined, language) => Ok(joined(language, source)),
        (How::Formatted, Language::Python) if is_path(source) => Ok(format!("f{quote}{{{source}}}{quote}")),
        (How::Formatted, Language::Python) => Ok(format!("{quote}{{}}{quote}.format({source})")),
        (How::Percent, Language::Python) => Ok(format!("str({source})")),
        (_, language) => Ok(joined(language, source)),
    }
}

/// Whether a source is a name, perhaps of something's member.
fn is_path(source: &str) -> bool {
    !source.is_empty()
        && source
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

/// The edit that puts the toolbox_id into the object at `open`.
fn with_id(code: &Code<'_>, open: usize, id: &str, quote: char) -> Result<Option<Edit>, String> {
    let entries = payload::entries(code, open);
    if entries.iter().any(|entry| entry.spread || entry.key.is_none()) {
        return Err("the payload takes over what stands elsewhere".to_owned());
    }
    let is_comprehension = |at: usize| code.around(at) == Some(open) && code.word(at) == "for" && code.is_name(at);
    if code.pair(open).is_some_and(|close| (open..close).any(is_comprehension)) {
        return Err("the payload is made by a loop".to_owned());
    }
    if let Some(own) = entries.iter().find(|entry| entry.key.as_deref() == Some("toolbox_id")) {
        let same = code.source(&own.value) == id;
        let why = "the payload names a toolbox already, and not the same way".to_owned();
        return if same { Ok(None) } else { Err(why) };
    }
    let key = key(code, open, &entries, quote);
    let Some(bracket) = code.tokens.get(open) else {
        return Err("the payload is gone".to_owned());
    };
    let Some(first) = entries.first().and_then(|entry| code.tokens.get(entry.key_at)) else {
        let at = bracket.span.end;
        let text = format!("{key}{id}");
        return Ok(Some(Edit { range: at..at, text }));
    };
    let at = first.span.start;
    let between = code.text.get(bracket.span.end..at).unwrap_or_default();
    // One entry a line stays one entry a line.
    let behind = match between.rfind('\n') {
        Some(line) if between.trim().is_empty() => {
            let from = if between.get(..line).is_some_and(|before| before.ends_with('\r')) {
                line - 1
            } else {
                line
            };
            between.get(from..).unwrap_or(" ")
        }
        _ => " ",
    };
    Ok(Some(Edit {
        range: at..at,
        text: format!("{key}{id},{behind}"),
    }))
}

/// `"toolbox_id": ` as the other keys of the object are written.
fn key(code: &Code<'_>, open: usize, entries: &[Argument], quote: char) -> String {
    if code.is(open, "(") {
        return "toolbox_id=".to_owned();
    }
    let first = entries.first().map(|entry| entry.key_at);
    let bare = first.is_some_and(|at| code.is_name(at));
    match (code.language, first) {
        (Language::JavaScript | Language::Embedded, Some(_)) if bare => "toolbox_id: ".to_owned(),
        (Language::JavaScript, None) => "toolbox_id: ".to_owned(),
        (_, Some(at)) if code.word(at).starts_with('"') => "\"toolbox_id\": ".to_owned(),
        (_, Some(at)) if code.word(at).starts_with('\'') => "'toolbox_id': ".to_owned(),
        _ => format!("{quote}toolbox_id{quote}: "),
    }
}
