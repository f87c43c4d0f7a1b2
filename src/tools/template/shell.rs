//! Where an argv starts a shell: a value must not become part of its script.
//!
//! `[sh, -c, "grep {pattern} file"]` pastes what a caller sent into a program, and `; rm -rf ~` is what
//! somebody sends. What follows the script is safe: `[sh, -c, 'grep -- "$1" file', sh, "{pattern}"]`.

use super::words::{Word, Words};
use super::{code, wrapper};

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "ash",
    "busybox-sh",
    "mksh",
    "rbash",
    "fish",
    "csh",
    "tcsh",
];

/// Options of shells that take the next word as their value.
const WITH_VALUE: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

const WHY: &str = "a value must never become shell text: use 'shell:' and its variables ($ARG_NAME), or hand it over \
                   after the script, as in [sh, -c, 'grep -- \"$1\" file', sh, \"{name}\"]";

const WHY_REMOTE: &str = "ssh makes one line of its arguments, for a shell on the other machine, and a value must never \
                          become shell text: send it through 'stdin'";

/// Programs whose `-c` is a line for a shell, wherever it stands.
const WITH_LINE: &[&str] = &["su", "runuser", "flock", "script", "sg"];

/// Programs that make one line for a shell of their arguments.
const OF_LINE: &[&str] = &["watch", "parallel", "hyperfine", "tmux", "eval"];

/// Programs that read lines for a shell from stdin.
const READING: &[&str] = &["at", "batch", "parallel", "crontab"];

/// Files that are stdin.
const STDIN: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/thread-self/fd/0"];

/// Options of env that take the next word as their value.
const OF_ENV: &[&str] = &["-u", "-C", "-a", "--unset", "--chdir", "--argv0"];

/// Options of ssh that take the next word as their value.
const OF_SSH: &str = "BbcDEeFIiJLlmOopQRSWw";

/// # Errors
/// Where a placeholder stands in the script of a shell.
pub(super) fn refuse(words: &Words<'_>) -> Result<(), String> {
    let mut scripts = words.shells().filter_map(|shell| words.script(shell));
    let in_script = scripts.any(|(from, to)| words.any_filled(from, to));
    if in_script || words.has_value_in_command_line() || words.has_value_of_line() {
        return Err(WHY.to_owned());
    }
    if words.has_value_behind_ssh_host() {
        return Err(WHY_REMOTE.to_owned());
    }
    Ok(())
}

/// Whether a shell, or its like, is started without a script of its own, so that it reads one from stdin.
pub(super) fn reads_script(words: &Words<'_>) -> bool {
    let of_shell = |shell: usize| words.script(shell).is_none() && words.script_is_stdin(shell);
    words.shells().any(of_shell) || words.started(READING).next().is_some() || code::reads_script(words)
}

/// Whether what is run is, or could be, what comes through stdin.
pub(super) fn is_stdin(file: Word<'_>) -> bool {
    file.pasted || matches!(file.text, "-" | ";") || STDIN.contains(&file.text)
}

/// `env -S` takes its text apart into arguments, the program among them: the words as they are then.
///
/// # Errors
/// Where a placeholder stands in that text.
pub(super) fn split_by_env(words: &mut Words<'_>) -> Result<(), String> {
    let Some(env) = words.started(&["env"]).next() else {
        return Ok(());
    };
    let mut at = env + 1;
    while let Some(word) = words
        .0
        .get(at)
        .copied()
        .filter(|word| word.is_option() && !word.is_end())
    {
        let long = word.text.strip_prefix("--split-string");
        let attached = match long {
            Some(long) => long.strip_prefix('=').unwrap_or_default(),
            None if word.has_option('S') => word.text.split_once('S').map_or("", |(_, text)| text),
            None => {
                at += if OF_ENV.contains(&word.text) { 2 } else { 1 };
                continue;
            }
        };
        let next = words
            .0
            .get(at + 1)
            .copied()
            .filter(|_| attached.is_empty() && !word.pasted);
        if word.is_open() || next.is_some_and(Word::is_open) {
            return Err(WHY.to_owned());
        }
        let text = next.map_or(attached, |next| next.text);
        let split: Vec<Word<'_>> = text.split_whitespace().map(|part| word.with_text(part)).collect();
        words.0.splice(at..=at + usize::from(next.is_some()), split);
    }
    Ok(())
}

