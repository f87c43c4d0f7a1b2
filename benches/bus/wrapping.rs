//! What a script costs as a tool, beside the same script started by hand: its interpreter or program spawned by this
//! benchmark, what it prints read, its end waited for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Plan;
use crate::caller::{Caller, nanos};
use crate::parts::{Running, Scratch, hosting};
use crate::table::{Row, heading};

/// Of what starts an interpreter fewer are enough.
const SLOW: usize = 20;

/// A persistent process answers in no time, so that a block holds more of them.
const FAST: usize = 200;

const PYTHON: &str = r#"
def greet(name: str) -> str:
    """Greets somebody."""
    return "Hello " + name


if __name__ == "__main__":
    import sys

    print(greet(sys.argv[1]))
"#;

const JAVASCRIPT: &str = r#"
/**
 * Greets somebody.
 * @param {string} name - Whom.
 */
exports.greet = (name) => 'Hello ' + name

if (require.main === module) console.log(exports.greet(process.argv[2]))
"#;

const BASH: &str = r#"
# @describe Greets somebody.
# @option --name! <TEXT>  Whom
main() {
    printf 'Hello %s\n' "$argc_name"
}

eval "$(argc --argc-eval "$0" "$@")"
"#;

const SHELL: &str = r#"printf 'Hello %s\n' "$ARG_NAME""#;

/// One way to run one thing.
enum Way {
    /// A call of a tool: the data of the Message.
    Tool(String),
    /// The same with the other toolhost.
    Other(String),
    /// A process of this benchmark's own.
    Bare(Vec<String>),
}

/// A way, how often a block takes it, and what it took.
struct Lane {
    way: Way,
    calls: usize,
    row: Row,
}

impl Lane {
    fn tool(name: &'static str, calls: usize, toolbox: &str, tool: &str) -> Self {
        Self::new(name, calls, Way::Tool(data(toolbox, tool)))
    }

    fn bare(name: &'static str, calls: usize, argv: &[&str]) -> Self {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Self::new(name, calls, Way::Bare(argv))
    }

    fn new(name: &'static str, calls: usize, way: Way) -> Self {
        let row = Row::new(name);
        Self { way, calls, row }
    }
}

