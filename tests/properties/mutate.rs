//! Mutants of real inputs: what a slip of the pen, a bug or somebody's malice makes of them.
//!
//! An input is taken for words, marks and blanks, and changed word by word and line by line, so that most mutants get past the
//! first check. Hand-written, because what it has to know is the alphabet of six formats and nothing else; a crate for
//! property tests would bring a language for making values, and of every value here there is a real one already.

use fastrand::Rng;

use crate::laws::{BETWEEN, SECRET};

/// Words that mean something to JSON and to those who read it.
const JSON: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1.0",
    "1e2",
    "7",
    "\"7\"",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "9007199254740993",
    "NaN",
    "-Infinity",
    "\"\"",
    "{}",
    "[]",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"\\\\\"",
    "\\u0061",
    "\\",
    "'",
    "\u{feff}",
    "é",
    "\u{1f600}",
    "\"id\":",
    "\"result\":",
    "\"error\":",
    "\"type\":",
    "\"context\":",
    "\"session\":",
    "\"source\":",
    "\"destination\":",
    "\"name\":",
    "\"tools\":",
    "\"event\":",
    "\"op\":",
    "[[[[[[[[[[",
    "]]]]]]]]]]",
    "{\"a\":",
    "Content-Length: 2",
];

/// Words of JSON Schema and of parameters.
const SCHEMA: &[&str] = &[
    "\"$ref\":\"#\"",
    "\"$ref\":\"#/properties/a\"",
    "\"$ref\":\"#/$defs/a\"",
    "\"$ref\":\"x.json\"",
    "\"$id\":\"a\"",
    "\"$defs\":{\"a\":",
    "\"allOf\":[",
    "\"anyOf\":[",
    "\"oneOf\":[",
    "\"not\":",
    "\"type\":\"integer\"",
    "\"type\":[\"string\",\"null\"]",
    "\"enum\":[1,null]",
    "\"const\":",
    "\"pattern\":\"(a+)+$\"",
    "\"pattern\":\"[\"",
    "\"patternProperties\":{\"^a\":",
    "\"additionalProperties\":",
    "\"default\":",
    "\"items\":",
    "\"prefixItems\":[",
    "\"required\":[\"a\"]",
    "\"minimum\":",
    "\"multipleOf\":0",
    "\"format\":\"date\"",
    "\"minLength\":1e9",
    "\"uniqueItems\":true",
    "\"$dynamicRef\":\"#\"",
    "\"$recursiveRef\":\"#\"",
    "\"$schema\":\"http://json-schema.org/draft-04/schema#\"",
    "\"if\":",
    "\"then\":",
    "\"argument_schema\":",
    "\"parameters\":",
    "\"output_schema\":",
    "\"hints\":",
    "\"timeout\":",
];

/// Words of YAML and of the file.
const YAML: &[&str] = &[
    "&a ",
    "*a",
    "<<: *a",
    "<<:",
    "? ",
    "- ",
    ": ",
    "|\n",
    ">-\n",
    "!!str ",
    "!x ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "# ",
    "\t",
    "\r",
    "\r\n",
    "{",
    "}",
    "[",
    "]",
    "''",
    "\"",
    "~",
    "null",
    "no",
    "0777",
    "1e3",
    ".inf",
    "${TOKEN}",
    "${TOKEN_2:-x}",
    "${NONE}",
    "${",
    "$${",
    "${HOME:-${TOKEN}}",
    "toolboxes:",
    "defaults:",
    "bus:",
    "command:",
    "tools:",
    "script:",
    "env:",
    "config:",
    "run:",
    "shell:",
    "stdin:",
    "parameters:",
    "timeout:",
    "limits:",
    "sandbox:",
    "restart:",
    "rename:",
    "env_file: x",
    "KEY=s3cr3t",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "é",
    "\0",
];

/// Words of templates.
const TEMPLATE: &[&str] = &[
    "{a}",
    "{a...}",
    "{a?}",
    "{b}",
    "{{",
    "}}",
    "{",
    "}",
    "--",
    "-",
    "-c",
    "\t",
    "\n",
    "env",
    "sh",
    "xargs",
    "--x={a}",
    "-{b}",
    "{a}{b}",
    "sudo",
    "timeout",
    "python3",
    "\"a\":",
    "\"b\":",
    "\"-x\"",
    "\"--\"",
    "[\"-x\",1,null]",
    "\"a b\\n\"",
    "'",
];

