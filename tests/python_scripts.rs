//! Plain Python scripts: what they may do while they are tools, and what is said of one that cannot be loaded.

#![allow(clippy::expect_used, clippy::unwrap_used)] // The allowance for tests ends at their own functions.

#[path = "common/mod.rs"]
mod common;

use serde_json::{Map, Value, json};

use common::caller::{CALL, Caller, LIST, call};
use common::embedded::Embedded;
use common::eventually::eventually;
use common::host::{Host, is_alive};
use common::scratch::Scratch;

/// Scripts in a folder of their own, hosted.
struct Scripts {
    scripts: Scratch,
    _bus: Embedded,
    host: Host,
    caller: Caller,
}

impl Scripts {
    /// Hosts files of these names and texts, each as the toolbox of its name without the ending.
    async fn host(files: &[(&str, &str)]) -> Self {
        Self::host_with(files, &json!({})).await
    }

    /// The same, with further keys for each toolbox.
    async fn host_with(files: &[(&str, &str)], keys: &Value) -> Self {
        let scripts = Scratch::new();
        let mut toolboxes = Map::new();
        for (name, text) in files {
            let path = scripts.path().join(name);
            std::fs::write(&path, text).unwrap();
            let mut toolbox = keys.clone();
            toolbox["script"] = json!(path);
            let id: String = name.trim_end_matches(".py").replace(['.', ' '], "_");
            toolboxes.insert(id, toolbox);
        }
        let bus = Embedded::start().await;
        let host = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": toolboxes})).await;
        let caller = Caller::connect(&bus.url).await;
        Self {
            scripts,
            _bus: bus,
            host,
            caller,
        }
    }

    async fn call(&mut self, toolbox_id: &str, name: &str, kwargs: Value) -> Result<Value, String> {
        self.caller.call(toolbox_id, name, &kwargs).await
    }

