//! The word that was probably meant.

/// The one of `known` nearest to `word`, if it is near enough to be a slip of the finger.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let typed: Vec<char> = word.to_lowercase().replace('-', "_").chars().collect();
    // A long key typed at random is no slip, and the distance costs the product of the lengths.
    if typed.len() > 40 {
        return None;
    }
    known
        .iter()
        .map(|candidate| (distance(&typed, &candidate.chars().collect::<Vec<_>>()), *candidate))
        .filter(|(steps, candidate)| *steps <= 1 + candidate.len() / 5 && *steps < candidate.len())
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbors between the two.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// `'a', 'b' and 'c'` joined with `word` before the last.
pub(super) fn listed(known: &[&str], word: &str) -> String {
    let quoted: Vec<String> = known.iter().map(|key| format!("'{key}'")).collect();
    joined(&quoted, word)
}

/// The same of words that say themselves what they are.
pub(crate) fn joined(words: &[String], word: &str) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_noise_finds_none() {
        let known = ["command", "timeout", "env", "env_file", "inherit_env", "config", "cwd"];
        for (typed, meant) in [
            ("comand", Some("command")),
            ("timout", Some("timeout")),
            ("tiemout", Some("timeout")),
            ("Timeout", Some("timeout")),
            ("env-file", Some("env_file")),
            ("evn", Some("env")),
            ("frobnicate", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &known), meant, "{typed}");
        }
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        assert_eq!(listed(&["a"], "or"), "'a'");
        assert_eq!(listed(&["a", "b", "c"], "or"), "'a', 'b' or 'c'");
        assert_eq!(
            joined(&["a".to_owned(), "b (here)".to_owned()], "and"),
            "a and b (here)"
        );
        assert_eq!(listed(&[], "or"), "");
    }
}
