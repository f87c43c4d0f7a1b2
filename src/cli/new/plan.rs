//! What a new toolbox consists of: the files of its language, with its name in them, and its entry. Pure.

use crate::cli::args::Language;

/// A file that comes with a toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// Its name, without a folder.
    pub(super) name: String,
    /// What stands in it.
    pub(super) text: String,
}

/// All there is to a new toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Its toolbox_id.
    pub(super) id: String,
    /// The program; commands have none.
    pub(super) program: Option<File>,
    /// What the program needs beside it.
    pub(super) helper: Option<File>,
    /// Whether the program speaks the protocol by itself.
    pub(super) speaks: bool,
    /// Why the program is not called as the toolbox, where it is not.
    pub(super) renamed: Option<String>,
}

/// What each language is written in.
struct Kind {
    ending: &'static str,
    toolbox: &'static str,
    script: &'static str,
    helper: &'static str,
}

const PYTHON: Kind = Kind {
    ending: "py",
    toolbox: include_str!("templates/toolbox.py"),
    script: include_str!("templates/script.py"),
    helper: include_str!("../../../protocol/toolhost.py"),
};

const BASH: Kind = Kind {
    ending: "sh",
    toolbox: include_str!("templates/toolbox.sh"),
    script: include_str!("templates/script.sh"),
    helper: include_str!("../../../protocol/toolhost.sh"),
};

const NODE: Kind = Kind {
    ending: "mjs",
    toolbox: include_str!("templates/toolbox.mjs"),
    script: include_str!("templates/script.mjs"),
    helper: include_str!("../../../protocol/toolhost.mjs"),
};

const COMMAND: &str = include_str!("templates/command.yaml");

/// The modules Python brings. A file of the same name beside a program takes the place of one.
const PYTHON_MODULES: &str = include_str!("templates/python-modules.txt");

impl Plan {
    /// The toolbox `id`; `plain` is a script that knows nothing of toolhost.
    pub(super) fn of(language: Language, id: &str, plain: bool) -> Self {
        let kind = match language {
            Language::Python => PYTHON,
            Language::Bash => BASH,
            Language::Node => NODE,
            Language::Command => {
                return Self {
                    id: id.to_owned(),
                    program: None,
                    helper: None,
                    speaks: false,
                    renamed: None,
                };
            }
        };
        let taken = taken(language, id);
        let stem = if taken.is_some() {
            format!("{id}_toolbox")
        } else {
            id.to_owned()
        };
        let name = format!("{stem}.{}", kind.ending);
        let text = if plain { kind.script } else { kind.toolbox };
        let helper = File {
            name: format!("toolhost.{}", kind.ending),
            text: kind.helper.to_owned(),
        };
        Self {
            id: id.to_owned(),
            renamed: taken.map(|why| format!("it is {name}, since {why}")),
            program: Some(File {
                text: filled(text, id, &name),
                name,
            }),
            helper: (!plain).then_some(helper),
            speaks: !plain,
        }
    }

    /// The entry under `toolboxes:`, indented by two, where the program is at `path`.
    pub(super) fn entry(&self, path: &str) -> String {
        let key = key(&self.id);
        match &self.program {
            None => filled(COMMAND, &key, ""),
            Some(_) => format!("{key}:\n  {}\n", self.what_runs_it(path)),
        }
    }

    /// The same on one line, as it stands between `{` and `}`; a command takes too many lines for it.
    pub(super) fn flow_entry(&self, path: &str) -> Option<String> {
        let entry = || format!("{}: {{{}}}", key(&self.id), self.what_runs_it(path));
        self.program.is_some().then(entry)
    }

    fn what_runs_it(&self, path: &str) -> String {
        let path = scalar(path);
        if self.speaks {
            format!("command: [{path}]")
        } else {
            format!("script: {path}")
        }
    }
}

/// A template with the names of the toolbox and of its file. Neither is looked through for placeholders itself.
fn filled(template: &str, name: &str, file: &str) -> String {
    let parts: Vec<String> = template
        .split("@NAME@")
        .map(|part| part.replace("@FILE@", file))
        .collect();
    parts.join(name)
}

