//! The calls, and what they are answered with.

use serde_json::{Value, json};

use crate::host::Host;
use crate::{shipped, system};

/// One call.
pub(crate) struct Call {
    pub(crate) toolbox: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) kwargs: Value,
    pub(crate) expected: Expected,
}

/// What comes back.
pub(crate) enum Expected {
    Result(Value),
    /// A result that depends on the machine.
    Satisfies(fn(&Value)),
    Error(&'static str),
    /// An error that holds each of these.
    ErrorWith(&'static [&'static str]),
}
use Expected::{Error, ErrorWith, Result, Satisfies};

/// The calls for the toolboxes of `host`, which must all be known here.
pub(crate) fn of(host: &Host) -> Vec<Call> {
    host.toolboxes()
        .iter()
        .flat_map(|toolbox| of_toolbox(toolbox))
        .collect()
}

fn of_toolbox(toolbox: &str) -> Vec<Call> {
    match toolbox {
        "wordnet" => wordnet(),
        "system" => system(),
        "clock" => clock(),
        "calc" => shipped::calc(),
        "text" => shipped::text(),
        "notes" => shipped::notes(),
        "files" => shipped::files(),
        "hello_sh" => hello("hello_sh"),
        "hello_py" => hello("hello_py"),
        "hello_js" => hello("hello_js"),
        "hello_oneshot" => hello("hello_oneshot"),
        _ => panic!("no calls in tests/examples/answers.rs for the toolbox '{toolbox}'"),
    }
}

pub(crate) fn calls(toolbox: &'static str, table: Vec<(&'static str, Value, Expected)>) -> Vec<Call> {
    let call = |(tool, kwargs, expected)| Call {
        toolbox,
        tool,
        kwargs,
        expected,
    };
    table.into_iter().map(call).collect()
}

fn hello(toolbox: &'static str) -> Vec<Call> {
    calls(
        toolbox,
        vec![
            (
                "hello",
                json!({"name": "Ada"}),
                Result(json!({"greeting": "Hello, Ada!"})),
            ),
            (
                "hello",
                json!({"name": "Zoë \"Z\" \\ 李"}),
                Result(json!({"greeting": "Hello, Zoë \"Z\" \\ 李!"})),
            ),
            (
                "hello",
                json!({}),
                Error("Invalid arguments for 'hello': name: is required"),
            ),
        ],
    )
}

fn meanings(definitions: &[(&str, &str)], examples: &[&str]) -> Expected {
    Result(json!({ "definitions": definitions, "examples": examples }))
}

fn relations(relation: &str, words: &[&str]) -> Expected {
    Result(json!({ "relations": { relation: words } }))
}

fn wordnet() -> Vec<Call> {
    let serendipity = "good luck in making unexpected and fortunate discoveries";
    let ice_cream = || {
        meanings(
            &[("noun", "frozen dessert containing cream and sugar and flavoring")],
            &[],
        )
    };
    let all = json!({"relations": {
        "hypernyms": ["good luck", "fluke", "good fortune"],
        "related": ["serendipitous"],
    }});
    let asking = "persist with actions or an attitude despite the probability that it will cause trouble";
    let geese = [
        (
            "noun",
            "web-footed long-necked typically gregarious migratory aquatic birds usually larger and less aquatic than ducks",
        ),
        ("noun", "a man who is a stupid incompetent fool"),
        ("noun", "flesh of a goose (domestic or wild)"),
    ];
    let related = |word: &str, relation: &str| json!({"word": word, "relation": relation});
    calls(
        "wordnet",
        vec![
            (
                "define_word",
                json!({"word": "serendipity", "lang": "en"}),
                meanings(&[("noun", serendipity)], &[]),
            ),
            ("define_word", json!({"word": "Ice  Cream"}), ice_cream()),
            (
                "define_word",
                json!({"word": "ICE CREAM", "lang": "en-US"}),
                ice_cream(),
            ),
            ("define_word", json!({"word": "geese"}), meanings(&geese, &[])),
            (
                "define_word",
                json!({"word": "café"}),
                meanings(&[("noun", "a small restaurant where drinks and snacks are sold")], &[]),
            ),
            (
                "define_word",
                json!({"word": "asking for it"}),
                meanings(&[("verb", asking)], &["He is asking for trouble with his behavior"]),
            ),
            (
                "define_word",
                json!({"word": "xyzzy"}),
                Error("LookupError: no such word: 'xyzzy'"),
            ),
            ("define_word", json!({"word": ""}), ErrorWith(&["word"])),
            (
                "define_word",
                json!({"word": "cão", "lang": "pt"}),
                Error("ValueError: WordNet is English; there is nothing for the language 'pt'"),
            ),
            ("word_relations", json!({"word": "serendipity"}), Result(all)),
            (
                "word_relations",
                related("serendipity", "antonyms"),
                relations("antonyms", &[]),
            ),
            (
                "word_relations",
                related("hot", "antonyms"),
                relations("antonyms", &["cold"]),
            ),
            (
                "word_relations",
                related("happy", "antonyms"),
                relations("antonyms", &["unhappy"]),
            ),
            (
                "word_relations",
                related("ascend", "antonyms"),
                relations("antonyms", &["descend"]),
            ),
            (
                "word_relations",
                related("ice cream", "hypernyms"),
                relations("hypernyms", &["frozen dessert"]),
            ),
            (
                "word_relations",
                related("snore", "entailments"),
                relations("entailments", &["sleep", "kip", "slumber", "log Z's", "catch some Z's"]),
            ),
        ],
    )
}

