//! Where an argv gives an interpreter its code: a value must not become part of it.
//!
//! `[python3, -c, "print({x})"]` runs what a caller sent. What follows the code is safe:
//! `[python3, -c, "import sys; print(sys.argv[1])", "{x}"]`. The filters of jq and the scripts of sed are not
//! looked at: those of jq can do no harm, and of sed the README warns.

use std::collections::BTreeSet;

use super::shell::is_stdin;
use super::words::{Word, Words};

/// A program that takes code as an argument.
struct Interpreter {
    /// Its names, without a version.
    names: &'static [&'static str],
    /// Short options with code.
    code: &'static str,
    /// Long options with code.
    long_code: &'static [&'static str],
    /// Short options with a value that is no code.
    valued: &'static str,
    /// Options behind which everything is an argument, or which name the file with the code.
    file: &'static str,
    /// Whether the first operand is the code, and no file with it.
    is_operand: bool,
}

const fn interpreter(
    names: &'static [&'static str],
    code: &'static str,
    long_code: &'static [&'static str],
    valued: &'static str,
    file: &'static str,
) -> Interpreter {
    Interpreter {
        names,
        code,
        long_code,
        valued,
        file,
        is_operand: false,
    }
}

#[rustfmt::skip]
const INTERPRETERS: &[Interpreter] = &[
    interpreter(&["python", "pypy"], "c", &[], "WX", "m"),
    interpreter(&["perl"], "eE", &[], "I", ""),
    interpreter(&["ruby", "jruby"], "e", &[], "IrCEK", ""),
    interpreter(&["node", "nodejs", "bun"], "ep", &["--eval", "--print"], "rC", ""),
    interpreter(&["php"], "rBRE", &["--run", "--process-begin", "--process-code", "--process-end"], "dczt", "fF"),
    interpreter(&["lua", "luajit"], "e", &[], "l", ""),
    interpreter(&["R", "Rscript", "groovy", "elixir", "osascript", "gnuplot"], "e", &["--eval"], "", ""),
    interpreter(&["julia"], "eE", &["--eval", "--print"], "Jpt", ""),
    interpreter(&["guile"], "c", &[], "Ll", "s"),
    interpreter(&["pwsh", "powershell"], "cCeE", &[], "", ""),
    Interpreter {
        is_operand: true,
        ..interpreter(&["awk", "gawk", "mawk", "nawk", "original-awk"], "e", &["--source"], "Fvil", "fE")
    },
];

/// Long options of awk with a value, and those that name a file.
const OF_AWK: &[&str] = &["--field-separator", "--assign", "--include", "--load"];
const FILES_OF_AWK: &[&str] = &["--file", "--exec"];

const WHY: &str = "a value must never become program text: pass it as an argument behind the code, where it is \
                   sys.argv[1] of Python, process.argv[1] of Node, $ARGV[0] of Perl, ARGV[0] of Ruby, $argv[1] of PHP, \
                   arg[1] of Lua; awk takes it as [-v, \"name={name}\"] before its program";

/// What was found of an interpreter.
#[derive(Default)]
struct Found {
    /// Whether it has code among its arguments, or a file with code that is not stdin.
    has_code: bool,
    /// Whether a word may be the file with the code.
    may_have_file: bool,
    /// Whether the code may come through stdin.
    is_stdin: bool,
    /// Elements that must not be left out.
    needed: BTreeSet<usize>,
}

/// The elements that cannot be left out, for an argument behind them would become the code.
///
/// # Errors
/// Where a placeholder stands in the code of an interpreter.
pub(super) fn refuse(words: &Words<'_>) -> Result<BTreeSet<usize>, String> {
    let mut needed = BTreeSet::new();
    for (at, interpreter) in started(words) {
        needed.extend(interpreter.look(words.behind(at))?.needed);
    }
    Ok(needed)
}

/// Whether an interpreter reads its code from stdin.
pub(super) fn reads_script(words: &Words<'_>) -> bool {
    let reads = |found: Found| found.is_stdin || !(found.has_code || found.may_have_file);
    started(words).any(|(at, interpreter)| interpreter.look(words.behind(at)).is_ok_and(reads))
}