impl<'t> Words<'t> {
    /// Where one of `programs` is started: as the program itself, or anywhere behind a wrapper.
    pub(super) fn started<'p>(&'p self, programs: &'p [&str]) -> impl Iterator<Item = usize> + use<'p, 't> {
        let named = self
            .places()
            .iter()
            .enumerate()
            .filter(|(_, word)| programs.contains(&word.name()));
        named.map(|(at, _)| at)
    }

    /// The words that may be a program: the first, and behind a wrapper any.
    pub(super) fn places(&self) -> &[Word<'t>] {
        let all = wrapper::is_wrapper(self.0[0].name());
        if all { &self.0[..] } else { &self.0[..1] }
    }

    fn shells(&self) -> impl Iterator<Item = usize> {
        self.started(SHELLS)
    }

    /// The words from the shell to its script, both included, where it has one after `-c`.
    fn script(&self, shell: usize) -> Option<(usize, usize)> {
        let last = self.0.len() - 1;
        let mut at = shell + 1;
        let mut command = false;
        while let Some(word) = self.0.get(at) {
            if word.is_end() {
                return command.then(|| (shell, last.min(at + 1)));
            }
            if !word.is_option() {
                return command.then_some((shell, at));
            }
            if word.text.starts_with("--command=") {
                return Some((at, at));
            }
            command |= word.has_option('c') || word.text == "--command";
            at += if WITH_VALUE.contains(&word.text) { 2 } else { 1 };
        }
        command.then_some((shell, last))
    }

    /// Whether the shell has no file either, or one that is stdin.
    fn script_is_stdin(&self, shell: usize) -> bool {
        let mut rest = self.behind(shell).iter();
        let mut ended = false;
        while let Some(word) = rest.next() {
            let ends = word.is_end() || (word.text == "-" && !word.pasted);
            if !ended && word.has_option('s') {
                return true;
            }
            if ended || !(ends || word.is_option()) {
                return is_stdin(*word);
            }
            ended |= ends;
            if WITH_VALUE.contains(&word.text) {
                rest.next();
            }
        }
        true
    }

    fn any_filled(&self, from: usize, to: usize) -> bool {
        let open = |word: &Word<'_>| word.is_open();
        self.0[from..=to].iter().any(open)
    }

    /// Whether a value stands in the line of `su -c` and its kind.
    fn has_value_in_command_line(&self) -> bool {
        self.started(WITH_LINE).any(|at| {
            let is_c = |word: &Word<'_>| word.has_option('c') || word.text.starts_with("--command");
            let attached = |word: &Word<'_>| word.pasted && is_c(word);
            let mut pairs = self.behind(at).windows(2);
            pairs.any(|pair| is_c(&pair[0]) && !pair[0].text.contains('=') && pair[1].pasted)
                || self.behind(at).iter().any(attached)
        })
    }

    /// Whether a value stands in what `watch` and its kind make a line of.
    fn has_value_of_line(&self) -> bool {
        let in_line = |word: &Word<'_>| word.pasted && !word.is_option();
        self.started(OF_LINE).any(|at| self.behind(at).iter().any(in_line))
    }

    /// Whether a value stands behind the host of ssh.
    fn has_value_behind_ssh_host(&self) -> bool {
        self.started(&["ssh"]).any(|at| {
            let mut rest = self.behind(at).iter();
            while let Some(word) = rest.next() {
                if !word.is_option() {
                    return rest.any(|word| word.pasted);
                }
                let letter = word
                    .text
                    .strip_prefix('-')
                    .filter(|letter| letter.len() == 1 && !word.pasted);
                if letter.is_some_and(|letter| OF_SSH.contains(letter)) {
                    rest.next();
                }
            }
            false
        })
    }
}
