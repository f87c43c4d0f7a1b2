//! The Bash a script evaluates.
//!
//! argc's own writer is used for what it quotes. What it does not quote is written here: an error it
//! puts into a here-document, which a value with a line `EOF` would end, and the keys of a map.

use std::path::Path;

use ::argc::ArgcValue;
use ::argc::utils::{AFTER_HOOK, BEFORE_HOOK, VARIABLE_PREFIX, escape_shell_words};

use crate::tools::template::LONGEST_ARGUMENT;

/// Names under which argc's runner is found; what is called so runs in its own folder.
const RUNNERS: [&str; 6] = [
    "Argcfile.sh",
    "Argcfile",
    "argcfile.sh",
    "argcfile",
    "ARGCFILE.sh",
    "ARGCFILE",
];

/// What the key of a map may hold beside letters and digits: Bash evaluates it.
const SIGNS: [char; 8] = ['_', '.', '-', ':', '/', '@', '+', ','];

/// Says `why` on stderr and ends the script.
pub(super) fn failure(why: &str) -> String {
    ending(&format!("error: {why}"), 1)
}

fn ending(text: &str, exit: i32) -> String {
    format!("command printf '%s\\n' {} >&2\nexit {exit}", escape_shell_words(text))
}

/// Sets the variables and calls the command.
pub(super) fn code(values: Vec<ArgcValue>) -> String {
    for value in &values {
        match value {
            ArgcValue::Error((text, exit)) => return ending(text, *exit),
            ArgcValue::Map(_, map) => {
                if let Some(key) = map.keys().find(|key| !is_plain(key)) {
                    let signs = SIGNS.map(String::from).join(" ");
                    return failure(&format!("the key {key:?} may hold letters, digits and {signs} only"));
                }
            }
            _ => {}
        }
    }
    let mut values: Vec<_> = values.into_iter().map(with_joined_entries).collect();
    values.sort_by_key(rank);
    format!("{}{}", for_jobs(&values), ArgcValue::to_bash(&values))
}

/// The environment comes before the variables, as argc has it, and the call after them.
fn rank(value: &ArgcValue) -> u8 {
    match value {
        ArgcValue::Dotenv(_) | ArgcValue::Env(..) | ArgcValue::EnvFn(..) | ArgcValue::Hook(_) => 0,
        ArgcValue::RequireTools(_) | ArgcValue::CommandFn(_) | ArgcValue::ParamFn(_) | ArgcValue::Error(_) => 2,
        _ => VARIABLES,
    }
}

const VARIABLES: u8 = 1;

fn is_plain(key: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || SIGNS.contains(&c);
    !key.is_empty() && key.chars().all(plain)
}

/// Several values of a key are joined by `|`, and must be so before they are quoted, lest it be a pipe.
fn with_joined_entries(value: ArgcValue) -> ArgcValue {
    match value {
        ArgcValue::Map(id, map) => {
            let joined = map.into_iter().map(|(key, values)| (key, vec![values.join("|")]));
            ArgcValue::Map(id, joined.collect())
        }
        value => value,
    }
}

/// The variables once more, for the processes of `argc --argc-parallel`, in the form argc reads.
///
/// Left out where it is too long: no program could be started with it.
fn for_jobs(values: &[ArgcValue]) -> String {
    let start = values.partition_point(|value| rank(value) < VARIABLES);
    let end = values.partition_point(|value| rank(value) <= VARIABLES);
    let mut code = vec![ArgcValue::to_bash(&values[start..end])];
    for value in values {
        match value {
            ArgcValue::CommandFn(name) => code.push(format!("{VARIABLE_PREFIX}_fn={name}")),
            ArgcValue::Hook((before, after)) => {
                code.extend(before.then(|| BEFORE_HOOK.to_owned()));
                code.extend(after.then(|| AFTER_HOOK.to_owned()));
            }
            _ => {}
        }
    }
    let line = format!("ARGC_VARS={}", base64(format!("{}\n", code.join("\n")).as_bytes()));
    if line.len() > LONGEST_ARGUMENT {
        String::new()
    } else {
        format!("export {line}\n")
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, place| {
            bits << 8 | u32::from(chunk.get(place).copied().unwrap_or(0))
        });
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            text.push(if place <= chunk.len() {
                char::from(LETTERS[index as usize])
            } else {
                '='
            });
        }
    }
    text
}

/// Moves argc's runner into its own folder, and tells it where it was called from.
pub(super) fn folder(script: &str) -> String {
    if !is_runner(script) {
        return String::new();
    }
    let here = std::env::current_dir().ok();
    let file = here.as_deref().unwrap_or(Path::new("")).join(script);
    let (Some(own), Some(here)) = (file.parent(), here.as_deref()) else {
        return String::new();
    };
    let called_from = std::env::var("ARGC_PWD").unwrap_or_else(|_| here.to_string_lossy().into_owned());
    let own = own.to_string_lossy();
    let mut code = String::new();
    if own != called_from.as_str() {
        code.push_str(&format!("cd {}\n", escape_shell_words(&own)));
    }
    code.push_str(&format!("export ARGC_PWD={}\n", escape_shell_words(&called_from)));
    code
}

fn is_runner(script: &str) -> bool {
    let own = std::env::var("ARGC_SCRIPT_NAME").ok().filter(|name| !name.is_empty());
    let own = own.is_some_and(|name| script.ends_with(&name) || script.ends_with(&format!("{name}.sh")));
    own || RUNNERS.iter().any(|name| script.ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_others_write_it() {
        let cases = [
            ("", ""),
            ("a", "YQ=="),
            ("ab", "YWI="),
            ("abc", "YWJj"),
            ("ü?>~", "w7w/Pn4="),
        ];
        for (text, expected) in cases {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn an_error_is_no_more_than_text() {
        let code = code(vec![ArgcValue::Error(("error: 'x\nEOF\nid".to_owned(), 1))]);
        assert_eq!(code, "command printf '%s\\n' 'error: '\\''x\nEOF\nid' >&2\nexit 1");
    }

    #[test]
    fn the_keys_and_values_of_a_map_run_nothing() {
        let map = |key: &str, values: &[&str]| {
            let values = values.iter().map(|&value| value.to_owned()).collect();
            ArgcValue::Map("D".to_owned(), [(key.to_owned(), values)].into_iter().collect())
        };
        assert!(code(vec![map("$(id)", &["1"])]).starts_with("command printf"));
        assert!(code(vec![map("k", &["a", "id"])]).contains("argc_D[\"k\"]='a|id'"));
    }
}
