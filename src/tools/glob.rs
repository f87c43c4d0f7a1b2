//! The globs of `allow` and `deny` (contract §2): `*` is any text, `?` any one character.

/// Whether all of `name` matches `pattern`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut to) = (0, 0);
    // The last star, and the name's index up to which it stands. Going back to it alone is enough:
    // an earlier star could only take what this one can take as well.
    let mut star: Option<(usize, usize)> = None;
    while to < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, to));
                at += 1;
            }
            Some(char) if *char == '?' || *char == name[to] => {
                at += 1;
                to += 1;
            }
            _ => {
                let Some((back, taken)) = star else {
                    return false;
                };
                star = Some((back, taken + 1));
                at = back + 1;
                to = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|char| *char == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs() {
        let table = [
            ("define_*", "define_word", true),
            ("define_*", "undefine_word", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("?", "é", true),
            ("?", "", false),
            ("*_word", "a_word_word", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("[ab]", "a", false),
            ("**a", "bba", true),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        let (pattern, name) = ("*a".repeat(500), "a".repeat(499));
        assert!(!matches(&pattern, &name));
    }
}