fn started(words: &Words<'_>) -> impl Iterator<Item = (usize, &'static Interpreter)> {
    let all = INTERPRETERS.iter();
    let in_version = |c: char| c.is_ascii_digit() || ".-".contains(c);
    words.places().iter().enumerate().filter_map(move |(at, word)| {
        let name = word.name().trim_end_matches(in_version);
        let known = all.clone().find(|known| known.names.contains(&name))?;
        Some((at, known))
    })
}

/// What an option is.
enum Is<'t> {
    /// Code in the same word, or in the next where it is empty.
    Code(&'t str),
    /// The file with the code, as above.
    File(&'t str),
    /// A value is in the next word.
    Valued,
    /// Its value is in the same word.
    Whole,
    /// Nothing else is known to belong to it.
    Alone,
}

impl Interpreter {
    fn look(&self, words: &[Word<'_>]) -> Result<Found, String> {
        let mut found = Found::default();
        let (mut at, mut ended, mut behind_long) = (0, false, false);
        while let Some(word) = words.get(at).copied() {
            at += 1;
            let next = words.get(at).copied();
            if ended || !word.is_option() {
                if behind_long && !self.is_operand {
                    // It may be the value of the option before it, and the options go on.
                    behind_long = false;
                    found.may_have_file = true;
                    found.is_stdin |= is_stdin(word);
                    continue;
                }
                self.operand(word, &mut found)?;
                return Ok(found);
            }
            ended = word.is_end();
            behind_long = !ended && word.text.starts_with("--") && !word.text.contains('=');
            let is = self.option(word);
            let takes_next = matches!(is, Is::Code("") | Is::File("")) && !word.pasted;
            let next = next.filter(|_| takes_next || matches!(is, Is::Valued));
            at += usize::from(next.is_some());
            match is {
                Is::Code(_) if word.is_open() || next.is_some_and(Word::is_open) => return Err(WHY.to_owned()),
                Is::Code(_) => found.has_code = true,
                Is::File(attached) => {
                    found.has_code = true;
                    found.is_stdin |= is_stdin(next.unwrap_or(word.with_text(attached)));
                    if !self.is_operand {
                        return Ok(found);
                    }
                }
                Is::Valued => value_of(word, next, &mut found)?,
                Is::Alone if word.pasted && !word.text.contains('=') => return Err(WHY.to_owned()),
                Is::Alone | Is::Whole => {}
            }
            behind_long &= next.is_none();
        }
        Ok(found)
    }

    /// The file with the code, or the code itself, or an argument where it was there before.
    fn operand(&self, word: Word<'_>, found: &mut Found) -> Result<(), String> {
        if found.has_code {
            return Ok(());
        }
        if self.is_operand && word.is_open() {
            return Err(WHY.to_owned());
        }
        found.has_code = true;
        found.is_stdin = !self.is_operand && is_stdin(word);
        Ok(())
    }

    fn option<'t>(&self, word: Word<'t>) -> Is<'t> {
        if let Some(long) = word.text.strip_prefix("--") {
            let (name, value) = long.split_once('=').unwrap_or((long, ""));
            let name = &word.text[..name.len() + 2];
            return match () {
                () if self.long_code.contains(&name) => Is::Code(value),
                () if self.is_operand && FILES_OF_AWK.contains(&name) => Is::File(value),
                () if self.is_operand && OF_AWK.contains(&word.text) => Is::Valued,
                () => Is::Alone,
            };
        }
        let mut letters = word.text.strip_prefix('-').unwrap_or_default().chars();
        while let Some(letter) = letters.next() {
            let rest = letters.as_str();
            let attached = word.pasted || !rest.is_empty();
            match () {
                () if self.code.contains(letter) => {
                    return Is::Code(rest.trim_start_matches(|c| self.code.contains(c)));
                }
                () if self.file.contains(letter) => return Is::File(rest),
                () if self.valued.contains(letter) && !attached => return Is::Valued,
                () if self.valued.contains(letter) => return Is::Whole,
                () => {}
            }
        }
        Is::Alone
    }
}

/// The value of an option: without it, the next word would be taken.
fn value_of(option: Word<'_>, value: Option<Word<'_>>, found: &mut Found) -> Result<(), String> {
    let Some(value) = value.filter(|value| value.element != option.element) else {
        return Ok(());
    };
    if value.spread || (option.optional && value.is_open()) {
        return Err(WHY.to_owned());
    }
    if value.optional {
        found.needed.extend(value.element);
    }
    Ok(())
}
