//! The lines of an `env_file`.
//!
//! `KEY=value`; blank lines and lines that begin with `#` are skipped, `export ` before a key is
//! allowed. A value is the rest of its line without the blanks around it; in single quotes it is
//! taken as it is, in double quotes `\n`, `\t`, `\r`, `\"`, `\\` and `\$` are resolved. A `#` ends
//! an unquoted value where a blank stands before it. `$` has no meaning, and a later line wins.

use super::fault::Position;

/// A line that is none of these. Neither text ever quotes the line, which may hold a secret.
pub(super) type Wrong = (Position, &'static str);

/// The variables in the order of their lines, and the lines that are wrong.
pub(super) fn parse(text: &str) -> (Vec<(String, String)>, Vec<Wrong>) {
    let (mut variables, mut wrong) = (Vec::new(), Vec::new());
    for (index, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        match variable(line) {
            Ok(Some(found)) => variables.push(found),
            Ok(None) => {}
            Err(what) => wrong.push((
                Position {
                    line: index + 1,
                    column: 1,
                },
                what,
            )),
        }
    }
    (variables, wrong)
}

fn variable(line: &str) -> Result<Option<(String, String)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line
        .strip_prefix("export")
        .filter(|rest| rest.starts_with([' ', '\t']))
        .unwrap_or(line);
    let (name, value) = line.split_once('=').ok_or("expected KEY=value, but there is no '='")?;
    let name = name.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(fits) {
        return Err("expected KEY=value, but what stands before '=' is no name of a variable");
    }
    let value = unquoted(value.trim())?;
    if value.contains('\0') {
        return Err("a value cannot hold a NUL character");
    }
    Ok(Some((name.to_owned(), value)))
}

fn unquoted(value: &str) -> Result<String, &'static str> {
    if let Some(inside) = value.strip_prefix('\'') {
        let (inside, after) = inside
            .split_once('\'')
            .ok_or("a ' has no second one; a value ends on its line")?;
        return nothing_but_comment(after).map(|()| inside.to_owned());
    }
    if let Some(inside) = value.strip_prefix('"') {
        return double(inside);
    }
    let end = value
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| value[..*at].ends_with([' ', '\t']) || *at == 0);
    Ok(value[..end.unwrap_or(value.len())].trim_end().to_owned())
}

fn double(inside: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => return nothing_but_comment(chars.as_str()).map(|()| out),
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other @ ('"' | '\\' | '$')) => out.push(other),
                Some(other) => out.extend(['\\', other]),
                None => break,
            },
            other => out.push(other),
        }
    }
    Err("a \" has no second one; a value ends on its line")
}

fn nothing_but_comment(after: &str) -> Result<(), &'static str> {
    let after = after.trim_start();
    if after.is_empty() || after.starts_with('#') {
        Ok(())
    } else {
        Err("something follows the closing quote")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_variables() {
        let text = "\u{feff}# keys\n\nA=1\r\nexport B = two words \nC='a # b' # c\nD=\"x\\ny\\\"\\z$H\"\nE=\nF=a#b # c\nG==x=\nA=2\nexport=7\nH=# c\n";
        let (variables, wrong) = parse(text);
        let shown: Vec<String> = variables.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            shown,
            [
                "A=1",
                "B=two words",
                "C=a # b",
                "D=x\ny\"\\z$H",
                "E=",
                "F=a#b",
                "G==x=",
                "A=2",
                "export=7",
                "H="
            ]
        );
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn wrong_lines_are_told_by_number_and_never_quoted() {
        let text =
            "A=1\nhunter2\nX Y=hunter2\n=hunter2\nB='hunter2\nC=\"hunter2\nD='hunter2' x\n9=hunter2\nE=hunt\0er2";
        let (variables, wrong) = parse(text);
        assert_eq!(variables.len(), 1);
        assert_eq!(
            wrong.iter().map(|(at, _)| at.line).collect::<Vec<_>>(),
            [2, 3, 4, 5, 6, 7, 8, 9]
        );
        assert!(wrong.iter().all(|(_, what)| !what.contains("hunter2")));
    }
}
