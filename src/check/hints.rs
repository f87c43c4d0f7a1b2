//! What is usually behind a fault, in the language of the program. Pure.

use crate::adapter::script::Language;
use std::path::Path;

/// The usual causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// Something that is for people goes to stdout.
    Stdout,
    /// Its output stays in a buffer.
    Buffered,
    /// It reads to the end of its input.
    ReadsAll,
    /// It ends after one answer.
    Once,
    /// Its JSON has line breaks.
    Pretty,
    /// Line ends of Windows.
    LineEnds,
    /// A byte order mark.
    ByteOrderMark,
    /// Answers need the id of their request.
    Id,
    /// Text that is no UTF-8.
    Encoding,
    /// NaN and Infinity.
    NotANumber,
    /// A Python dict printed as it is.
    Repr,
    /// It ends on what it does not know.
    Unknown,
    /// It goes on when its input has ended.
    EndOfInput,
}

impl Hint {
    const fn lines(self) -> [(Language, &'static str); 3] {
        let [python, bash, node] = match self {
            Self::Stdout => [
                "print(..., file=sys.stderr)",
                "echo ... >&2",
                "console.error(...) in place of console.log",
            ],
            Self::Buffered => [
                "print(..., flush=True), or sys.stdout.flush() after each answer",
                "stdbuf -oL before a filter; grep --line-buffered, sed -u, jq --unbuffered, mawk -W interactive",
                "process.stdout.write(line + \"\\n\") for each answer, collect none",
            ],
            Self::ReadsAll => [
                "for line in sys.stdin: ... in place of sys.stdin.read() or json.load(sys.stdin)",
                "while IFS= read -r line; do ... done in place of $(cat) or jq -s",
                "readline.createInterface({input: process.stdin}).on(\"line\", ...) in place of fs.readFileSync(0)",
            ],
            Self::Once => [
                "for line in sys.stdin: ... round all that answers",
                "while IFS= read -r line; do ... done round all that answers",
                "readline.createInterface({input: process.stdin}).on(\"line\", ...), and no process.exit() in it",
            ],
            Self::Pretty => [
                "json.dumps(answer) without indent=",
                "jq -c, which prints on one line",
                "JSON.stringify(answer) without further arguments",
            ],
            Self::LineEnds => [
                "sys.stdout.reconfigure(newline=\"\\n\")",
                "printf '%s\\n', and dos2unix for the script itself",
                "end lines with \"\\n\", not with os.EOL or \"\\r\\n\"",
            ],
            Self::ByteOrderMark => [
                "encode as \"utf-8\", not as \"utf-8-sig\"",
                "save the script without a byte order mark: dos2unix -r",
                "write no \"\\ufeff\" before the first line",
            ],
            Self::Id => [
                "json.dumps({\"id\": request[\"id\"], ...})",
                "jq -c '{id: .id, result: ...}', from the request's own line",
                "JSON.stringify({id: request.id, ...})",
            ],
            Self::Encoding => [
                "sys.stdout.reconfigure(encoding=\"utf-8\"), and text in place of bytes",
                "iconv -t UTF-8 behind what prints in another encoding",
                "process.stdout.write(text, \"utf8\")",
            ],
            Self::NotANumber => [
                "None if math.isnan(x) else x; json.dumps(..., allow_nan=False) finds them",
                "awk prints nan and inf: test before printing",
                "JSON.stringify writes null by itself: do not build JSON by hand",
            ],
            Self::Repr => [
                "print(json.dumps(answer)), not print(answer)",
                "jq -cn builds JSON with the right quotes",
                "JSON.stringify(answer), not util.inspect",
            ],
            Self::Unknown => [
                "except Exception as error: answer = {\"error\": f\"{type(error).__name__}: {error}\"}",
                "case $op in ... *) answer with an error;; esac, and no set -e that ends the loop",
                "try { ... } catch (error) { answer({id: request.id, error: String(error)}) }",
            ],
            Self::EndOfInput => [
                "for line in sys.stdin ends by itself; readline() returns \"\" at the end; threads need daemon=True",
                "while IFS= read -r line ends by itself; while true does not",
                "timers and servers keep Node alive: rl.on(\"close\", () => process.exit(0))",
            ],
        };
        [
            (Language::Python, python),
            (Language::Bash, bash),
            (Language::Node, node),
        ]
    }

    /// The line for `language`, or those of all the usual ones.
    pub(super) fn text(self, language: Option<Language>) -> String {
        let lines = self.lines();
        match lines.iter().find(|(of, _)| Some(*of) == language) {
            Some((_, line)) => format!("hint:   {line}"),
            None => {
                let [(_, python), (_, bash), (_, node)] = lines;
                format!("hint:   Python: {python}\n        Bash: {bash}\n        Node: {node}")
            }
        }
    }
}

/// The language of a program, where its argv tells it.
pub(super) fn language(argv: &[String], cwd: &Path) -> Option<Language> {
    let program = argv.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    match name {
        "bash" | "sh" | "dash" | "zsh" => Some(Language::Bash),
        "node" | "nodejs" | "deno" | "bun" => Some(Language::Node),
        name if name.starts_with("python") || name.starts_with("pypy") => Some(Language::Python),
        "env" | "uv" | "stdbuf" => language(argv.get(1..)?, cwd),
        _ => Language::of(&cwd.join(program)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_for_the_language_of_the_program_or_for_all_of_them() {
        let argv = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let of = |text: &str| language(&argv(text), Path::new("/"));
        assert_eq!(of("/usr/bin/python3.11 x"), Some(Language::Python));
        assert_eq!(of("env node x.js"), Some(Language::Node));
        assert_eq!(of("./greet.sh"), Some(Language::Bash));
        assert_eq!(of("no-such-program"), None);
        let bash = Hint::Stdout.text(Some(Language::Bash));
        assert_eq!(bash, "hint:   echo ... >&2");
        assert_eq!(Hint::Stdout.text(None).lines().count(), 3);
    }
}
