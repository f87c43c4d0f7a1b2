//! What a script may do while its functions are tools.

use serde_json::{Value, json};

use crate::common::eventually::eventually;
use crate::common::host::is_alive;
use crate::harness::Scripts;

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
    eventually("everything is in the log", || said.iter().all(is_logged)).await;
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
