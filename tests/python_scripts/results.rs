//! What results become without an annotation.

use serde_json::json;

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
