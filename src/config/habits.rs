//! Habits of the shell in `run:`, where there is none, and parameters that a declared tool says one thing of and does
//! another. What is written so is no fault: a program may want a `|` as its argument. Pure.

use std::collections::BTreeSet;

use super::expand;
use super::fault::Position;
use super::yaml::{Entry, Node, Value};
use crate::tools::template::{Form, Template, variable};

/// Words that are something to a shell only.
const OPERATORS: &[&str] = &[
    "|", "||", "&&", "&", ";", ">", ">>", "<", "<<", "2>", "2>&1", "&>", ">&2",
];

/// Programs whose own language has stars, dollars and bars.
const OWN_LANGUAGE: &[&str] = &[
    "sh", "bash", "dash", "zsh", "find", "grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "jq", "yq", "expr",
    "bc", "perl", "ruby", "python3", "python", "node", "psql", "mysql", "sqlite3", "ssh", "test", "[", "printf",
];

/// Something odd: where, the key below the tool it stands under, and in words.
pub(super) type Odd = (Position, String, String);

/// What is odd about a tool with these keys.
pub(super) fn of_tool(keys: &[Entry]) -> Vec<Odd> {
    let key = |name: &str| keys.iter().find(|entry| entry.key == name).map(|entry| &entry.value);
    let mut odd = Vec::new();
    let mut items = Vec::new();
    if let Some(run) = key("run") {
        flatten(run, &mut items);
        odd.extend(shell_habits(&items));
    }
    if let Some(Value::Mapping(parameters)) = key("parameters").map(|node| &node.value) {
        let stdin = key("stdin").and_then(text).unwrap_or_default();
        match key("shell").and_then(text) {
            Some(script) => odd.extend(in_shell(parameters, script, stdin)),
            None => odd.extend(in_run(parameters, &items, stdin)),
        }
    }
    odd
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(scalar) => Some(&scalar.typed),
        _ => None,
    }
}

fn flatten<'n>(node: &'n Node, items: &mut Vec<(Position, &'n str)>) {
    match &node.value {
        Value::Scalar(scalar) => items.push((node.at, &scalar.typed)),
        Value::Sequence(inner) => inner.iter().for_each(|item| flatten(item, items)),
        _ => {}
    }
}

fn shell_habits(items: &[(Position, &str)]) -> Vec<Odd> {
    let program = items.first().map_or("", |(_, program)| *program);
    let program = program.rsplit('/').next().unwrap_or(program);
    if OWN_LANGUAGE.contains(&program) {
        return Vec::new();
    }
    let mut odd = Vec::new();
    let mut before = "";
    for (at, item) in items.iter().skip(1) {
        if let Some(what) = habit(item, before) {
            let what = format!(
                "{what} reaches the program as it is, for 'run' has no shell: use 'shell:', or what it stands for"
            );
            odd.push((*at, "run".to_owned(), what));
        }
        before = item;
    }
    odd
}

/// What of an item only a shell would understand, where the one before it is `before`.
fn habit(item: &str, before: &str) -> Option<String> {
    if OPERATORS.contains(&item) {
        return Some(format!("'{item}'"));
    }
    if item == "~" || item.starts_with("~/") {
        return Some("the '~' here".to_owned());
    }
    if let Some(name) = item.strip_prefix('$') {
        let end = name
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(name.len());
        let starts = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        return (starts && !name[end..].starts_with('{')).then(|| format!("'${}'", &name[..end]));
    }
    // `--include '*.py'` is for the program.
    let is_path = item.contains('/') || item.starts_with("*.") || item == "*";
    let globs = item.contains('*') && is_path && !item.contains(char::is_whitespace) && !item.contains("://");
    (globs && !before.starts_with('-') && !item.starts_with('-')).then(|| "the '*' here".to_owned())
}

/// Parameters against the placeholders of `run` and `stdin`.
fn in_run(parameters: &[Entry], items: &[(Position, &str)], stdin: &str) -> Vec<Odd> {
    let mut used = BTreeSet::new();
    let mut odd = Vec::new();
    for (at, item) in items {
        let Some(template) = template(item) else {
            return Vec::new();
        };
        used.extend(template.names().map(str::to_owned));
        for (name, _) in template.placeholders().filter(|(_, form)| *form == Form::Text) {
            if *item == format!("{{{name}}}") && is_array(parameters, name) {
                let what = format!(
                    "'{{{name}}}' is the whole array as one argument, in JSON; '{{{name}...}}' is an argument an item"
                );
                odd.push((*at, "run".to_owned(), what));
            }
        }
    }
    let Some(stdin) = template(stdin) else { return odd };
    used.extend(stdin.names().map(str::to_owned));
    for parameter in parameters.iter().filter(|parameter| !used.contains(&parameter.key)) {
        let name = &parameter.key;
        let what = format!(
            "no argument of 'run' is made of it, nor 'stdin': what callers send is dropped; write \"{{{name}}}\""
        );
        odd.push((parameter.at, format!("parameters.{name}"), what));
    }
    odd
}