/// Words of annotated scripts.
const BASH: &[&str] = &[
    "# @cmd x\n",
    "# @option --a",
    "# @flag -b --bb*",
    "# @arg c!",
    "# @arg d*",
    "# @option --e+,",
    "<INT>",
    "<NUM>",
    "[a|b]",
    "[=a|b]",
    "[`f`]",
    "=`f`",
    "!",
    "*",
    "+",
    "~",
    "$$",
    "# @env X!",
    "# @meta version 1",
    "# @meta require-tools x",
    "# @meta inherit-flag-options",
    "# @meta symbol @",
    "# @describe x",
    "# @alias y",
    "f() {",
    "a::b() { :; }",
    "main() { :; }",
    "}\n",
    "\"a\":",
    "\"-x\"",
    "\"help\"",
    "[1,2]",
    "eval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
    "-",
    "--",
    ":",
];

/// Makes mutants of the inputs of one law.
pub(crate) struct Mutator<'s> {
    seeds: &'s [Vec<u8>],
    words: Vec<&'static str>,
    salt: u64,
}

impl<'s> Mutator<'s> {
    pub(crate) fn new(name: &str, seeds: &'s [Vec<u8>]) -> Self {
        let of_law: &[&[&str]] = match name {
            "yaml" => &[YAML],
            "template" => &[TEMPLATE, JSON],
            "bash" => &[BASH],
            "describe" | "schema" => &[SCHEMA, JSON],
            _ => &[JSON],
        };
        let mut words: Vec<&str> = of_law.concat();
        words.extend([SECRET, BETWEEN, "\n", "a"]);
        let salt = name
            .bytes()
            .fold(7, |salt: u64, byte| salt.wrapping_mul(31) + u64::from(byte));
        Self { seeds, words, salt }
    }

    /// The mutant of this number, always the same.
    pub(crate) fn mutant(&self, case: u64) -> Vec<u8> {
        let mut rng = Rng::with_seed(self.salt.wrapping_mul(1 << 32) ^ case);
        let mut input = self.seed(&mut rng).to_vec();
        for _ in 0..rng.usize(1..=4) {
            input = self.changed(input, &mut rng);
            input.truncate(64 << 10);
        }
        input
    }

    fn seed(&self, rng: &mut Rng) -> &'s [u8] {
        &self.seeds[rng.usize(..self.seeds.len())]
    }

    fn word(&self, rng: &mut Rng) -> &'static [u8] {
        self.words[rng.usize(..self.words.len())].as_bytes()
    }

    fn changed(&self, input: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
        match rng.u8(..10) {
            0..=4 => self.by_word(&input, rng),
            5..=7 => self.by_line(&input, rng),
            _ => self.by_byte(input, rng),
        }
    }

    /// A word away, doubled, replaced, or another before it.
    fn by_word(&self, input: &[u8], rng: &mut Rng) -> Vec<u8> {
        let mut words = words(input);
        let other = self.seed(rng);
        let others = self::words(other);
        if words.is_empty() || others.is_empty() {
            return other.to_vec();
        }
        let at = rng.usize(..words.len());
        let theirs = others[rng.usize(..others.len())];
        match rng.u8(..8) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[rng.usize(..words.len())]),
            2 => words[at] = words[rng.usize(..words.len())],
            3 => words[at] = theirs,
            4 => words[at] = self.word(rng),
            5 | 6 => words.insert(at, self.word(rng)),
            _ => {
                let many = words[at].repeat(1 << rng.u8(..9));
                return [words[..at].concat(), many, words[at..].concat()].concat();
            }
        }
        words.concat()
    }

    /// A line away, doubled, moved to the side, or one of another input before it.
    fn by_line(&self, input: &[u8], rng: &mut Rng) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.is_empty() {
            return input.to_vec();
        }
        let at = rng.usize(..lines.len());
        let others: Vec<&[u8]> = self.seed(rng).split_inclusive(|byte| *byte == b'\n').collect();
        match rng.u8(..6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[rng.usize(..lines.len())]),
            2 => lines.insert(at, b"  "),
            3 => lines[at] = lines[at].strip_prefix(b" ").unwrap_or(lines[at]),
            4 if !others.is_empty() => lines.insert(at, others[rng.usize(..others.len())]),
            _ => lines.truncate(at + 1),
        }
        lines.concat()
    }

    fn by_byte(&self, mut input: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
        if input.is_empty() {
            return self.word(rng).to_vec();
        }
        let at = rng.usize(..input.len());
        match rng.u8(..5) {
            0 => input[at] ^= 1 << rng.u8(..8),
            1 => input[at] = rng.u8(0x20..0x7f),
            2 => drop(input.remove(at)),
            3 => input.truncate(at),
            _ => input.insert(at, rng.u8(..)),
        }
        input
    }
}

/// Runs of letters and digits, of blanks, and every other byte by itself.
fn words(input: &[u8]) -> Vec<&[u8]> {
    let kind = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | 0x80.. => 0,
        b' ' | b'\t' => 1,
        _ => 2,
    };
    input
        .chunk_by(|one, other| kind(one) == kind(other) && kind(one) != 2)
        .collect()
}
