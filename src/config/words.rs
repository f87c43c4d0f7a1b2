//! A command line in one text → its words, by the quoting rules of a shell but without one.

use super::expand;

/// The words of `line`. A `${...}` is kept whole, whatever it holds: what it expands to is never split.
///
/// # Errors
/// Why it cannot be split, which is mostly that it would need a shell.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        let after = &rest[char.len_utf8()..];
        if char.is_whitespace() {
            words.extend(word.take());
            rest = after;
            continue;
        }
        if "|&;<>()`".contains(char) {
            return Err(format!(
                "'{char}' needs a shell, and none is used; quote it, or write [sh, -c, '...']"
            ));
        }
        if char == '#' && word.is_none() {
            return Err("a word that begins with '#' is quoted".into());
        }
        let word = word.get_or_insert_default();
        rest = match char {
            '\'' => {
                let end = after.find('\'').ok_or("a ' has no second one")?;
                word.push_str(&after[..end]);
                &after[end + 1..]
            }
            '"' => double(after, word)?,
            '\\' => {
                let next = after.chars().next().ok_or("nothing follows the last \\")?;
                word.push(next);
                &after[next.len_utf8()..]
            }
            _ => literal(rest, word),
        };
    }
    words.extend(word);
    Ok(words)
}

/// Appends the next character, or the whole `${...}` that begins there, and returns what follows.
fn literal<'a>(rest: &'a str, word: &mut String) -> &'a str {
    let variable = rest.strip_prefix("${").and_then(expand::closing).map(|end| end + 3);
    let length = variable
        .or_else(|| rest.chars().next().map(char::len_utf8))
        .unwrap_or(0);
    word.push_str(&rest[..length]);
    &rest[length..]
}

/// The inside of double quotes: a backslash stands before `"`, `\`, `$` and `` ` `` only.
fn double<'a>(mut rest: &'a str, word: &mut String) -> Result<&'a str, String> {
    loop {
        let char = rest.chars().next().ok_or("a \" has no second one")?;
        match char {
            '"' => return Ok(&rest[1..]),
            '\\' if rest[1..].starts_with(['"', '\\', '$', '`']) => {
                word.push_str(&rest[1..2]);
                rest = &rest[2..];
            }
            _ => rest = literal(rest, word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_as_a_shell_would() {
        let table: &[(&str, &[&str])] = &[
            (
                "python3 -u tool.py --x 'a b'",
                &["python3", "-u", "tool.py", "--x", "a b"],
            ),
            ("  a\tb\n c ", &["a", "b", "c"]),
            (r#"a"b c"d'e f' g\ h"#, &["ab cde f", "g h"]),
            (r#""\"\\\$\n" '\' "''""#, &["\"\\$\\n", "\\", "''"]),
            ("'' \"\"", &["", ""]),
            ("a#b ü ~ *.py $HOME", &["a#b", "ü", "~", "*.py", "$HOME"]),
            ("a ${X:-b 'c} d", &["a", "${X:-b 'c}", "d"]),
            ("\"${X:-a \"b}\" d", &["${X:-a \"b}", "d"]),
            ("'a|b' \"c;d\" e\\&f", &["a|b", "c;d", "e&f"]),
            ("", &[]),
            ("${X", &["${X"]),
        ];
        for (line, words) in table {
            assert_eq!(split(line).unwrap(), *words, "{line}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_refused() {
        for line in [
            "a | b", "a && b", "a; b", "a > b", "a 2>&1", "(a)", "a `b`", "a 'b", "a \"b", "a \\", "a # b",
        ] {
            assert!(split(line).is_err(), "{line}");
        }
        assert!(split("a $(b)").is_err());
    }
}