fn data(toolbox: &str, tool: &str) -> String {
    let parameter = if tool == "echo" { "text" } else { "name" };
    format!(r#"{{"toolbox_id":"{toolbox}","name":"{tool}","kwargs":{{"{parameter}":"Ada"}}}}"#)
}

/// Every pair; in each, the first way is what the others are compared with.
pub(crate) async fn compare(plan: &Plan) {
    let place = Place::new();
    let ours = Host::start(Path::new(env!("CARGO_BIN_EXE_toolhost")), &place).await;
    let other = match &plan.beside {
        Some(program) => Some(Host::start(program, &place).await),
        None => None,
    };
    let mut hosts = (ours, other);
    for (what, lanes) in groups(&place) {
        let mut lanes = with_other(lanes, hosts.1.is_some());
        for _ in 0..plan.blocks {
            for lane in &mut lanes {
                let block = place.block(lane, &mut hosts).await;
                lane.row.blocks.push(block);
            }
        }
        println!("{}", heading(what));
        for lane in &lanes {
            println!("{}", lane.row.show_with_difference(&lanes[0].row));
        }
    }
    hosts.0.caller.leave().await;
    if let Some(other) = hosts.1 {
        other.caller.leave().await;
    }
}

fn groups(place: &Place) -> Vec<(&'static str, Vec<Lane>)> {
    let (python, script) = (place.python.as_str(), place.path("greet.py"));
    let javascript = place.path("greet.js");
    let bash = place.path("greet.sh");
    vec![
        (
            "a Python script",
            vec![
                Lane::tool("a call of its tool", FAST, "python", "greet"),
                Lane::tool("a call of a bare protocol loop (echo.py)", FAST, "loop", "echo"),
                Lane::bare("a bare process: python3 greet.py Ada", SLOW, &[python, &script, "Ada"]),
            ],
        ),
        (
            "a JavaScript file",
            vec![
                Lane::tool("a call of its tool", FAST, "javascript", "greet"),
                Lane::bare("a bare process: node greet.js Ada", SLOW, &["node", &javascript, "Ada"]),
            ],
        ),
        (
            "the declared command 'true'",
            vec![
                Lane::bare("a bare process: true", FAST, &["true"]),
                Lane::tool("a call of its tool", FAST, "commands", "true"),
            ],
        ),
        (
            "the declared command 'printf'",
            vec![
                Lane::bare("a bare process: printf", FAST, &["printf", "Hello %s\\n", "Ada"]),
                Lane::tool("a call of its tool", FAST, "commands", "printf"),
            ],
        ),
        (
            "a shell script in the YAML",
            vec![
                Lane::bare("a bare process: /bin/sh -c", FAST, &["/bin/sh", "-c", SHELL]),
                Lane::tool("a call of its tool", FAST, "commands", "shell"),
            ],
        ),
        (
            "an annotated Bash script",
            vec![
                Lane::bare(
                    "a bare process: bash greet.sh --name=Ada",
                    SLOW,
                    &["bash", &bash, "--name=Ada"],
                ),
                Lane::tool("a call of its tool", SLOW, "bash", "greet"),
            ],
        ),
    ]
}

/// Each tool once more, of the other toolhost.
fn with_other(lanes: Vec<Lane>, has_other: bool) -> Vec<Lane> {
    let mut all = Vec::new();
    for lane in lanes {
        let other = match &lane.way {
            Way::Tool(data) if has_other => {
                let way = Way::Other(data.clone());
                Some(Lane::new("the same of the other toolhost", lane.calls, way))
            }
            _ => None,
        };
        all.push(lane);
        all.extend(other);
    }
    all
}

/// A host with every kind of script, and a caller at its bus.
struct Host {
    _running: Running,
    caller: Caller,
}

impl Host {
    async fn start(program: &Path, place: &Place) -> Self {
        let (running, url) = hosting(program, &place.config(), None);
        crate::parts::listening(&url);
        let mut caller = Caller::join(&url).await;
        caller.ready().await;
        Self {
            _running: running,
            caller,
        }
    }
}

/// A folder with the scripts, and what the bare processes need.
struct Place {
    scratch: Scratch,
    python: String,
    /// The PATH of the bare processes: toolhost's `argc` is the first there too.
    path: std::ffi::OsString,
}

impl Place {
    fn new() -> Self {
        let scratch = Scratch::new();
        let folder = scratch.path();
        for (name, source) in [("greet.py", PYTHON), ("greet.js", JAVASCRIPT), ("greet.sh", BASH)] {
            std::fs::write(folder.join(name), source).expect("a script");
        }
        let bin = folder.join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolhost"), bin.join("argc")).expect("a link");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(bin).chain(std::env::split_paths(&path));
        Self {
            path: std::env::join_paths(folders).expect("a PATH"),
            python: real_python(),
            scratch,
        }
    }

    fn path(&self, name: &str) -> String {
        self.scratch.path().join(name).display().to_string()
    }

    fn config(&self) -> String {
        let (python, script) = (&self.python, self.path("greet.py"));
        let (javascript, bash) = (self.path("greet.js"), self.path("greet.sh"));
        let echo = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bus/echo.py");
        let name = "parameters: {name: {type: string}}, description: Greets somebody.";
        format!(
            "toolboxes:\n  python: {{script: {script:?}, python: {python:?}}}\n  loop: {{command: [{python:?}, {echo:?}]}}\n  \
             javascript: {{script: {javascript:?}}}\n  bash: {{script: {bash:?}}}\n  commands:\n    tools:\n      \
             'true': {{{name}, run: ['true']}}\n      \
             printf: {{{name}, run: [printf, 'Hello %s\\n', '{{name}}']}}\n      \
             shell:\n        description: Greets somebody.\n        parameters: {{name: {{type: string}}}}\n        \
             shell: {SHELL:?}\n"
        )
    }

    async fn block(&self, lane: &Lane, hosts: &mut (Host, Option<Host>)) -> Vec<u64> {
        match &lane.way {
            Way::Tool(data) => hosts.0.caller.calls_of(lane.calls, data).await,
            Way::Other(data) => match &mut hosts.1 {
                Some(other) => other.caller.calls_of(lane.calls, data).await,
                None => Vec::new(),
            },
            Way::Bare(argv) => (0..lane.calls).map(|_| self.run(argv)).collect(),
        }
    }

    /// The time from the start of a process until its output is read and it is waited for, in ns.
    fn run(&self, argv: &[String]) -> u64 {
        let start = Instant::now();
        let done = Command::new(&argv[0])
            .args(&argv[1..])
            .env("PATH", &self.path)
            .env("ARG_NAME", "Ada")
            .stdin(Stdio::null())
            .output();
        let time = nanos(start);
        let done = done.expect("the program starts");
        assert!(
            done.status.success(),
            "{argv:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        time
    }
}

/// The Python itself, where `python3` is a script that looks for it: that would count against the bare process.
fn real_python() -> String {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    let path = String::from_utf8(asked.expect("python3").stdout).expect("a path");
    let path = PathBuf::from(path.trim());
    assert!(path.is_file(), "python3 does not say where it is");
    path.display().to_string()
}
