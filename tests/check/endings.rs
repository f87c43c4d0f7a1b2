//! Programs that say nothing, end too early, do not end or cannot be started.

use super::scratch::Scratch;
use super::{GOOD, check, check_in, check_program, check_python, python};

/// The same loop in the three languages, with the fault in question put in.
fn bash(before: &str, after: &str) -> String {
    format!(
        "#!/usr/bin/env bash\n{before}while IFS= read -r line; do\n  [[ -n $line ]] || continue\n  id=${{line#*:}}; id=${{id%%,*}}\n  \
         case $line in *'\"op\":\"describe\"'*) echo \"{{\\\"id\\\":$id,\\\"result\\\":{{\\\"tools\\\":[]}}}}\";; *) echo \
         \"{{\\\"id\\\":$id,\\\"error\\\":\\\"no\\\"}}\";; esac\ndone{after}\n"
    )
}

/// Programs that say nothing, with what is said of each and the hint. Those that have to do something first are given
/// 20 seconds, as the machine may be loaded; all wait at the same time.
const SILENT: [(&str, &str, &str, &str); 6] = [
    (
        "buffered.sh",
        "20s",
        ": its output is buffered",
        "hint:   stdbuf -oL before a filter",
    ),
    (
        "buffered.py",
        "20s",
        ": its output is buffered",
        "hint:   print(..., flush=True)",
    ),
    (
        "reads.py",
        "20s",
        ", and answered when its input was closed: it reads",
        "hint:   for line in sys.stdin",
    ),
    (
        "reads.js",
        "20s",
        ", and answered when its input was closed: it reads",
        "hint:   readline.createInterface",
    ),
    (
        "slow.py",
        "20s",
        ", and answered later: it is slow; --timeout waits longer here",
        "",
    ),
    ("mute.sh", "1s", ", and nothing when its input was closed", ""),
];

/// Answers once more is asked, which is when the check has given up to wait for the answer.
const SLOW: &str = "#!/usr/bin/env python3
import json, sys, time
request = json.loads(sys.stdin.readline())
sys.stdin.readline()
print(json.dumps({'id': request['id'], 'result': {'tools': []}}), flush=True)
time.sleep(600)
";

#[test]
fn output_that_stays_in_a_buffer_is_told_from_input_that_is_read_to_its_end() {
    let folder = Scratch::new();
    folder.program("buffered.sh", &bash("", " | sed 's/x/x/'"));
    let buffered = python("sys.stdout = os.fdopen(1, 'w', 8192)", GOOD).replace(", flush=True", "");
    folder.program("buffered.py", &format!("#!/usr/bin/env python3\n{buffered}"));
    let reads = python("", GOOD).replace("in sys.stdin:", "in sys.stdin.read().splitlines():");
    folder.program("reads.py", &format!("#!/usr/bin/env python3\n{reads}"));
    folder.program(
        "reads.js",
        "#!/usr/bin/env node\nfor (const l of require('fs').readFileSync(0, 'utf8').split('\\n')) if (l) \
         console.log(JSON.stringify({id: JSON.parse(l).id, result: {tools: []}}));\n",
    );
    folder.program("slow.py", SLOW);
    folder.program("mute.sh", "#!/bin/sh\ncat >/dev/null\n");
    std::thread::scope(|scope| {
        for (name, patience, said, hint) in SILENT {
            let folder = folder.path();
            scope.spawn(move || {
                let checked = check_in(folder, &["--timeout", patience, "--", &format!("./{name}")]);
                assert_eq!(checked.code, Some(1), "{name}");
                checked.shows(
                    &[
                        &format!("fault in describe: wrote nothing within {patience}{said}"),
                        "wrote:  nothing",
                        r#"should: {"id":1,"result":{"tools":["#,
                        hint,
                    ][..if hint.is_empty() { 3 } else { 4 }],
                );
            });
        }
    });
}

#[test]
fn a_program_that_ends_after_one_answer_passes_as_one_that_is_run_once_a_request() {
    let folder = Scratch::new();
    let once = python("", GOOD).replace("flush=True)", "flush=True); sys.exit(0)");
    folder.program("once.py", &format!("#!/usr/bin/env python3\n{once}"));
    let checked = check_in(folder.path(), &["--", "./once.py"]);
    assert_eq!(checked.code, Some(1), "{}", checked.report);
    checked.shows(&[
        "fault in describe: exited instead (exit status 0): it ended after 1 answer and should wait for the next request",
        "asked:  describe (id 2)",
        "wrote:  nothing",
        r#"should: {"id":2,"result":{"tools":["#,
        "hint:   for line in sys.stdin",
    ]);
    let checked = check_in(folder.path(), &["--oneshot", "--", "./once.py"]);
    assert_eq!(
        (checked.code, checked.report.as_str()),
        (Some(0), "ok   check\n"),
        "{}",
        checked.stderr
    );
}

#[test]
fn a_program_that_ends_otherwise_than_it_should_is_told_how() {
    let checked = check_python("sys.exit('no config')", GOOD);
    checked.shows(&[
        "fault in describe: exited instead (exit status 1)",
        "asked:  describe (id 1)",
        "wrote:  nothing",
        "should:",
        "its stderr: no config",
    ]);
    let checked = check_python("sys.exit(0)", GOOD);
    checked.shows(&["fault in describe: exited instead (exit status 0), without an answer"]);
    let checked = check_python("import atexit; atexit.register(lambda: os._exit(7))", GOOD);
    checked.shows(&[
        "fault in describe: ended with exit status 7 when its input was closed; it should exit with status 0",
    ]);
    let stays = "import atexit, threading; threading.Thread(target=lambda: time.sleep(600)).start()";
    check_python(stays, GOOD).shows(&[
        "fault in describe: did not exit within 5s after its input was closed",
        "hint:   for line in sys.stdin ends by itself",
    ]);
}

#[test]
fn windows_line_ends_are_named_also_behind_env() {
    let crlf = |shebang: &str| format!("{shebang}\r\nprint(1)\r\n");
    for (shebang, said) in [
        (
            "#!/usr/bin/env python3",
            "fault in describe: exited instead (exit status 127): the file has Windows line ends (CRLF); convert it, for example with dos2unix",
        ),
        (
            "#!/usr/bin/python3",
            "fault in describe: './greet.py' names the interpreter '/usr/bin/python3' in its first line, which does not exist: the file has Windows",
        ),
    ] {
        let checked = check_program("greet.py", &crlf(shebang));
        assert!(
            checked
                .report
                .replace("/./", "/")
                .contains("Windows line ends (CRLF); convert it"),
            "{}",
            checked.report
        );
        if shebang.contains("env") {
            checked.shows(&[said, "asked:  describe (id 1)"]);
        }
    }
}

#[test]
fn a_program_named_as_a_configuration_is_told_how_it_is_checked() {
    let folder = Scratch::new();
    folder.program("greet.py", "#!/usr/bin/env python3\n");
    folder.file("plain.js", "export function a() {}\n");
    folder.file("noext", "#!/bin/sh\n");
    for (name, run) in [
        ("./greet.py", "toolhost check -- ./greet.py."),
        ("greet.py", "toolhost check -- ./greet.py."),
        ("plain.js", "toolhost check -- node ./plain.js."),
        ("noext", "toolhost check -- ./noext."),
    ] {
        let checked = check_in(folder.path(), &[name]);
        assert_eq!(checked.code, Some(2), "{}", checked.stderr);
        assert!(
            checked.stderr.contains(run) && checked.stderr.contains("script: ./"),
            "{}",
            checked.stderr
        );
    }
    assert_eq!(check(&["examples/hello.yaml"]).code, Some(0));
}
