//! Functions of every make: decorated, dispatched, bound, partial.

use serde_json::json;

use crate::harness::Scripts;

const DECORATED: &str = r#"
import dataclasses, functools
from dataclasses import InitVar, dataclass, field

@functools.singledispatch
def show(x: int, y: str = "y") -> str: return "any"

@show.register(int)
def _(x, y="y"): return "int %d %s" % (x, y)

@dataclass
class Point:
    x: int
    scale: InitVar[int]
    further: "InitVar[int]" = 1
    seen: int = field(init=False, default=4)
    def __post_init__(self, scale, further): self.x *= scale * further

def point(point: Point) -> Point: return point

def injecting(function):
    @functools.wraps(function)
    def inner(a): return function("conn", a)
    return inner

@injecting
def injected(conn, a: int) -> str: return "%s %d" % (conn, a)

def by_name(function):
    @functools.wraps(function)
    def inner(**kwargs): return function(**kwargs)
    return inner

@by_name
def named(a: int, b: int = 2) -> int: return a + b

def checking(function):
    @functools.wraps(function)
    def inner(a, *args, **kwargs): return function(a, *args, **kwargs)
    return inner

@checking
@functools.lru_cache()
def checked(a: int, b: int = 2, *, c: int = 3) -> int: return a + b + c
"#;

#[tokio::test]
async fn what_decorators_make_of_a_function_is_called_as_they_want_it() {
    let mut scripts = Scripts::host(&[("decorated.py", DECORATED)]).await;
    let table = [
        ("show", json!({"x": 1}), json!("int 1 y")),
        ("show", json!({"x": 1, "y": "z"}), json!("int 1 z")),
        (
            "point",
            json!({"point": {"x": 2, "scale": 3}}),
            json!({"x": 6, "seen": 4}),
        ),
        (
            "point",
            json!({"point": {"x": 2, "scale": 3, "further": 2}}),
            json!({"x": 12, "seen": 4}),
        ),
        ("injected", json!({"a": 1}), json!("conn 1")),
        ("named", json!({"a": 1}), json!(3)),
        ("checked", json!({"a": 1, "c": 1}), json!(4)),
    ];
    for (name, kwargs, wanted) in table {
        assert_eq!(
            scripts.call("decorated", name, kwargs.clone()).await,
            Ok(wanted),
            "{name} {kwargs}"
        );
    }
    let point = json!({"x": 1, "scale": 1, "seen": 1});
    let error = scripts.call("decorated", "point", json!({"point": point})).await;
    assert!(error.unwrap_err().contains("seen"), "a field that is not given is none");
    scripts.host.stop().await;
}

const BOUND: &str = r#"
import functools

class Lamp:
    """A lamp."""
    def __init__(self, room): self.room = room
    def switch(self, on: bool) -> str:
        """Switches the lamp."""
        return "%s %s" % (self.room, on)
    @classmethod
    def count(cls, least: int = 0) -> str: return "%s %d" % (cls.__name__, least)

class Greeter:
    """Greets somebody."""
    def __call__(self, name: str) -> str: return "Hello " + name

def power(base: int, exponent: int) -> int:
    """Raises a number."""
    return base ** exponent

square = functools.partial(power, exponent=2)
greet = Greeter()
TOOLS = [Lamp("hall").switch, Lamp.count, square, greet, "power"]
"#;

#[tokio::test]
async fn methods_partials_and_objects_with_a_call_are_tools_where_the_script_lists_them() {
    let mut scripts = Scripts::host(&[("bound.py", BOUND)]).await;
    assert_eq!(
        scripts.tools("bound").await,
        ["switch", "count", "square", "greet", "power"]
    );
    let listed = scripts.caller.ask(crate::common::caller::LIST, &json!({})).await;
    let texts: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["description"])
        .collect();
    assert_eq!(
        json!([texts[0], texts[2], texts[3]]),
        json!(["Switches the lamp.", "Raises a number.", "Greets somebody."])
    );
    let table = [
        ("switch", json!({"on": true}), json!("hall True")),
        ("count", json!({"least": 2}), json!("Lamp 2")),
        ("square", json!({"base": 3}), json!(9)),
        ("greet", json!({"name": "Ada"}), json!("Hello Ada")),
        ("power", json!({"base": 2, "exponent": 3}), json!(8)),
    ];
    for (name, kwargs, wanted) in table {
        assert_eq!(scripts.call("bound", name, kwargs).await, Ok(wanted), "{name}");
    }
    let fault = scripts.call("bound", "switch", json!({"on": 1})).await.unwrap_err();
    assert!(fault.contains("on"), "its hints hold: {fault}");
    scripts.host.stop().await;
}
