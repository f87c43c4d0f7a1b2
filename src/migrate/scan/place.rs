//! Where an expression stands, and what that says of what is done with it.

use super::code::{Code, is_parameters};
use super::fold;
use super::language::Language;

/// What is done with a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is sent.
    Caller,
    /// Calls on it are answered.
    Host,
    /// Answers on it are awaited.
    Listener,
    /// The arguments of a call stand under the key that belongs to the other call.
    Arguments,
    /// It is spoken of.
    Mention,
}

impl Kind {
    /// As it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Host => "host",
            Self::Listener => "listener",
            Self::Arguments => "arguments",
            Self::Mention => "mention",
        }
    }
}

/// Where an expression stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// An argument of a call, whose bracket is at `open`.
    Call {
        callee: String,
        open: usize,
        index: usize,
        keyword: Option<String>,
    },
    /// The value of a key of an object, whose bracket is at `open`; YAML can do without one.
    Member {
        key: String,
        key_at: usize,
        open: Option<usize>,
    },
    /// A key itself, or an index.
    Key,
    /// Compared with something.
    Compared,
    /// Part of a larger text.
    Joined,
    /// The value of a name.
    Named(String),
    /// A statement by itself, as the text that documents a function.
    Statement,
    /// Anywhere else.
    Elsewhere,
}

const COMPARISONS: [&str; 8] = ["==", "===", "!=", "!==", "in", "is", "case", "match"];

/// Where the tokens from `start` to `end` stand.
pub(super) fn of(code: &Code<'_>, start: usize, end: usize) -> Place {
    let (mut start, mut end) = (start, end);
    loop {
        while matches!(code.before(start), "&" | "await" | "new") {
            start -= 1;
        }
        if let Some(place) = by_neighbors(code, start, end) {
            return place;
        }
        let Some(open) = code.around(start) else {
            return Place::Elsewhere;
        };
        let Some(close) = code.pair(open) else {
            return Place::Elsewhere;
        };
        match code.word(open) {
            "(" => match callee(code, open) {
                Some(callee) if is_transparent(&callee) => {
                    start = code.path_start(open - 1);
                    end = close + 1;
                }
                Some(callee) => return argument(code, callee, open, start),
                None => {
                    start = open;
                    end = close + 1;
                }
            },
            "[" if is_index(code, open) && code.before(open) == "Literal" => return Place::Elsewhere,
            "[" if is_index(code, open) => return Place::Key,
            "[" => {
                start = open;
                end = close + 1;
            }
            _ => return Place::Elsewhere,
        }
    }
}

fn by_neighbors(code: &Code<'_>, start: usize, end: usize) -> Option<Place> {
    let (before, after) = (code.before(start), code.word(end));
    if let Some(named) = code.name_of(&(start..end)) {
        return Some(Place::Named(named.name.clone()));
    }
    if before == "+" || after == "+" || before == "+=" {
        return Some(Place::Joined);
    }
    let yaml = code.language == Language::Yaml;
    if after == ":" && (yaml || matches!(before, "{" | ",")) {
        return Some(Place::Key);
    }
    if before == ":" && start >= 2 {
        let key_at = start - 2;
        let open = code.around(start).filter(|open| code.is(*open, "{"));
        let key = if code.is_string(key_at) {
            code.literal(key_at)
        } else {
            code.is_name(key_at).then(|| code.word(key_at).to_owned())
        };
        if let Some(key) = key.filter(|_| open.is_some() || yaml) {
            return Some(Place::Member { key, key_at, open });
        }
    }
    let compares = |word: &str| COMPARISONS.contains(&word);
    let is_compared =
        (compares(before) && !is_loop(code, start)) || (compares(after) && !matches!(after, "match" | "case"));
    if is_compared {
        return Some(Place::Compared);
    }
    match code.language {
        Language::Rust if matches!(after, "=>" | "|") || before == "|" => Some(Place::Compared),
        Language::Shell => in_shell(code, start, end),
        Language::Python if code.is_string(start) && is_statement(code, start, end) => Some(Place::Statement),
        _ => None,
    }
}

fn is_statement(code: &Code<'_>, start: usize, end: usize) -> bool {
    let begins = start == 0 || code.is_newline(start - 1);
    begins && code.is_newline(end) && code.around(start).is_none()
}

/// Whether what begins at `start` is what a loop goes through: `for x in ...`.
fn is_loop(code: &Code<'_>, start: usize) -> bool {
    let before = (start.saturating_sub(12)..start)
        .rev()
        .take_while(|at| !code.is_newline(*at) && !code.is(*at, ";"));
    code.before(start) == "in" && before.into_iter().any(|at| code.word(at) == "for")
}

