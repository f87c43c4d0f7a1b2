//! Programs that start the program behind them: where that is, and that no value chooses it.
//!
//! `[timeout, "5", ls, --, "{path}"]` starts ls, and the `--` is that of ls. Whose `--` it is, and which word
//! is the program, is told by what is known here of the options of each wrapper. Where that does not do, the
//! `--` before the program tells: the first one is the wrapper's.

use std::collections::BTreeSet;

use super::words::{Word, Words};

/// What is known of a wrapper.
struct Wrapper {
    name: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// Long options without a value.
    long_flags: &'static str,
    /// Long options with a value.
    long_valued: &'static str,
    /// What stands between the options and the program: the duration of timeout.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    (flags, valued): (&'static str, &'static str),
    (long_flags, long_valued): (&'static str, &'static str),
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        flags,
        valued,
        long_flags,
        long_valued,
        operands,
    }
}

#[rustfmt::skip]
const KNOWN: &[Wrapper] = &[
    wrapper("env", ("i0v", "uCa"), ("ignore-environment null debug", "unset chdir argv0"), 0),
    wrapper("sudo", ("ABbEHKknPSN", "aCcDgGhpRrTtUu"), (
        "askpass background preserve-env set-home non-interactive preserve-groups stdin reset-timestamp",
        "close-from chdir group host prompt chroot role type command-timeout user",
    ), 0),
    wrapper("doas", ("n", "uCa"), ("", ""), 0),
    wrapper("nice", ("0123456789", "n"), ("", "adjustment"), 0),
    wrapper("ionice", ("t", "cnpPu"), ("ignore", "class classdata pid pgid uid"), 0),
    wrapper("timeout", ("fpv", "ks"), ("foreground preserve-status verbose", "kill-after signal"), 1),
    wrapper("nohup", ("", ""), ("", ""), 0),
    wrapper("setsid", ("cfw", ""), ("ctty fork wait", ""), 0),
    wrapper("stdbuf", ("", "ioe"), ("", "input output error"), 0),
    wrapper("time", ("apqv", "fo"), ("append portability quiet verbose", "format output"), 0),
    wrapper("chrt", ("frRav", ""), ("fifo rr reset-on-fork all-tasks verbose", ""), 1),
    wrapper("taskset", ("ac", ""), ("all-tasks cpu-list", ""), 1),
    wrapper("xargs", ("0prtxo", "aEdILnPs"), (
        "null no-run-if-empty verbose exit interactive open-tty",
        "arg-file delimiter max-args max-procs max-chars",
    ), 0),
    wrapper("flock", ("eFnosux", "wE"), (
        "exclusive shared nb nonblock no-fork close unlock verbose", "timeout wait conflict-exit-code",
    ), 1),
    wrapper("chroot", ("", ""), ("skip-chdir", "groups userspec"), 1),
    wrapper("unshare", ("muinpUCTfrc", "SGwR"), (
        "mount uts ipc net pid user cgroup time fork map-root-user map-current-user", "setuid setgid root wd",
    ), 0),
    wrapper("nsenter", ("aFZ", "tSG"), ("all no-fork preserve-credentials", "target setuid setgid"), 0),
    wrapper("systemd-run", ("GPqtdr", "HMpEu"), (
        "user system scope no-block wait pty pipe quiet collect same-dir remain-after-exit no-ask-password",
        "unit property description slice uid gid nice working-directory setenv host machine service-type",
    ), 0),
    wrapper("prlimit", ("v", "po"), ("verbose noheadings raw", "pid output"), 0),
    wrapper("setpriv", ("d", ""), ("clear-groups keep-groups init-groups no-new-privs nnp", "ruid euid rgid egid reuid regid groups"), 0),
    wrapper("strace", ("fFqtTvxyCcdirwzZ", "eoOpPsSuabEIX"), ("", ""), 0),
    wrapper("gosu", ("", ""), ("", ""), 1),
    wrapper("su-exec", ("", ""), ("", ""), 1),
    wrapper("tini", ("svgw", "pe"), ("", ""), 0),
    wrapper("dumb-init", ("cv", "r"), ("", ""), 0),
    wrapper("eatmydata", ("", ""), ("", ""), 0),
    wrapper("faketime", ("m", ""), ("", ""), 1),
    wrapper("dbus-run-session", ("", ""), ("", "config-file dbus-daemon"), 0),
    wrapper("busybox", ("", ""), ("", ""), 0),
    wrapper("toybox", ("", ""), ("", ""), 0),
];

/// Wrappers whose program is known by the `--` before it only.
const UNKNOWN: &[&str] = &[
    "bwrap", "firejail", "cgexec", "numactl", "setarch", "linux32", "linux64", "fakeroot", "chpst", "cpulimit",
    "valgrind", "ltrace", "perf", "exec",
];

/// Programs that start another, but have more words that are no options before it.
const LOOSE: &[&str] = &[
    "find", "ssh", "docker", "podman", "runuser", "parallel", "kubectl", "uv", "script", "watch",
];

/// Whether a program starts another one behind it.
pub(super) fn is_wrapper(name: &str) -> bool {
    KNOWN.iter().any(|known| known.name == name) || UNKNOWN.contains(&name) || LOOSE.contains(&name)
}

/// What lies before the program that runs in the end.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Elements that belong to wrappers: a `--` among them ends the options of the wrapper only.
    pub(super) elements: usize,
    /// Elements without which those behind them would change their meaning.
    pub(super) needed: BTreeSet<usize>,
}

/// What an option is followed by.
enum Follows {
    Nothing,
    Value,
    Unknown,
}

