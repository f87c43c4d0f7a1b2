//! Where an argv starts a shell: a value must not become part of its script (F100).
//!
//! `[sh, -c, "grep {pattern} file"]` pastes what a caller sent into a program, and `; rm -rf ~` is what
//! somebody sends. What follows the script is safe: `[sh, -c, 'grep -- "$1" file', sh, "{pattern}"]`.

use super::argv::Element;
use super::{Piece, Template};

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

/// Programs that take the command to start as arguments, and so may have a shell behind them.
const WRAPPERS: &[&str] = &[
    "env",
    "sudo",
    "doas",
    "nice",
    "ionice",
    "timeout",
    "nohup",
    "setsid",
    "stdbuf",
    "time",
    "chrt",
    "taskset",
    "busybox",
    "toybox",
    "xargs",
    "find",
    "ssh",
    "chroot",
    "unshare",
    "nsenter",
    "systemd-run",
    "docker",
    "podman",
    "runuser",
    "flock",
    "strace",
    "parallel",
    "bwrap",
    "firejail",
    "exec",
];

/// Those of them whose first argument that is no option is the command, or nearly so.
const PREFIXES: &[&str] = &[
    "env", "sudo", "doas", "nice", "ionice", "timeout", "nohup", "setsid", "stdbuf", "time", "chrt", "taskset", "xargs",
];

/// Options of shells that take the next word as their value.
const WITH_VALUE: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

const WHY: &str = "a value must never become shell text: use 'shell:' and its variables ($ARG_NAME), or hand it over \
                   after the script, as in [sh, -c, 'grep -- \"$1\" file', sh, \"{name}\"]";

const WHY_REMOTE: &str = "ssh makes one line of its arguments, for a shell on the other machine, and a value must never \
                          become shell text: send it through 'stdin'";

/// Programs whose `-c` is a line for a shell, wherever it stands.
const WITH_LINE: &[&str] = &["su", "runuser", "flock"];

/// Options of ssh that take the next word as their value.
const OF_SSH: &str = "BbcDEeFIiJLlmOopQRSWw";

/// # Errors
/// Where a placeholder stands in the script of a shell.
pub(super) fn refuse(program: &str, elements: &[Element]) -> Result<(), String> {
    let words = Words::new(program, elements);
    let mut scripts = words.shells().filter_map(|shell| words.script(shell));
    if scripts.any(|(from, to)| words.any_filled(from, to)) || words.split_by_env() || words.line() {
        return Err(WHY.to_owned());
    }
    if words.remote() {
        return Err(WHY_REMOTE.to_owned());
    }
    Ok(())
}

/// Whether a shell is started without a script of its own, so that it reads one from stdin.
pub(super) fn reads_script(program: &str, elements: &[Element]) -> bool {
    let words = Words::new(program, elements);
    let Some(shell) = words.shells().next().filter(|shell| words.script(*shell).is_none()) else {
        return false;
    };
    let mut rest = words.0[shell + 1..].iter();
    while let Some(word) = rest.next() {
        if word.has_option('s') {
            return true;
        }
        if !word.is_option() {
            return false;
        }
        if WITH_VALUE.contains(&word.text) {
            rest.next();
        }
    }
    true
}

/// How many elements belong to a wrapper whose options end with a `--`: `[env, --, grep, "{pattern}"]`.
/// The options of the program behind it end with a `--` of its own.
pub(super) fn wrapping(program: &str, elements: &[Element]) -> usize {
    if !PREFIXES.contains(&base(program)) {
        return 0;
    }
    let word = |element: &Element| match element {
        Element::One(template) => template.as_literal().unwrap_or_default().to_owned(),
        Element::Group(_) => String::new(),
    };
    let options = elements.iter().map(word).take_while(|word| word.starts_with('-'));
    options
        .enumerate()
        .find(|(_, word)| word == "--")
        .map_or(0, |(at, _)| at + 1)
}

