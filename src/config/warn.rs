//! What a file says without fault and its owner will regret, and where its keys stand.
//!
//! It reads the file a second time, for `toolhost check` alone: a [`Config`](super::Config) holds what the file comes
//! to, and what was typed (which variable an argument came from) is gone from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::expand;
use super::fault::{Fault, Position};
use super::habits;
use super::read::text_of;
use super::yaml::{self, Entry, Node, Value, below};

/// As much as a file may have.
const LONGEST_FILE: u64 = 4 << 20;

/// Deeper than any key that is asked for.
const DEPTH: usize = 8;

/// A file as it was typed.
#[derive(Debug, Clone, Default)]
pub struct Outlook {
    /// What its owner will regret. None holds a value.
    pub warnings: Vec<Fault>,
    file: PathBuf,
    places: BTreeMap<String, Position>,
}

impl Outlook {
    /// Where `path` stands, as `file:line`, or else the nearest key above it.
    pub fn place(&self, path: &str) -> Option<String> {
        let mut path = path;
        loop {
            if let Some(at) = self.places.get(path) {
                return Some(format!("{}:{}", self.file.display(), at.line));
            }
            path = path.rsplit_once('.')?.0;
        }
    }
}

/// Looks `file` over, which has been read without fault.
pub fn look_over(file: &Path) -> Outlook {
    let mut outlook = Outlook {
        file: file.to_owned(),
        ..Outlook::default()
    };
    let root = text_of(file, LONGEST_FILE).ok().and_then(|text| yaml::parse(&text).0);
    let Some(root) = root else { return outlook };
    outlook.note(&root, "", DEPTH);
    let entries = |node: &Node| match &node.value {
        Value::Mapping(entries) => entries.clone(),
        _ => Vec::new(),
    };
    let sections = entries(&root);
    // One that only forwards is meant to have none.
    let forwards = sections.iter().any(|section| section.key == "migrate");
    for section in sections {
        match section.key.as_str() {
            "toolboxes" => {
                let toolboxes = entries(&section.value);
                if toolboxes.is_empty() && !forwards {
                    outlook.warn(section.at, "toolboxes", "is empty: nothing is hosted");
                }
                for toolbox in &toolboxes {
                    outlook.toolbox(&entries(&toolbox.value), &below("toolboxes", &toolbox.key));
                }
            }
            "defaults" => outlook.toolbox(&entries(&section.value), "defaults"),
            _ => {}
        }
    }
    outlook
}

impl Outlook {
    fn note(&mut self, node: &Node, path: &str, depth: usize) {
        let Value::Mapping(entries) = &node.value else { return };
        for entry in entries {
            let path = below(path, &entry.key);
            if depth > 0 {
                self.note(&entry.value, &path, depth - 1);
            }
            self.places.insert(path, entry.at);
        }
    }

    fn warn(&mut self, at: Position, path: &str, what: impl Into<String>) {
        self.warnings.push(Fault {
            file: self.file.clone(),
            at: Some(at),
            path: path.to_owned(),
            what: what.into(),
        });
    }

    /// The argvs of a toolbox.
    fn toolbox(&mut self, entries: &[Entry], path: &str) {
        for entry in entries {
            let path = below(path, &entry.key);
            match (entry.key.as_str(), &entry.value.value) {
                ("command", _) => self.argv(&entry.value, &path),
                ("tools", Value::Mapping(tools)) => {
                    for tool in tools {
                        self.tool(tool, &below(&path, &tool.key));
                    }
                }
                ("mcp", Value::Mapping(keys)) => {
                    for key in keys.iter().filter(|key| key.key == "command") {
                        self.argv(&key.value, &below(&path, "command"));
                    }
                }
                _ => {}
            }
        }
    }

    fn tool(&mut self, tool: &Entry, path: &str) {
        let Value::Mapping(keys) = &tool.value.value else {
            return;
        };
        for key in keys.iter().filter(|key| matches!(key.key.as_str(), "run" | "shell")) {
            self.argv(&key.value, &below(path, &key.key));
        }
        for (at, key, what) in habits::of_tool(keys) {
            self.warn(at, &below(path, &key), what);
        }
    }

    fn argv(&mut self, node: &Node, path: &str) {
        let mut arguments = Vec::new();
        flatten(node, &mut arguments);
        let program = arguments.first().map_or("", |(_, program)| *program);
        let mut flag: Option<&str> = None;
        for (at, argument) in &arguments {
            let before = flag.take();
            if let Some(what) = secret(argument, before).or_else(|| by_custom(program, argument, before)) {
                let what = format!(
                    "{what} is visible to every user of this machine (`ps`) in an argument: hand it over under 'env'"
                );
                self.warn(*at, path, what);
            }
            flag = Some(argument);
        }
    }
}