/// Why a file cannot be called `id`.
fn taken(language: Language, id: &str) -> Option<String> {
    if id == "toolhost" {
        return Some("toolhost is the name of the helper".to_owned());
    }
    let is_module = language == Language::Python && PYTHON_MODULES.lines().any(|module| module == id);
    is_module.then(|| format!("Python has a module {id} of its own"))
}

/// A toolbox_id as a key: in quotes where some reader of YAML would take it for something else than a text.
fn key(id: &str) -> String {
    const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_text = id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_text && !WORDS.contains(&id.to_ascii_lowercase().as_str()) {
        return id.to_owned();
    }
    format!("\"{id}\"")
}

/// A path as a value: in quotes where it holds what YAML or `${...}` would read.
fn scalar(path: &str) -> String {
    if path.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)) {
        return path.to_owned();
    }
    let mut quoted = String::from('"');
    for c in path.replace("${", "$${").chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Config, Kind};

    fn read(entry: &str) -> Config {
        let entry = crate::config::insert::indented(entry, 2, 2).join("\n");
        Config::parse(&format!("toolboxes:\n{entry}\n"), Path::new("/etc/t.yaml"), &|_| None).unwrap()
    }

    #[test]
    fn any_name_and_any_path_come_back_from_the_entry_as_they_are() {
        for (name, path) in [
            ("greet", "./greet.py"),
            ("no", "../my tools/no.py"),
            ("-", "./a, b]: {c} #d.py"),
            ("007", "./${HOME}/$${x}/\"q\"/back\\slash.py"),
            ("null", "./tab\tand\u{1}.py"),
            ("_a-b", "/srv/größe/😀.py"),
        ] {
            let plan = Plan::of(Language::Python, name, false);
            let config = read(&plan.entry(path));
            let flow = read(&plan.flow_entry(path).unwrap());
            let expected = Path::new("/etc").join(path.trim_start_matches("./"));
            for toolbox in [&config.toolboxes[0], &flow.toolboxes[0]] {
                assert_eq!(toolbox.id, name);
                assert_eq!(
                    toolbox.kind,
                    Kind::Command(vec![expected.display().to_string()]),
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn a_name_that_python_or_the_helper_needs_is_not_taken_from_it() {
        for (language, id, file) in [
            (Language::Python, "calendar", "calendar_toolbox.py"),
            (Language::Python, "toolhost", "toolhost_toolbox.py"),
            (Language::Bash, "toolhost", "toolhost_toolbox.sh"),
            (Language::Node, "calendar", "calendar.mjs"),
        ] {
            let plan = Plan::of(language, id, false);
            assert_eq!(plan.program.unwrap().name, file);
            assert_eq!(plan.renamed.is_some(), file.contains("_toolbox"));
        }
    }

    #[test]
    fn a_name_that_looks_like_a_placeholder_stays_as_it_is() {
        for id in ["FILE", "MYFILE", "NAME", "@FILE@"] {
            let text = Plan::of(Language::Python, id, false).program.unwrap().text;
            let line = text.lines().nth(1).unwrap();
            assert!(line.starts_with(&format!("\"\"\"{id}: two tools")), "{line}");
            assert!(line.contains(&format!("`toolhost check -- ./{id}.py`")), "{line}");
            let entry = Plan::of(Language::Command, id, false).entry("");
            assert!(entry.contains(id) && !entry.contains("@NAME@"), "{entry}");
        }
    }

    #[test]
    fn no_placeholder_is_left_in_what_is_written() {
        for language in [Language::Python, Language::Bash, Language::Node, Language::Command] {
            for plain in [false, true] {
                let plan = Plan::of(language, "greet", plain);
                let text = plan
                    .program
                    .as_ref()
                    .map_or_else(|| plan.entry(""), |file| file.text.clone());
                assert!(!text.contains("@NAME@") && !text.contains("@FILE@"), "{text}");
                assert!(text.contains("greet"), "{text}");
                assert_eq!(plan.helper.is_some(), !plain && language != Language::Command);
            }
        }
    }
}