/// A word of a command.
fn in_shell(code: &Code<'_>, start: usize, end: usize) -> Option<Place> {
    if matches!(code.before(start), "=" | "=~") || matches!(code.word(end), "=~") {
        return Some(Place::Compared);
    }
    if code.is(end, ")") && code.pair(end).is_none() {
        // The pattern of a `case`.
        return Some(Place::Compared);
    }
    let begins =
        |at: usize| code.is_newline(at) || [";", "|", "&", "&&", "||", "("].iter().any(|sign| code.is(at, sign));
    let first = (0..start).rev().find(|at| begins(*at)).map_or(0, |at| at + 1);
    // What is said is not sent, and neither is what is looked for.
    let is_said = matches!(
        code.word(first),
        "echo" | "printf" | "log" | "logger" | "grep" | "egrep" | "fgrep" | "rg" | "sed" | "awk"
    ) && first < start;
    is_said.then(|| Place::Call {
        callee: "echo".to_owned(),
        open: first,
        index: 0,
        keyword: None,
    })
}

/// The name of what is called with the bracket at `open`.
pub(super) fn callee(code: &Code<'_>, open: usize) -> Option<String> {
    let mut at = open.checked_sub(1)?;
    if code.is(at, "!") {
        at = at.checked_sub(1)?;
    }
    if !code.is_name(at) {
        return None;
    }
    let word = code.word(at);
    if matches!(
        word,
        "if" | "while" | "return" | "in" | "and" | "or" | "not" | "for" | "switch" | "await" | "elif"
    ) {
        return None;
    }
    // `bus.on.assert_any_call(...)` speaks of calls of `on`.
    let is_maker = (word.starts_with("assert_") && word.contains("call"))
        || matches!(word, "new" | "from" | "of" | "create" | "with_data" | "build");
    if is_maker && at >= 2 && matches!(code.before(at), "." | "::") && code.is_name(at - 2) {
        return Some(code.word(at - 2).to_owned());
    }
    Some(word.to_owned())
}

fn is_transparent(callee: &str) -> bool {
    matches!(
        callee,
        "str" | "String" | "Some" | "Ok" | "freeze" | "sys_intern" | "intern"
    )
}

fn is_index(code: &Code<'_>, open: usize) -> bool {
    let before = open.checked_sub(1);
    let touches = before.is_some_and(|at| {
        code.tokens.get(at).map(|token| token.span.end) == code.tokens.get(open).map(|token| token.span.start)
    });
    touches && before.is_some_and(|at| code.is_name(at) || matches!(code.word(at), ")" | "]"))
}

fn argument(code: &Code<'_>, callee: String, open: usize, start: usize) -> Place {
    let arguments = code.arguments(open);
    let found = arguments
        .iter()
        .position(|argument| argument.key_at <= start && start < argument.value.end.max(argument.key_at + 1));
    let argument = found.and_then(|index| arguments.get(index));
    let keyword = argument
        .and_then(|argument| argument.key.clone())
        .filter(|_| code.before(start) == "=" || code.before(start) == ":");
    if let (true, Some(name)) = (is_parameters(code, open), &keyword) {
        return Place::Named(name.clone());
    }
    Place::Call {
        callee,
        open,
        index: found.unwrap_or_default(),
        keyword,
    }
}

/// What is done with the topic that the tokens from `start` to `end` make, and whether that is certain.
pub(super) fn kind(code: &Code<'_>, start: usize, end: usize, answer: bool) -> (Kind, bool) {
    let place = of(code, start, end);
    match &place {
        Place::Named(name) => by_uses(code, name, start, answer),
        place => by_place(place, answer)
            .or_else(|| by_decorator(code, place, start, answer))
            .map_or((unless_told(answer), false), |kind| (kind, true)),
    }
}

/// Whether `key` names the topic of a Message.
pub(super) fn is_type(key: &str) -> bool {
    matches!(
        key.to_ascii_lowercase().as_str(),
        "type" | "msg_type" | "message_type" | "msgtype" | "messagetype"
    )
}

/// What a topic is most likely for.
fn unless_told(answer: bool) -> Kind {
    if answer { Kind::Listener } else { Kind::Caller }
}

/// What waits for a topic of this kind.
fn heard(answer: bool) -> Kind {
    if answer { Kind::Listener } else { Kind::Host }
}