fn system() -> Vec<Call> {
    let proc = json!({"filesystems": [{
        "mount": "/proc", "type": "proc",
        "total_bytes": 0, "used_bytes": 0, "available_bytes": 0, "used_percent": 0,
    }]});
    calls(
        "system",
        vec![
            ("disk", json!({"path": "/"}), Satisfies(system::root_disk)),
            ("disk", json!({"path": "/proc"}), Result(proc)),
            (
                "disk",
                json!({"path": "-rf"}),
                Error("FileNotFoundError: no such path: '-rf'"),
            ),
            ("memory", json!({}), Satisfies(system::memory)),
            ("uptime", json!({}), Satisfies(system::uptime)),
            (
                "processes",
                json!({"by": "memory", "limit": 2}),
                Satisfies(system::two_processes_by_memory),
            ),
            ("processes", json!({"limit": 51}), ErrorWith(&["limit"])),
            ("processes", json!({"limit": 0}), ErrorWith(&["limit"])),
        ],
    )
}

fn moment(datetime: &str, timezone: &str, weekday: &str) -> Value {
    let utc_offset = &datetime[datetime.len() - 6..];
    json!({"datetime": datetime, "timezone": timezone, "utc_offset": utc_offset, "weekday": weekday})
}

fn clock() -> Vec<Call> {
    let new_york_to_tokyo = json!({
        "from": moment("2026-07-01T14:30:00-04:00", "America/New_York", "Wednesday"),
        "to": moment("2026-07-02T03:30:00+09:00", "Asia/Tokyo", "Thursday"),
        "kind": "exact",
    });
    let since_apollo = json!({
        "direction": "forward", "total_seconds": 1_810_252_800_u64, "total_days": 20_952,
        "calendar": {"years": 57, "months": 4, "days": 10, "seconds": 0},
    });
    let berlin = |time: &str| json!({"time": time, "from": "Europe/Berlin", "to": "UTC"});
    let no_time = "RangeError: not a date or time: 'tomorrow'; write 2026-03-29, 2026-03-29T14:30, 14:30 or now";
    calls(
        "clock",
        vec![
            (
                "convert",
                json!({"time": "2026-07-01T14:30", "from": "America/New_York", "to": "Asia/Tokyo"}),
                Result(new_york_to_tokyo),
            ),
            ("convert", berlin("2026-03-29T02:30"), Satisfies(a_gap)),
            ("convert", berlin("2026-10-25T02:30"), Satisfies(an_overlap)),
            ("convert", berlin("tomorrow"), Error(no_time)),
            (
                "difference",
                json!({"start": "1969-07-20", "end": "2026-11-30", "timezone": "UTC"}),
                Result(since_apollo),
            ),
            (
                "difference",
                json!({"start": "2026-03-28T12:00", "end": "2026-03-29T12:00", "timezone": "Europe/Berlin"}),
                Satisfies(a_short_day),
            ),
            ("difference", json!({"start": "tomorrow", "end": "now"}), Error(no_time)),
            ("now", json!({"timezone": "Asia/Kolkata"}), Satisfies(now_in_kolkata)),
            (
                "now",
                json!({"timezone": "Mars/Base"}),
                Error("RangeError: no such time zone: 'Mars/Base'; names look like Europe/Paris or UTC"),
            ),
        ],
    )
}

/// The hour that is left out when the clocks go forward.
fn a_gap(result: &Value) {
    assert_eq!(result["kind"], "gap", "{result}");
    assert_eq!(result["from"]["datetime"], "2026-03-29T03:30:00+02:00");
    assert_eq!(result["to"]["datetime"], "2026-03-29T01:30:00+00:00");
}

/// The hour that comes twice when they go back.
fn an_overlap(result: &Value) {
    assert_eq!(result["kind"], "overlap", "{result}");
    assert_eq!(result["to"]["datetime"], "2026-10-25T00:30:00+00:00");
    assert_eq!(result["alternative"]["to"]["datetime"], "2026-10-25T01:30:00+00:00");
}

/// A day of 23 hours is a day.
fn a_short_day(result: &Value) {
    assert_eq!(
        (&result["total_seconds"], &result["total_days"]),
        (&json!(82_800), &json!(1)),
        "{result}"
    );
}

fn now_in_kolkata(result: &Value) {
    assert_eq!(
        (&result["timezone"], &result["utc_offset"]),
        (&json!("Asia/Kolkata"), &json!("+05:30")),
        "{result}"
    );
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let told = result["unix_seconds"].as_u64().expect("whole seconds");
    assert!(told <= now && now - told < 60, "{told} is not about {now}");
}
