//! What results become without an annotation.

use serde_json::{Value, json};

use crate::harness::Scripts;

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

const NUMBERS: &str = r#"
import types
def number(a: float) -> float: return a
def anything(a) -> str: return repr(a)
def objects(a: dict) -> str: return repr(a)
def arrays(a: list) -> str: return repr(a)
def double() -> dict: return {1: 2, "1": 3}
def view() -> dict: return types.MappingProxyType({"null": 2, None: 3})
TOOLS = [number, anything, objects, arrays, double, view]
"#;

#[tokio::test]
async fn a_number_that_python_cannot_hold_is_refused() {
    let mut scripts = Scripts::host(&[("numbers.py", NUMBERS)]).await;
    let table = [
        ("number", r#"{"a": 1e400}"#, "a: is too large for a float"),
        ("number", r#"{"a": -1e400}"#, "a: is too large for a float"),
        ("anything", r#"{"a": 1e400}"#, "a: is too large for a float"),
        (
            "anything",
            r#"{"a": [{"b": 1e400}]}"#,
            "a[0].b: is too large for a float",
        ),
        ("objects", r#"{"a": {"b": 1e400}}"#, "a.b: is too large for a float"),
        ("arrays", r#"{"a": [1, -1e999]}"#, "a[1]: is too large for a float"),
    ];
    for (name, kwargs, wanted) in table {
        let given: Value = serde_json::from_str(kwargs).unwrap();
        let error = scripts.call("numbers", name, given).await.unwrap_err();
        assert_eq!(
            error,
            format!("Invalid arguments for '{name}': {wanted}"),
            "{name} {kwargs}"
        );
    }
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_result_with_two_keys_that_are_one_in_json_is_an_error_that_names_them() {
    let mut scripts = Scripts::host(&[("doubles.py", NUMBERS)]).await;
    let table = [
        ("double", "ValueError: the keys 1 and '1' are the same in JSON: \"1\""),
        (
            "view",
            "ValueError: the keys 'null' and None are the same in JSON: \"null\"",
        ),
    ];
    for (name, wanted) in table {
        assert_eq!(scripts.call("doubles", name, json!({})).await, Err(wanted.to_owned()));
    }
    scripts.host.stop().await;
}