/// A function below `@on("...")` takes what comes on the topic.
fn by_decorator(code: &Code<'_>, place: &Place, start: usize, answer: bool) -> Option<Kind> {
    let Place::Call {
        open,
        index: 0,
        keyword: None,
        ..
    } = place
    else {
        return None;
    };
    let name = open.checked_sub(1).filter(|_| code.around(start) == Some(*open))?;
    (code.before(code.path_start(name)) == "@").then(|| heard(answer))
}

fn by_place(place: &Place, answer: bool) -> Option<Kind> {
    let heard = heard(answer);
    let sent = if answer { Kind::Host } else { Kind::Caller };
    match place {
        Place::Key | Place::Compared => Some(heard),
        Place::Joined | Place::Statement => Some(Kind::Mention),
        Place::Named(_) | Place::Elsewhere => None,
        Place::Member { key, .. } => match key.to_ascii_lowercase().as_str() {
            key if is_type(key) => Some(sent),
            "reply_type" | "response_type" | "replytype" | "reply_topic" => Some(heard),
            "description" | "title" | "comment" | "help" => Some(Kind::Mention),
            _ => None,
        },
        Place::Call {
            callee, index, keyword, ..
        } => {
            if keyword
                .as_deref()
                .is_some_and(|keyword| keyword.starts_with("repl") || keyword.starts_with("response"))
            {
                return Some(heard);
            }
            match callee.to_ascii_lowercase().as_str() {
                "on"
                | "once"
                | "off"
                | "remove"
                | "add_event"
                | "addevent"
                | "remove_event"
                | "subscribe"
                | "unsubscribe"
                | "register_handler"
                | "add_handler"
                | "add_listener"
                | "addlistener"
                | "remove_listener"
                | "removelistener"
                | "remove_all_listeners"
                | "addeventlistener"
                | "removeeventlistener"
                | "wait_for_message"
                | "waitformessage"
                | "waitfor"
                | "wait_for"
                | "listen"
                | "handles"
                | "compile"
                | "match"
                | "matches"
                | "is_match"
                | "search"
                | "fullmatch"
                | "findall"
                | "finditer"
                | "fnmatch"
                | "fnmatchcase"
                | "startswith"
                | "starts_with"
                | "test" => Some(heard),
                "print" | "println" | "eprintln" | "log" | "debug" | "info" | "warning" | "warn" | "error"
                | "exception" | "critical" | "trace" | "echo" | "panic" | "deprecated" | "log_deprecation" => {
                    Some(Kind::Mention)
                }
                "wait_for_response" | "waitforresponse" if *index == 1 => Some(heard),
                "message" | "mycroftmessage" | "emit" | "send" | "reply" | "forward" | "publish"
                | "wait_for_response" | "waitforresponse" | "request" => Some(sent),
                // register_event_handler, unsubscribeFrom, onListener
                callee
                    if ["handler", "listener", "subscri"]
                        .iter()
                        .any(|word| callee.contains(word)) =>
                {
                    Some(heard)
                }
                _ => None,
            }
        }
    }
}

/// By what is done with the name that was given to it at `defined`.
fn by_uses(code: &Code<'_>, name: &str, defined: usize, answer: bool) -> (Kind, bool) {
    let is_use = |at: &usize| {
        code.definition(name, *at)
            .is_some_and(|definition| definition.tokens.start == defined || definition.tokens.contains(&defined))
            && code.defined_at(*at).is_none()
    };
    let in_strings = uses_in_strings(code, name);
    let kinds = code.named(name).iter().copied().filter(is_use).filter_map(|at| {
        let place = of(code, code.path_start(at), at + 1);
        (!matches!(place, Place::Joined))
            .then(|| by_place(&place, answer))
            .flatten()
    });
    match kinds.chain(in_strings).min() {
        Some(kind) => (kind, true),
        None => (unless_told(answer), false),
    }
}

/// The shell puts a name into the words of a command: with JSON around it, it is sent.
fn uses_in_strings(code: &Code<'_>, name: &str) -> Option<Kind> {
    if code.language != Language::Shell {
        return None;
    }
    let is_sent = code.tokens.iter().filter_map(|token| token.pieces()).any(|pieces| {
        let flat = fold::flat(&fold::parts_of(code.text, pieces));
        let has = fold::parts_of(code.text, pieces)
            .iter()
            .any(|part| matches!(part, fold::Part::Hole(hole) if hole.source == name));
        has && flat.contains("\"type\"")
    });
    is_sent.then_some(Kind::Caller)
}