/// The arguments, also those in groups; of a command line its words.
fn flatten<'n>(node: &'n Node, arguments: &mut Vec<(Position, &'n str)>) {
    match &node.value {
        Value::Scalar(scalar) => arguments.push((node.at, &scalar.typed)),
        Value::Sequence(items) => {
            for item in items {
                match &item.value {
                    Value::Scalar(scalar) => arguments.push((item.at, &scalar.typed)),
                    _ => flatten(item, arguments),
                }
            }
        }
        _ => {}
    }
    // One line is several arguments.
    if let ([(at, line)], Value::Scalar(_)) = (&arguments[..], &node.value) {
        let at = *at;
        let words: Vec<_> = line.split_whitespace().map(|word| (at, word)).collect();
        *arguments = words;
    }
}

/// What `argument` gives away, where the one before it is `before`.
fn secret(argument: &str, before: Option<&str>) -> Option<String> {
    if let Some(name) = variables(argument).into_iter().find(|name| is_secret(name)) {
        return Some(format!("${{{name}}}"));
    }
    let literal = |value: &str| !value.is_empty() && !value.contains(['{', '$']);
    if let Some((flag, value)) = argument.split_once('=')
        && is_secret_flag(flag)
        && literal(value)
    {
        return Some(format!("the value of {flag}"));
    }
    let flag = before.filter(|flag| is_secret_flag(flag))?;
    (literal(argument) && !argument.starts_with('-')).then(|| format!("the value of {flag}"))
}

/// What `argument` of `program` gives away by the custom of programs: after `Bearer`, in a URL, in a query, with `-u`.
fn by_custom(program: &str, argument: &str, before: Option<&str>) -> Option<String> {
    // A variable that is handed over so is a secret, whatever it is called.
    let held = |value: &str, what: &str| {
        let value = value.trim_matches(['"', '\'']);
        if let Some(name) = value
            .starts_with("${")
            .then(|| variables(value).first().copied())
            .flatten()
        {
            return Some(format!("${{{name}}}"));
        }
        (!value.is_empty() && !value.starts_with(['{', '$'])).then(|| what.to_owned())
    };
    for word in ["Bearer ", "bearer "] {
        if let Some((_, token)) = argument.split_once(word) {
            return held(token, "the token after 'Bearer'");
        }
    }
    if before.is_some_and(|before| before.trim_matches(['"', '\'']).eq_ignore_ascii_case("bearer")) {
        return held(argument, "the token after 'Bearer'");
    }
    if let Some((_, rest)) = argument.split_once("://")
        && let Some((user, _)) = rest.split('/').next().and_then(|host| host.rsplit_once('@'))
        && let Some((_, password)) = user.split_once(':')
    {
        return held(password, "the password in a URL");
    }
    for (index, _) in argument.match_indices('=') {
        let name = argument[..index]
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        let names_secret = matches!(
            name.to_ascii_lowercase().as_str(),
            "api_key" | "apikey" | "token" | "access_token" | "password"
        );
        if names_secret && let Some(what) = held(&argument[index + 1..], &format!("the value of '{name}='")) {
            return Some(what);
        }
    }
    if matches!(before, Some("-u" | "--user" | "--proxy-user"))
        && let Some((_, password)) = argument.split_once(':')
    {
        // `podman run -u 1000:1000` is no password.
        let is_number = password.chars().all(|c| c.is_ascii_digit());
        return held(password, "the password after -u").filter(|_| !is_number);
    }
    let base = program.rsplit('/').next().unwrap_or(program);
    let takes_p = matches!(
        base,
        "mysql" | "mysqldump" | "mysqladmin" | "mariadb" | "mariadb-dump" | "sshpass"
    );
    let password = argument.strip_prefix("-p").filter(|_| takes_p)?;
    held(password, "the password after -p")
}

/// The names of the variables in a text as it was typed.
fn variables(typed: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = typed;
    while let Some(at) = rest.find("${") {
        let is_literal = rest[..at].ends_with('$');
        rest = &rest[at + 2..];
        if is_literal {
            continue;
        }
        let Some(end) = expand::closing(rest) else { break };
        let inside = &rest[..end];
        let name = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        names.push(&inside[..name.unwrap_or(inside.len())]);
        // A default may hold a further one: the search goes on inside.
    }
    names
}

/// Words in a name that mean a secret. `KEY` is too common within others to be looked for there.
const SECRETS: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];

/// Ends of a name that mean where a secret is, not what it is.
const PLACES: &[&str] = &["PATH", "FILE", "DIR", "FOLDER", "URL", "NAME", "ID"];

/// Whether a variable of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split('_').collect();
    let is_key = |word: &&str| matches!(*word, "KEY" | "KEYS") || word.ends_with("APIKEY");
    let is_short = |word: &&str| matches!(*word, "TOK" | "PASS" | "PW" | "CREDS" | "APITOKEN");
    let names_one =
        words.iter().any(is_short) || SECRETS.iter().any(|secret| name.contains(secret)) || words.iter().any(is_key);
    names_one && !words.last().is_some_and(|last| PLACES.contains(last))
}