/// # Errors
/// In words for the owner: where a value could choose the program.
pub(super) fn before(words: &Words<'_>, elements: usize) -> Result<Before, String> {
    let mut before = Before::default();
    let mut program = 0;
    while is_wrapper(words.0[program].name()) {
        let Some(next) = before.program_behind(words, program)? else {
            before.elements = elements;
            return Ok(before);
        };
        program = next;
    }
    if let Some(element) = words.0[program].element {
        // A `--` before the program in its own group is rare, and is taken for that of the wrapper.
        let is_first = words.0[program - 1].element != Some(element);
        before.elements = if is_first { element } else { element + 1 };
    }
    Ok(before)
}

impl Before {
    fn program_behind(&mut self, words: &Words<'_>, from: usize) -> Result<Option<usize>, String> {
        let name = words.0[from].name();
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            return self.behind_end(words, from, from + 1);
        };
        let (mut at, mut operands, mut ended) = (from + 1, known.operands, false);
        while let Some(word) = words.0.get(at) {
            if word.is_end() || (name == "env" && word.text == "-" && !word.pasted) {
                ended |= word.is_end();
            } else if !ended && word.is_option() {
                match known.follows(*word) {
                    Follows::Nothing => {}
                    Follows::Value => {
                        at += 1;
                        self.value_of(words, at, name)?;
                    }
                    Follows::Unknown if word.pasted && !word.text.contains('=') => return Err(chosen(name)),
                    Follows::Unknown => return self.behind_end(words, from, at),
                }
            } else if !known.is_variable(*word) {
                if operands == 0 {
                    return if word.is_open() {
                        Err(chosen(name))
                    } else {
                        Ok(Some(at))
                    };
                }
                ended = true;
                operands -= 1;
                self.fixed(*word, name)?;
            }
            at += 1;
        }
        Ok(None)
    }

    /// The program behind the next `--`, after words of which little is known.
    fn behind_end(&mut self, words: &Words<'_>, from: usize, at: usize) -> Result<Option<usize>, String> {
        let name = words.0[from].name();
        let end = words
            .0
            .iter()
            .skip(at)
            .position(|word| word.is_end())
            .map(|end| at + end);
        if LOOSE.contains(&name) {
            return Ok(end.map(|end| end + 1).filter(|program| *program < words.0.len()));
        }
        let before = &words.0[at..end.unwrap_or(words.0.len())];
        for word in before.iter().filter(|word| word.is_open() && !word.is_option()) {
            if end.is_none() || !UNKNOWN.contains(&name) {
                return Err(unclear(name));
            }
            self.fixed(*word, name)?;
        }
        let operands = KNOWN
            .iter()
            .find(|known| known.name == name)
            .map_or(0, |known| known.operands);
        let Some(program) = end.map(|end| end + 1 + operands).filter(|at| *at < words.0.len()) else {
            return Ok(None);
        };
        for word in &words.0[program - operands..program] {
            self.fixed(*word, name)?;
        }
        if words.0[program].is_open() {
            Err(chosen(name))
        } else {
            Ok(Some(program))
        }
    }

    /// A word that has to be there, and to be one.
    fn fixed(&mut self, word: Word<'_>, wrapper: &str) -> Result<(), String> {
        if word.spread {
            return Err(chosen(wrapper));
        }
        if word.optional {
            self.needed.extend(word.element);
        }
        Ok(())
    }

    /// The value of an option: it comes and goes with its option, or is always there.
    fn value_of(&mut self, words: &Words<'_>, at: usize, wrapper: &str) -> Result<(), String> {
        let (option, Some(value)) = (words.0[at - 1], words.0.get(at)) else {
            return Ok(());
        };
        if value.spread {
            return Err(chosen(wrapper));
        }
        if option.element == value.element {
            return Ok(());
        }
        if option.optional {
            return Err(chosen(wrapper));
        }
        self.fixed(*value, wrapper)
    }
}

impl Wrapper {
    fn follows(&self, option: Word<'_>) -> Follows {
        let has = |options: &str, name: &str| options.split(' ').any(|option| option == name);
        if let Some(long) = option.text.strip_prefix("--") {
            return match long {
                _ if long.contains('=') => Follows::Nothing,
                _ if option.pasted => Follows::Unknown,
                _ if has(self.long_flags, long) => Follows::Nothing,
                _ if has(self.long_valued, long) => Follows::Value,
                _ => Follows::Unknown,
            };
        }
        let mut letters = option.text.strip_prefix('-').unwrap_or_default().chars();
        while let Some(letter) = letters.next() {
            if self.valued.contains(letter) {
                let attached = option.pasted || !letters.as_str().is_empty();
                return if attached { Follows::Nothing } else { Follows::Value };
            }
            if !self.flags.contains(letter) {
                return Follows::Unknown;
            }
        }
        if option.pasted || option.text.starts_with('+') {
            Follows::Unknown
        } else {
            Follows::Nothing
        }
    }

    /// Whether it is `NAME=value`, the name of which is fixed.
    fn is_variable(&self, word: Word<'_>) -> bool {
        matches!(self.name, "env" | "sudo") && word.text.find('=').is_some_and(|at| at > 0)
    }
}

fn chosen(wrapper: &str) -> String {
    format!(
        "a value must never choose the program: what '{wrapper}' starts is fixed, and so is the number of words before it; \
         an option may hold a value, as in --name={{name}} or the group [-n, \"{{name}}\"]"
    )
}

fn unclear(wrapper: &str) -> String {
    format!(
        "a value must never choose the program, and which word is the one that '{wrapper}' starts cannot be told: \
         put '--' before it and the values behind it, as in [{wrapper}, ..., --, program, \"{{name}}\"]"
    )
}