    /// The tools of a toolbox.
    async fn tools(&mut self, toolbox_id: &str) -> Vec<String> {
        let listed = self.caller.ask(LIST, &json!({})).await;
        let tools = listed["tools"].as_array().unwrap().iter();
        let own = tools.filter(|tool| tool["toolbox_id"] == toolbox_id);
        own.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The one tool of a toolbox.
    async fn tool(&mut self, toolbox_id: &str) -> Value {
        let listed = self.caller.ask(LIST, &json!({})).await;
        let mut tools = listed["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["toolbox_id"] == toolbox_id).unwrap().clone()
    }
}

const LOUD: &str = r#"
import logging, os, subprocess
print("said at import")
os.write(1, b"written at import\n")
logging.basicConfig(level=logging.INFO)

def speak(word: str) -> str:
    print('{"id": 1, "result": "not mine"}')
    os.write(1, b'{"id": 2, "result": "nor mine"}\n')
    subprocess.run(["echo", "said by a child"], check=True)
    logging.info("logged in a tool")
    return word
"#;

#[tokio::test]
async fn whatever_a_script_prints_is_in_the_log_and_never_in_an_answer() {
    let mut scripts = Scripts::host(&[("loud.py", LOUD)]).await;
    for word in ["one", "two"] {
        assert_eq!(
            scripts.call("loud", "speak", json!({"word": word})).await,
            Ok(json!(word))
        );
    }
    let said = [
        "said at import",
        "written at import",
        "not mine",
        "nor mine",
        "said by a child",
        "INFO:root:logged in a tool",
    ];
    let is_logged = |line: &&str| scripts.host.log().contains(*line);
    eventually("everything is in the log", || said.iter().all(|line| is_logged(line))).await;
    assert!(!scripts.host.log().contains("noise"), "{}", scripts.host.log());
    scripts.host.stop().await;
}

const WILD: &str = r#"
import os, signal, subprocess, sys, threading, time

calls = 0

def count() -> int:
    global calls
    calls += 1
    return calls

def read() -> str: return sys.stdin.read()
def ask() -> str: return input("Your name? ")
def child_reads() -> str: return subprocess.run(["cat"], capture_output=True, text=True).stdout
def leave(code: int): sys.exit(code)
def leave_with_words(): exit("no more")
def interrupt() -> None: raise KeyboardInterrupt
def wander() -> None: os.chdir("/")
def where() -> str: return os.getcwd()
def nothing_said() -> None: raise ValueError
def fail(text: str) -> None: raise LookupError(text)
def no_number() -> float: return float("nan")
def stranger(): return {"a": [object()]}
def half_a_pair() -> str: return "\udc80"
def endless() -> list:
    circle = []
    circle.append(circle)
    return circle
def same_name() -> str: return __name__

def leave_thread() -> None:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

def leave_child() -> int:
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
        os._exit(0)
    return pid

def fork_and_return() -> int: return os.fork()

TOOLS = [name for name, value in list(globals().items()) if callable(value)]
"#;

#[tokio::test]
async fn a_script_may_do_what_it_likes_and_serves_on() {
    let mut scripts = Scripts::host(&[("wild.py", WILD)]).await;
    let error = |text: &str| Err(text.to_owned());
    let nan = "ValueError: the result holds NaN or Infinity, which JSON does not have; return None instead";
    let pair = "ValueError: the result holds half of a surrogate pair, which is no text; for a file name that is no \
                UTF-8, return os.fsencode(name) or repr(name)";
    let table = [
        ("count", json!({}), Ok(json!(1))),
        ("read", json!({}), Ok(json!(""))),
        ("ask", json!({}), error("EOFError: EOF when reading a line")),
        ("child_reads", json!({}), Ok(json!(""))),
        ("leave", json!({"code": 3}), error("SystemExit: 3")),
        ("leave_with_words", json!({}), error("SystemExit: no more")),
        ("read", json!({}), Ok(json!(""))),
        ("child_reads", json!({}), Ok(json!(""))),
        ("interrupt", json!({}), error("KeyboardInterrupt")),
        ("nothing_said", json!({}), error("ValueError")),
        (
            "fail",
            json!({"text": "no such\nword"}),
            error("LookupError: no such\nword"),
        ),
        ("no_number", json!({}), error(nan)),
        ("half_a_pair", json!({}), error(pair)),
        (
            "stranger",
            json!({}),
            error("TypeError: a value of type builtins.object cannot be written as JSON"),
        ),
        ("same_name", json!({}), Ok(json!("wild"))),
        ("count", json!({}), Ok(json!(2))),
    ];
    for (name, kwargs, wanted) in table {
        assert_eq!(scripts.call("wild", name, kwargs).await, wanted, "{name}");
    }
    let circle = scripts.call("wild", "endless", json!({})).await.unwrap_err();
    assert!(circle.starts_with("RecursionError"), "{circle}");
    // The same process all the time.
    assert_eq!(scripts.call("wild", "count", json!({})).await, Ok(json!(3)));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_traceback_in_the_log_has_the_lines_of_the_script_alone() {
    let mut scripts = Scripts::host(&[("wild.py", WILD)]).await;
    scripts.call("wild", "fail", json!({"text": "x"})).await.unwrap_err();
    let is_logged = |text: &str| scripts.host.log().contains(text);
    eventually("the traceback is logged", || is_logged("LookupError: x")).await;
    assert!(
        is_logged("def fail(text: str) -> None: raise LookupError(text)"),
        "{}",
        scripts.host.log()
    );
    assert!(!is_logged("<toolhost>"), "{}", scripts.host.log());
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_tool_that_changes_the_working_folder_changes_it_for_itself_alone() {
    let mut scripts = Scripts::host(&[("wild.py", WILD)]).await;
    let before = scripts.call("wild", "where", json!({})).await;
    assert_ne!(before, Ok(json!("/")));
    assert_eq!(scripts.call("wild", "wander", json!({})).await, Ok(Value::Null));
    assert_eq!(scripts.call("wild", "where", json!({})).await, before);
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_thread_or_a_child_left_behind_holds_neither_an_answer_nor_the_end() {
    let mut scripts = Scripts::host(&[("wild.py", WILD)]).await;
    let pid = scripts.call("wild", "leave_child", json!({})).await.unwrap();
    assert!(is_alive(i32::try_from(pid.as_i64().unwrap()).unwrap()));
    assert_eq!(scripts.call("wild", "leave_thread", json!({})).await, Ok(Value::Null));
    // The child comes back from the tool as well. It is no toolbox, and answers nothing.
    let forked = scripts.call("wild", "fork_and_return", json!({})).await.unwrap();
    assert_ne!(forked, json!(0));
    assert_eq!(scripts.call("wild", "count", json!({})).await, Ok(json!(1)));
    scripts.host.stop().await;
}

#[tokio::test]
async fn what_is_to_happen_at_the_end_happens() {
    let text =
        "import atexit, pathlib\ndef mark(path: pathlib.Path) -> None: atexit.register(path.write_text, 'ended')\n";
    let mut scripts = Scripts::host(&[("polite.py", text)]).await;
    let path = scripts.scripts.path().join("mark");
    assert_eq!(
        scripts.call("polite", "mark", json!({"path": path})).await,
        Ok(Value::Null)
    );
    scripts.host.stop().await;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "ended");
}

/// Scripts that cannot be served, with what callers are told.
const BROKEN: [(&str, &str, &str); 8] = [
    (
        "syntax.py",
        "def f(:\n",
        "SyntaxError: invalid syntax (syntax.py, line 1)",
    ),
    (
        "missing.py",
        "import no_such_module\ndef f(a: int): pass\n",
        "ModuleNotFoundError: No module named 'no_such_module' (missing.py, line 1; python is /",
    ),
    (
        "zero.py",
        "x = 1\ny = 1 / 0\n",
        "ZeroDivisionError: division by zero (zero.py, line 2)",
    ),
    (
        "exits.py",
        "import sys\nsys.exit(3)\n",
        "SystemExit: 3 (exits.py, line 2; it ends while it is loaded: put what is for the command line under if __name__ == ",
    ),
    (
        "untyped.py",
        "def f(a): pass\n",
        "untyped.py has no tools: a tool is a public function with a type hint, such as `def add(a: int, b: int) -> int:`: \
         f has none; or name the functions in TOOLS = [...]",
    ),
    (
        "unknown.py",
        "def f(a: 'Nope'): pass\n",
        "unknown.py has no tools: f is no tool: the parameter 'a': Nope (NameError: name 'Nope' is not defined)",
    ),
    (
        "listed.py",
        "TOOLS = ['f', 'g']\ndef f(): pass\n",
        "listed.py: TOOLS names 'g', which is no function of the file",
    ),
    (
        "calendar.py",
        "from calendar import monthrange\n",
        "; the file has the name of Python's own module calendar, which it hides)",
    ),
];

#[tokio::test]
async fn a_script_that_cannot_be_loaded_says_why_to_whoever_calls() {
    let files: Vec<_> = BROKEN.iter().map(|(name, text, _)| (*name, *text)).collect();
    let mut scripts = Scripts::host_with(&files, &json!({"restart": {"when": "never"}})).await;
    for (name, _, wanted) in BROKEN {
        let id = name.trim_end_matches(".py");
        let error = scripts.call(id, "f", json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: ") && error.contains(wanted),
            "{name}: {error}"
        );
    }
    scripts.host.stop().await;
}

const CHOSEN: &str = r#"
import functools, json
from os.path import join
from typing import List

def public(a: int) -> int:
    return a

def returns() -> int:
    return 1

def untyped(a):
    return a

def _private(a: int) -> int:
    return a

@functools.lru_cache(maxsize=None)
def cached(a: int) -> int:
    return a

def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner

@logged
def wrapped(a: int, b: "List[int]" = ()) -> int:
    return a

class Thing:
    def method(self, a: int) -> int:
        return a

again = public

def main() -> None:
    raise SystemExit("for the command line")

if __name__ == "__main__":
    main()
"#;

#[tokio::test]
async fn the_tools_of_a_script_are_its_own_public_functions_with_type_hints() {
    let mut scripts = Scripts::host(&[("chosen.py", CHOSEN)]).await;
    assert_eq!(
        scripts.tools("chosen").await,
        ["public", "returns", "cached", "wrapped"]
    );
    assert_eq!(
        scripts.call("chosen", "wrapped", json!({"a": 1, "b": [2]})).await,
        Ok(json!(1))
    );
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_list_in_the_script_says_which_functions_are_tools() {
    let files = [
        (
            "by_name.py",
            "TOOLS = ['b', 'main']\ndef a(x: int): pass\ndef b(x): return x\ndef main(): pass\n",
        ),
        (
            "by_function.py",
            "def a(x: int): pass\ndef b(x): return x\nTOOLS = [b]\n",
        ),
        (
            "by_all.py",
            "__all__ = ['b', 'C']\ndef a(x: int): pass\ndef b(x): return x\nclass C: pass\n",
        ),
        ("other.py", "TOOLS = ['hammer', 'saw']\ndef a(x: int): pass\n"),
    ];
    let mut scripts = Scripts::host(&files).await;
    assert_eq!(scripts.tools("by_name").await, ["b", "main"]);
    assert_eq!(scripts.tools("by_function").await, ["b"]);
    assert_eq!(scripts.tools("by_all").await, ["b"]);
    assert_eq!(scripts.tools("other").await, ["a"], "a list of something else");
    assert_eq!(scripts.call("by_name", "b", json!({"x": [1]})).await, Ok(json!([1])));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_whose_one_tool_is_run_gives_the_tool_its_own_name() {
    let text = "def run(city: str) -> str:\n    \"\"\"The weather in a city.\n\n    Args:\n        city: The city's name.\n    \"\"\"\n    return city\n";
    let mut scripts = Scripts::host(&[
        ("get weather.py", text),
        ("both.py", "def run(a: int): pass\ndef go(a: int): pass\n"),
    ])
    .await;
    let tool = scripts.tool("get_weather").await;
    assert_eq!(tool["name"], "get_weather");
    assert_eq!(tool["description"], "The weather in a city.");
    assert_eq!(
        tool["argument_schema"]["properties"]["city"]["description"],
        "The city's name."
    );
    assert_eq!(
        scripts
            .call("get_weather", "get_weather", json!({"city": "Rome"}))
            .await,
        Ok(json!("Rome"))
    );
    assert_eq!(scripts.tools("both").await, ["run", "go"]);
    scripts.host.stop().await;
}

const DOCUMENTED: &str = r#"
def google(first: int, second: str = "x", *rest: int) -> float:
    """Says what it does.

    And more of it,
    in two lines.

    Args:
        first (int): The first,
            which goes on.
        second: The second: with a colon.
        *rest: Further ones.

    Returns:
        float: What comes out.

    Raises:
        ValueError: never.

    Example:
        google(1)
    """
    return 1.0

def numpy(first: int, second: str = "x", rest: int = 0) -> float:
    """Says what it does.

    And more of it,
    in two lines.

    Parameters
    ----------
    first : int
        The first,
        which goes on.
    second : str, optional
        The second: with a colon.
    rest
        Further ones.

    Returns
    -------
    float
        What comes out.
    """
    return 1.0

def rest(first: int, second: str = "x", rest: int = 0) -> float:
    """Says what it does.

    And more of it,
    in two lines.

    :param first: The first,
        which goes on.
    :param str second: The second: with a colon.
    :param rest: Further ones.
    :type rest: int
    :returns: What comes out.
    :raises ValueError: never.
    """
    return 1.0

def epydoc(first: int, second: str = "x", rest: int = 0) -> float:
    """Says what it does.

    And more of it,
    in two lines.

    @param first: The first,
        which goes on.
    @param second: The second: with a colon.
    @param rest: Further ones.
    @return: What comes out.
    """
    return 1.0
"#;

#[tokio::test]
async fn docstrings_of_every_style_describe_the_tool_its_arguments_and_its_result() {
    let mut scripts = Scripts::host(&[("documented.py", DOCUMENTED)]).await;
    let listed = scripts.caller.ask(LIST, &json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 4);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let more = if name == "google" {
            "\n\nExample:\n    google(1)"
        } else {
            ""
        };
        let description = format!("Says what it does.\n\nAnd more of it,\nin two lines.{more}");
        assert_eq!(tool["description"], description, "{name}");
        let properties = &tool["argument_schema"]["properties"];
        assert_eq!(
            properties["first"]["description"], "The first, which goes on.",
            "{name}"
        );
        assert_eq!(
            properties["second"]["description"], "The second: with a colon.",
            "{name}"
        );
        assert_eq!(properties["rest"]["description"], "Further ones.", "{name}");
        assert_eq!(
            tool["output_schema"],
            json!({"type": "number", "description": "What comes out."}),
            "{name}"
        );
    }
    scripts.host.stop().await;
}

const RESULTS: &str = r#"
import array, collections, dataclasses, datetime, decimal, enum, pathlib, uuid

@dataclasses.dataclass
class Point:
    x: int
    where: pathlib.Path

class Color(enum.Enum):
    RED = "red"

class Scalar:
    """As numpy has it."""
    def item(self): return 1.5

class Grid:
    def tolist(self): return [[1, 2], [3, Scalar()]]

VALUES = {
    "dataclass": Point(1, pathlib.Path("/a")),
    "enum": [Color.RED],
    "keys": {1: "a", None: "b", Color.RED: "c", datetime.date(2024, 5, 31): "d", (1, 2): "e"},
    "set": {3, 1, 2},
    "decimal": decimal.Decimal("1.10"),
    "uuid": uuid.UUID(int=1),
    "bytes": b"\x00\xff",
    "duration": datetime.timedelta(minutes=90),
    "generator": (number for number in range(3)),
    "map": map(str, [1, 2]),
    "range": range(3),
    "view": {"a": 1}.values(),
    "counter": collections.Counter("aab"),
    "deque": collections.deque([1]),
    "array": array.array("i", [1, 2]),
    "scalar": Scalar(),
    "grid": Grid(),
    "pair": "\ud83d\ude00",
}

def value(name: str): return VALUES[name]
"#;

#[tokio::test]
async fn results_are_written_by_what_they_are() {
    let mut scripts = Scripts::host(&[("results.py", RESULTS)]).await;
    let table = [
        ("dataclass", json!({"x": 1, "where": "/a"})),
        ("enum", json!(["red"])),
        (
            "keys",
            json!({"1": "a", "null": "b", "red": "c", "2024-05-31": "d", "[1,2]": "e"}),
        ),
        ("set", json!([1, 2, 3])),
        ("decimal", json!("1.10")),
        ("uuid", json!("00000000-0000-0000-0000-000000000001")),
        ("bytes", json!("AP8=")),
        ("duration", json!("PT1H30M")),
        ("generator", json!([0, 1, 2])),
        ("map", json!(["1", "2"])),
        ("range", json!([0, 1, 2])),
        ("view", json!([1])),
        ("counter", json!({"a": 2, "b": 1})),
        ("deque", json!([1])),
        ("array", json!([1, 2])),
        ("scalar", json!(1.5)),
        ("grid", json!([[1, 2], [3, 1.5]])),
        ("pair", json!("😀")),
    ];
    for (name, wanted) in table {
        assert_eq!(
            scripts.call("results", "value", json!({"name": name})).await,
            Ok(wanted),
            "{name}"
        );
    }
    scripts.host.stop().await;
}

const MEETING: &str = r#"
import asyncio, threading

barrier = threading.Barrier(3)

def meet() -> int: return barrier.wait(timeout=30)
"#;

#[tokio::test]
async fn concurrent_calls_of_a_script_run_in_threads_side_by_side() {
    let mut scripts = Scripts::host_with(&[("meeting.py", MEETING)], &json!({"concurrent": 3})).await;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(scripts.caller.send(CALL, &call("meeting", "meet", &json!({}))).await);
    }
    let mut places = Vec::new();
    for token in tokens {
        places.push(scripts.caller.wait(&token, 1).await[0]["result"].as_i64().unwrap());
    }
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2], "each waited for the others");
    scripts.host.stop().await;
}

const PATIENT: &str = r#"
import asyncio, os, time
import toolhost

ended = []

async def wait_async(name: str) -> None:
    try:
        await asyncio.sleep(600)
    finally:
        ended.append(name)

def ends() -> list: return [os.getpid(), *ended]
"#;

const PATIENT_ALONE: &str = r#"
import os, time
import toolhost

ended = []

def wait(name: str) -> None:
    while not toolhost.cancelled():
        time.sleep(0.01)
    ended.append(name)

def ends() -> list: return [os.getpid(), *ended]
"#;

/// A call that is given up is ended, and the process serves on.
async fn is_cancelled(toolbox_id: &str, text: &str, tool: &str) {
    let file = format!("{toolbox_id}.py");
    let mut scripts = Scripts::host_with(&[(&file, text)], &json!({"timeout": "1s"})).await;
    let before = scripts.call(toolbox_id, "ends", json!({})).await.unwrap();
    let error = scripts.call(toolbox_id, tool, json!({"name": "a"})).await.unwrap_err();
    assert!(error.starts_with("TimeoutError: "), "{error}");
    let after = scripts.call(toolbox_id, "ends", json!({})).await;
    assert_eq!(after, Ok(json!([before[0], "a"])), "the same process");
    scripts.host.stop().await;
}

#[tokio::test]
async fn an_async_tool_nobody_waits_for_any_more_is_cancelled() {
    is_cancelled("patient", PATIENT, "wait_async").await;
}

#[tokio::test]
async fn a_tool_without_threads_sees_that_nobody_waits_any_more() {
    is_cancelled("alone", PATIENT_ALONE, "wait").await;
}

#[tokio::test]
async fn scripts_with_names_of_pythons_own_modules_are_no_trouble() {
    let text = "import dataclasses, json, types\ndef f(a: int) -> str: return json.dumps([a, __name__])\n";
    let mut scripts = Scripts::host(&[("types.py", text), ("enum.py", text), ("my-notes.v2.py", text)]).await;
    assert_eq!(
        scripts.call("types", "f", json!({"a": 1})).await,
        Ok(json!("[1, \"types_script\"]"))
    );
    assert_eq!(
        scripts.call("my-notes_v2", "f", json!({"a": 1})).await,
        Ok(json!("[1, \"my-notes.v2\"]"))
    );
    assert_eq!(
        scripts.call("enum", "f", json!({"a": 1})).await,
        Ok(json!("[1, \"enum_script\"]"))
    );
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_finds_the_modules_beside_it_and_its_own_path() {
    let files = [
        ("helper_of_it.py", "def twice(a: int) -> int: return 2 * a\n"),
        (
            "uses.py",
            "import sys\nfrom helper_of_it import twice\ndef f(a: int) -> list: return [twice(a), sys.argv == [__file__]]\n",
        ),
    ];
    let mut scripts = Scripts::host(&files).await;
    assert_eq!(
        scripts.tools("uses").await,
        ["f"],
        "what is imported is no tool of the script"
    );
    assert_eq!(scripts.call("uses", "f", json!({"a": 2})).await, Ok(json!([4, true])));
    scripts.host.stop().await;
}