/// Whether a value follows this flag that is a secret. `--key` alone is more often one to sort by, and
/// `--max-tokens` a number.
fn is_secret_flag(flag: &str) -> bool {
    let Some(name) = flag.strip_prefix("--") else {
        return false;
    };
    let name = name.replace('-', "_").to_ascii_uppercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    let keys = ["API_KEY", "APIKEY", "ACCESS_KEY", "SECRET_KEY"];
    SECRETS.contains(&last) || last == "CREDENTIALS" || keys.iter().any(|key| name.ends_with(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_arguments_are_told_from_what_only_looks_alike() {
        for (argument, before, found) in [
            ("${API_KEY}", None, Some("${API_KEY}")),
            ("--x=${GITHUB_TOKEN:-none}", None, Some("${GITHUB_TOKEN}")),
            ("${NONE:-${DB_PASSWORD}}", None, Some("${DB_PASSWORD}")),
            ("$${API_KEY}", None, None),
            ("${API_KEY_FILE}", None, None),
            ("${KEYBOARD}", None, None),
            ("${HOME}/x", None, None),
            ("--token=abc", None, Some("the value of --token")),
            ("--token={token}", None, None),
            ("abc", Some("--api-key"), Some("the value of --api-key")),
            ("--verbose", Some("--api-key"), None),
            ("2", Some("--key"), None),
            ("100", Some("--max-tokens"), None),
            ("/run/token", Some("--token-file"), None),
        ] {
            assert_eq!(secret(argument, before).as_deref(), found, "{argument}");
        }
    }

    #[test]
    fn secrets_are_found_where_programs_are_used_to_take_them() {
        for (program, argument, before, found) in [
            ("curl", "Authorization: Bearer ${T}", Some("-H"), Some("${T}")),
            (
                "curl",
                "Authorization: Bearer abc.def",
                Some("-H"),
                Some("the token after 'Bearer'"),
            ),
            ("curl", "abc\"", Some("Bearer"), Some("the token after 'Bearer'")),
            ("curl", "Authorization: Bearer {token}", Some("-H"), None),
            ("curl", "me:hunter2", Some("-u"), Some("the password after -u")),
            ("curl", "me:${X}", Some("--user"), Some("${X}")),
            ("podman", "1000:1000", Some("-u"), None),
            (
                "curl",
                "https://me:hunter2@x.org/a",
                None,
                Some("the password in a URL"),
            ),
            ("curl", "https://x.org:80/a@b", None, None),
            (
                "curl",
                "https://x.org/?q=1&api_key=abc",
                None,
                Some("the value of 'api_key='"),
            ),
            ("curl", "https://x.org/?token={token}", None, None),
            ("curl", "https://x.org/?max_tokens=5", None, None),
            ("mysql", "-phunter2", None, Some("the password after -p")),
            ("mkdir", "-pv", None, None),
        ] {
            assert_eq!(by_custom(program, argument, before).as_deref(), found, "{argument}");
        }
        assert!(is_secret("TOK") && is_secret("DB_PASS") && !is_secret("PWD") && !is_secret("COMPASS"));
    }

    #[test]
    fn each_secret_is_named_with_its_line_and_no_value() {
        let text = "defaults: {command: [x, \"${MY_SECRET}\"]}\ntoolboxes:\n  a:\n    command: run --password hunter2 ok\n  \
                    b:\n    tools:\n      get:\n        run:\n          - curl\n          - [--header, \"X: ${AUTH_TOKEN}\"]\n";
        let file = std::env::temp_dir().join(format!("toolhost-warn-{}.yaml", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let outlook = look_over(&file);
        let said: Vec<_> = outlook.warnings.iter().map(ToString::to_string).collect();
        let name = file.display();
        assert_eq!(said.len(), 3, "{said:?}");
        for (said, start) in said.iter().zip([
            format!("{name}:1:25: defaults.command: ${{MY_SECRET}} is visible"),
            format!("{name}:4:14: toolboxes.a.command: the value of --password is visible"),
            format!("{name}:10:24: toolboxes.b.tools.get.run: ${{AUTH_TOKEN}} is visible"),
        ]) {
            assert!(said.starts_with(&start) && !said.contains("hunter2"), "{said}");
        }
        assert_eq!(
            outlook.place("toolboxes.b.tools.get.parameters.x"),
            Some(format!("{name}:7"))
        );
        assert_eq!(outlook.place("nowhere.at.all"), None);
        std::fs::write(&file, "toolboxes:\n").unwrap();
        assert!(look_over(&file).warnings[0].to_string().contains("toolboxes: is empty"));
        std::fs::remove_file(file).unwrap();
    }
}