/// Parameters against the variables of `shell`.
fn in_shell(parameters: &[Entry], script: &str, stdin: &str) -> Vec<Odd> {
    let mut odd = Vec::new();
    for parameter in parameters {
        let (name, variable) = (&parameter.key, variable(&parameter.key));
        let in_stdin = template(stdin).is_some_and(|template| template.names().any(|used| used == name));
        let sets = [
            format!("{name}="),
            format!("for {name} "),
            format!("read {name}"),
            format!("read -r {name}"),
        ];
        let stranger = [format!("${{{name}}}"), format!("${name}")]
            .iter()
            .any(|text| has_word(script, text))
            && !sets.iter().any(|set| script.contains(set));
        let what = if stranger && !has_word(script, &variable) {
            format!("'${name}' is not set in 'shell': the argument is the variable ${variable}")
        } else if !has_word(script, &variable) && !in_stdin && !reads_all(script) {
            format!("'shell' does not use its variable ${variable}: what callers send is dropped")
        } else {
            continue;
        };
        odd.push((parameter.at, format!("parameters.{name}"), what));
    }
    odd
}

/// `env` and programs of one's own may read what the script itself does not name.
fn reads_all(script: &str) -> bool {
    script.contains("ARG_*")
        || script
            .split_whitespace()
            .any(|word| matches!(word, "env" | "printenv" | "./") || word.starts_with("./"))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| word.ends_with('}') || !text[at + word.len()..].starts_with(is_part))
}

fn is_array(parameters: &[Entry], name: &str) -> bool {
    let parameter = parameters.iter().find(|parameter| parameter.key == name);
    let fields = match parameter.map(|parameter| &parameter.value.value) {
        Some(Value::Mapping(fields)) => fields,
        _ => return false,
    };
    fields
        .iter()
        .any(|field| field.key == "type" && text(&field.value) == Some("array"))
}

/// A template as it was typed, its variables left out.
fn template(typed: &str) -> Option<Template> {
    let mut plain = String::new();
    let mut rest = typed;
    while let Some(at) = rest.find("${") {
        plain.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        rest = &inside[expand::closing(inside)? + 1..];
    }
    plain.push_str(rest);
    Template::parse(&plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::yaml;

    /// What is said of a tool, by key.
    fn said(tool: &str) -> Vec<(String, String)> {
        let node = yaml::parse(tool).0.unwrap();
        let Value::Mapping(keys) = node.value else {
            panic!("{tool}")
        };
        of_tool(&keys).into_iter().map(|(_, key, what)| (key, what)).collect()
    }

    #[test]
    fn what_only_a_shell_understands_is_told_from_what_a_program_may_want() {
        for (run, parts) in [
            (r#"[ls, "*.txt"]"#, vec!["the '*' here"]),
            (r#"[ls, "$HOME"]"#, vec!["'$HOME'"]),
            (
                r#"[ls, "~/x", "|", wc, "&&", ";", ">", out]"#,
                vec!["the '~' here", "'|'", "'&&'", "';'", "'>'"],
            ),
            (r#"[find, "/x", -name, "*.py"]"#, vec![]),
            (r#"[rsync, --exclude, "*.pyc", a/, b/]"#, vec![]),
            (r#"[bash, -c, "ls *.txt | wc"]"#, vec![]),
            (r#"[curl, "https://x/*", "a|b", "${HOME}/x", "$5"]"#, vec![]),
        ] {
            let said = said(&format!("{{run: {run}}}"));
            assert_eq!(said.len(), parts.len(), "{run}: {said:?}");
            for ((_, what), part) in said.iter().zip(parts) {
                assert!(what.starts_with(part), "{run}: {what}");
            }
        }
    }

    #[test]
    fn parameters_nobody_uses_and_arrays_in_one_argument_are_told() {
        let of = |tool: &str| said(tool);
        let array = of(r#"{parameters: {h: {type: array}}, run: [ls, "{h}"]}"#);
        assert!(array[0].1.contains("'{h...}' is an argument an item"), "{array:?}");
        assert_eq!(of(r#"{parameters: {h: {type: array}}, run: [ls, "{h...}"]}"#), []);
        let unused = of(
            r#"{parameters: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: boolean}}, run: [x, [-v, "{d?}"], "${Y}{a}"], stdin: "{b}"}"#,
        );
        assert_eq!(unused.len(), 1, "{unused:?}");
        assert_eq!(unused[0].0, "parameters.c");
        assert_eq!(of(r#"{parameters: {a: {type: string}}, shell: 'ls "$ARG_A"'}"#), []);
        assert_eq!(of(r#"{parameters: {a: {type: string}}, shell: './all'}"#), []);
        let stranger = of(r#"{parameters: {dir: {type: string}}, shell: 'ls "${dir}"'}"#);
        assert!(stranger[0].1.contains("the variable $ARG_DIR"), "{stranger:?}");
        let dropped = of(r#"{parameters: {a: {type: string}}, shell: 'ls'}"#);
        assert!(dropped[0].1.contains("does not use its variable $ARG_A"), "{dropped:?}");
    }
}
