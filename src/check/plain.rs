//! A plain script where a program that speaks the protocol was expected: the commonest slip of all.

use std::io::Read as _;
use std::path::Path;

use crate::adapter::script::Language;

/// As much of a script as is looked at.
const LONGEST: u64 = 200_000;

/// What reads requests, or has another read them, in each language. `toolhost` is a helper's name.
const READS: &[&str] = &[
    "stdin",
    "input(",
    "fileinput",
    "readline",
    "read -",
    "mapfile",
    "toolhost",
    "serve",
    "jq ",
    "/dev/fd/0",
    "openSync(0",
    "readFileSync(0",
];

/// The hint for `argv`, where it starts a script with functions that never reads a request.
pub(super) fn hint(argv: &[String], cwd: &Path) -> Option<String> {
    let script = argv.iter().take(3).find(|word| is_script(&cwd.join(word)))?;
    let path = cwd.join(script);
    let mut text = Vec::new();
    let open = crate::regular_file::open(&path).ok()?.0;
    open.take(LONGEST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    if !has_functions(Language::of(&path)?, &text) || READS.iter().any(|word| text.contains(word)) {
        return None;
    }
    let shown = if script.contains('/') {
        script.clone()
    } else {
        format!("./{script}")
    };
    Some(format!(
        "hint:   a plain script? write `script: {shown}` instead of `command:`"
    ))
}

fn is_script(path: &Path) -> bool {
    path.is_file() && Language::of(path).is_some()
}

/// Functions that toolhost would find in a script of this kind.
fn has_functions(language: Language, text: &str) -> bool {
    let begins = |starts: &[&str]| {
        text.lines()
            .any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
    match language {
        Language::Python => begins(&["def ", "async def "]),
        Language::Node => begins(&["export ", "exports.", "module.exports"]),
        Language::Bash => text.lines().any(|line| line.trim_start().starts_with("# @cmd")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_with_functions_that_reads_nothing_is_told_from_a_toolbox() {
        let folder = std::env::temp_dir().join(format!("toolhost-plain-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let of = |name: &str, text: &str, argv: &[&str]| {
            std::fs::write(folder.join(name), text).unwrap();
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            hint(&argv, &folder)
        };
        let python = of("good.py", "def f(n: int): pass\n", &["python3", "good.py"]);
        assert_eq!(
            python.as_deref(),
            Some("hint:   a plain script? write `script: ./good.py` instead of `command:`")
        );
        assert!(of("a.js", "exports.f = () => 1\n", &["./a.js"]).is_some());
        assert!(of("a.sh", "# @cmd Greets.\nf() { :; }\n", &["bash", "./a.sh"]).is_some());
        assert_eq!(of("b.py", "import sys\ndef f(): sys.stdin.read()\n", &["./b.py"]), None);
        assert_eq!(of("c.py", "import toolhost\ndef f(): pass\n", &["./c.py"]), None);
        assert_eq!(of("d.py", "print(1)\n", &["./d.py"]), None);
        assert_eq!(of("none", "", &["python3", "-c", "def f(): pass"]), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
