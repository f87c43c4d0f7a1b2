//! `${NAME}` and `${NAME:-default}` in a value.
//!
//! Only `${` is special and `$${` stands for a literal `${`; any other `$` is text, so that a
//! password with a `$` in it needs no thought. What a variable holds is never read again: neither
//! as YAML nor for further variables.

use super::Lookup;

/// A place in the file, as far as it matters to variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Top,
    Toolboxes,
    Toolbox,
    Tools,
    Tool,
    /// `run` and `stdin` of a tool: what a variable holds is text there, its braces no placeholders.
    Template,
    /// `shell` of a tool, whose variables are the shell's; and what is under `x-` for anchors.
    Verbatim,
    /// Any other.
    Plain,
}

impl Place {
    /// The place of the value of `key` in a mapping here.
    pub(super) fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Top, "toolboxes") => Self::Toolboxes,
            (Self::Top, "defaults") | (Self::Toolboxes, _) => Self::Toolbox,
            (Self::Top, _) if key.starts_with("x-") => Self::Verbatim,
            (Self::Toolbox, "tools") => Self::Tools,
            (Self::Tools, _) => Self::Tool,
            (Self::Tool, "run" | "stdin") => Self::Template,
            (Self::Tool, "shell") => Self::Verbatim,
            (Self::Verbatim | Self::Template, _) => self,
            _ => Self::Plain,
        }
    }
}

/// How deep defaults may hold further variables.
const DEPTH: usize = 8;

/// `text` with its variables replaced by what `env` has for them.
///
/// # Errors
/// What is wrong, naming the variable but no value.
pub(super) fn expand(text: &str, env: Lookup<'_>) -> Result<String, String> {
    within(text, env, DEPTH)
}

/// The same for a template: the braces of what a variable holds are doubled, so that they stay braces.
///
/// # Errors
/// As [`expand`].
pub(super) fn expand_template(text: &str, env: Lookup<'_>) -> Result<String, String> {
    let doubled = |name: &str| env(name).map(|held| held.replace('{', "{{").replace('}', "}}"));
    within(text, &doubled, DEPTH)
}

fn within(text: &str, env: Lookup<'_>, depth: usize) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if let Some(before) = rest[..at].strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = closing(inside).ok_or("'${' has no '}'; a literal '${' is written '$${'")?;
        out.push_str(&variable(&inside[..end], env, depth)?);
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The index of the `}` that ends what starts before `inside`.
pub(super) fn closing(inside: &str) -> Option<usize> {
    let mut open = 0usize;
    let mut previous = ' ';
    for (at, char) in inside.char_indices() {
        match char {
            '{' if previous == '$' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
        previous = char;
    }
    None
}

fn variable(inside: &str, env: Lookup<'_>, depth: usize) -> Result<String, String> {
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (name, rest) = inside.split_at(end.unwrap_or(inside.len()));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("'${' is not followed by the name of a variable; a literal '${' is written '$${'".into());
    }
    let value = env(name);
    match (rest.strip_prefix(":-"), rest) {
        (_, "") => {
            value.ok_or_else(|| format!("environment variable {name} is not set, and has no default: ${{{name}:-...}}"))
        }
        (Some(default), _) => match value {
            Some(value) if !value.is_empty() => Ok(value),
            _ if depth == 0 => Err("defaults of variables are nested too deeply".into()),
            _ => within(default, env, depth - 1),
        },
        _ => Err(format!(
            "only ${{{name}}} and ${{{name}:-default}} are understood; a literal '${{' is written '$${{'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/a".into()),
            "EMPTY" => Some(String::new()),
            "ODD" => Some("${HOME} $${ 'q".into()),
            _ => None,
        }
    }

    #[test]
    fn variables_expand_once_and_other_dollars_are_text() {
        for (text, expected) in [
            ("plain", "plain"),
            ("${HOME}/wn", "/home/a/wn"),
            ("a${HOME}b${HOME}", "a/home/ab/home/a"),
            ("${NONE:-x y}", "x y"),
            ("${NONE:-}", ""),
            ("${EMPTY}", ""),
            ("${EMPTY:-d}", "d"),
            ("${NONE:-${HOME}/x}", "/home/a/x"),
            ("${NONE:-{}}", "{}"),
            ("$${HOME}", "${HOME}"),
            ("$$${HOME}", "$${HOME}"),
            ("pa$$word $1 $HOME $", "pa$$word $1 $HOME $"),
            ("${ODD}", "${HOME} $${ 'q"),
            ("ü${HOME}ü", "ü/home/aü"),
        ] {
            assert_eq!(expand(text, &env).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_expanded_is_said_without_values() {
        for (text, part) in [
            ("${NONE}", "variable NONE is not set"),
            ("${HOME", "no '}'"),
            ("${}", "name of a variable"),
            ("${1}", "name of a variable"),
            ("${HOME:+x}", "only ${HOME}"),
            ("${HOME-x}", "only ${HOME}"),
        ] {
            let error = expand(text, &env).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains("/home/a"), "{text}: {error}");
        }
        let deep = format!("{}{}", "${NONE:-".repeat(1000), "}".repeat(1000));
        assert!(expand(&deep, &env).is_err());
    }
}
