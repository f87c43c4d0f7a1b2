//! Which functions are tools, and how they are described.

use serde_json::json;

use crate::common::caller::LIST;
use crate::harness::Scripts;

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