/// The program and every argument, those of groups too.
struct Words<'t>(Vec<Word<'t>>);

/// A word: what stands before its first placeholder.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    filled: bool,
}

impl<'t> Word<'t> {
    fn new(template: &'t Template) -> Self {
        let text = match template.pieces.first() {
            Some(Piece::Literal(text)) => text,
            _ => "",
        };
        Self {
            text,
            filled: template.placeholders().next().is_some(),
        }
    }

    fn is_option(self) -> bool {
        self.text.starts_with(['-', '+']) && (self.text.len() > 1 || self.filled)
    }

    /// Whether it is short options, among them `option`: `-c`, `-lc`. A value could add any: `-{x}`.
    fn has_option(self, option: char) -> bool {
        self.text
            .strip_prefix('-')
            .is_some_and(|options| !options.starts_with('-') && (self.filled || options.contains(option)))
    }

    /// Whether it is the name of one of these programs, with or without a folder.
    fn is_one_of(self, programs: &[&str]) -> bool {
        !self.filled && programs.contains(&base(self.text))
    }
}

impl<'t> Words<'t> {
    fn new(program: &'t str, elements: &'t [Element]) -> Self {
        let program = Word {
            text: program,
            filled: false,
        };
        let arguments = elements.iter().flat_map(Element::templates).map(Word::new);
        Self(std::iter::once(program).chain(arguments).collect())
    }

    /// Where one of `programs` is started: as the program itself, or anywhere behind a wrapper.
    fn started<'p>(&'p self, programs: &'p [&str]) -> impl Iterator<Item = usize> + use<'p, 't> {
        let words = if self.0[0].is_one_of(WRAPPERS) {
            &self.0[..]
        } else {
            &self.0[..1]
        };
        let named = words.iter().enumerate().filter(|(_, word)| word.is_one_of(programs));
        named.map(|(at, _)| at)
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
            if word.text == "--" && !word.filled {
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

    fn any_filled(&self, from: usize, to: usize) -> bool {
        self.0[from..=to].iter().any(|word| word.filled)
    }

    /// `env -S` takes its text apart into arguments, the program among them.
    fn split_by_env(&self) -> bool {
        if !self.0[0].is_one_of(WRAPPERS) {
            return false;
        }
        let Some(env) = self.0.iter().position(|word| word.is_one_of(&["env"])) else {
            return false;
        };
        let own = self.0[env + 1..]
            .iter()
            .take_while(|word| word.is_option() || word.text.contains('='));
        let splits = |word: &Word<'_>| word.has_option('S') || word.text.starts_with("--split-string");
        let split = own
            .enumerate()
            .find(|(_, word)| splits(word))
            .map(|(at, _)| env + 1 + at);
        split.is_some_and(|at| self.any_filled(at, (at + 1).min(self.0.len() - 1)))
    }
}

impl Words<'_> {
    /// Whether a value stands in the line of `su -c` and its kind.
    fn line(&self) -> bool {
        self.started(WITH_LINE).any(|at| {
            let pairs = self.0[at + 1..].windows(2);
            let mut lines = pairs.filter(|pair| pair[0].has_option('c') || pair[0].text == "--command");
            let attached = |word: &Word<'_>| word.filled && word.text.starts_with("--command=");
            lines.any(|pair| pair[1].filled) || self.0[at + 1..].iter().any(attached)
        })
    }

    /// Whether a value stands behind the host of ssh.
    fn remote(&self) -> bool {
        self.started(&["ssh"]).any(|at| {
            let mut rest = self.0[at + 1..].iter();
            while let Some(word) = rest.next() {
                if !word.is_option() {
                    return rest.any(|word| word.filled);
                }
                let letter = word
                    .text
                    .strip_prefix('-')
                    .filter(|letter| letter.len() == 1 && !word.filled);
                if letter.is_some_and(|letter| OF_SSH.contains(letter)) {
                    rest.next();
                }
            }
            false
        })
    }
}

/// The name of a program without its folder.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
